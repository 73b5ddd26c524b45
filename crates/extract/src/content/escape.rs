//! Text and attribute values as HTML, and white space as HTML counts it.

/// Appends text with the characters escaped that mean something in HTML.
pub(crate) fn push_text(out: &mut String, text: &str) {
    push_escaped(out, text, |byte| match byte {
        b'&' => Some("&amp;"),
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        0 => Some("\u{fffd}"),
        _ => None,
    });
}

/// Appends ` name="value"`.
pub(crate) fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value, |byte| match byte {
        b'&' => Some("&amp;"),
        b'"' => Some("&quot;"),
        b'<' => Some("&lt;"),
        0 => Some("\u{fffd}"),
        _ => None,
    });
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str, escape: impl Fn(u8) -> Option<&'static str>) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(escaped) = escape(byte) {
            // Cuts are beside ASCII bytes, so always on character boundaries.
            out.push_str(text.get(from..at).unwrap_or_default());
            out.push_str(escaped);
            from = at + 1;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

/// Appends text with each run of white space made one space.
pub(crate) fn push_collapsed(out: &mut String, text: &str) {
    let is_space = |character: char| character.is_ascii_whitespace();
    if text.starts_with(is_space) && !out.ends_with(' ') {
        out.push(' ');
    }
    let mut first = true;
    for part in text.split(is_space).filter(|part| !part.is_empty()) {
        if !first {
            out.push(' ');
        }
        push_text(out, part);
        first = false;
    }
    if !first && text.ends_with(is_space) {
        out.push(' ');
    }
}
