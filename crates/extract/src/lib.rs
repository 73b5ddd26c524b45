//! Bytes to charset, links, metadata, sitemaps: never fails, gives a value and warnings.
//!
//! A crate of its own because it is pure: no I/O, no runtime, no clock, no randomness. Everything
//! it reads is hostile, so every pass is linear, every result bounded, and nothing recurses.
//!
//! In reading order:
//! - [`charset`]: bytes to text, as browsers decide it.
//! - [`content`]: the main content of a page, without what frames it.
//! - [`html`]: text to tags, without copying and without a tree.
//! - `page` ([`page()`], [`PageFacts`]): tags to links and metadata.
//! - [`metadata`]: what a page says about itself.
//! - [`markdown`]: a page or its main content to Markdown and readable text.
//! - [`chunk`]: Markdown to chunks for search.
//! - [`sitemap`]: sitemaps, feeds and lists of addresses.
//! - [`document`]: PDF, plain text, Markdown and feeds to text.
//! - [`language`]: which language a text is in, how many words it has.
//! - [`fingerprint`]: equal content has equal hashes, nearly equal content is found.
//! - `extraction` ([`extract`], [`Extracted`]): all of it together, for any kind of document.
//! - `page_content` ([`page_content`]): what a crawl would have kept, made of a body afterwards.
//! - `warning` ([`Warning`]): what went not quite right.

pub mod charset;
pub mod chunk;
pub mod content;
pub mod document;
pub mod html;
pub mod language;
pub mod markdown;
pub mod metadata;
pub mod sitemap;

mod extraction;
pub mod fingerprint;
mod page;
mod page_content;
mod warning;

pub use extraction::{
    Extracted, Extraction, HexFingerprint, Source, Unreadable, extract, page as extract_page,
};
pub use fingerprint::content_hash;
pub use page::{
    Alternate, MetaRobots, PageFacts, PageLimits, PageLink, Rel, page, parse_x_robots_tag,
};
pub use page_content::page_content;
pub use warning::Warning;
