//! Encoding labels in `Content-Type` headers and in `<meta http-equiv>`.

use encoding_rs::Encoding;

/// The encoding a `Content-Type` header names, if it names one there is.
pub(crate) fn from_content_type(header: &str) -> Option<&'static Encoding> {
    let parameters = header.split(';').skip(1);
    let mut labels = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    });
    let label = labels.next()?.trim().trim_matches(['"', '\'']);
    Encoding::for_label(label.as_bytes())
}

/// The label in a `<meta http-equiv="content-type">`'s content, by the standard's algorithm for
/// extracting an encoding from a meta element: `charset` may stand anywhere in it.
pub(crate) fn label_in_meta_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let at = rest
            .windows(7)
            .position(|word| word.eq_ignore_ascii_case(b"charset"))?;
        rest = rest.get(at + 7..)?.trim_ascii_start();
        if let Some(behind) = rest.strip_prefix(b"=") {
            return Some(unquoted(behind.trim_ascii_start()));
        }
    }
}

fn unquoted(value: &[u8]) -> &[u8] {
    if let Some(quote @ (b'"' | b'\'')) = value.first() {
        // An unclosed quote names no encoding.
        let inner = value.get(1..).unwrap_or_default();
        let end = inner.iter().position(|byte| byte == quote).unwrap_or(0);
        return inner.get(..end).unwrap_or_default();
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
    let end = value.iter().position(ends).unwrap_or(value.len());
    value.get(..end).unwrap_or_default()
}
