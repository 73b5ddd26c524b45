//! The edges of a page as rows of `page_links`, one for each list of links that differs from the one
//! before it.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::IgnoredAny;
use tokio_postgres::Row;
use trawl_types::{CrawlId, LinkKind, LinkRel, PageId, Place};

use super::{fault::Fault, pool::Conn, reader};
use crate::{contract::read::StoredLink, shared::link_text::parse};

/// A row of `page_links`: a page had these links from one crawl to another.
#[derive(Debug)]
pub(super) struct List {
    pub(super) id: i64,
    page: i64,
    first_crawl: i64,
    last_crawl: i64,
    links: String,
}

/// What becomes of a page's edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EdgeCounts {
    /// Never seen before.
    pub(super) new: u64,
    /// Seen for the first time in this crawl, the new ones among them.
    pub(super) new_in_crawl: u64,
}

impl List {
    fn covers(&self, crawl: CrawlId) -> bool {
        (self.first_crawl..=self.last_crawl).contains(&crawl.0)
    }

    /// A crawl that saw these links may say so by moving `last_crawl`.
    pub(super) fn may_extend(&self, crawl: CrawlId, json: &str) -> bool {
        self.links == json && self.first_crawl <= crawl.0
    }
}

/// The lists of pages, oldest first, by page.
pub(super) async fn lists(conn: &Conn, pages: &[i64]) -> Result<FxHashMap<i64, Vec<List>>, Fault> {
    let sql = "SELECT id, page, first_crawl, last_crawl, links FROM page_links
               WHERE page = ANY($1) ORDER BY id";
    let mut found: FxHashMap<i64, Vec<List>> = FxHashMap::default();
    for row in conn.query(sql, &[&pages]).await? {
        let list = list(&row);
        found.entry(list.page).or_default().push(list);
    }
    Ok(found)
}

fn list(row: &Row) -> List {
    List {
        id: row.get(0),
        page: row.get(1),
        first_crawl: row.get(2),
        last_crawl: row.get(3),
        links: row.get(4),
    }
}

/// How many links of a new list the known ones lack.
pub(super) fn count(known: &[List], crawl: CrawlId, json: &str) -> Result<EdgeCounts, Fault> {
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

/// Where the links that a crawl saw on pages lead: source, target, kind.
pub(super) async fn targets(
    conn: &Conn,
    crawl: CrawlId,
    pages: &[i64],
) -> Result<Vec<(PageId, PageId, LinkKind)>, Fault> {
    let found = lists(conn, pages).await?;
    let mut targets = Vec::new();
    for page in pages {
        for list in found.get(page).into_iter().flatten() {
            if list.covers(crawl) {
                for (to, kind, ..) in parse::<IgnoredAny>(&list.links)? {
                    targets.push((PageId(*page), PageId(to), LinkKind::from_stored(kind)));
                }
            }
        }
    }
    Ok(targets)
}

/// Every page that a page has ever linked to, in the order in which they were first seen, with the
/// newest evidence.
pub(super) async fn links_of(conn: &Conn, page: PageId) -> Result<Vec<StoredLink>, Fault> {
    let mut found = lists(conn, &[page.0]).await?;
    let mut links: Vec<StoredLink> = Vec::new();
    let mut places: FxHashMap<i64, usize> = FxHashMap::default();
    for list in found.remove(&page.0).unwrap_or_default() {
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
    let pages: Vec<i64> = links.iter().map(|link| link.to.0).collect();
    let mut addresses = reader::addresses(conn, &pages).await?;
    for link in &mut links {
        link.url = addresses.remove(&link.to.0).unwrap_or_default();
    }
    Ok(links)
}
