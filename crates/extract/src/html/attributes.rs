//! The attribute part of a tag, by the WHATWG tokenizer's states from "before attribute name" on.
//!
//! [`step`] is the one state machine: the tokenizer runs it to find a tag's end, [`Attributes`]
//! runs it again over the few tags whose attributes somebody wants.

use std::borrow::Cow;
use std::ops::Range;

use super::entities;

/// What stands at a position inside a tag, after its name.
#[derive(Debug)]
pub(crate) enum Step {
    Attribute {
        name: Range<usize>,
        value: Range<usize>,
        next: usize,
    },
    /// The tag's `>` was found; `next` is behind it.
    End { next: usize, self_closing: bool },
    /// The input ended inside the tag: by the standard there is no tag.
    Eof,
}

const WHITESPACE: u8 = 1;
const ENDS_NAME: u8 = 2;
const ENDS_UNQUOTED: u8 = 4;

static CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let whitespace = WHITESPACE | ENDS_NAME | ENDS_UNQUOTED;
    class[b'\t' as usize] = whitespace;
    class[b'\n' as usize] = whitespace;
    class[0x0c] = whitespace;
    class[b'\r' as usize] = whitespace;
    class[b' ' as usize] = whitespace;
    class[b'/' as usize] = ENDS_NAME;
    class[b'=' as usize] = ENDS_NAME;
    class[b'>' as usize] = ENDS_NAME | ENDS_UNQUOTED;
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Whether a byte is HTML whitespace.
pub(crate) fn is_whitespace(byte: u8) -> bool {
    is(byte, WHITESPACE)
}

/// Whether a byte ends a tag name.
pub(crate) fn ends_tag_name(byte: u8) -> bool {
    is(byte, ENDS_NAME) && byte != b'='
}

fn skip_until(bytes: &[u8], mut at: usize, class: u8) -> usize {
    while at < bytes.len() && !is(bytes[at], class) {
        at += 1;
    }
    at
}

fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_whitespace(bytes[at]) {
        at += 1;
    }
    at
}

/// Reads the next attribute, or the end of the tag, from `at`.
#[expect(
    clippy::inline_always,
    reason = "called for every attribute of every page: measured a tenth faster"
)]
#[inline(always)]
pub(crate) fn step(bytes: &[u8], mut at: usize) -> Step {
    let mut slash = false;
    loop {
        match bytes.get(at) {
            None => return Step::Eof,
            Some(b'>') => {
                return Step::End {
                    next: at + 1,
                    self_closing: slash,
                };
            }
            Some(b'/') => slash = true,
            Some(&byte) if is_whitespace(byte) => slash = false,
            Some(_) => break,
        }
        at += 1;
    }
    // A leading `=` belongs to the name, hence the search from the second byte on.
    let name = at..skip_until(bytes, at + 1, ENDS_NAME);
    let after_name = skip_whitespace(bytes, name.end);
    match bytes.get(after_name) {
        None => Step::Eof,
        Some(b'=') => value_step(bytes, name, skip_whitespace(bytes, after_name + 1)),
        Some(_) => Step::Attribute {
            value: name.end..name.end,
            next: after_name,
            name,
        },
    }
}

#[expect(clippy::inline_always, reason = "part of `step`")]
#[inline(always)]
fn value_step(bytes: &[u8], name: Range<usize>, at: usize) -> Step {
    match bytes.get(at) {
        None => Step::Eof,
        Some(&quote @ (b'"' | b'\'')) => {
            let start = at + 1;
            match memchr::memchr(quote, &bytes[start..]) {
                None => Step::Eof,
                Some(length) => {
                    let end = start + length;
                    Step::Attribute {
                        name,
                        value: start..end,
                        next: end + 1,
                    }
                }
            }
        }
        Some(_) => {
            let end = skip_until(bytes, at, ENDS_UNQUOTED);
            Step::Attribute {
                name,
                value: at..end,
                next: end,
            }
        }
    }
}

/// One attribute as it stands in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The name in the source's own case.
    pub name: &'a str,
    /// The value before character references are decoded; empty where there is none.
    pub raw_value: &'a str,
}

impl<'a> Attribute<'a> {
    /// Whether the name equals `name`, whatever its case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The value with newlines normalised and character references decoded.
    pub fn value(&self) -> Cow<'a, str> {
        entities::attribute_value(self.raw_value)
    }
}

/// The attributes of one start tag in source order, duplicates included (the first one counts).
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Attributes<'a> {
    /// `source` is the tag's text from behind its name to its `>`, both included.
    pub(crate) fn new(source: &'a str) -> Self {
        Attributes { source, at: 0 }
    }
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        let Step::Attribute { name, value, next } = step(self.source.as_bytes(), self.at) else {
            return None;
        };
        self.at = next;
        let name = self.source.get(name)?;
        let raw_value = self.source.get(value)?;
        Some(Attribute { name, raw_value })
    }
}
