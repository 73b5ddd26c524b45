//! Sitemaps, sitemap indexes, RSS, Atom and JSON feeds, and plain lists of addresses, packed or not.
//!
//! Streams over the document without building a tree and without expanding entities of its own
//! making. Fetches nothing: whoever asks for the children decides whether they may be asked for.

mod fields;
mod json;
mod unpack;
mod xml;

use crate::charset;
use crate::metadata::Date;
use crate::page::href::{self, MAX_HREF_BYTES};
use crate::warning::{Warning, warn_once};

/// How much to take from one sitemap; the defaults are the protocol's own limits.
#[derive(Clone, Copy, Debug)]
pub struct SitemapLimits {
    /// Addresses, children included.
    pub max_urls: usize,
    /// Bytes after unpacking.
    pub max_bytes: usize,
}

impl Default for SitemapLimits {
    fn default() -> Self {
        SitemapLimits {
            max_urls: 50_000,
            max_bytes: 50 * 1024 * 1024,
        }
    }
}

/// How often a page is said to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeFrequency {
    /// `always`
    Always,
    /// `hourly`
    Hourly,
    /// `daily`
    Daily,
    /// `weekly`
    Weekly,
    /// `monthly`
    Monthly,
    /// `yearly`
    Yearly,
    /// `never`
    Never,
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SitemapEntry {
    /// The address as written, whitespace removed; never of a scheme other than http or https.
    pub loc: String,
    /// The date of the last change as written.
    pub lastmod: Option<Box<str>>,
    /// From 0 to 1.
    pub priority: Option<f32>,
    /// How often the page is said to change.
    pub changefreq: Option<ChangeFrequency>,
}

impl SitemapEntry {
    /// The date of the last change, if it can be read.
    pub fn lastmod_date(&self) -> Option<Date> {
        self.lastmod.as_deref().and_then(Date::parse)
    }
}

/// Another sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapChild {
    /// The address as written.
    pub loc: String,
    /// The date of the last change as written.
    pub lastmod: Option<Box<str>>,
}

impl SitemapChild {
    /// The date of the last change, if it can be read.
    pub fn lastmod_date(&self) -> Option<Date> {
        self.lastmod.as_deref().and_then(Date::parse)
    }
}

/// What a sitemap holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sitemap {
    /// Pages in document order.
    pub entries: Vec<SitemapEntry>,
    /// Further sitemaps.
    pub children: Vec<SitemapChild>,
    /// What went not quite right.
    pub warnings: Vec<Warning>,
}

impl Sitemap {
    /// Reads a sitemap of any of the known kinds, gzip-packed or not.
    pub fn parse(bytes: &[u8], limits: SitemapLimits) -> Sitemap {
        let mut sitemap = Sitemap::default();
        let unpacked = unpack::unpack(bytes, limits.max_bytes, &mut sitemap.warnings);
        let decoded = charset::decode(&unpacked, None, None);
        let text = decoded.text.trim_start();
        if text.starts_with('<') {
            xml::read(text, limits, &mut sitemap);
        } else if text.starts_with('{') {
            json::read(text, limits, &mut sitemap);
        } else {
            sitemap.read_lines(text, limits);
        }
        sitemap
    }

    fn read_lines(&mut self, text: &str, limits: SitemapLimits) {
        let mut seen_address = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if !is_absolute(line) {
                self.warn(Warning::SitemapLocationIgnored);
                continue;
            }
            seen_address = true;
            let entry = SitemapEntry {
                loc: line.to_owned(),
                ..SitemapEntry::default()
            };
            if !self.take(Found::Page(entry), limits) {
                return;
            }
        }
        if !seen_address {
            self.warnings
                .retain(|warning| *warning != Warning::SitemapLocationIgnored);
            self.warn(Warning::NotASitemap);
        }
    }

    /// Takes an address; says whether there is room for more.
    fn take(&mut self, found: Found, limits: SitemapLimits) -> bool {
        let loc = found.loc();
        if loc.is_empty() || loc.len() > MAX_HREF_BYTES || !href::is_crawlable(loc) {
            self.warn(Warning::SitemapLocationIgnored);
            return true;
        }
        if self.entries.len() + self.children.len() >= limits.max_urls {
            self.warn(Warning::SitemapTruncated);
            return false;
        }
        match found {
            Found::Page(entry) => self.entries.push(entry),
            Found::Child(child) => self.children.push(child),
        }
        true
    }

    fn warn(&mut self, warning: Warning) {
        warn_once(&mut self.warnings, warning);
    }
}

/// An address on its way into a [`Sitemap`].
enum Found {
    Page(SitemapEntry),
    Child(SitemapChild),
}

impl Found {
    fn loc(&self) -> &str {
        match self {
            Found::Page(entry) => &entry.loc,
            Found::Child(child) => &child.loc,
        }
    }
}

fn is_absolute(line: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        line.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}
