//! The links of a page as one text, `[[dst,kind,rel,place,"anchor"],...]` in document order: JSON,
//! so that every SQLite shell can read it. Written by hand, for this is done for every page; knows
//! nothing of tables.

use std::ops::Range;

use serde::Deserialize;
use trawl_types::{AnchorText, LinkKind, LinkRel, PageId, Place};

use crate::contract::{StoreError, write::NewLink};

/// A text under way. Its memory is used again for the next page.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkText {
    /// A comma before each link: what stands between two links can be copied elsewhere.
    json: Vec<u8>,
    links: u64,
}

impl LinkText {
    pub(crate) fn clear(&mut self) {
        self.json.clear();
        self.links = 0;
    }

    pub(crate) fn push_link(&mut self, to: PageId, link: &NewLink) {
        self.push(to, link.kind, link.rel, link.place, &link.anchor);
    }

    pub(crate) fn push(
        &mut self,
        to: PageId,
        kind: LinkKind,
        rel: LinkRel,
        place: Place,
        anchor: &AnchorText,
    ) {
        let mut head = Head::default();
        for code in [place as u8, rel.0, kind as u8] {
            head.before(b',');
            head.number_before(u64::from(code));
        }
        head.before(b',');
        head.number_before(to.0.unsigned_abs());
        head.before(b'[');
        head.before(b',');
        self.json.extend_from_slice(head.text());
        push_string(&mut self.json, anchor.as_bytes());
        self.json.push(b']');
        self.links += 1;
    }

    /// Takes memory for so many links of usual length.
    pub(crate) fn make_room(&mut self, links: usize) {
        self.json.reserve(links * 40);
    }

    /// Adds so many links of another text, which stand at these bytes of it.
    pub(crate) fn copy(&mut self, other: &Self, bytes: Range<usize>, links: usize) {
        self.json
            .extend_from_slice(other.json.get(bytes).unwrap_or_default());
        self.links += links as u64;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.json.len()
    }

    /// How many links it holds.
    pub(crate) fn links(&self) -> u64 {
        self.links
    }

    /// The whole text; nothing may be added before it is cleared.
    pub(crate) fn finish(&mut self) -> &str {
        match self.json.first_mut() {
            Some(first) => *first = b'[',
            None => self.json.push(b'['),
        }
        self.json.push(b']');
        // Put together of nothing but valid text.
        std::str::from_utf8(&self.json).unwrap_or("[]")
    }
}

/// The numbers of a link, written from the last to the first, as digits come.
#[derive(Debug)]
struct Head {
    bytes: [u8; Head::LONGEST],
    from: usize,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            bytes: [0; Self::LONGEST],
            from: Self::LONGEST,
        }
    }
}

impl Head {
    /// Two brackets, a number of twenty digits, three of three, four commas.
    const LONGEST: usize = 2 + 20 + 3 * 3 + 4;

    fn before(&mut self, byte: u8) {
        self.from -= 1;
        self.bytes[self.from] = byte;
    }

    fn number_before(&mut self, mut number: u64) {
        while number >= 10 {
            self.before(b'0' + (number % 10) as u8);
            number /= 10;
        }
        self.before(b'0' + number as u8);
    }

    fn text(&self) -> &[u8] {
        &self.bytes[self.from..]
    }
}

/// The text of a string, as bytes: it need not be looked at twice.
fn push_string(json: &mut Vec<u8>, text: &[u8]) {
    // Counted to the end: this way the compiler looks at many bytes at once.
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    if text.iter().filter(|byte| is_special(byte)).count() > 0 {
        let text = std::str::from_utf8(text).unwrap_or_default();
        json.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
    } else {
        json.reserve(text.len() + 3);
        json.push(b'"');
        json.extend_from_slice(text);
        json.push(b'"');
    }
}

/// One link of a text: target, kind, rel, place, and of the anchor what is asked for.
pub(crate) type Entry<Anchor> = (i64, u8, u8, u8, Anchor);

pub(crate) fn parse<'t, Anchor: Deserialize<'t>>(
    json: &'t str,
) -> Result<Vec<Entry<Anchor>>, StoreError> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::Database(format!("a list of links cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use trawl_types::UrlKey;

    use crate::contract::target::LinkTarget;

    use super::*;

    fn link(anchor: &str) -> NewLink {
        NewLink {
            target: LinkTarget::new(
                "https://a.test/",
                "a.test",
                UrlKey { host: 1, url: 2 },
                Ok(0),
            ),
            kind: LinkKind::Redirect,
            rel: LinkRel(5),
            place: Place::Footer,
            anchor: anchor.into(),
            chain: Vec::new(),
            mark: None,
        }
    }

    #[test]
    fn a_text_is_compact_and_in_document_order() {
        let mut text = LinkText::default();
        text.push_link(PageId(90), &link("one"));
        text.push_link(PageId(7), &link("two"));
        assert_eq!(text.finish(), r#"[[90,2,5,4,"one"],[7,2,5,4,"two"]]"#);
        assert_eq!(text.links(), 2);
        text.clear();
        assert_eq!(text.finish(), "[]");
    }

    #[test]
    fn whatever_is_written_is_read() {
        let mut text = LinkText::default();
        let anchors = [
            "",
            "\"\\",
            "\0\u{1f}\r\n",
            "é\u{2028}\u{10ffff}",
            "</script>",
        ];
        let pages = [0, 1, 10, 99, i64::MAX];
        for (anchor, page) in anchors.iter().zip(pages) {
            text.push_link(PageId(page), &link(anchor));
        }
        let read: Vec<Entry<String>> = parse(text.finish()).unwrap();
        let expected = anchors.iter().zip(pages);
        let expected = expected.map(|(anchor, page)| (page, 2, 5, 4, (*anchor).to_owned()));
        assert_eq!(read, expected.collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_list_of_links_is_an_error() {
        for json in ["", "[", "[[1,2,3]]", "[[1,2,3,400,\"\"]]", "{}"] {
            parse::<String>(json).unwrap_err();
        }
    }
}
