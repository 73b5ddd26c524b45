//! What a page says about itself: title, authors, dates, licence, structured data, and what it
//! asks of robots and of AI.
//!
//! One pass over a tokenizer, no tree. Takes nothing from running text: a date that only stands in
//! a sentence is not found. Knows nothing of links to follow; that is `page`.

mod assemble;
mod date;
mod date_words;
mod item_refs;
mod json_ld;
mod link_header;
mod microdata;
mod scan;
mod schema;
pub(crate) mod text;
mod title;
mod usage;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use url::Url;

use crate::page::MetaRobots;
use crate::warning::Warning;

pub use date::Date;
pub use usage::AiUsage;

/// What is known of a page besides its text: headers of its response, lines of robots.txt.
#[derive(Clone, Debug, Default)]
pub struct Hints<'a> {
    /// Our crawler's name, for directives meant for it alone.
    pub crawler: &'a str,
    /// `X-Robots-Tag` headers.
    pub x_robots_tag: Vec<&'a str>,
    /// `Content-Signal` and `Content-Usage` headers, and such lines of robots.txt as hold here.
    pub content_signal: Vec<&'a str>,
    /// `Link` headers.
    pub link: Vec<&'a str>,
    /// `Content-Language`
    pub content_language: Option<&'a str>,
    /// `Last-Modified`; recorded apart, because it often is the time of the request.
    pub last_modified: Option<&'a str>,
    /// `TDM-Reservation`
    pub tdm_reservation: Option<&'a str>,
    /// `TDM-Policy`
    pub tdm_policy: Option<&'a str>,
}

/// A feed of the page or its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Feed {
    /// The address, absolute.
    pub url: Url,
    /// What the page calls it.
    pub title: Option<String>,
    /// `application/rss+xml`, `application/atom+xml` or `application/feed+json`.
    pub media_type: String,
}

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// The page's title without the site's name, where that can be told.
    pub title: Option<String>,
    /// `<title>` as written.
    pub title_tag: Option<String>,
    /// A description in one or a few sentences.
    pub description: Option<String>,
    /// The first of the authors.
    pub author: Option<String>,
    /// All authors.
    pub authors: Vec<String>,
    /// When the page was published.
    pub publish_date: Option<Date>,
    /// When the page was last changed, by its own word.
    pub modified_date: Option<Date>,
    /// The `Last-Modified` header.
    pub last_modified: Option<Date>,
    /// Keywords and tags.
    pub keywords: Vec<String>,
    /// The address the page wants to be known by, absolute.
    pub canonical_url: Option<Url>,
    /// The picture that stands for the page, absolute.
    pub og_image: Option<Url>,
    /// The name of the site.
    pub site_name: Option<String>,
    /// The kind of page by OpenGraph, such as `article`.
    pub page_type: Option<String>,
    /// The language the page says it is in, as a BCP 47 tag.
    pub language: Option<String>,
    /// The address or name of the licence.
    pub license: Option<String>,
    /// RSS, Atom and JSON feeds.
    pub feeds: Vec<Feed>,
    /// The site's icon, absolute.
    pub favicon: Option<Url>,
    /// The program that made the page.
    pub generator: Option<String>,
    /// What the page and its headers ask of robots.
    #[serde(serialize_with = "as_directives")]
    pub robots: MetaRobots,
    /// What the page, its headers and robots.txt allow AI to do with it.
    pub ai_usage: AiUsage,
    /// JSON-LD values in document order.
    pub json_ld: Vec<Value>,
    /// OpenGraph properties (`og:`, `article:` and the like); repeated ones as lists.
    pub open_graph: Map<String, Value>,
    /// Twitter card properties.
    pub twitter: Map<String, Value>,
    /// Microdata items: `type`, `id` and `properties`, as the HTML standard writes them.
    pub microdata: Vec<Value>,
    /// What went not quite right.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

fn as_directives<S: Serializer>(robots: &MetaRobots, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(robots)
}

/// Reads a page's metadata. `base` is the address the page was got from, after redirects; without
/// it relative addresses are left out.
pub fn metadata(html: &str, base: Option<&Url>, hints: &Hints<'_>) -> Metadata {
    assemble::assemble(scan::scan(html), base, hints)
}
