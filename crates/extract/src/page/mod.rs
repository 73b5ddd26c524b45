//! One page of HTML to its links and metadata, in one pass over a tokenizer, without a tree.
//!
//! Knows nothing of scope, robots rules or normalisation: addresses are handed on as found.

mod anchor;
pub(crate) mod elements;
pub(crate) mod foreign;
pub(crate) mod href;
mod links;
mod place;
mod refresh;
mod rel;
pub(crate) mod robots;
mod scan;
pub(crate) mod text;

use std::borrow::Cow;

use trawl_types::{AnchorText, LinkKind, Place};
use url::Url;

use crate::warning::Warning;

pub use rel::Rel;
pub use robots::{MetaRobots, parse_x_robots_tag};

/// How much to take from one page.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits<'a> {
    /// Distinct links to take.
    pub max_links: usize,
    /// Characters of anchor text to keep per link.
    pub max_anchor_chars: usize,
    /// Our crawler's name, for `<meta name="...">` elements meant for it alone.
    pub crawler: &'a str,
}

impl Default for PageLimits<'_> {
    fn default() -> Self {
        PageLimits {
            max_links: 1000,
            max_anchor_chars: 200,
            crawler: "",
        }
    }
}

/// A link to another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink<'p> {
    /// The address as found: character references decoded, whitespace that URL parsing ignores
    /// removed, not resolved. Never of a scheme other than http or https.
    pub href: Cow<'p, str>,
    /// Visible text, or where there is none the images' alternative text, the label or the title.
    pub anchor: AnchorText,
    /// Link types; where a page links an address several times, those that every link has.
    pub rel: Rel,
    /// Where the first link to this address stands.
    pub place: Place,
    /// What makes it a link.
    pub kind: LinkKind,
}

/// A version of the page in another language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternate {
    /// The language as written.
    pub lang: String,
    /// The address as found.
    pub href: String,
}

/// What one page says about itself and where it leads.
#[derive(Clone, Debug)]
pub struct PageFacts<'p> {
    /// What relative addresses are relative to: the page's address or its `<base href>`.
    pub base: Url,
    /// Links in document order, each address once per kind. Links within the page (`#part`) are
    /// none.
    pub links: Vec<PageLink<'p>>,
    /// All links of the page, repeated ones and those left out included.
    pub links_total: u32,
    /// Whether the page has more distinct links than the limit.
    pub links_truncated: bool,
    /// `<title>`, or else the OpenGraph title.
    pub title: Option<Box<str>>,
    /// `<meta name="description">`, or else the OpenGraph description.
    pub description: Option<Box<str>>,
    /// The first `<link rel="canonical">`, absolute.
    pub canonical: Option<Url>,
    /// What the page asks of robots.
    pub robots: MetaRobots,
    /// `<html lang>`
    pub lang: Option<Box<str>>,
    /// `<meta name="generator">`
    pub generator: Option<Box<str>>,
    /// RSS and Atom feeds as found; at most 16.
    pub feeds: Vec<String>,
    /// Versions in other languages; at most 64.
    pub alternates: Vec<Alternate>,
    /// What went not quite right.
    pub warnings: Vec<Warning>,
}

impl<'p> PageFacts<'p> {
    /// Facts that outlive the page's text, and the links, which do not.
    pub fn apart(self) -> (PageFacts<'static>, Vec<PageLink<'p>>) {
        let facts = PageFacts {
            base: self.base,
            links: Vec::new(),
            links_total: self.links_total,
            links_truncated: self.links_truncated,
            title: self.title,
            description: self.description,
            canonical: self.canonical,
            robots: self.robots,
            lang: self.lang,
            generator: self.generator,
            feeds: self.feeds,
            alternates: self.alternates,
            warnings: self.warnings,
        };
        (facts, self.links)
    }

    /// The absolute http(s) address of a link.
    pub fn resolve(&self, href: &str) -> Option<Url> {
        href::resolve(&self.base, href)
    }
}

/// Reads a page. `base` is the address the page was got from, after redirects.
pub fn page<'p>(html: &'p str, base: &Url, limits: PageLimits<'_>) -> PageFacts<'p> {
    scan::Scan::new(base, limits).run(html)
}
