//! The edges of a page as rows of `page_links`, one for each list of links that differs from the
//! one before it: one insert a page, at the right edge of its table.

use rusqlite::{CachedStatement, Connection, params};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::IgnoredAny;
use trawl_types::{CrawlId, LinkKind, LinkRel, PageId, Place};

use super::{
    fault::Fault,
    link_text::{LinkText, parse},
};
use crate::contract::read::StoredLink;

pub(crate) struct LinkLists<'c> {
    add: CachedStatement<'c>,
    extend: CachedStatement<'c>,
    of_page: CachedStatement<'c>,
}

/// What became of a page's edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EdgeCounts {
    /// Never seen before.
    pub(crate) new: u64,
    /// Seen for the first time in this crawl, the new ones among them.
    pub(crate) new_in_crawl: u64,
}

/// A row of `page_links`: the page had these links from one crawl to another.
#[derive(Debug)]
struct List {
    id: i64,
    first_crawl: i64,
    last_crawl: i64,
    links: String,
}

/// Oldest first; in the order of [`lists`].
const OF_PAGE: &str =
    "SELECT id, first_crawl, last_crawl, links FROM page_links WHERE page = ?1 ORDER BY id";

impl<'c> LinkLists<'c> {
    pub(crate) fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            add: conn.prepare_cached(
                "INSERT INTO page_links (page, first_crawl, last_crawl, links)
                 VALUES (?1, ?2, ?2, ?3)",
            )?,
            extend: conn.prepare_cached(
                "UPDATE page_links SET last_crawl = max(last_crawl, ?2) WHERE id = ?1",
            )?,
            of_page: conn.prepare_cached(OF_PAGE)?,
        })
    }

    /// Writes the links of a page, distinct by target. `first` says that the page has no list yet.
    pub(crate) fn write(
        &mut self,
        crawl: CrawlId,
        page: PageId,
        text: &mut LinkText,
        first: bool,
    ) -> Result<EdgeCounts, Fault> {
        let links = text.links();
        if links == 0 {
            return Ok(EdgeCounts::default());
        }
        let json = text.finish();
        let known = if first {
            Vec::new()
        } else {
            lists(&mut self.of_page, page)?
        };
        let counts = match known.as_slice() {
            [] => EdgeCounts {
                new: links,
                new_in_crawl: links,
            },
            known => count(known, crawl, json)?,
        };
        match known.last() {
            Some(last) if last.links == json && last.first_crawl <= crawl.0 => {
                self.extend.execute([last.id, crawl.0])?;
            }
            _ => {
                self.add.execute(params![page.0, crawl.0, json])?;
            }
        }
        Ok(counts)
    }

    /// Where the links that a crawl saw on a page lead.
    pub(crate) fn targets(
        &mut self,
        crawl: CrawlId,
        page: PageId,
    ) -> Result<Vec<(PageId, LinkKind)>, Fault> {
        let mut targets = Vec::new();
        for list in lists(&mut self.of_page, page)? {
            if list.covers(crawl) {
                let links = parse::<IgnoredAny>(&list.links)?;
                let target = |(to, kind)| (PageId(to), LinkKind::from_stored(kind));
                targets.extend(links.iter().map(|link| target((link.0, link.1))));
            }
        }
        Ok(targets)
    }
}

impl List {
    fn covers(&self, crawl: CrawlId) -> bool {
        (self.first_crawl..=self.last_crawl).contains(&crawl.0)
    }
}

fn lists(statement: &mut CachedStatement<'_>, page: PageId) -> rusqlite::Result<Vec<List>> {
    let lists = statement.query_map([page.0], |row| {
        Ok(List {
            id: row.get(0)?,
            first_crawl: row.get(1)?,
            last_crawl: row.get(2)?,
            links: row.get(3)?,
        })
    })?;
    lists.collect()
}

/// How many links of a new list the known ones lack.
fn count(known: &[List], crawl: CrawlId, json: &str) -> Result<EdgeCounts, Fault> {
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

/// Every page that a page has ever linked to, in the order in which they were first seen, with the
/// newest evidence.
pub(crate) fn links_of(conn: &Connection, page: PageId) -> Result<Vec<StoredLink>, Fault> {
    let mut address = conn.prepare_cached("SELECT url FROM urls WHERE id = ?1")?;
    let mut links: Vec<StoredLink> = Vec::new();
    let mut places: FxHashMap<i64, usize> = FxHashMap::default();
    for list in lists(&mut conn.prepare_cached(OF_PAGE)?, page)? {
        for (to, kind, rel, place, anchor) in parse::<String>(&list.links)? {
            let known = places.get(&to).and_then(|at| links.get_mut(*at));
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
            if let Some(known) = known {
                link.url = std::mem::take(&mut known.url);
                link.first_crawl = link.first_crawl.min(known.first_crawl);
                link.last_crawl = link.last_crawl.max(known.last_crawl);
                *known = link;
            } else {
                link.url = address.query_row([to], |row| row.get(0))?;
                places.insert(to, links.len());
                links.push(link);
            }
        }
    }
    Ok(links)
}
