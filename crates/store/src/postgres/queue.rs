//! Changes of a crawl's queue that people ask for. Rows change under the lock of the crawl, so that what a
//! worker settles meanwhile is either before or after; what it settles of a URL that is gone is not
//! written. Hosts are told afterwards, as always: they are locked before crawls.

use std::time::Duration;

use trawl_types::{CrawlId, HostId};

use super::{
    PostgresStore,
    commit::WAKE,
    fault::Fault,
    identity::host_id,
    pool::Conn,
    tallies::{self, Changes},
    text::Said,
};
use crate::contract::{
    StoreError,
    queue::{Changed, QueueChange, Requeue},
};

/// A queue may be long.
const CHANGING: Duration = Duration::from_mins(2);
/// Hosts that are told at once.
const TOLD: usize = 5_000;

/// Hosts that nobody holds need not wait longer than for their delay.
const HURRY: &str = "WITH free AS MATERIALIZED (
      SELECT h.id FROM unnest($1::int8[]) n(id) JOIN hosts h ON h.id = n.id
      WHERE h.holder IS NULL ORDER BY h.id FOR UPDATE OF h)
    UPDATE hosts h SET empties = 0,
      free_at = least(h.free_at, clock_timestamp() + h.delay_ms * interval '1 ms'),
      ready_at = least(h.ready_at, clock_timestamp() + h.delay_ms * interval '1 ms')
    FROM free WHERE h.id = free.id";

/// Failures of hosts are forgotten, and the waits that came of them.
const FORGIVE: &str = "WITH failed AS MATERIALIZED (
      SELECT h.id FROM unnest($1::int8[]) n(id) JOIN hosts h ON h.id = n.id
      WHERE h.failures > 0 OR h.next_allowed > 0 ORDER BY h.id FOR UPDATE OF h)
    UPDATE hosts h SET failures = 0, next_allowed = 0 FROM failed WHERE h.id = failed.id";

/// Hosts that are to be told of a change.
#[derive(Debug, Default)]
struct Told {
    wake: Vec<i64>,
    hurry: Vec<i64>,
    forgive: Vec<i64>,
}

impl PostgresStore {
    pub(super) async fn change(
        &self,
        crawl: CrawlId,
        change: QueueChange,
    ) -> Result<Changed, StoreError> {
        let named = match &change {
            QueueChange::Requeue(Requeue { host, .. }) | QueueChange::Clear { host } => host,
        };
        let changed = self.ask_within(CHANGING, async {
            let conn = self.soon().await?;
            let host = match named {
                Some(name) => match self.known_host(&conn, name).await? {
                    Some(host) => Some(host),
                    None => return Ok((Changed::default(), Told::default())),
                },
                None => None,
            };
            conn.begin().await?;
            conn.run("SET LOCAL statement_timeout = 0").await?;
            let (mut changed, told) = match &change {
                QueueChange::Requeue(wanted) => requeue(&conn, crawl, wanted, host).await?,
                QueueChange::Clear { .. } => clear(&conn, crawl, host).await?,
            };
            conn.commit().await?;
            changed.host = host;
            Ok((changed, told))
        });
        let (changed, told) = Box::pin(changed).await?;
        // What is durable must reach the hosts, also if the database goes away just now.
        let telling = tokio::time::timeout(CHANGING, self.tell_hosts(&told)).await;
        telling.unwrap_or_else(|_| Err(StoreError::Unavailable("hosts were not told".into())))?;
        Ok(changed)
    }

    /// The number of a host that the store knows.
    pub(super) async fn known_host(
        &self,
        conn: &Conn,
        name: &str,
    ) -> Result<Option<HostId>, Fault> {
        let id = host_id(self.secret, name);
        let sql = "SELECT 1 FROM hosts WHERE id = $1 AND name = $2";
        let row = conn.query_opt(sql, &[&id.0, &Said(name)]).await?;
        Ok(row.map(|_| id))
    }

    async fn tell_hosts(&self, told: &Told) -> Result<(), StoreError> {
        let orders = [
            (FORGIVE, &told.forgive),
            (HURRY, &told.hurry),
            (WAKE, &told.wake),
        ];
        for (sql, hosts) in orders {
            for some in hosts.chunks(TOLD) {
                self.insist(|| async {
                    let conn = self.patiently().await?;
                    conn.execute(sql, &[&some]).await?;
                    Ok(())
                })
                .await?;
            }
        }
        Ok(())
    }

    pub(super) async fn forgive_host(&self, name: &str) -> Result<Option<HostId>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let Some(host) = self.known_host(&conn, name).await? else {
                return Ok(None);
            };
            let hosts = [host.0];
            conn.execute(FORGIVE, &[&&hosts[..]]).await?;
            conn.execute(HURRY, &[&&hosts[..]]).await?;
            Ok(Some(host))
        })
        .await
    }
}

/// The lock under which rows of a crawl change.
pub(super) async fn lock(conn: &Conn, crawl: CrawlId) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM crawls WHERE id = $1 FOR UPDATE";
    let row = conn.query_opt(sql, &[&crawl.0]).await?;
    row.ok_or(StoreError::NoCrawl(crawl))?;
    Ok(())
}

fn distinct(mut hosts: Vec<i64>) -> Vec<i64> {
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

async fn requeue(
    conn: &Conn,
    crawl: CrawlId,
    wanted: &Requeue,
    host: Option<HostId>,
) -> Result<(Changed, Told), Fault> {
    let host = host.map(|host| host.0);
    let ended = match wanted.outcomes.as_slice() {
        [] => Vec::new(),
        _ => ended(conn, crawl, wanted, host).await?,
    };
    if wanted.dry_run {
        let requeued = ended.len() as u64;
        let changed = Changed {
            requeued,
            ..Changed::default()
        };
        return Ok((changed, Told::default()));
    }
    lock(conn, crawl).await?;
    let (mut changed, mut told) = (Changed::default(), Told::default());
    if !ended.is_empty() {
        let hosts = again(conn, crawl, &ended).await?;
        changed.requeued = hosts.len() as u64;
        told.wake = distinct(hosts);
        let mut counted = Changes::default();
        counted.requeue(changed.requeued);
        tallies::write(conn, crawl, tallies::LOCKED, &counted).await?;
    }
    if wanted.delayed {
        let sql = "UPDATE crawl_pages SET not_before = 0 WHERE crawl = $1 AND state = 0
            AND not_before > 0 AND ($2::int8 IS NULL OR host = $2) RETURNING host";
        let rows = conn.query(sql, &[&crawl.0, &host]).await?;
        changed.hurried = rows.len() as u64;
        told.hurry
            .extend(rows.iter().map(|row| row.get::<_, i64>(0)));
    }
    if wanted.suspended {
        let sql = "UPDATE crawl_hosts SET suspended = 0, closed = false
            WHERE crawl = $1 AND suspended > 0 AND ($2::int8 IS NULL OR host = $2)
            RETURNING host";
        let rows = conn.query(sql, &[&crawl.0, &host]).await?;
        changed.hosts = rows.len() as u64;
        told.hurry
            .extend(rows.iter().map(|row| row.get::<_, i64>(0)));
        let sql = "SELECT h.id FROM crawl_hosts c JOIN hosts h ON h.id = c.host AND h.failures > 0
            WHERE c.crawl = $1 AND ($2::int8 IS NULL OR c.host = $2)";
        let rows = conn.query(sql, &[&crawl.0, &host]).await?;
        told.forgive = distinct(rows.iter().map(|row| row.get(0)).collect());
        told.hurry.extend(&told.forgive);
    }
    told.hurry = distinct(told.hurry);
    Ok((changed, told))
}

/// Visits that ended as they are wanted. Looked for before the lock is taken: there may be many pages
/// to look at, and few to change.
async fn ended(
    conn: &Conn,
    crawl: CrawlId,
    wanted: &Requeue,
    host: Option<i64>,
) -> Result<Vec<(i64, i64)>, Fault> {
    let outcomes: Vec<i16> = wanted.outcomes.iter().map(|kind| *kind as i16).collect();
    let before = wanted.ended_before.map(|at| at.0);
    let since = wanted.ended_since.map(|at| at.0);
    let sql = "SELECT c.page, c.seq FROM crawl_pages c WHERE c.crawl = $1 AND c.state = 2
        AND c.outcome = ANY($2) AND ($3::int8 IS NULL OR c.host = $3)
        AND (($4::int8 IS NULL AND $5::int8 IS NULL) OR (
          SELECT r.crawled_at < coalesce($4, r.crawled_at + 1)
            AND r.crawled_at >= coalesce($5, r.crawled_at)
          FROM results r WHERE r.crawl = $1 AND r.seq = c.seq))";
    let rows = conn
        .query(sql, &[&crawl.0, &outcomes, &host, &before, &since])
        .await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Visits that ended become pages that were never tried, unless they were visited again meanwhile.
async fn again(conn: &Conn, crawl: CrawlId, ended: &[(i64, i64)]) -> Result<Vec<i64>, Fault> {
    let (pages, seqs): (Vec<i64>, Vec<i64>) = ended.iter().copied().unzip();
    let sql = "UPDATE crawl_pages c SET state = 0, attempts = 0, not_before = 0
        FROM unnest($2::int8[], $3::int8[]) n(page, seq)
        WHERE c.crawl = $1 AND c.page = n.page AND c.state = 2 AND c.seq = n.seq
        RETURNING c.host";
    let rows = conn.query(sql, &[&crawl.0, &pages, &seqs]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

async fn clear(
    conn: &Conn,
    crawl: CrawlId,
    host: Option<HostId>,
) -> Result<(Changed, Told), Fault> {
    lock(conn, crawl).await?;
    let cleared = if let Some(host) = host {
        let sql = "DELETE FROM crawl_pages WHERE crawl = $1 AND state = 0 AND host = $2";
        conn.execute(sql, &[&crawl.0, &host.0]).await?
    } else {
        let sql = "DELETE FROM crawl_pages WHERE crawl = $1 AND state = 0";
        conn.execute(sql, &[&crawl.0]).await?
    };
    let mut counted = Changes::default();
    counted.clear(cleared);
    tallies::write(conn, crawl, tallies::LOCKED, &counted).await?;
    rows_are_gone(conn, crawl).await?;
    let changed = Changed {
        cleared,
        ..Changed::default()
    };
    Ok((changed, Told::default()))
}

/// Every process that remembers pages of the crawl learns that some are gone.
pub(super) async fn rows_are_gone(conn: &Conn, crawl: CrawlId) -> Result<(), Fault> {
    let sql = "UPDATE crawls SET cleared = cleared + 1 WHERE id = $1";
    conn.execute(sql, &[&crawl.0]).await?;
    Ok(())
}
