//! Hosts and figures across crawls.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use tokio_postgres::Row;
use trawl_types::{CrawlId, HostId, KeySecret, OutcomeKind, UnixMillis};

use super::{
    PostgresStore,
    commit::MINUTE,
    fault::Fault,
    identity::host_id,
    pages,
    pool::{Conn, Taken},
    queue_rows,
    tallies::Kind,
    text::{Heard, Said},
};
use crate::contract::{
    StoreError,
    overview::{
        Bucket, FoundPage, HostCursor, HostFilter, HostOrder, HostOverview, Overview, PageCursor,
        PageFilter, Purge, Purged, Swept, Totals, Whose, Window,
    },
    queue::{ByScore, Listed, QueueCursor, QueueFilter, QueuedUrl},
};

/// Questions across crawls may take longer than others.
const LOOKING: Duration = Duration::from_secs(20);

impl PostgresStore {
    /// A connection for such a question, in a transaction.
    async fn looking(&self) -> Result<Taken, Fault> {
        let conn = self.soon().await?;
        conn.begin().await?;
        conn.run("SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '20s'")
            .await?;
        Ok(conn)
    }
}

#[async_trait]
impl Overview for PostgresStore {
    async fn pages(&self, filter: PageFilter) -> Result<Listed<FoundPage, PageCursor>, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let found = pages::pages(&conn, self.secret, &filter).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn hosts(
        &self,
        filter: HostFilter,
    ) -> Result<Listed<HostOverview, HostCursor>, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let found = hosts(&conn, self.secret, &filter).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn totals(&self, whose: Whose) -> Result<Totals, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let found = totals(&conn, &whose).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn activity(&self, window: Window) -> Result<Vec<Bucket>, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let found = activity(&conn, &window).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn queue(
        &self,
        crawl: CrawlId,
        filter: QueueFilter,
    ) -> Result<Listed<QueuedUrl, QueueCursor>, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let host = match &filter.host {
                None => None,
                Some(name) => {
                    let host = self.known_host(&conn, name).await?;
                    if host.is_none() {
                        conn.commit().await?;
                        let (items, next) = (Vec::new(), None);
                        return Ok(Listed { items, next });
                    }
                    host
                }
            };
            let found = queue_rows::queue(&conn, crawl, host, &filter).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn pending_by_score(
        &self,
        crawl: CrawlId,
        high: u8,
        medium: u8,
    ) -> Result<ByScore, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.looking().await?;
            let found = queue_rows::pending_by_score(&conn, crawl, high, medium).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn crawls_on_host(&self, host: &str) -> Result<Vec<CrawlId>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let Some(host) = self.known_host(&conn, host).await? else {
                return Ok(Vec::new());
            };
            let sql = "SELECT x.crawl FROM crawl_hosts x JOIN crawls w ON w.id = x.crawl
                WHERE x.host = $1 AND w.state IN ('running', 'paused') ORDER BY x.crawl";
            let rows = conn.query(sql, &[&host.0]).await?;
            Ok(rows.iter().map(|row| CrawlId(row.get(0))).collect())
        })
        .await
    }

    async fn forgive(&self, host: &str) -> Result<Option<HostId>, StoreError> {
        self.forgive_host(host).await
    }

    async fn purge(&self, purge: Purge) -> Result<Purged, StoreError> {
        self.purge_all(purge).await
    }

    /// Bodies are rows, and go with the last visit that refers to them.
    async fn sweep(&self) -> Result<Swept, StoreError> {
        Ok(Swept::default())
    }
}

/// Owners whose jobs may be seen; nothing for all crawls.
pub(super) fn owners(whose: &Whose) -> Option<Vec<Said<'_>>> {
    match whose {
        Whose::Everybody => None,
        Whose::Owners(owners) => Some(owners.iter().map(|owner| Said(owner)).collect()),
    }
}

/// Figures of hosts; `$1` to `$5`: owners, one host, given up or not, name and figure of the last one.
macro_rules! hosts {
    ($figure:literal, $place:expr, $order:expr) => {
        concat!(
            "SELECT h.id, h.name, f.pages, f.errors, f.bytes, f.crawls, f.last, h.delay_ms,
               h.next_allowed, h.failures, f.given_up, ",
            $figure,
            " FROM hosts h CROSS JOIN LATERAL (
               SELECT sum(x.pages_done)::int8 AS pages, sum(x.errors)::int8 AS errors,
                 sum(x.bytes)::int8 AS bytes, count(*) AS crawls, max(x.last_crawled) AS last,
                 bool_or(w.state IN ('running', 'paused') AND x.suspended > 0) AS given_up
               FROM crawl_hosts x JOIN crawls w ON w.id = x.crawl WHERE x.host = h.id
               AND ($1::text[] IS NULL
                 OR x.crawl IN (SELECT crawl FROM jobs WHERE owner = ANY($1)))) f
             WHERE f.crawls > 0 AND ($3::bool IS NULL OR f.given_up = $3) AND ",
            $place,
            " ORDER BY ",
            $order,
            " LIMIT $6"
        )
    };
}

/// All are added up.
macro_rules! by_figure {
    ($figure:literal) => {
        hosts!(
            $figure,
            concat!(
                "$2::int8 IS NULL AND ($4::text IS NULL OR ",
                $figure,
                " < $5 OR (",
                $figure,
                " = $5 AND h.name COLLATE \"C\" > $4))"
            ),
            concat!($figure, " DESC, h.name COLLATE \"C\"")
        )
    };
}

/// Read in the order of their index, and no further than needed.
const BY_NAME: &str = hosts!(
    "0::int8",
    "$2::int8 IS NULL AND h.name COLLATE \"C\" > coalesce($4::text, '') AND $5::int8 IS NOT NULL",
    "h.name COLLATE \"C\""
);
const ONE: &str = hosts!(
    "0::int8",
    "h.id = $2::int8 AND ($4::text IS NULL OR h.name COLLATE \"C\" > $4) AND $5::int8 IS NOT NULL",
    "h.name COLLATE \"C\""
);

async fn hosts(
    conn: &Conn,
    secret: KeySecret,
    filter: &HostFilter,
) -> Result<Listed<HostOverview, HostCursor>, Fault> {
    let one = filter.name.as_deref().map(|name| host_id(secret, name).0);
    let sql = match filter.order {
        _ if one.is_some() => ONE,
        HostOrder::Name => BY_NAME,
        HostOrder::Pages => by_figure!("f.pages"),
        HostOrder::Errors => by_figure!("f.errors"),
        HostOrder::LastCrawled => by_figure!("f.last"),
    };
    let after = filter.after.as_ref();
    let owners = owners(&filter.whose);
    let last = after.map(|after| Said(&after.name));
    let figure = after.map_or(i64::MAX, |after| after.figure);
    let limit = i64::from(filter.limit);
    let values: [super::pool::Param<'_>; 6] =
        [&owners, &one, &filter.suspended, &last, &figure, &limit];
    let rows = conn.query(sql, &values).await?;
    let found: Vec<(HostOverview, i64)> = rows.iter().map(|row| host(conn, row)).collect();
    let full = found.len() >= filter.limit as usize;
    let next = found.last().filter(|_| full);
    let next = next.map(|(host, figure)| HostCursor {
        figure: *figure,
        name: host.name.clone(),
    });
    let items = found.into_iter().map(|(host, _)| host).collect();
    Ok(Listed { items, next })
}

fn host(conn: &Conn, row: &Row) -> (HostOverview, i64) {
    let last: i64 = row.get(6);
    let number = |column: usize| row.get::<_, i64>(column) as u64;
    let host = HostOverview {
        id: HostId(row.get(0)),
        name: row.get::<_, Heard>(1).0,
        pages: number(2),
        errors: number(3),
        bytes: number(4),
        crawls: number(5),
        last_crawled: (last > 0).then_some(UnixMillis(last)),
        delay_ms: number(7),
        next_allowed: conn.skew.here(row.get(8)),
        failures: row.get::<_, i32>(9) as u32,
        suspended: row.get(10),
    };
    (host, row.get(11))
}

async fn totals(conn: &Conn, whose: &Whose) -> Result<Totals, Fault> {
    let owners = owners(whose);
    let sql = "SELECT count(*) FROM crawls w
        WHERE $1::text[] IS NULL OR w.id IN (SELECT crawl FROM jobs WHERE owner = ANY($1))";
    let mut totals = Totals {
        crawls: conn.query_one(sql, &[&owners]).await?.get::<_, i64>(0) as u64,
        ..Totals::default()
    };
    let sql = "SELECT kind, code, sum(total)::int8 FROM tallies
        WHERE $1::text[] IS NULL OR crawl IN (SELECT crawl FROM jobs WHERE owner = ANY($1))
        GROUP BY kind, code";
    for row in conn.query(sql, &[&owners]).await? {
        let total = row.get::<_, i64>(2).max(0) as u64;
        let Some(kind) = Kind::from_stored(row.get(0)) else {
            continue;
        };
        match kind {
            Kind::Discovered => totals.discovered = total,
            Kind::Pending => totals.pending = total,
            Kind::Done => totals.visits = total,
            Kind::Refused => totals.refused = total,
            Kind::Hosts => totals.hosts = total,
            Kind::Pages => totals.pages = total,
            Kind::Duplicates => totals.duplicates = total,
            Kind::Outcome => {
                let kind = OutcomeKind::from_stored(row.get::<_, i16>(1) as u8);
                totals.outcomes.extend(kind.map(|kind| (kind, total)));
            }
            Kind::Bytes => totals.bytes = total,
            Kind::Edges | Kind::NearDuplicates | Kind::Reason => {}
        }
    }
    Ok(totals)
}

/// Crawls that were under way in the window, and of each its minutes in it.
async fn activity(conn: &Conn, window: &Window) -> Result<Vec<Bucket>, Fault> {
    let sql = "SELECT a.minute / $4, a.outcome, sum(a.visits)::int8, sum(a.bytes)::int8
        FROM crawls w JOIN activity a ON a.crawl = w.id AND a.minute >= $1 AND a.minute < $2
        WHERE ($3::int8 IS NULL OR w.id = $3) AND w.started_at < $2 * 60000
        AND coalesce(w.finished_at, $2 * 60000) >= $1 * 60000
        AND ($5::text[] IS NULL OR w.id IN (SELECT crawl FROM jobs WHERE owner = ANY($5)))
        GROUP BY 1, 2 ORDER BY 1, 2";
    let width = i64::from(window.bucket_minutes.max(1));
    let from = window.from.0.div_euclid(MINUTE);
    let to = (window.to.0 + MINUTE - 1).div_euclid(MINUTE);
    let (crawl, owners) = (window.crawl.map(|crawl| crawl.0), owners(&window.whose));
    let rows = conn
        .query(sql, &[&from, &to, &crawl, &width, &owners])
        .await?;
    let mut buckets: Vec<Bucket> = Vec::new();
    for row in rows {
        let start = UnixMillis(row.get::<_, i64>(0) * width * MINUTE);
        if buckets.last().is_none_or(|bucket| bucket.start != start) {
            buckets.push(Bucket {
                start,
                bytes: 0,
                outcomes: BTreeMap::new(),
            });
        }
        let kind = OutcomeKind::from_stored(row.get::<_, i16>(1) as u8);
        if let (Some(bucket), Some(kind)) = (buckets.last_mut(), kind) {
            bucket.outcomes.insert(kind, row.get::<_, i64>(2) as u64);
            bucket.bytes += row.get::<_, i64>(3) as u64;
        }
    }
    Ok(buckets)
}
