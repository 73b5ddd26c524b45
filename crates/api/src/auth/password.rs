//! Passwords: argon2id, made and compared on threads of their own, few at once, so that nobody can
//! use up the memory or the processors by logging in.

use std::sync::atomic::{AtomicUsize, Ordering};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

/// Each takes 19 MiB and a processor for a moment.
const AT_ONCE: usize = 2;
/// Beyond that, people are told to come back.
const MOST_WAITING: usize = 64;
/// In bytes.
const LONGEST: usize = 1024;
/// In characters.
const SHORTEST: usize = 8;
const LONGEST_NAME: usize = 64;

/// The hash of no password, of the same cost as all others: looked at where there is no user, so
/// that an answer takes as long.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$dHJhd2wgaGFzIG5vYm9keQ$\
                       c29tZXRoaW5nIHRoYXQgbm8gcGFzc3dvcmQgZ2l2ZXM";

/// A text that cannot be a name or a password, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unusable(String);

/// The name as it is kept: lower case.
pub fn checked_name(name: &str) -> Result<String, Unusable> {
    let name = name.trim().to_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._@+-".contains(c);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        return Err(Unusable(format!(
            "a user name is 1 to {LONGEST_NAME} letters, digits and . _ @ + -"
        )));
    }
    Ok(name)
}

/// Whether a password may be chosen.
pub fn check_choice(name: &str, password: &str) -> Result<(), Unusable> {
    if password.chars().count() < SHORTEST || password.len() > LONGEST {
        return Err(Unusable(format!(
            "a password has at least {SHORTEST} characters and at most {LONGEST} bytes"
        )));
    }
    if password.to_lowercase() == name {
        return Err(Unusable("the password is the user name".into()));
    }
    Ok(())
}

/// The text to keep. Takes a while: not for the threads that answer requests.
pub fn hash(password: &str) -> Result<String, Unusable> {
    let hashed = Argon2::default().hash_password(password.as_bytes());
    hashed
        .map(|hash| hash.to_string())
        .map_err(|error| Unusable(format!("the password cannot be hashed: {error}")))
}

fn matches(password: &str, kept: &str) -> bool {
    let Ok(kept) = PasswordHash::new(kept) else {
        return false;
    };
    Argon2::default()
        .verify_password(password.as_bytes(), &kept)
        .is_ok()
}

/// Too many passwords wait to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// Where passwords are looked at.
#[derive(Debug)]
pub(crate) struct Passwords {
    permits: Semaphore,
    waiting: AtomicUsize,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            permits: Semaphore::new(AT_ONCE),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl Passwords {
    /// Whether a password is the one that was kept; takes as long where there is none.
    pub(crate) async fn verify(
        &self,
        password: String,
        kept: Option<String>,
    ) -> Result<bool, Busy> {
        self.work(move || {
            let is_somebody = kept.is_some();
            let same = matches(&password, kept.as_deref().unwrap_or(NOBODYS));
            is_somebody && same
        })
        .await
    }

    pub(crate) async fn hash(&self, password: String) -> Result<Result<String, Unusable>, Busy> {
        self.work(move || hash(&password)).await
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let _waiting = Waiting::join(&self.waiting).ok_or(Busy)?;
        let _permit = self.permits.acquire().await.map_err(|_| Busy)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| Busy)
    }
}

struct Waiting<'w>(&'w AtomicUsize);

impl<'w> Waiting<'w> {
    fn join(waiting: &'w AtomicUsize) -> Option<Self> {
        let joined = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < MOST_WAITING).then_some(joined)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_and_no_other_is() {
        let kept = hash("correct horse").unwrap();
        assert!(
            kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{kept}"
        );
        assert!(!kept.contains("correct"));
        assert!(matches("correct horse", &kept));
        assert!(!matches("correct horsf", &kept));
        assert_ne!(kept, hash("correct horse").unwrap(), "salted");
    }

    #[test]
    fn nobody_has_a_hash_that_costs_what_others_cost() {
        let cost = |text: &str| text.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(cost(NOBODYS), cost(&hash("correct horse").unwrap()));
        let parsed = PasswordHash::new(NOBODYS).unwrap();
        assert_eq!(parsed.hash.unwrap().as_bytes().len(), 32);
        assert!(!matches("", NOBODYS));
    }

    #[tokio::test]
    async fn nobody_has_no_password() {
        let passwords = Passwords::default();
        assert_eq!(passwords.verify("x".into(), None).await, Ok(false));
        assert_eq!(passwords.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn those_who_would_wait_too_long_are_sent_away() {
        let passwords = Passwords::default();
        passwords.waiting.store(MOST_WAITING, Ordering::Relaxed);
        assert_eq!(passwords.verify("x".into(), None).await, Err(Busy));
        assert_eq!(passwords.waiting.load(Ordering::Relaxed), MOST_WAITING);
    }

    #[test]
    fn names_and_passwords_that_cannot_be_used_are_refused() {
        assert_eq!(checked_name(" Ada ").unwrap(), "ada");
        for name in ["", "a b", "a\nb", "ä", &"a".repeat(65)] {
            checked_name(name).unwrap_err();
        }
        check_choice("ada", "12345678").unwrap();
        check_choice("ada", "1234567").unwrap_err();
        check_choice("ada-lovelace", "Ada-Lovelace").unwrap_err();
        check_choice("ada", &"x".repeat(1025)).unwrap_err();
    }
}
