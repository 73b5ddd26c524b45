//! Questions. Every function takes a connection, so that the writer can ask inside its
//! transaction and readers outside of it.

use rusqlite::{Connection, OptionalExtension, Row, params};
use trawl_types::{CrawlId, CrawlState, HostId, PageId, PageRecord, Scheme, Sequence, UnixMillis};

use super::{
    fault::Fault,
    results::{self, RECORD, record},
    row::chain_from_blob,
};
use crate::{
    contract::{
        StoreError,
        read::{CrawlRow, PendingUrl, StoredHost},
        write::{StoredRobots, Suspended},
    },
    segment::BodyRef,
};

const CRAWL: &str =
    "SELECT id, name, spec, state, why, started_at, finished_at, last_seq FROM crawls ";

pub(crate) fn crawls(conn: &Connection) -> Result<Vec<CrawlRow>, Fault> {
    let mut statement = conn.prepare_cached(&format!("{CRAWL} ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let mut crawls = Vec::new();
    while let Some(row) = rows.next()? {
        crawls.push(crawl_row(row)?);
    }
    Ok(crawls)
}

pub(crate) fn crawl(conn: &Connection, crawl: CrawlId) -> Result<CrawlRow, Fault> {
    let mut statement = conn.prepare_cached(&format!("{CRAWL} WHERE id = ?1"))?;
    let mut rows = statement.query([crawl.0])?;
    match rows.next()? {
        Some(row) => crawl_row(row),
        None => Err(StoreError::NoCrawl(crawl).into()),
    }
}

fn crawl_row(row: &Row<'_>) -> Result<CrawlRow, Fault> {
    let id: i64 = row.get(0)?;
    let spec: String = row.get(2)?;
    let state: String = row.get(3)?;
    let unreadable = |what: &str| StoreError::Database(format!("crawl {id}: {what}"));
    Ok(CrawlRow {
        id: CrawlId(id),
        name: row.get(1)?,
        spec: serde_json::from_str(&spec)
            .map_err(|error| unreadable(&format!("its specification cannot be read: {error}")))?,
        state: CrawlState::from_stored(&state)
            .ok_or_else(|| unreadable(&format!("its state is {state:?}")))?,
        why: row.get(4)?,
        started_at: UnixMillis(row.get(5)?),
        finished_at: row.get::<_, Option<i64>>(6)?.map(UnixMillis),
        last_seq: Sequence(row.get(7)?),
    })
}

const HOST: &str = "SELECT h.id, h.name, h.next_allowed, h.delay_ms, h.failures,
    coalesce(c.suspended, 0), coalesce(c.pages_done, 0), coalesce(c.requests, 0) FROM hosts h
    LEFT JOIN crawl_hosts c ON c.host = h.id AND c.crawl = ?1 ";

pub(crate) fn host(
    conn: &Connection,
    crawl: CrawlId,
    host: HostId,
) -> Result<Option<StoredHost>, Fault> {
    let found = conn
        .prepare_cached(&format!("{HOST} WHERE h.id = ?2"))?
        .query_row([crawl.0, host.0], host_row)
        .optional()?;
    found.map(|host| with_robots(conn, host)).transpose()
}

pub(crate) fn host_by_name(
    conn: &Connection,
    crawl: CrawlId,
    name: &str,
) -> Result<Option<StoredHost>, Fault> {
    let found = conn
        .prepare_cached(&format!("{HOST} WHERE h.name = ?2"))?
        .query_row(params![crawl.0, name], host_row)
        .optional()?;
    found.map(|host| with_robots(conn, host)).transpose()
}

pub(crate) fn pending_hosts(
    conn: &Connection,
    crawl: CrawlId,
    after: HostId,
    limit: u32,
) -> Result<Vec<StoredHost>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT h.id, h.name, h.next_allowed, h.delay_ms, h.failures, c.suspended, c.pages_done,
         c.requests
         FROM crawl_hosts c JOIN hosts h ON h.id = c.host
         WHERE c.crawl = ?1 AND c.host > ?2 AND EXISTS (
           SELECT 1 FROM crawl_pages p WHERE p.crawl = ?1 AND p.host = c.host AND p.state = 0)
         ORDER BY c.host LIMIT ?3",
    )?;
    let hosts = statement.query_map(params![crawl.0, after.0, limit], host_row)?;
    hosts
        .map(|host| with_robots(conn, host?))
        .collect::<Result<_, _>>()
}

fn host_row(row: &Row<'_>) -> rusqlite::Result<StoredHost> {
    Ok(StoredHost {
        id: HostId(row.get(0)?),
        name: row.get(1)?,
        next_allowed: UnixMillis(row.get(2)?),
        delay_ms: row.get::<_, i64>(3)? as u64,
        failures: row.get(4)?,
        suspended: Suspended::of_code(row.get(5)?),
        robots: Vec::new(),
        pages_done: row.get::<_, i64>(6)? as u64,
        requests: row.get::<_, i64>(7)? as u64,
    })
}

fn with_robots(conn: &Connection, mut host: StoredHost) -> Result<StoredHost, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT scheme, status, body, fetched_at FROM robots WHERE host = ?1 ORDER BY scheme",
    )?;
    let robots = statement.query_map([host.id.0], |row| {
        Ok(StoredRobots {
            scheme: match row.get_ref(0)?.as_str() {
                Ok("http") => Scheme::Http,
                _ => Scheme::Https,
            },
            status: row.get(1)?,
            body: row.get(2)?,
            fetched_at: UnixMillis(row.get(3)?),
        })
    })?;
    host.robots = robots.collect::<Result<_, _>>()?;
    Ok(host)
}

pub(crate) fn pending(
    conn: &Connection,
    crawl: CrawlId,
    host: HostId,
    limit: u32,
) -> Result<Vec<PendingUrl>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT c.page, p.url, c.rank, c.depth, c.score, c.attempts, c.not_before, c.chain
         FROM crawl_pages c INDEXED BY crawl_pages_pending JOIN urls p ON p.id = c.page
         WHERE c.crawl = ?1 AND c.host = ?2 AND c.state = 0
         ORDER BY c.rank, c.page LIMIT ?3",
    )?;
    let urls = statement.query_map(params![crawl.0, host.0, limit], |row| {
        let chain: Option<Vec<u8>> = row.get(7)?;
        Ok(PendingUrl {
            page: PageId(row.get(0)?),
            host,
            address: row.get(1)?,
            rank: row.get(2)?,
            depth: row.get(3)?,
            score: row.get(4)?,
            attempts: row.get(5)?,
            not_before: UnixMillis(row.get(6)?),
            chain: chain.map_or_else(Vec::new, |blob| chain_from_blob(&blob)),
            etag: None,
            last_modified: None,
        })
    })?;
    let mut urls: Vec<PendingUrl> = urls.collect::<Result<_, _>>()?;
    if has_elders(conn, crawl)? {
        for url in &mut urls {
            let validators = results::validators(conn, crawl, url.page)?;
            (url.etag, url.last_modified) = (validators.etag, validators.last_modified);
        }
    }
    Ok(urls)
}

/// Earlier crawls are in the file, so pages may have been seen by them.
pub(crate) fn has_elders(conn: &Connection, crawl: CrawlId) -> Result<bool, Fault> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM crawls WHERE id < ?1)")?
        .query_row([crawl.0], |row| row.get(0))?)
}

pub(crate) fn results(
    conn: &Connection,
    crawl: CrawlId,
    after: Sequence,
    limit: u32,
) -> Result<Vec<PageRecord>, Fault> {
    let mut statement = conn.prepare_cached(&format!(
        "{RECORD} WHERE r.crawl = ?1 AND r.seq > ?2 ORDER BY r.seq LIMIT ?3"
    ))?;
    let records = statement.query_map(params![crawl.0, after.0, limit], record)?;
    Ok(records.collect::<Result<_, _>>()?)
}

pub(crate) fn body_ref(
    conn: &Connection,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<BodyRef>, Fault> {
    let sql = "SELECT body_segment, body_offset, body_length, body_crc, body_within FROM results
               WHERE crawl = ?1 AND seq = ?2 AND body_segment IS NOT NULL";
    segment_ref(conn, sql, crawl, seq)
}

/// Where a record of a result lies in the segment files: number, offset, length and checksum of its
/// frame, and where it begins in there.
pub(crate) fn segment_ref(
    conn: &Connection,
    sql: &str,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<BodyRef>, Fault> {
    let found = conn
        .prepare_cached(sql)?
        .query_row([crawl.0, seq.0], |row| {
            Ok(BodyRef {
                segment: row.get(0)?,
                offset: row.get::<_, i64>(1)? as u64,
                length: row.get::<_, i64>(2)? as u64,
                crc: row.get(3)?,
                within: row.get(4)?,
            })
        })
        .optional()?;
    Ok(found)
}
