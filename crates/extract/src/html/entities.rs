//! Character references and newlines: from source text to the text a reader sees.
//!
//! Borrows wherever nothing has to change, which is nearly always.

use std::borrow::Cow;

/// An attribute's value: newlines normalised, NUL replaced, character references decoded.
pub(crate) fn attribute_value(raw: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'\r', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    htmlize::unescape_attribute(without_control_oddities(raw))
}

/// Text between tags, by the same rules as [`attribute_value`] apart from ambiguous ampersands.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'\r', 0, raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    htmlize::unescape(without_control_oddities(raw))
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
