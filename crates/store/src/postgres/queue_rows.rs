//! The queue of a crawl, looked at: a bounded number of rows for each question.

use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use trawl_types::{
    CrawlId, HostId, OutcomeKind, PageId, PageState, Reason, ReasonCode, UnixMillis, spec::Order,
};

use super::{
    fault::Fault,
    pool::Conn,
    reader::addresses,
    text::{Heard, heard},
};
use crate::contract::queue::{ByScore, Listed, QueueCursor, QueueFilter, QueueState, QueuedUrl};

/// Rows that are looked at for one answer.
const MOST_ROWS: usize = 5_000;
/// Rows that are asked for at once.
const CHUNK: (i64, i64) = (100, 1_000);

macro_rules! rows {
    ($condition:literal) => {
        concat!(
            "SELECT c.host, c.rank, c.born, c.page, c.state, c.depth, c.score, c.attempts,
             c.not_before, c.discovered_at, c.reason, c.reason_detail, c.outcome
             FROM crawl_pages c WHERE c.crawl = $1 AND ",
            $condition
        )
    };
}

/// Pending ones come by the index that keeps their order; a place among them names the age of a page, not
/// the page.
const PENDING: &str = rows!(
    "c.state = 0 AND (c.host, c.rank, c.born) > ($2, $3, $4)
     ORDER BY c.host, c.rank, c.born LIMIT $5"
);
const PENDING_OF_HOST: &str = rows!(
    "c.state = 0 AND c.host = $2 AND (c.rank, c.born) > ($3, $4)
     ORDER BY c.rank, c.born LIMIT $5"
);
const ALL: &str =
    rows!("c.page > $4 AND $2::int8 IS NOT NULL AND $3::int8 IS NOT NULL ORDER BY c.page LIMIT $5");

/// How a list is read.
struct Reading {
    sql: &'static str,
    pending: bool,
    /// Only this host.
    host: Option<HostId>,
}

/// `host` is the one that the filter names.
pub(super) async fn queue(
    conn: &Conn,
    crawl: CrawlId,
    host: Option<HostId>,
    filter: &QueueFilter,
) -> Result<Listed<QueuedUrl, QueueCursor>, Fault> {
    let pending = filter.state == Some(QueueState::Pending);
    let reading = Reading {
        sql: match host {
            Some(_) if pending => PENDING_OF_HOST,
            None if pending => PENDING,
            _ => ALL,
        },
        pending,
        host,
    };
    let mut after = filter.after.unwrap_or(QueueCursor {
        host: HostId(i64::MIN),
        rank: i64::MIN,
        page: PageId(i64::MIN),
    });
    if let Some(host) = host.filter(|_| pending) {
        after.host = host;
    }
    let chunk = i64::from(filter.limit).clamp(CHUNK.0, CHUNK.1);
    let (mut found, mut looked_at) = (Vec::new(), 0);
    let next = 'reading: loop {
        let values: [super::pool::Param<'_>; 5] =
            [&crawl.0, &after.host.0, &after.rank, &after.page.0, &chunk];
        let rows = conn.query(reading.sql, &values).await?;
        for row in &rows {
            after = reading.place(row);
            looked_at += 1;
            if let Some(url) = reading.take(conn, row, filter) {
                found.push(url);
            }
            if found.len() >= filter.limit as usize || looked_at >= MOST_ROWS {
                break 'reading Some(after);
            }
        }
        if (rows.len() as i64) < chunk {
            break None;
        }
    };
    let items = name(conn, found).await?;
    Ok(Listed { items, next })
}

impl Reading {
    fn place(&self, row: &Row) -> QueueCursor {
        QueueCursor {
            host: HostId(row.get(0)),
            rank: row.get(1),
            page: PageId(row.get(if self.pending { 2 } else { 3 })),
        }
    }

    fn take(&self, conn: &Conn, row: &Row, filter: &QueueFilter) -> Option<(HostId, QueuedUrl)> {
        let host = HostId(row.get(0));
        if self.host.is_some_and(|wanted| wanted != host) {
            return None;
        }
        let url = read(conn, row);
        filter.matches(&url).then_some((host, url))
    }
}

fn read(conn: &Conn, row: &Row) -> QueuedUrl {
    let reason = row.get::<_, Option<i16>>(10);
    let detail = heard(row.get::<_, Option<Heard>>(11));
    let outcome = row.get::<_, Option<i16>>(12);
    QueuedUrl {
        page: PageId(row.get(3)),
        url: String::new(),
        host: String::new(),
        state: PageState::from_stored(row.get::<_, i16>(4) as u8).unwrap_or(PageState::Done),
        depth: row.get::<_, i32>(5) as u32,
        score: row.get::<_, i16>(6) as u8,
        attempts: row.get::<_, i32>(7) as u32,
        not_before: conn.skew.here(row.get(8)),
        discovered_at: UnixMillis(row.get(9)),
        reason: reason
            .and_then(|code| ReasonCode::from_stored(code as u8))
            .map(|code| Reason::new(code, detail.unwrap_or_default())),
        outcome: outcome.and_then(|code| OutcomeKind::from_stored(code as u8)),
    }
}

async fn name(conn: &Conn, found: Vec<(HostId, QueuedUrl)>) -> Result<Vec<QueuedUrl>, Fault> {
    let pages: Vec<i64> = found.iter().map(|(_, url)| url.page.0).collect();
    let addresses = addresses(conn, &pages).await?;
    let mut hosts: Vec<i64> = found.iter().map(|(host, _)| host.0).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let sql = "SELECT h.id, h.name FROM unnest($1::int8[]) n(id) JOIN hosts h ON h.id = n.id";
    let rows = conn.query(sql, &[&hosts]).await?;
    let names = rows
        .iter()
        .map(|row| (row.get(0), row.get::<_, Heard>(1).0));
    let names: FxHashMap<i64, String> = names.collect();
    let urls = found.into_iter().map(|(host, url)| QueuedUrl {
        url: addresses.get(&url.page.0).cloned().unwrap_or_default(),
        host: names.get(&host.0).cloned().unwrap_or_default(),
        ..url
    });
    Ok(urls.collect())
}

/// Where the order is by score, ranks say all.
pub(super) async fn pending_by_score(
    conn: &Conn,
    crawl: CrawlId,
    high: u8,
    medium: u8,
) -> Result<ByScore, Fault> {
    // The worst rank that a score can have, whatever its depth.
    let rank = |score: u8| Order::BestFirst.rank(u32::MAX, score);
    let sql = "SELECT count(*) FILTER (WHERE rank <= $2),
        count(*) FILTER (WHERE rank > $2 AND rank <= $3), count(*) FILTER (WHERE rank > $3)
        FROM crawl_pages WHERE crawl = $1 AND state = 0";
    let row = conn
        .query_one(sql, &[&crawl.0, &rank(high), &rank(medium)])
        .await?;
    let count = |at: usize| row.get::<_, i64>(at) as u64;
    Ok(ByScore {
        high: count(0),
        medium: count(1),
        low: count(2),
    })
}
