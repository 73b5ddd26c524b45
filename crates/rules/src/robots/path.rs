//! One spelling for paths of URLs and of rules, so that they can be compared as bytes.
//!
//! Escapes of unreserved characters are decoded, others get upper-case digits, and characters that
//! a URL cannot hold are escaped (RFC 9309 §2.2.2). In queries `:` and `/` are the same with and
//! without escapes, as the RFC's table shows. `*` and `$` in a URL are escaped, so that in a rule
//! they can only be wildcards.

use url::Url;

use crate::encoding::{escaped_byte, is_unreserved, push_escaped};

/// Path and query of a URL.
pub(super) fn of_url(url: &Url) -> Vec<u8> {
    let path = url.path().as_bytes();
    let query = url.query().map(str::as_bytes);
    let mut out = Vec::with_capacity(path.len() + query.map_or(0, |q| q.len() + 1) + 8);
    push_normal(&mut out, path, false);
    if let Some(query) = query {
        out.push(b'?');
        push_normal(&mut out, query, true);
    }
    out
}

/// Appends a piece of a rule that holds no wildcard; says whether a `?` was passed by then.
pub(super) fn push_literal(out: &mut Vec<u8>, piece: &[u8], in_query: bool) -> bool {
    if in_query {
        push_normal(out, piece, true);
        return true;
    }
    let Some(mark) = memchr::memchr(b'?', piece) else {
        push_normal(out, piece, false);
        return false;
    };
    push_normal(out, &piece[..mark], false);
    out.push(b'?');
    push_normal(out, &piece[mark + 1..], true);
    true
}

fn push_normal(out: &mut Vec<u8>, bytes: &[u8], in_query: bool) {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escape = escaped_byte(&bytes[at..]);
        at += if escape.is_some() { 3 } else { 1 };
        match escape {
            Some(value) if is_unreserved(value) => out.push(value),
            Some(value @ (b':' | b'/')) if in_query => out.push(value),
            Some(value) => push_escaped(out, value),
            None if must_escape(byte) => push_escaped(out, byte),
            None => out.push(byte),
        }
    }
}

/// Not allowed as itself in a URL, or a wildcard in a rule.
fn must_escape(byte: u8) -> bool {
    !byte.is_ascii_graphic()
        || matches!(
            byte,
            b'*' | b'$'
                | b'"'
                | b'#'
                | b'<'
                | b'>'
                | b'['
                | b'\\'
                | b']'
                | b'^'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'\''
        )
}
