//! Hosts and figures across crawls.

use std::collections::BTreeMap;

use async_trait::async_trait;
use rusqlite::{Connection, Row, params, params_from_iter, types::Value};
use trawl_types::{CrawlId, HostId, OutcomeKind, UnixMillis};

use super::{SqliteStore, commit::MINUTE, fault::Fault, pages, queue_rows, writer::Command};
use crate::contract::{
    StoreError,
    overview::{
        Bucket, FoundPage, HostCursor, HostFilter, HostOrder, HostOverview, Overview, PageCursor,
        PageFilter, Purge, Purged, Swept, Totals, Whose, Window,
    },
    queue::{ByScore, Listed, QueueCursor, QueueFilter, QueuedUrl},
};

#[async_trait]
impl Overview for SqliteStore {
    async fn pages(&self, filter: PageFilter) -> Result<Listed<FoundPage, PageCursor>, StoreError> {
        let secret = self.secret;
        self.pool
            .ask(move |conn| pages::pages(conn, secret, &filter))
            .await
    }

    async fn hosts(
        &self,
        filter: HostFilter,
    ) -> Result<Listed<HostOverview, HostCursor>, StoreError> {
        self.pool.ask(move |conn| hosts(conn, &filter)).await
    }

    async fn totals(&self, whose: Whose) -> Result<Totals, StoreError> {
        self.pool.ask(move |conn| totals(conn, &whose)).await
    }

    async fn activity(&self, window: Window) -> Result<Vec<Bucket>, StoreError> {
        self.pool.ask(move |conn| activity(conn, &window)).await
    }

    async fn queue(
        &self,
        crawl: CrawlId,
        filter: QueueFilter,
    ) -> Result<Listed<QueuedUrl, QueueCursor>, StoreError> {
        self.pool
            .ask(move |conn| queue_rows::queue(conn, crawl, &filter))
            .await
    }

    async fn pending_by_score(
        &self,
        crawl: CrawlId,
        high: u8,
        medium: u8,
    ) -> Result<ByScore, StoreError> {
        self.pool
            .ask(move |conn| queue_rows::pending_by_score(conn, crawl, high, medium))
            .await
    }

    async fn crawls_on_host(&self, host: &str) -> Result<Vec<CrawlId>, StoreError> {
        let host = host.to_owned();
        self.pool
            .ask(move |conn| {
                let sql = "SELECT x.crawl FROM hosts h JOIN crawl_hosts x ON x.host = h.id
                           JOIN crawls w ON w.id = x.crawl
                           WHERE h.name = ?1 AND w.state IN ('running', 'paused')";
                let mut statement = conn.prepare_cached(sql)?;
                let found = statement.query_map([host], |row| row.get(0).map(CrawlId))?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn forgive(&self, host: &str) -> Result<Option<HostId>, StoreError> {
        let host = host.to_owned();
        self.tell(|reply| Command::Forgive(host, reply)).await
    }

    async fn purge(&self, purge: Purge) -> Result<Purged, StoreError> {
        self.purge_all(purge).await
    }

    async fn sweep(&self) -> Result<Swept, StoreError> {
        self.sweep_segments().await
    }
}

/// A condition on a column that names a crawl, and its values; numbers from `first` on.
fn visible(whose: &Whose, column: &str, first: usize) -> (String, Vec<Value>) {
    match whose {
        Whose::Everybody => ("1 = 1".into(), Vec::new()),
        Whose::Owners(owners) => {
            let numbers = (first..first + owners.len()).map(|number| format!("?{number}"));
            let numbers = numbers.collect::<Vec<_>>().join(", ");
            (
                format!("{column} IN (SELECT crawl FROM jobs WHERE owner IN ({numbers}))"),
                owners.iter().cloned().map(Value::Text).collect(),
            )
        }
    }
}

/// By name, hosts are read in the order of their index and no further than needed; by a figure,
/// all are added up.
fn hosts(
    conn: &Connection,
    filter: &HostFilter,
) -> Result<Listed<HostOverview, HostCursor>, Fault> {
    let (seen, owners) = visible(&filter.whose, "x.crawl", 6);
    let figure = match filter.order {
        HostOrder::Name => "0",
        HostOrder::Pages => "sum(x.pages_done)",
        HostOrder::Errors => "sum(x.errors)",
        HostOrder::LastCrawled => "max(x.last_crawled)",
    };
    let (place, order) = match filter.order {
        HostOrder::Name => ("h.name > ?1 AND ?2 IS NOT NULL", "h.name"),
        _ => ("?1 IS NOT NULL AND ?2 IS NOT NULL", "figure DESC, h.name"),
    };
    let having = match (filter.order, &filter.after) {
        (HostOrder::Name, _) | (_, None) => "1 = 1",
        _ => "(figure < ?2 OR (figure = ?2 AND h.name > ?1))",
    };
    let sql = format!(
        "SELECT h.id, h.name, sum(x.pages_done), sum(x.errors), sum(x.bytes), count(*),
         max(x.last_crawled), h.delay_ms, h.next_allowed, h.failures,
         max(w.state IN ('running', 'paused') AND x.suspended > 0) AS given_up, {figure} AS figure
         FROM hosts h JOIN crawl_hosts x ON x.host = h.id JOIN crawls w ON w.id = x.crawl
         WHERE {place} AND (?3 IS NULL OR h.name = ?3) AND {seen}
         GROUP BY h.name HAVING {having} AND given_up = coalesce(?4, given_up)
         ORDER BY {order} LIMIT ?5"
    );
    let after = filter.after.as_ref();
    let first = [
        Value::Text(after.map(|after| after.name.clone()).unwrap_or_default()),
        Value::Integer(after.map_or(i64::MAX, |after| after.figure)),
        filter.name.clone().into(),
        filter.suspended.map(i64::from).into(),
        Value::Integer(i64::from(filter.limit)),
    ];
    let mut statement = conn.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(first.into_iter().chain(owners)), host)?;
    let found: Vec<(HostOverview, i64)> = found.collect::<Result<_, _>>()?;
    let full = found.len() >= filter.limit as usize;
    let next = found
        .last()
        .filter(|_| full)
        .map(|(host, figure)| HostCursor {
            figure: *figure,
            name: host.name.clone(),
        });
    let items = found.into_iter().map(|(host, _)| host).collect();
    Ok(Listed { items, next })
}

fn host(row: &Row<'_>) -> rusqlite::Result<(HostOverview, i64)> {
    let last: i64 = row.get(6)?;
    let number = |column: usize| row.get::<_, i64>(column).map(|number| number as u64);
    let host = HostOverview {
        id: HostId(row.get(0)?),
        name: row.get(1)?,
        pages: number(2)?,
        errors: number(3)?,
        bytes: number(4)?,
        crawls: number(5)?,
        last_crawled: (last > 0).then_some(UnixMillis(last)),
        delay_ms: number(7)?,
        next_allowed: UnixMillis(row.get(8)?),
        failures: row.get(9)?,
        suspended: row.get(10)?,
    };
    Ok((host, row.get(11)?))
}

fn totals(conn: &Connection, whose: &Whose) -> Result<Totals, Fault> {
    let (seen, owners) = visible(whose, "w.id", 1);
    let sql = format!(
        "SELECT count(*), sum(discovered), sum(pending), sum(refused), sum(done), sum(pages),
         sum(bytes), sum(duplicates), sum(hosts) FROM crawls w WHERE {seen}"
    );
    let mut totals = conn.query_row(&sql, params_from_iter(owners.iter()), |row| {
        let sum = |column: usize| -> rusqlite::Result<u64> {
            let sum: Option<i64> = row.get(column)?;
            Ok(sum.unwrap_or(0) as u64)
        };
        Ok(Totals {
            crawls: sum(0)?,
            discovered: sum(1)?,
            pending: sum(2)?,
            refused: sum(3)?,
            visits: sum(4)?,
            pages: sum(5)?,
            bytes: sum(6)?,
            duplicates: sum(7)?,
            hosts: sum(8)?,
            ..Totals::default()
        })
    })?;
    let (seen, owners) = visible(whose, "t.crawl", 1);
    let sql = format!(
        "SELECT t.code, sum(t.total) FROM tallies t WHERE t.kind = 'outcome' AND {seen}
         GROUP BY t.code"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(owners.iter()))?;
    while let Some(row) = rows.next()? {
        if let Some(kind) = OutcomeKind::from_stored(row.get(0)?) {
            totals.outcomes.insert(kind, row.get::<_, i64>(1)? as u64);
        }
    }
    Ok(totals)
}

/// Crawls that were under way in the window, and of each its minutes in it.
fn activity(conn: &Connection, window: &Window) -> Result<Vec<Bucket>, Fault> {
    let (seen, owners) = visible(&window.whose, "w.id", 5);
    let sql = format!(
        "SELECT a.minute / ?4, a.outcome, sum(a.visits), sum(a.bytes)
         FROM crawls w CROSS JOIN activity a
         ON a.crawl = w.id AND a.minute >= ?1 AND a.minute < ?2
         WHERE w.id = coalesce(?3, w.id) AND w.started_at < ?2 * {MINUTE}
         AND coalesce(w.finished_at, ?2 * {MINUTE}) >= ?1 * {MINUTE} AND {seen}
         GROUP BY 1, 2 ORDER BY 1, 2"
    );
    let width = i64::from(window.bucket_minutes.max(1));
    let first = [
        Value::Integer(window.from.0.div_euclid(MINUTE)),
        Value::Integer((window.to.0 + MINUTE - 1).div_euclid(MINUTE)),
        window.crawl.map(|crawl| crawl.0).into(),
        Value::Integer(width),
    ];
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(first.into_iter().chain(owners)))?;
    let mut buckets: Vec<Bucket> = Vec::new();
    while let Some(row) = rows.next()? {
        let start = UnixMillis(row.get::<_, i64>(0)? * width * MINUTE);
        if buckets.last().is_none_or(|bucket| bucket.start != start) {
            buckets.push(Bucket {
                start,
                bytes: 0,
                outcomes: BTreeMap::new(),
            });
        }
        if let (Some(bucket), Some(kind)) =
            (buckets.last_mut(), OutcomeKind::from_stored(row.get(1)?))
        {
            bucket.outcomes.insert(kind, row.get::<_, i64>(2)? as u64);
            bucket.bytes += row.get::<_, i64>(3)? as u64;
        }
    }
    Ok(buckets)
}

/// Crawls whose visits may be forgotten, and how many others were asked for.
pub(super) fn purgeable(
    conn: &Connection,
    crawl: Option<CrawlId>,
) -> Result<(Vec<CrawlId>, u64), Fault> {
    let sql = "SELECT id, state IN ('running', 'paused') AND spec ->> '$.standing' IS NOT 1
               FROM crawls WHERE id = coalesce(?1, id) AND config_hash IS NULL";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![crawl.map(|crawl| crawl.0)], |row| {
        Ok((CrawlId(row.get(0)?), row.get::<_, bool>(1)?))
    })?;
    let (mut free, mut busy) = (Vec::new(), 0);
    for row in rows {
        match row? {
            (_, true) => busy += 1,
            (crawl, false) => free.push(crawl),
        }
    }
    Ok((free, busy))
}
