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
    fn may_extend(&self, crawl: CrawlId, json: &str) -> bool {
        self.links == json && self.first_crawl <= crawl.0
    }

    /// Where the links lead, if the crawl saw them.
    pub(crate) fn targets(&self, crawl: CrawlId) -> Result<Vec<(PageId, LinkKind)>, StoreError> {
        if !self.covers(crawl) {
            return Ok(Vec::new());
        }
        let links = parse::<IgnoredAny>(&self.links)?.into_iter();
        Ok(links
            .map(|(to, kind, ..)| (PageId(to), LinkKind::from_stored(kind)))
            .collect())
    }
}

/// How a list that a crawl saw is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// By a row of its own.
    Added,
    /// By the row with this number, which holds the same.
    Extended(i64),
    /// Not at all: a page without links that never had any.
    Left,
}

/// How a list of so many links becomes part of the known ones. A page that has lost its links gets an
/// empty list: otherwise those that it had would seem to be there still.
pub(crate) fn recorded(known: &[LinkList], crawl: CrawlId, json: &str, links: u64) -> Recorded {
    match known.last() {
        Some(last) if last.may_extend(crawl, json) => Recorded::Extended(last.id),
        None if links == 0 => Recorded::Left,
        _ => Recorded::Added,
    }
}

/// How many of the `links` in a new list the known ones lack.
pub(crate) fn count(
    known: &[LinkList],
    crawl: CrawlId,
    json: &str,
    links: u64,
) -> Result<EdgeCounts, StoreError> {
    if known.is_empty() || links == 0 {
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

/// The links that a crawl saw on a page, in document order: of several lists of the crawl the newest.
/// When they were seen comes from all lists. Their addresses are still to be looked up.
pub(crate) fn seen_by(crawl: CrawlId, lists: &[LinkList]) -> Result<Vec<StoredLink>, StoreError> {
    let Some(list) = lists.iter().rev().find(|list| list.covers(crawl)) else {
        return Ok(Vec::new());
    };
    let lives = lives(lists)?;
    let links = parse::<String>(&list.links)?.into_iter();
    let link = |(to, kind, rel, place, anchor)| {
        let (since, until) = lives.get(&to).copied().unwrap_or((crawl.0, crawl.0));
        StoredLink {
            to: PageId(to),
            url: String::new(),
            kind: LinkKind::from_stored(kind),
            rel: LinkRel(rel),
            place: Place::from_stored(place),
            anchor,
            first_crawl: CrawlId(since),
            last_crawl: CrawlId(until),
        }
    };
    Ok(links.map(link).collect())
}

/// The first and the last crawl that saw each target.
fn lives(lists: &[LinkList]) -> Result<FxHashMap<i64, (i64, i64)>, StoreError> {
    let mut lives = FxHashMap::default();
    for list in lists {
        for (to, ..) in parse::<IgnoredAny>(&list.links)? {
            let life = lives
                .entry(to)
                .or_insert((list.first_crawl, list.last_crawl));
            life.0 = life.0.min(list.first_crawl);
            life.1 = life.1.max(list.last_crawl);
        }
    }
    Ok(lives)
}
