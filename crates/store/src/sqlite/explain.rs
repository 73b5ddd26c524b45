//! The answer behind `trawl explain`: where a URL stands in a crawl, and the path that led there.

use rusqlite::{Connection, OptionalExtension, params};
use trawl_types::{
    CrawlId, PageId, PageState, Reason, ReasonCode, Sequence, UnixMillis, UrlKey,
    record::PageStanding,
};

use super::{
    fault::Fault,
    results::{RECORD, record},
};

/// Longest path that is told. Parents never form a circle; a damaged file might.
const LONGEST_PATH: usize = 10_000;

struct Facts {
    standing: PageStanding,
    parent: Option<i64>,
    seq: Option<i64>,
}

pub(crate) fn standing(
    conn: &Connection,
    crawl: CrawlId,
    key: UrlKey,
) -> Result<Option<PageStanding>, Fault> {
    let Some(mut facts) = facts(conn, crawl, key)? else {
        return Ok(None);
    };
    let mut chain = path_to(conn, crawl, facts.parent)?;
    chain.push(facts.standing.url.clone());
    facts.standing.chain = chain;
    if let Some(seq) = facts.seq.map(Sequence) {
        facts.standing.record = conn
            .prepare_cached(&format!("{RECORD} WHERE r.crawl = ?1 AND r.seq = ?2"))?
            .query_row([crawl.0, seq.0], record)
            .optional()?;
    }
    Ok(Some(facts.standing))
}

fn facts(conn: &Connection, crawl: CrawlId, key: UrlKey) -> Result<Option<Facts>, Fault> {
    let found = conn
        .prepare_cached(
            "SELECT c.page, p.url, c.state, c.depth, c.attempts, c.reason, c.reason_detail,
             c.discovered_at, c.parent, c.seq
             FROM urls p JOIN crawl_pages c ON c.crawl = ?1 AND c.page = p.id
             WHERE p.key_host = ?2 AND p.key_url = ?3",
        )?
        .query_row(params![crawl.0, key.host as i64, key.url as i64], |row| {
            let reason: Option<u8> = row.get(5)?;
            let detail: Option<String> = row.get(6)?;
            let standing = PageStanding {
                page_id: PageId(row.get(0)?),
                url: row.get(1)?,
                state: PageState::from_stored(row.get(2)?).unwrap_or(PageState::Done),
                depth: row.get(3)?,
                attempts: row.get(4)?,
                reason: reason
                    .and_then(ReasonCode::from_stored)
                    .map(|code| Reason::new(code, detail.unwrap_or_default())),
                discovered_at: UnixMillis(row.get(7)?),
                chain: Vec::new(),
                record: None,
            };
            Ok(Facts {
                standing,
                parent: row.get(8)?,
                seq: row.get(9)?,
            })
        })
        .optional()?;
    Ok(found)
}

/// URLs from the seed down to `page`.
fn path_to(conn: &Connection, crawl: CrawlId, mut page: Option<i64>) -> Result<Vec<String>, Fault> {
    let mut step = conn.prepare_cached(
        "SELECT p.url, c.parent FROM crawl_pages c JOIN urls p ON p.id = c.page
         WHERE c.crawl = ?1 AND c.page = ?2",
    )?;
    let mut path = Vec::new();
    while let Some(here) = page
        && path.len() < LONGEST_PATH
    {
        let found: Option<(String, Option<i64>)> = step
            .query_row([crawl.0, here], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((url, parent)) = found else { break };
        path.push(url);
        page = parent;
    }
    path.reverse();
    Ok(path)
}
