//! Percent-encoding in its normal form (RFC 3986 §6.2.2): what need not be encoded is decoded, and
//! the hex digits that remain are upper case.

use std::borrow::Cow;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// ALPHA / DIGIT / "-" / "." / "_" / "~": the same with and without encoding.
pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The byte that `%XX` at the start of `bytes` stands for.
pub(crate) fn escaped_byte(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else {
        return None;
    };
    let value = char::from(*high).to_digit(16)? << 4 | char::from(*low).to_digit(16)?;
    u8::try_from(value).ok()
}

pub(crate) fn push_escaped(out: &mut Vec<u8>, byte: u8) {
    out.push(b'%');
    out.push(HEX[usize::from(byte >> 4)]);
    out.push(HEX[usize::from(byte & 15)]);
}

/// The normal form of the path or query of a parsed URL. A lone `%` becomes `%25`: left alone, it
/// could form a new escape with what is decoded after it (`%4%31`), and a second pass would differ.
pub(crate) fn normal_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'%' {
            out.push(byte);
            at += 1;
            continue;
        }
        let escape = escaped_byte(&bytes[at..]);
        at += if escape.is_some() { 3 } else { 1 };
        match escape.unwrap_or(b'%') {
            value if is_unreserved(value) => out.push(value),
            value => push_escaped(&mut out, value),
        }
    }
    // Only ASCII was added, so this never replaces anything.
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}
