//! Character references and newlines: from source text to the text a reader sees.
//!
//! Borrows wherever nothing has to change, which is nearly always.

use std::borrow::Cow;

/// An attribute's value: newlines normalised, NUL replaced, character references decoded.
pub(crate) fn attribute_value(raw: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'\r', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    match with_ampersands_only(raw) {
        Some(decoded) => Cow::Owned(decoded),
        None => htmlize::unescape_attribute(without_control_oddities(raw)),
    }
}

/// Text between tags, by the same rules as [`attribute_value`] apart from ambiguous ampersands.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'\r', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    match with_ampersands_only(raw) {
        Some(decoded) => Cow::Owned(decoded),
        None => htmlize::unescape(without_control_oddities(raw)),
    }
}

/// The usual case in addresses, at a fraction of the cost: the only references are `&amp;`, and
/// there are no characters to replace.
fn with_ampersands_only(raw: &str) -> Option<String> {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr3(b'&', b'\r', 0, rest.as_bytes()) {
        let behind = rest.get(at..)?.strip_prefix("&amp;")?;
        decoded.push_str(rest.get(..at)?);
        decoded.push('&');
        rest = behind;
    }
    decoded.push_str(rest);
    Some(decoded)
}

fn without_control_oddities(raw: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\r', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    // Before decoding, not after: `&#13;` is meant to give a carriage return.
    Cow::Owned(
        raw.replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "\u{fffd}"),
    )
}
