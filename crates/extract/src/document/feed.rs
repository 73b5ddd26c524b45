//! A feed to Markdown: a section for each entry, with its address, date and text.

use std::fmt::Write as _;

use serde::Serialize;
use url::Url;

use super::{DocumentKind, MAX_TEXT_BYTES, TextDocument};
use crate::markdown::{RenderLimits, render};
use crate::metadata::Date;
use crate::metadata::text::{author, clean, language_tag, push_unique};
use crate::page::href;

const MAX_ENTRIES: usize = 1000;
const MAX_ENTRY_BYTES: usize = 200_000;

/// One entry of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FeedEntry {
    /// Its title.
    pub title: Option<String>,
    /// The page it stands for, absolute.
    pub url: Option<Url>,
    /// Its authors.
    pub authors: Vec<String>,
    /// When it was published.
    pub publish_date: Option<Date>,
    /// When it was last changed.
    pub modified_date: Option<Date>,
    /// Its text or summary, as Markdown.
    pub text: String,
}

/// What was read of an entry or of the feed itself, as written.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) title: String,
    pub(super) link: String,
    pub(super) authors: Vec<String>,
    pub(super) published: String,
    pub(super) updated: String,
    /// The whole text, as HTML.
    pub(super) content: String,
    /// A summary, as HTML.
    pub(super) summary: String,
    pub(super) language: String,
    pub(super) generator: String,
}

/// Puts a document together from a feed's head and entries.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    base: Option<&'a Url>,
    entries: Vec<FeedEntry>,
    text: String,
    pub(super) cut: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(base: Option<&'a Url>) -> Self {
        Builder {
            base,
            entries: Vec::new(),
            text: String::new(),
            cut: false,
        }
    }

    /// Takes an entry; says whether there is room for more.
    pub(super) fn add(&mut self, raw: &Raw) -> bool {
        if self.entries.len() >= MAX_ENTRIES || self.text.len() > MAX_TEXT_BYTES {
            self.cut = true;
            return false;
        }
        let url = self.absolute(&raw.link);
        let html = if raw.content.trim().is_empty() {
            &raw.summary
        } else {
            &raw.content
        };
        let limits = RenderLimits {
            max_content_bytes: MAX_ENTRY_BYTES,
        };
        let mut entry = FeedEntry {
            title: plain(&raw.title),
            text: render(html, url.as_ref().or(self.base), &limits).markdown,
            publish_date: Date::parse(&raw.published),
            modified_date: Date::parse(&raw.updated),
            url,
            authors: Vec::new(),
        };
        for name in raw.authors.iter().filter_map(|name| author(name)) {
            push_unique(&mut entry.authors, name, 16);
        }
        write_entry(&mut self.text, &entry);
        self.entries.push(entry);
        true
    }

    pub(super) fn finish(self, head: &Raw) -> TextDocument {
        let canonical_url = self.absolute(&head.link);
        let title = plain(&head.title);
        let description = plain(&head.summary);
        let mut text = String::new();
        if let Some(title) = &title {
            let _ = writeln!(text, "# {title}\n");
        }
        if let Some(description) = &description {
            let _ = writeln!(text, "{description}\n");
        }
        text.push_str(&self.text);
        text.truncate(text.trim_end().len());
        let mut document = TextDocument::new(DocumentKind::Feed, text);
        document.title = title;
        document.truncated |= self.cut;
        let metadata = &mut document.metadata;
        metadata.canonical_url = canonical_url;
        metadata.description = description;
        metadata.authors = head
            .authors
            .iter()
            .filter_map(|name| author(name))
            .collect();
        metadata.author = metadata.authors.first().cloned();
        metadata.publish_date = Date::parse(&head.published);
        metadata.modified_date = Date::parse(&head.updated);
        metadata.language = language_tag(&head.language);
        metadata.generator = clean(&head.generator);
        metadata.entries = self.entries;
        document
    }

    fn absolute(&self, address: &str) -> Option<Url> {
        let address = address.trim();
        match self.base {
            _ if address.is_empty() || address.len() > href::MAX_HREF_BYTES => None,
            Some(base) => href::resolve(base, address),
            None => Url::parse(address)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https")),
        }
    }
}

/// Text that may be HTML, without it.
fn plain(html: &str) -> Option<String> {
    if !html.contains(['<', '&']) {
        return clean(html);
    }
    clean(&render(html, None, &RenderLimits::default()).text)
}

fn write_entry(text: &mut String, entry: &FeedEntry) {
    let title = entry.title.as_deref().unwrap_or("Untitled");
    let _ = match &entry.url {
        Some(url) => writeln!(text, "## [{}]({url})\n", title.replace(['[', ']'], "")),
        None => writeln!(text, "## {title}\n"),
    };
    if let Some(date) = entry.publish_date.or(entry.modified_date) {
        let _ = writeln!(text, "{date}\n");
    }
    if !entry.text.is_empty() {
        let _ = writeln!(text, "{}\n", entry.text);
    }
}
