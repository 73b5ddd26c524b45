//! The answer behind `trawl explain`: where a URL stands in a crawl, and the path that led there.

use trawl_types::{
    CrawlId, PageId, PageState, Reason, ReasonCode, Sequence, UnixMillis, UrlKey,
    record::PageStanding,
};

use super::{
    fault::Fault,
    identity::{first_choice, next_choice},
    pool::Conn,
    records,
    text::{Heard, heard},
};

/// Longest path that is told. Parents never form a circle; a damaged database might.
const LONGEST_PATH: i32 = 10_000;

pub(super) async fn standing(
    conn: &Conn,
    crawl: CrawlId,
    key: UrlKey,
) -> Result<Option<PageStanding>, Fault> {
    let Some(page) = page_of(conn, key).await? else {
        return Ok(None);
    };
    let sql = "SELECT p.url, c.state, c.depth, c.attempts, c.reason, c.reason_detail,
        c.discovered_at, c.seq
        FROM crawl_pages c JOIN urls p ON p.page = c.page WHERE c.crawl = $1 AND c.page = $2";
    let Some(row) = conn.query_opt(sql, &[&crawl.0, &page.0]).await? else {
        return Ok(None);
    };
    let reason = row.get::<_, Option<i16>>(4);
    let detail = heard(row.get(5)).unwrap_or_default();
    let mut standing = PageStanding {
        page_id: page,
        url: row.get::<_, Heard>(0).0,
        state: PageState::from_stored(row.get::<_, i16>(1) as u8).unwrap_or(PageState::Done),
        depth: row.get::<_, i32>(2) as u32,
        attempts: row.get::<_, i32>(3) as u32,
        reason: reason
            .and_then(|code| ReasonCode::from_stored(code as u8))
            .map(|code| Reason::new(code, detail)),
        discovered_at: UnixMillis(row.get(6)),
        chain: path_to(conn, crawl, page).await?,
        record: None,
    };
    if let Some(seq) = row.get::<_, Option<i64>>(7) {
        standing.record = records::one(conn, crawl, Sequence(seq)).await?;
    }
    Ok(Some(standing))
}

/// The number of a URL, if it has one.
async fn page_of(conn: &Conn, key: UrlKey) -> Result<Option<PageId>, Fault> {
    let mut page = first_choice(key);
    loop {
        let sql = "SELECT key_host, key_url FROM urls WHERE page = $1";
        let Some(row) = conn.query_opt(sql, &[&page.0]).await? else {
            return Ok(None);
        };
        let (host, url): (i64, i64) = (row.get(0), row.get(1));
        if (host.cast_unsigned(), url.cast_unsigned()) == (key.host, key.url) {
            return Ok(Some(page));
        }
        page = next_choice(page);
    }
}

/// URLs from the seed down to the page itself.
async fn path_to(conn: &Conn, crawl: CrawlId, page: PageId) -> Result<Vec<String>, Fault> {
    let sql = "WITH RECURSIVE path (page, parent, step) AS (
          SELECT page, parent, 0 FROM crawl_pages WHERE crawl = $1 AND page = $2
          UNION ALL
          SELECT c.page, c.parent, path.step + 1 FROM path
          JOIN crawl_pages c ON c.crawl = $1 AND c.page = path.parent WHERE path.step < $3)
        SELECT p.url FROM path JOIN urls p ON p.page = path.page ORDER BY path.step DESC";
    let rows = conn.query(sql, &[&crawl.0, &page.0, &LONGEST_PATH]).await?;
    Ok(rows.iter().map(|row| row.get::<_, Heard>(0).0).collect())
}
