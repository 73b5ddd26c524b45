//! The search for an encoding declaration in the first 1024 bytes of a document.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

use super::declared::label_in_meta_content;
use crate::html::{Step, is_whitespace, step};

const PRESCAN_BYTES: usize = 1024;

/// The encoding the document declares in a `<meta>` element or an XML declaration.
pub(crate) fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    xml_declaration(head).or_else(|| meta_elements(head))
}

/// An encoding read as ASCII cannot be UTF-16, whatever it says.
fn for_declared_label(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    })
}

fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = declaration.get(..memchr(b'>', declaration)?)?;
    let at = memmem::find(declaration, b"encoding")?;
    let value = declaration
        .get(at + 8..)?
        .trim_ascii_start()
        .strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let end = value.iter().position(|byte| byte == quote)?;
    for_declared_label(value.get(..end)?)
}

fn meta_elements(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        at += memchr(b'<', head.get(at..)?)?;
        let rest = head.get(at..)?;
        if rest.starts_with(b"<!--") {
            // The dashes of `<!-->` open and close.
            at += 2 + memmem::find(rest.get(2..)?, b"-->")? + 3;
        } else if is_meta(rest) {
            let (encoding, end) = meta_element(head, at + 5)?;
            if encoding.is_some() {
                return encoding;
            }
            at = end;
        } else if is_tag(rest) {
            at = tag_end(head, at)?;
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at += memchr(b'>', rest)? + 1;
        } else {
            at += 1;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(1..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
        && rest
            .get(5)
            .is_some_and(|byte| is_whitespace(*byte) || *byte == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    let name = rest.get(1..).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    name.first().is_some_and(u8::is_ascii_alphabetic)
}

fn tag_end(head: &[u8], at: usize) -> Option<usize> {
    let behind = head.get(at + 1..)?;
    let name = behind
        .iter()
        .position(|byte| is_whitespace(*byte) || *byte == b'>')?;
    let mut at = at + 1 + name;
    loop {
        match step(head, at) {
            Step::Attribute { next, .. } => at = next,
            Step::End { next, .. } => return Some(next),
            Step::Eof => return None,
        }
    }
}

/// The encoding a `<meta>` element names, and where the element ends.
fn meta_element(head: &[u8], mut at: usize) -> Option<(Option<&'static Encoding>, usize)> {
    let (mut charset, mut content, mut is_content_type) = (None, None, false);
    loop {
        match step(head, at) {
            Step::Attribute { name, value, next } => {
                let (name, value) = (head.get(name)?, head.get(value)?);
                if name.eq_ignore_ascii_case(b"charset") {
                    charset = charset.or(Some(value));
                } else if name.eq_ignore_ascii_case(b"content") {
                    content = content.or_else(|| label_in_meta_content(value));
                } else if name.eq_ignore_ascii_case(b"http-equiv") {
                    is_content_type |= value.eq_ignore_ascii_case(b"content-type");
                }
                at = next;
            }
            Step::End { next, .. } => {
                let label = charset.or(content.filter(|_| is_content_type));
                return Some((label.and_then(for_declared_label), next));
            }
            Step::Eof => return None,
        }
    }
}
