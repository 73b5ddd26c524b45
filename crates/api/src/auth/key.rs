//! How keys are made, written and compared: `trawl_<id>_<secret>`. The secret has 256 bits of
//! chance, so one round of a hash is enough to keep it by.

use rand::Rng;
use sha2::{Digest, Sha256};
use trawl_store::contract::jobs::KeyRow;
use trawl_types::UnixMillis;

/// What a key may do; each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Read,
    Write,
    Admin,
}

impl Scope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Admin]
            .into_iter()
            .find(|scope| scope.as_str() == text)
    }
}

/// A new key: the text to show once, and the row to keep.
pub fn make(
    name: &str,
    scope: Scope,
    per_minute: Option<u32>,
    expires_at: Option<UnixMillis>,
    now: UnixMillis,
) -> (String, KeyRow) {
    let mut secret = [0; 32];
    rand::rng().fill_bytes(&mut secret);
    let (id, secret) = (chance(), hex(&secret));
    let row = KeyRow {
        id: id.clone(),
        name: name.to_owned(),
        hash: hash(&secret),
        scope: scope.as_str().to_owned(),
        per_minute,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    (format!("trawl_{id}_{secret}"), row)
}

/// An id that nobody else has.
pub(super) fn chance() -> String {
    let mut id = [0; 6];
    rand::rng().fill_bytes(&mut id);
    hex(&id)
}

/// Id and secret of a key that was sent.
pub(crate) fn parse(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("trawl_")?.split_once('_')
}

/// Compares in a time that says nothing about where two secrets differ.
pub(crate) fn matches(secret: &str, kept: &[u8]) -> bool {
    let sent = hash(secret);
    let differs = sent
        .iter()
        .zip(kept)
        .fold(0, |differs, (a, b)| differs | (a ^ b));
    sent.len() == kept.len() && differs == 0
}

fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_text_and_by_no_other() {
        let (text, row) = make("me", Scope::Write, None, None, UnixMillis(0));
        let (id, secret) = parse(&text).unwrap();
        assert_eq!(id, row.id);
        assert!(matches(secret, &row.hash));
        assert!(!matches(&secret[1..], &row.hash));
        assert!(
            !row.hash
                .windows(8)
                .any(|part| secret.as_bytes().starts_with(part))
        );
        let (other, _) = make("me", Scope::Write, None, None, UnixMillis(0));
        assert_ne!(text, other);
    }

    #[test]
    fn texts_that_are_no_keys_are_not_taken_apart() {
        for text in ["", "trawl_", "trawl_x", "bearer x_y"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn scopes_include_those_before_them() {
        assert!(Scope::Admin > Scope::Write && Scope::Write > Scope::Read);
    }
}
