//! What a person means by an address typed without a scheme.

use std::borrow::Cow;

use trawl_types::{Reason, ReasonCode};

use super::invalid;

/// Schemes whose next characters are digits and that are still no host names.
const NUMBERED_SCHEMES: [&str; 4] = ["tel", "sms", "fax", "callto"];

/// The text with `https://` in front where it names no scheme.
pub(super) fn with_scheme(text: &str) -> Result<Cow<'_, str>, Reason> {
    let text = text.trim();
    let text: Cow<'_, str> = if text.contains(['\t', '\n', '\r']) {
        // Parsers of URLs drop these anywhere, so they must not hide a scheme from us either.
        Cow::Owned(text.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(text)
    };
    if text.is_empty() {
        return Err(Reason::new(ReasonCode::InvalidUrl, "empty"));
    }
    if text.starts_with("//") {
        return Ok(Cow::Owned(format!("https:{text}")));
    }
    if text.starts_with(['/', '\\']) {
        return Err(invalid(&text, "a path without a host"));
    }
    if has_scheme(&text) {
        Ok(text)
    } else {
        Ok(Cow::Owned(format!("https://{text}")))
    }
}

fn has_scheme(text: &str) -> bool {
    let Some((before, after)) = text.split_once(':') else {
        return false;
    };
    let scheme_like = before.starts_with(|c: char| c.is_ascii_alphabetic())
        && before
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    scheme_like && (!is_port(after) || is_numbered_scheme(before))
}

/// `8080`, `8080/x`, `8080?x`: what follows the colon of `host:port`.
fn is_port(after: &str) -> bool {
    let end = after.find(['/', '\\', '?', '#']).unwrap_or(after.len());
    end > 0 && after[..end].bytes().all(|b| b.is_ascii_digit())
}

fn is_numbered_scheme(name: &str) -> bool {
    NUMBERED_SCHEMES
        .iter()
        .any(|scheme| scheme.eq_ignore_ascii_case(name))
}
