//! Sitemaps of a host: true ones in each format, and broken ones.

use std::fmt::Write as _;

use http::HeaderValue;

use super::encoding::Coding;
use crate::paths::path_of;
use crate::reply::{Ask, Reply};
use crate::site::Site;

/// Pages in each part of an index.
const PART: u32 = 500;
/// Most entries that a sitemap may have.
const MOST: u32 = 50_000;

/// Kinds of sitemaps.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SitemapKind {
    /// All pages of the host, as XML.
    UrlSet,
    /// An index of parts, `/sitemap-part-<n>.xml`, which every host has.
    Index,
    /// One of those parts.
    Part(u32),
    /// The first kind as a gzip file.
    Gzip,
    /// One address on each line.
    Text,
    /// XML that breaks off, with wrong entities before.
    Malformed,
    /// An index that lists itself.
    IndexOfItself,
    /// Entities that unfold without end.
    EntityBomb,
    /// Entries of other hosts, other schemes, and nonsense.
    Foreign,
    /// Written by the test.
    Custom(String),
}

impl SitemapKind {
    /// The sitemap that every host has under this path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Some(match path {
            "/sitemap.xml" => Self::UrlSet,
            "/sitemap-index.xml" => Self::Index,
            "/sitemap.xml.gz" => Self::Gzip,
            "/sitemap.txt" => Self::Text,
            _ => {
                let number = path.strip_prefix("/sitemap-part-")?.strip_suffix(".xml")?;
                Self::Part(number.parse().ok()?)
            }
        })
    }

    pub(crate) fn reply(&self, ask: &Ask<'_>, site: &Site) -> Reply {
        let origin = format!("{}://{}", ask.scheme(), ask.authority);
        let pages = site.renderer.rule.layout.pages_on(ask.site.host);
        match self {
            Self::UrlSet => xml(url_set(&origin, 0, pages.min(MOST))),
            Self::Part(part) => {
                let start = part.saturating_mul(PART);
                xml(url_set(
                    &origin,
                    start,
                    pages.min(start.saturating_add(PART)),
                ))
            }
            Self::Index => xml(index(&origin, pages.div_ceil(PART))),
            Self::Gzip => {
                match Coding::Gzip.encode(url_set(&origin, 0, pages.min(MOST)).as_bytes()) {
                    Ok(packed) => {
                        Reply::typed(HeaderValue::from_static("application/gzip"), packed)
                    }
                    Err(_) => Reply::status(500),
                }
            }
            Self::Text => {
                let lines = (0..pages.min(MOST)).fold(String::new(), |mut out, local| {
                    let _ = writeln!(out, "{origin}{}", path_of(local));
                    out
                });
                Reply::typed(HeaderValue::from_static("text/plain; charset=utf-8"), lines)
            }
            Self::Malformed => xml(format!(
                "{OPEN}<url><loc>{origin}/p/1</loc></url><url><loc>{origin}/p/2?a=1&b=&nope;</loc></url><url><loc>{origin}/p/3"
            )),
            Self::IndexOfItself => xml(format!(
                "{INDEX_OPEN}<sitemap><loc>{origin}{}</loc></sitemap></sitemapindex>",
                ask.path()
            )),
            Self::EntityBomb => xml(entity_bomb()),
            Self::Foreign => xml(format!(
                "{OPEN}<url><loc>http://10.0.0.1/secret</loc></url><url><loc>file:///etc/passwd</loc></url>\
                 <url><loc>not an address</loc></url><url><loc></loc></url><url><loc> {origin}/p/1 </loc></url></urlset>"
            )),
            Self::Custom(text) => xml(text.clone()),
        }
    }
}

const OPEN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                    <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
const INDEX_OPEN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                          <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";

fn xml(text: String) -> Reply {
    Reply::typed(HeaderValue::from_static("application/xml"), text)
}

fn url_set(origin: &str, from: u32, to: u32) -> String {
    let mut out = OPEN.to_owned();
    for local in from..to {
        let _ = writeln!(
            out,
            "<url><loc>{origin}{}</loc><lastmod>2026-01-{:02}</lastmod><priority>0.{}</priority></url>",
            path_of(local),
            local % 28 + 1,
            local % 10
        );
    }
    out.push_str("</urlset>\n");
    out
}

fn index(origin: &str, parts: u32) -> String {
    let mut out = INDEX_OPEN.to_owned();
    for part in 0..parts {
        let _ = writeln!(
            out,
            "<sitemap><loc>{origin}/sitemap-part-{part}.xml</loc></sitemap>"
        );
    }
    out.push_str("</sitemapindex>\n");
    out
}

fn entity_bomb() -> String {
    let mut out =
        String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE urlset [\n<!ENTITY e0 \"ha\">\n");
    for n in 1..30 {
        let _ = writeln!(out, "<!ENTITY e{n} \"&e{0};&e{0};&e{0};&e{0};\">", n - 1);
    }
    out.push_str("]>\n<urlset><url><loc>&e29;</loc></url></urlset>\n");
    out
}
