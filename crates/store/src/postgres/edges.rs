//! The edges of a page as rows of `page_links`, one for each list of links that differs from the one
//! before it.

use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, LinkKind, PageId};

use super::{fault::Fault, pool::Conn, reader, records};
use crate::{
    contract::read::StoredLink,
    shared::link_lists::{LinkList, seen_by},
};

/// The lists of pages, oldest first, by page.
pub(super) async fn lists(
    conn: &Conn,
    pages: &[i64],
) -> Result<FxHashMap<i64, Vec<LinkList>>, Fault> {
    let sql = "SELECT page, id, first_crawl, last_crawl, links FROM page_links
               WHERE page = ANY($1) ORDER BY id";
    let mut found: FxHashMap<i64, Vec<LinkList>> = FxHashMap::default();
    for row in conn.query(sql, &[&pages]).await? {
        let list = LinkList {
            id: row.get(1),
            first_crawl: row.get(2),
            last_crawl: row.get(3),
            links: row.get(4),
        };
        found.entry(row.get(0)).or_default().push(list);
    }
    Ok(found)
}

/// Where the links that a crawl saw on pages lead: source, target, kind.
pub(super) async fn targets(
    conn: &Conn,
    crawl: CrawlId,
    pages: &[i64],
) -> Result<Vec<(PageId, PageId, LinkKind)>, Fault> {
    if pages.is_empty() {
        return Ok(Vec::new());
    }
    let found = lists(conn, pages).await?;
    let mut targets = Vec::new();
    for page in pages {
        for list in found.get(page).into_iter().flatten() {
            let links = list.targets(crawl)?.into_iter();
            targets.extend(links.map(|(to, kind)| (PageId(*page), to, kind)));
        }
    }
    Ok(targets)
}

/// What the newest usable visit before a crawl saw.
pub(super) async fn earlier_links(
    conn: &Conn,
    crawl: CrawlId,
    page: PageId,
) -> Result<Vec<StoredLink>, Fault> {
    let earlier = records::earlier(conn, crawl, &[page.0]).await?;
    match earlier.get(&page.0) {
        Some((elder, _)) => links_of(conn, CrawlId(*elder), page).await,
        None => Ok(Vec::new()),
    }
}

/// See [`seen_by`].
pub(super) async fn links_of(
    conn: &Conn,
    crawl: CrawlId,
    page: PageId,
) -> Result<Vec<StoredLink>, Fault> {
    let mut found = lists(conn, &[page.0]).await?;
    let mut links = seen_by(crawl, &found.remove(&page.0).unwrap_or_default())?;
    let pages: Vec<i64> = links.iter().map(|link| link.to.0).collect();
    let mut addresses = reader::addresses(conn, &pages).await?;
    for link in &mut links {
        link.url = addresses.remove(&link.to.0).unwrap_or_default();
    }
    Ok(links)
}
