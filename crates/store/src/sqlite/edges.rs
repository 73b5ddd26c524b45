//! The edges of a page as rows of `page_links`, one for each list of links that differs from the
//! one before it: one insert a page, at the right edge of its table.

use rusqlite::{CachedStatement, Connection, params};
use trawl_types::{CrawlId, LinkKind, PageId};

use super::{fault::Fault, link_text::LinkText, results};
use crate::{
    contract::read::StoredLink,
    shared::link_lists::{EdgeCounts, LinkList, Recorded, count, recorded, seen_by},
};

pub(crate) struct LinkLists<'c> {
    add: CachedStatement<'c>,
    extend: CachedStatement<'c>,
    of_page: CachedStatement<'c>,
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

    /// Writes the links of a page, distinct by target; that there are none as well, where there have been
    /// some. `first` says that the page has no list yet.
    pub(crate) fn write(
        &mut self,
        crawl: CrawlId,
        page: PageId,
        text: &mut LinkText,
        first: bool,
    ) -> Result<EdgeCounts, Fault> {
        let links = text.links();
        if links == 0 && first {
            return Ok(EdgeCounts::default());
        }
        let json = text.finish();
        let known = if first {
            Vec::new()
        } else {
            lists(&mut self.of_page, page)?
        };
        let counts = count(&known, crawl, json, links)?;
        match recorded(&known, crawl, json, links) {
            Recorded::Extended(id) => self.extend.execute([id, crawl.0])?,
            Recorded::Added => self.add.execute(params![page.0, crawl.0, json])?,
            Recorded::Left => 0,
        };
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
            targets.extend(list.targets(crawl)?);
        }
        Ok(targets)
    }
}

fn lists(statement: &mut CachedStatement<'_>, page: PageId) -> rusqlite::Result<Vec<LinkList>> {
    let lists = statement.query_map([page.0], |row| {
        Ok(LinkList {
            id: row.get(0)?,
            first_crawl: row.get(1)?,
            last_crawl: row.get(2)?,
            links: row.get(3)?,
        })
    })?;
    lists.collect()
}

/// What the newest usable visit before a crawl saw.
pub(crate) fn earlier_links(
    conn: &Connection,
    crawl: CrawlId,
    page: PageId,
) -> Result<Vec<StoredLink>, Fault> {
    match results::earlier(conn, crawl, page)? {
        Some((elder, _)) => links_of(conn, CrawlId(elder), page),
        None => Ok(Vec::new()),
    }
}

/// See [`seen_by`].
pub(crate) fn links_of(
    conn: &Connection,
    crawl: CrawlId,
    page: PageId,
) -> Result<Vec<StoredLink>, Fault> {
    let mut address = conn.prepare_cached("SELECT url FROM urls WHERE id = ?1")?;
    let mut links = seen_by(crawl, &lists(&mut conn.prepare_cached(OF_PAGE)?, page)?)?;
    for link in &mut links {
        link.url = address.query_row([link.to.0], |row| row.get(0))?;
    }
    Ok(links)
}
