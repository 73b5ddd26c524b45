//! Sessions: how tokens are made and kept, when they end, and the cookie that carries them. Pure but
//! for chance: time is an argument.

use axum::http::{HeaderMap, HeaderValue, header};
use rand::Rng;
use sha2::{Digest, Sha256};
use trawl_store::contract::accounts::{SessionRow, UserRow};
use trawl_types::UnixMillis;

use super::key::hex;
use crate::settings::SessionSettings;

/// How stale the note of when a session was last used may get.
const NOTED_EVERY: i64 = 60_000;

/// A new session: the token to send, and the row to keep.
pub(crate) fn make(
    user: UserRow,
    settings: &SessionSettings,
    now: UnixMillis,
) -> (String, SessionRow) {
    let mut token = [0; 32];
    rand::rng().fill_bytes(&mut token);
    let token = hex(&token);
    let row = SessionRow {
        hash: hash(&token),
        user,
        created_at: now,
        last_seen_at: now,
        expires_at: UnixMillis(now.0 + settings.lifetime.as_millis() as i64),
    };
    (token, row)
}

/// Tokens have 256 bits of chance, so one round of a hash is enough to keep them by. They are looked
/// up by it, so that the time that takes says nothing about them.
pub(crate) fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

/// Whether a session that is on record still counts.
pub(crate) fn is_good(row: &SessionRow, settings: &SessionSettings, now: UnixMillis) -> bool {
    let idle_end = row.last_seen_at.0 + settings.idle.as_millis() as i64;
    row.user.disabled_at.is_none() && now.0 < row.expires_at.0 && now.0 < idle_end
}

/// Whether it should be noted that a session was used just now.
pub(crate) fn is_stale(row: &SessionRow, settings: &SessionSettings, now: UnixMillis) -> bool {
    let every = NOTED_EVERY.min(settings.idle.as_millis() as i64 / 4);
    now.0 - row.last_seen_at.0 >= every
}

/// Over TLS the name has the prefix that makes browsers refuse the cookie of anybody but this very
/// host; without, they would refuse it from us as well.
fn name(secure: bool) -> &'static str {
    if secure {
        "__Host-trawl_session"
    } else {
        "trawl_session"
    }
}

/// The token that a request carries.
pub(crate) fn sent(headers: &HeaderMap, secure: bool) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies.filter_map(|line| line.to_str().ok());
    pairs.flat_map(|line| line.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name(secure)).then(|| value.to_owned())
    })
}

/// The cookie that hands out a token, or takes it back where there is none.
pub(crate) fn cookie(token: Option<&str>, seconds: u64, secure: bool) -> Option<HeaderValue> {
    let seconds = if token.is_some() { seconds } else { 0 };
    let mut text = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}",
        name(secure),
        token.unwrap_or_default()
    );
    if secure {
        text.push_str("; Secure");
    }
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SETTINGS: SessionSettings = SessionSettings {
        idle: Duration::from_mins(10),
        lifetime: Duration::from_hours(1),
    };

    fn user() -> UserRow {
        UserRow {
            id: "1".into(),
            name: "ada".into(),
            password: String::new(),
            role: "user".into(),
            created_at: UnixMillis(0),
            password_changed_at: UnixMillis(0),
            disabled_at: None,
        }
    }

    #[test]
    fn a_session_ends_when_it_is_idle_too_long_and_whatever_happens_in_the_end() {
        let (_, mut row) = make(user(), &SETTINGS, UnixMillis(0));
        let good =
            |row: &SessionRow, minute: i64| is_good(row, &SETTINGS, UnixMillis(minute * 60_000));
        assert!(good(&row, 9));
        assert!(!good(&row, 10), "idle");
        row.last_seen_at = UnixMillis(55 * 60_000);
        assert!(good(&row, 59));
        assert!(!good(&row, 60), "too old");
        row.user.disabled_at = Some(UnixMillis(1));
        assert!(!good(&row, 56), "the user may not");
    }

    #[test]
    fn use_is_noted_now_and_then() {
        let (_, row) = make(user(), &SETTINGS, UnixMillis(0));
        assert!(!is_stale(&row, &SETTINGS, UnixMillis(59_999)));
        assert!(is_stale(&row, &SETTINGS, UnixMillis(60_000)));
    }

    #[test]
    fn only_a_hash_of_the_token_is_kept() {
        let (token, row) = make(user(), &SETTINGS, UnixMillis(0));
        assert_eq!(token.len(), 64);
        assert_eq!(row.hash, hash(&token));
        assert_ne!(token, make(user(), &SETTINGS, UnixMillis(0)).0);
    }

    #[test]
    fn the_cookie_is_kept_from_scripts_and_other_sites() {
        let text = |token, secure| {
            let value = cookie(token, 60, secure).unwrap();
            value.to_str().unwrap().to_owned()
        };
        assert_eq!(
            text(Some("abc"), true),
            "__Host-trawl_session=abc; Path=/; HttpOnly; SameSite=Strict; Max-Age=60; Secure"
        );
        assert_eq!(
            text(None, false),
            "trawl_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }

    #[test]
    fn a_token_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        let line = HeaderValue::from_static("a=b; trawl_session=abc;c=d");
        headers.append(header::COOKIE, line);
        assert_eq!(sent(&headers, false).as_deref(), Some("abc"));
        assert_eq!(
            sent(&headers, true),
            None,
            "not one that was sent in the clear"
        );
    }
}
