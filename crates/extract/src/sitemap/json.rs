//! JSON feeds as lists of addresses.

use serde::Deserialize;

use super::{Found, Sitemap, SitemapEntry, SitemapLimits};
use crate::warning::Warning;

/// What matters of a feed; the rest is read past without being kept.
#[derive(Deserialize)]
struct Feed {
    version: Option<String>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    url: Option<String>,
    external_url: Option<String>,
    date_modified: Option<String>,
    date_published: Option<String>,
}

/// Reads a feed by <https://www.jsonfeed.org/version/1.1/>.
pub(super) fn read(text: &str, limits: SitemapLimits, sitemap: &mut Sitemap) {
    let feed = match serde_json::from_str::<Feed>(text) {
        Ok(feed) if feed.version.as_deref().is_some_and(is_feed_version) => feed,
        Err(_) if text.get(..200.min(text.len())).is_some_and(is_feed_version) => {
            return sitemap.warn(Warning::SitemapMalformed);
        }
        _ => return sitemap.warn(Warning::NotASitemap),
    };
    for item in feed.items {
        let Some(loc) = item.url.or(item.external_url) else {
            continue;
        };
        let lastmod = item.date_modified.or(item.date_published);
        let entry = SitemapEntry {
            loc: loc.trim().to_owned(),
            lastmod: lastmod.map(String::into_boxed_str),
            ..SitemapEntry::default()
        };
        if !sitemap.take(Found::Page(entry), limits) {
            return;
        }
    }
}

fn is_feed_version(text: &str) -> bool {
    text.contains("jsonfeed.org/version")
}
