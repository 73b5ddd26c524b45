//! The text of the link that is open at the moment.

use super::text::{TextCollector, collapse};
use crate::html::{Attribute, entities};
use trawl_types::AnchorText;

/// An open `<a>` whose text is wanted, and what can stand in for the text.
#[derive(Debug)]
pub(crate) struct OpenAnchor<'a> {
    link: Option<usize>,
    text: TextCollector,
    /// Alternative text of images, and text inside SVG.
    instead: TextCollector,
    label: Option<Attribute<'a>>,
    limit: usize,
}

impl<'a> OpenAnchor<'a> {
    pub(crate) fn new(limit: usize) -> Self {
        let (text, instead) = (TextCollector::new(limit), TextCollector::new(limit));
        OpenAnchor {
            link: None,
            text,
            instead,
            label: None,
            limit,
        }
    }

    pub(crate) fn open(&mut self, link: usize, label: Option<Attribute<'a>>) {
        self.link = Some(link);
        self.text.clear();
        self.instead.clear();
        self.label = label;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.link.is_some()
    }

    /// Text whose character references are not decoded yet.
    pub(crate) fn push(&mut self, raw: &str, visible: bool) {
        let collector = if visible {
            &mut self.text
        } else {
            &mut self.instead
        };
        if !collector.is_full() {
            collector.push(&entities::text(raw));
        }
    }

    /// An image's alternative text.
    pub(crate) fn push_alternative(&mut self, alt: &str) {
        self.text.space();
        if !self.instead.is_full() {
            self.instead.space();
            self.instead.push(alt);
        }
    }

    /// A tag that separates words.
    pub(crate) fn space(&mut self) {
        self.text.space();
        self.instead.space();
    }

    /// The link and its text, if a link was open.
    pub(crate) fn close(&mut self) -> Option<(usize, AnchorText)> {
        let link = self.link.take()?;
        let anchor = if !self.text.is_empty() {
            AnchorText::from(self.text.collected())
        } else if !self.instead.is_empty() {
            AnchorText::from(self.instead.collected())
        } else {
            self.label
                .map(|label| AnchorText::from(&*collapse(&label.value(), self.limit)))
                .unwrap_or_default()
        };
        Some((link, anchor))
    }
}
