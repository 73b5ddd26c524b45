//! Lists of links that a page had from one crawl to another, whichever database they come from.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::IgnoredAny;
use trawl_types::{CrawlId, LinkKind, LinkRel, PageId, Place};

use super::link_text::parse;
use crate::contract::{StoreError, read::StoredLink};

/// A row of `page_links`.
#[derive(Debug)]
pub(crate) struct LinkList {
    pub(crate) id: i64,
    pub(crate) first_crawl: i64,
    pub(crate) last_crawl: i64,
    pub(crate) links: String,
}

/// What becomes of a page's edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EdgeCounts {
    /// Never seen before.
    pub(crate) new: u64,
    /// Seen for the first time in this crawl, the new ones among them.
    pub(crate) new_in_crawl: u64,
}

impl LinkList {
    fn covers(&self, crawl: CrawlId) -> bool {
        (self.first_crawl..=self.last_crawl).contains(&crawl.0)
    }

    /// A crawl that saw these links may say so by moving `last_crawl`.
    pub(crate) fn may_extend(&self, crawl: CrawlId, json: &str) -> bool {
        self.links == json && self.first_crawl <= crawl.0
    }

    /// Where the links lead, if the crawl saw them.
    pub(crate) fn targets(&self, crawl: CrawlId) -> Result<Vec<(PageId, LinkKind)>, StoreError> {
        if !self.covers(crawl) {
            return Ok(Vec::new());
        }
        let links = parse::<IgnoredAny>(&self.links)?;
        let targets = links
            .into_iter()
            .map(|(to, kind, ..)| (PageId(to), LinkKind::from_stored(kind)));
        Ok(targets.collect())
    }
}

/// How many of the `links` in a new list the known ones lack.
pub(crate) fn count(
    known: &[LinkList],
    crawl: CrawlId,
    json: &str,
    links: u64,
) -> Result<EdgeCounts, StoreError> {
    if known.is_empty() {
        return Ok(EdgeCounts {
            new: links,
            new_in_crawl: links,
        });
    }
    let (mut ever, mut in_crawl) = (FxHashSet::default(), FxHashSet::default());
    for list in known {
        let covers = list.covers(crawl);
        for (to, ..) in parse::<IgnoredAny>(&list.links)? {
            ever.insert(to);
            if covers {
                in_crawl.insert(to);
            }
        }
    }
    let mut counts = EdgeCounts::default();
    for (to, ..) in parse::<IgnoredAny>(json)? {
        counts.new += u64::from(!ever.contains(&to));
        counts.new_in_crawl += u64::from(!in_crawl.contains(&to));
    }
    Ok(counts)
}

/// Every page that the lists of a page have ever named, in the order in which they were first seen,
/// with the newest evidence. Their addresses are still to be looked up.
pub(crate) fn merged(lists: &[LinkList]) -> Result<Vec<StoredLink>, StoreError> {
    let mut links: Vec<StoredLink> = Vec::new();
    let mut places: FxHashMap<i64, usize> = FxHashMap::default();
    for list in lists {
        for (to, kind, rel, place, anchor) in parse::<String>(&list.links)? {
            let mut link = StoredLink {
                to: PageId(to),
                url: String::new(),
                kind: LinkKind::from_stored(kind),
                rel: LinkRel(rel),
                place: Place::from_stored(place),
                anchor,
                first_crawl: CrawlId(list.first_crawl),
                last_crawl: CrawlId(list.last_crawl),
            };
            if let Some(known) = places.get(&to).and_then(|at| links.get_mut(*at)) {
                link.first_crawl = link.first_crawl.min(known.first_crawl);
                link.last_crawl = link.last_crawl.max(known.last_crawl);
                *known = link;
            } else {
                places.insert(to, links.len());
                links.push(link);
            }
        }
    }
    Ok(links)
}
