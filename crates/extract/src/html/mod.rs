//! An HTML tokenizer that copies nothing: tags and text as slices of the source.
//!
//! It follows the WHATWG tokenizer for everything that decides where a tag starts, where it ends
//! and which attributes it has. It builds no tree; whoever knows that the parser is inside SVG or
//! MathML says so with [`Tokenizer::set_foreign`]. Scripting is off: `<noscript>` is markup.

mod attributes;
pub(crate) mod classes;
pub(crate) mod entities;
mod markup;
mod names;
mod raw_text;

use memchr::memchr;

pub use attributes::{Attribute, Attributes};
pub(crate) use attributes::{Step, ends_tag_name, is_whitespace, step};
use names::Content;
pub use names::TagKey;

/// A piece of a page.
#[derive(Clone, Debug)]
pub enum Token<'a> {
    /// A start tag.
    Start(StartTag<'a>),
    /// An end tag; its attributes, if any, mean nothing.
    End(EndTag<'a>),
    /// Text whose character references are not yet decoded; also the text of `<title>` and
    /// `<textarea>`.
    Text(&'a str),
    /// The text of `<script>`, `<style>` and other elements without character references.
    RawText(&'a str),
}

/// A start tag.
#[derive(Clone, Debug)]
pub struct StartTag<'a> {
    /// The name in the source's own case.
    pub name: &'a str,
    /// The name as a number.
    pub key: TagKey,
    /// Whether the tag ends in `/>`, which matters only in SVG and MathML.
    pub self_closing: bool,
    attributes: &'a str,
}

impl<'a> StartTag<'a> {
    /// The attributes in source order; of equal names only the first counts.
    pub fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.attributes)
    }
}

/// An end tag.
#[derive(Clone, Debug)]
pub struct EndTag<'a> {
    /// The name in the source's own case.
    pub name: &'a str,
    /// The name as a number.
    pub key: TagKey,
}

/// Reads tokens off a page, front to back, in time linear in its length.
#[derive(Clone, Debug)]
pub struct Tokenizer<'a> {
    source: &'a str,
    at: usize,
    content: Content,
    /// The start tag whose end tag ends the raw text being read.
    raw_name: &'a str,
    foreign: bool,
}

impl<'a> Tokenizer<'a> {
    /// A tokenizer at the start of `source`.
    pub fn new(source: &'a str) -> Self {
        Tokenizer {
            source,
            at: 0,
            content: Content::Data,
            raw_name: "",
            foreign: false,
        }
    }

    /// Says whether the last token left the reader inside SVG or MathML, where no element has raw
    /// text and CDATA sections exist. Call it before asking for the next token.
    pub fn set_foreign(&mut self, foreign: bool) {
        self.foreign = foreign;
        if foreign {
            self.content = Content::Data;
        }
    }

    /// How far the tokenizer has read, in bytes.
    pub fn position(&self) -> usize {
        self.at
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        // Cuts are made beside ASCII bytes only, so the range always is on character boundaries.
        self.source.get(from..to).unwrap_or_default()
    }

    fn raw_text(&mut self) -> Option<Token<'a>> {
        let bytes = self.source.as_bytes();
        let content = std::mem::replace(&mut self.content, Content::Data);
        let end = match content {
            Content::Plaintext | Content::Data => None,
            Content::Script => raw_text::find_script_end(bytes, self.at),
            _ => raw_text::find_end_tag(bytes, self.at, self.raw_name.as_bytes()),
        };
        let text = self.slice(self.at, end.unwrap_or(bytes.len()));
        self.at += text.len();
        match content {
            _ if text.is_empty() => None,
            Content::Rcdata => Some(Token::Text(text)),
            _ => Some(Token::RawText(text)),
        }
    }

    /// The text from here to the next `<` at or after `search_from`.
    fn text(&mut self, search_from: usize) -> Token<'a> {
        let bytes = self.source.as_bytes();
        let end = memchr(b'<', bytes.get(search_from..).unwrap_or_default())
            .map_or(bytes.len(), |offset| search_from + offset);
        let text = self.slice(self.at, end);
        self.at = end;
        Token::Text(text)
    }

    /// Reads a tag name from `start` on; gives its end and its key.
    #[inline]
    fn tag_name(&self, start: usize) -> (usize, TagKey) {
        let bytes = self.source.as_bytes();
        let mut at = start;
        let mut packed: u64 = 0;
        while let Some(&byte) = bytes.get(at) {
            if ends_tag_name(byte) {
                break;
            }
            packed = (packed << 8) | u64::from(byte.to_ascii_lowercase());
            at += 1;
        }
        if at - start > 8 {
            (at, TagKey::of_long(&bytes[start..at]))
        } else {
            (at, TagKey::of_packed(packed))
        }
    }

    /// Finds the end of the tag whose name ended at `at`: the position behind it.
    #[inline]
    fn tag_end(&self, mut at: usize) -> Option<(usize, bool)> {
        let bytes = self.source.as_bytes();
        loop {
            match step(bytes, at) {
                Step::Attribute { next, .. } => at = next,
                Step::End { next, self_closing } => return Some((next, self_closing)),
                Step::Eof => return None,
            }
        }
    }

    #[inline]
    fn start_tag(&mut self) -> Option<Token<'a>> {
        let name_start = self.at + 1;
        let (name_end, key) = self.tag_name(name_start);
        let Some((end, self_closing)) = self.tag_end(name_end) else {
            self.at = self.source.len();
            return None;
        };
        let name = self.slice(name_start, name_end);
        self.at = end;
        if !self.foreign {
            self.content = key.content();
            self.raw_name = name;
        }
        let attributes = self.slice(name_end, end);
        Some(Token::Start(StartTag {
            name,
            key,
            self_closing,
            attributes,
        }))
    }

    fn end_tag(&mut self) -> Option<Token<'a>> {
        let name_start = self.at + 2;
        let (name_end, key) = self.tag_name(name_start);
        let Some((end, _)) = self.tag_end(name_end) else {
            self.at = self.source.len();
            return None;
        };
        self.at = end;
        Some(Token::End(EndTag {
            name: self.slice(name_start, name_end),
            key,
        }))
    }
}

impl<'a> Iterator for Tokenizer<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        if self.content != Content::Data
            && let Some(token) = self.raw_text()
        {
            return Some(token);
        }
        let bytes = self.source.as_bytes();
        loop {
            if *bytes.get(self.at)? != b'<' {
                return Some(self.text(self.at));
            }
            match bytes.get(self.at + 1) {
                Some(byte) if byte.is_ascii_alphabetic() => return self.start_tag(),
                Some(b'!' | b'?') => {
                    self.at = markup::skip_declaration(bytes, self.at, self.foreign);
                }
                Some(b'/') => match bytes.get(self.at + 2) {
                    Some(byte) if byte.is_ascii_alphabetic() => return self.end_tag(),
                    Some(_) => self.at = markup::skip_bogus_comment(bytes, self.at),
                    None => return Some(self.text(self.at + 1)),
                },
                _ => return Some(self.text(self.at + 1)),
            }
        }
    }
}
