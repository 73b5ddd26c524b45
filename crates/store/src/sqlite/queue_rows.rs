//! The queue of a crawl, looked at: a bounded number of rows for each question.

use rusqlite::{Connection, OptionalExtension, Row, params};
use trawl_types::{
    CrawlId, HostId, OutcomeKind, PageId, PageState, Reason, ReasonCode, UnixMillis, spec::Order,
};

use super::fault::Fault;
use crate::contract::queue::{ByScore, Listed, QueueCursor, QueueFilter, QueueState, QueuedUrl};

/// Rows that are looked at for one answer.
const MOST_ROWS: usize = 5_000;

const COLUMNS: &str = "c.host, c.rank, c.page, c.state, c.depth, c.score, c.attempts, c.not_before,
    c.discovered_at, c.reason, c.reason_detail, c.outcome";

/// Pending ones come by the index that keeps their order.
const PENDING: &str = "FROM crawl_pages c INDEXED BY crawl_pages_pending
    WHERE c.crawl = ?1 AND c.state = 0 AND (c.host, c.rank, c.page) > (?2, ?3, ?4)
    ORDER BY c.host, c.rank, c.page";
const PENDING_OF_HOST: &str = "FROM crawl_pages c INDEXED BY crawl_pages_pending
    WHERE c.crawl = ?1 AND c.state = 0 AND c.host = ?2 AND (c.rank, c.page) > (?3, ?4)
    ORDER BY c.rank, c.page";
const ALL: &str = "FROM crawl_pages c
    WHERE c.crawl = ?1 AND ?2 IS NOT NULL AND ?3 IS NOT NULL AND c.page > ?4 ORDER BY c.page";

pub(super) fn queue(
    conn: &Connection,
    crawl: CrawlId,
    filter: &QueueFilter,
) -> Result<Listed<QueuedUrl, QueueCursor>, Fault> {
    let nothing = Listed {
        items: Vec::new(),
        next: None,
    };
    let host = match &filter.host {
        None => None,
        Some(name) => match host_id(conn, name)? {
            Some(host) => Some(host),
            None => return Ok(nothing),
        },
    };
    let pending = filter.state == Some(QueueState::Pending);
    let (from, after) = start(filter.after, host.filter(|_| pending), pending);
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} {from}"))?;
    let values = params![crawl.0, after.host.0, after.rank, after.page.0];
    let mut rows = statement.query(values)?;
    let (mut found, mut looked_at, mut next) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        looked_at += 1;
        let url = read(row)?;
        let here = QueueCursor {
            host: url.host_id,
            rank: url.rank,
            page: url.url.page,
        };
        if host.is_none_or(|host| host == url.host_id) && filter.matches(&url.url) {
            found.push((url.url, url.host_id));
        }
        if found.len() >= filter.limit as usize || looked_at >= MOST_ROWS {
            next = Some(here);
            break;
        }
    }
    drop(rows);
    let named = found.into_iter().map(|(url, host)| name(conn, url, host));
    Ok(Listed {
        items: named.collect::<Result<_, _>>()?,
        next,
    })
}

fn start(
    after: Option<QueueCursor>,
    host: Option<HostId>,
    pending: bool,
) -> (&'static str, QueueCursor) {
    let first = QueueCursor {
        host: HostId(i64::MIN),
        rank: i64::MIN,
        page: PageId(i64::MIN),
    };
    let after = after.unwrap_or(first);
    match host {
        Some(host) => (PENDING_OF_HOST, QueueCursor { host, ..after }),
        None if pending => (PENDING, after),
        None => (ALL, after),
    }
}

struct Found {
    host_id: HostId,
    rank: i64,
    url: QueuedUrl,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Found> {
    let reason: Option<u8> = row.get(9)?;
    let detail: Option<String> = row.get(10)?;
    Ok(Found {
        host_id: HostId(row.get(0)?),
        rank: row.get(1)?,
        url: QueuedUrl {
            page: PageId(row.get(2)?),
            url: String::new(),
            host: String::new(),
            state: PageState::from_stored(row.get(3)?).unwrap_or(PageState::Done),
            depth: row.get(4)?,
            score: row.get(5)?,
            attempts: row.get(6)?,
            not_before: UnixMillis(row.get(7)?),
            discovered_at: UnixMillis(row.get(8)?),
            reason: reason
                .and_then(ReasonCode::from_stored)
                .map(|code| Reason::new(code, detail.unwrap_or_default())),
            outcome: row
                .get::<_, Option<u8>>(11)?
                .and_then(OutcomeKind::from_stored),
        },
    })
}

fn name(conn: &Connection, mut url: QueuedUrl, host: HostId) -> Result<QueuedUrl, Fault> {
    let sql = "SELECT u.url, h.name FROM urls u JOIN hosts h ON h.id = ?2 WHERE u.id = ?1";
    (url.url, url.host) = conn
        .prepare_cached(sql)?
        .query_row([url.page.0, host.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(url)
}

pub(super) fn host_id(conn: &Connection, name: &str) -> Result<Option<HostId>, Fault> {
    let found = conn
        .prepare_cached("SELECT id FROM hosts WHERE name = ?1")?
        .query_row([name], |row| row.get(0).map(HostId))
        .optional()?;
    Ok(found)
}

/// Where the order is by score, ranks say all.
pub(super) fn pending_by_score(
    conn: &Connection,
    crawl: CrawlId,
    high: u8,
    medium: u8,
) -> Result<ByScore, Fault> {
    // The worst rank that a score can have, whatever its depth.
    let rank = |score: u8| Order::BestFirst.rank(u32::MAX, score);
    let counts = conn
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE rank <= ?2),
             count(*) FILTER (WHERE rank > ?2 AND rank <= ?3),
             count(*) FILTER (WHERE rank > ?3)
             FROM crawl_pages INDEXED BY crawl_pages_pending WHERE crawl = ?1 AND state = 0",
        )?
        .query_row(params![crawl.0, rank(high), rank(medium)], |row| {
            Ok(ByScore {
                high: row.get::<_, i64>(0)? as u64,
                medium: row.get::<_, i64>(1)? as u64,
                low: row.get::<_, i64>(2)? as u64,
            })
        })?;
    Ok(counts)
}
