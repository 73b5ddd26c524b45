//! Questions about crawls, hosts and what is pending. Every function takes a connection, so that it can
//! be asked inside a transaction and outside of one.

use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use trawl_types::{CrawlId, CrawlState, HostId, PageId, Scheme, Sequence, UnixMillis};

use super::{
    fault::Fault,
    pool::Conn,
    records,
    text::{Heard, Said, heard},
};
use crate::{
    contract::{
        StoreError,
        read::{CrawlRow, PendingUrl, StoredHost},
        write::{StoredRobots, Suspended},
    },
    shared::codes::chain_from_blob,
};

pub(super) async fn crawls(conn: &Conn) -> Result<Vec<CrawlRow>, Fault> {
    let sql = "SELECT id, name, spec, state, why, started_at, finished_at, last_seq FROM crawls
               ORDER BY id";
    let rows = conn.query(sql, &[]).await?;
    rows.iter().map(|row| crawl_row(row, 0)).collect()
}

pub(super) async fn crawl(conn: &Conn, crawl: CrawlId) -> Result<CrawlRow, Fault> {
    let sql = "SELECT id, name, spec, state, why, started_at, finished_at, last_seq FROM crawls
               WHERE id = $1";
    match conn.query_opt(sql, &[&crawl.0]).await? {
        Some(row) => crawl_row(&row, 0),
        None => Err(StoreError::NoCrawl(crawl).into()),
    }
}

/// Reads eight columns, from `at`.
pub(super) fn crawl_row(row: &Row, at: usize) -> Result<CrawlRow, Fault> {
    let id: i64 = row.get(at);
    let Heard(spec) = row.get(at + 2);
    let state: &str = row.get(at + 3);
    let unreadable = |what: &str| StoreError::Database(format!("crawl {id}: {what}"));
    Ok(CrawlRow {
        id: CrawlId(id),
        name: row.get::<_, Heard>(at + 1).0,
        spec: serde_json::from_str(&spec)
            .map_err(|error| unreadable(&format!("its specification cannot be read: {error}")))?,
        state: CrawlState::from_stored(state)
            .ok_or_else(|| unreadable(&format!("its state is {state:?}")))?,
        why: row.get::<_, Heard>(at + 4).0,
        started_at: UnixMillis(row.get(at + 5)),
        finished_at: row.get::<_, Option<i64>>(at + 6).map(UnixMillis),
        last_seq: Sequence(row.get(at + 7)),
    })
}

pub(super) const HOSTS: &str = "SELECT h.id, h.name, h.next_allowed, h.delay_ms, h.failures,
    coalesce(c.suspended, 0::int2), coalesce(c.pages_done, 0), coalesce(c.requests, 0)
    FROM unnest($2::int8[]) n(id) JOIN hosts h ON h.id = n.id
    LEFT JOIN crawl_hosts c ON c.crawl = $1 AND c.host = h.id ORDER BY h.id";

/// Hosts as one crawl sees them, in order of id.
pub(super) async fn hosts(
    conn: &Conn,
    crawl: CrawlId,
    ids: &[HostId],
) -> Result<Vec<StoredHost>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let rows = conn.query(HOSTS, &[&crawl.0, &ids]).await?;
    with_robots(conn, &rows).await
}

/// Hosts with pending URLs of a crawl ($1), after one ($2), at most so many ($3): one look into the index
/// for each, however many URLs it has.
macro_rules! pending_hosts {
    ($rest:literal) => {
        concat!(
            "WITH RECURSIVE step (host, nth) AS (
               (SELECT p.host, 1::int8 FROM crawl_pages p
                WHERE p.crawl = $1 AND p.state = 0 AND p.host > $2 ORDER BY p.host LIMIT 1)
               UNION ALL
               SELECT n.host, s.nth + 1 FROM step s CROSS JOIN LATERAL (
                 SELECT p.host FROM crawl_pages p
                 WHERE p.crawl = $1 AND p.state = 0 AND p.host > s.host
                 ORDER BY p.host LIMIT 1) n
               WHERE s.nth < $3) ",
            $rest
        )
    };
}

pub(super) async fn pending_hosts(
    conn: &Conn,
    crawl: CrawlId,
    after: HostId,
    limit: u32,
) -> Result<Vec<StoredHost>, Fault> {
    let sql = pending_hosts!(
        "SELECT h.id, h.name, h.next_allowed, h.delay_ms, h.failures,
         coalesce(c.suspended, 0::int2), coalesce(c.pages_done, 0), coalesce(c.requests, 0)
         FROM step JOIN hosts h ON h.id = step.host
         LEFT JOIN crawl_hosts c ON c.crawl = $1 AND c.host = h.id ORDER BY h.id"
    );
    if limit == 0 {
        return Ok(Vec::new());
    }
    let rows = conn
        .query(sql, &[&crawl.0, &after.0, &i64::from(limit)])
        .await?;
    with_robots(conn, &rows).await
}

/// Hosts with pending URLs of a crawl that is not closed to them, after one; and the last one that was
/// looked at, if there may be more.
pub(super) async fn open_hosts(
    conn: &Conn,
    crawl: CrawlId,
    after: i64,
    limit: i64,
) -> Result<(Vec<i64>, Option<i64>), Fault> {
    let sql = pending_hosts!(
        "SELECT step.host, coalesce(c.closed, false) FROM step
         LEFT JOIN crawl_hosts c ON c.crawl = $1 AND c.host = step.host ORDER BY step.host"
    );
    let rows = conn.query(sql, &[&crawl.0, &after, &limit]).await?;
    let last = rows.last().map(|row| row.get(0));
    let open = rows.iter().filter(|row| !row.get::<_, bool>(1));
    let open = open.map(|row| row.get(0)).collect();
    Ok((open, last.filter(|_| rows.len() as i64 == limit)))
}

fn host_row(conn: &Conn, row: &Row) -> StoredHost {
    StoredHost {
        id: HostId(row.get(0)),
        name: row.get::<_, Heard>(1).0,
        next_allowed: conn.skew.here(row.get(2)),
        delay_ms: row.get::<_, i64>(3) as u64,
        failures: row.get::<_, i32>(4) as u32,
        suspended: Suspended::of_code(row.get::<_, i16>(5).into()),
        robots: Vec::new(),
        pages_done: row.get::<_, i64>(6) as u64,
        requests: row.get::<_, i64>(7) as u64,
    }
}

/// Reads hosts with the columns of [`hosts`] and adds what robots.txt said.
async fn with_robots(conn: &Conn, rows: &[Row]) -> Result<Vec<StoredHost>, Fault> {
    let mut found: Vec<StoredHost> = rows.iter().map(|row| host_row(conn, row)).collect();
    if found.is_empty() {
        return Ok(found);
    }
    let ids: Vec<i64> = found.iter().map(|host| host.id.0).collect();
    let sql = "SELECT host, scheme, status, body, fetched_at FROM robots WHERE host = ANY($1)
               ORDER BY host, scheme";
    let mut robots: FxHashMap<i64, Vec<StoredRobots>> = FxHashMap::default();
    for row in conn.query(sql, &[&ids]).await? {
        let answer = StoredRobots {
            scheme: match row.get::<_, &str>(1) {
                "http" => Scheme::Http,
                _ => Scheme::Https,
            },
            status: row.get::<_, i32>(2) as u16,
            body: row.get(3),
            fetched_at: UnixMillis(row.get(4)),
        };
        robots.entry(row.get(0)).or_default().push(answer);
    }
    for host in &mut found {
        host.robots = robots.remove(&host.id.0).unwrap_or_default();
    }
    Ok(found)
}

/// The host, made known to the store if it is not.
pub(super) async fn ensure_host(
    conn: &Conn,
    crawl: CrawlId,
    id: HostId,
    name: &str,
) -> Result<StoredHost, Fault> {
    let sql = "INSERT INTO hosts (id, name, epoch)
               SELECT $1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::int8
               WHERE NOT EXISTS (SELECT 1 FROM hosts WHERE id = $1) ON CONFLICT DO NOTHING";
    conn.execute(sql, &[&id.0, &Said(name)]).await?;
    let found = hosts(conn, crawl, &[id]).await?;
    // It may just have been removed, because nothing referred to it.
    found.into_iter().next().ok_or(Fault::Overtaken)
}

pub(super) const PENDING: &str =
    "SELECT c.page, c.host, p.url, c.rank, c.depth, c.score, c.attempts, c.not_before,
    c.chain
    FROM (SELECT * FROM crawl_pages WHERE crawl = $1 AND host = $2 AND state = 0
          ORDER BY rank, born LIMIT $3) c
    JOIN urls p ON p.page = c.page ORDER BY c.rank, c.born";

pub(super) async fn pending(
    conn: &Conn,
    crawl: CrawlId,
    host: HostId,
    limit: u32,
    has_elders: bool,
) -> Result<Vec<PendingUrl>, Fault> {
    let rows = conn
        .query(PENDING, &[&crawl.0, &host.0, &i64::from(limit)])
        .await?;
    let urls = rows.iter().map(|row| pending_row(conn, row));
    let mut urls: Vec<PendingUrl> = urls.collect();
    if has_elders {
        records::offer_validators(conn, crawl, &mut urls).await?;
    }
    Ok(urls)
}

/// Columns: page, host, url, rank, depth, score, attempts, not_before, chain.
pub(super) fn pending_row(conn: &Conn, row: &Row) -> PendingUrl {
    PendingUrl {
        page: PageId(row.get(0)),
        host: HostId(row.get(1)),
        address: row.get::<_, Heard>(2).0,
        rank: row.get(3),
        depth: row.get::<_, i32>(4) as u32,
        score: row.get::<_, i16>(5) as u8,
        attempts: row.get::<_, i32>(6) as u32,
        not_before: conn.skew.here(row.get(7)),
        chain: row
            .get::<_, Option<&[u8]>>(8)
            .map_or_else(Vec::new, chain_from_blob),
        etag: None,
        last_modified: None,
    }
}

/// Earlier crawls are in the database, so pages may have been seen by them.
pub(super) async fn has_elders(conn: &Conn, crawl: CrawlId) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM crawls WHERE id < $1)";
    Ok(conn.query_one(sql, &[&crawl.0]).await?.get(0))
}

/// Addresses of pages.
pub(super) async fn addresses(conn: &Conn, pages: &[i64]) -> Result<FxHashMap<i64, String>, Fault> {
    let sql = "SELECT u.page, u.url FROM unnest($1::int8[]) n(page) JOIN urls u ON u.page = n.page";
    let rows = conn.query(sql, &[&pages]).await?;
    let pair = |row: &Row| Some((row.get(0), heard(row.get(1))?));
    Ok(rows.iter().filter_map(pair).collect())
}
