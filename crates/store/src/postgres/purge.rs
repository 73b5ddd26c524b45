//! Visits that are forgotten, some thousands in a transaction, so that crawls go on in between. What
//! several crawls share (addresses, hosts) stays, and so do bodies that later visits refer to.

use std::time::Duration;

use tokio_postgres::Row;
use trawl_types::{CrawlId, CrawlState, OutcomeKind};

use super::{
    PostgresStore,
    fault::Fault,
    identity::host_id,
    pool::Conn,
    queue::{lock, rows_are_gone},
    reader,
    tallies::{self, Changes},
};
use crate::contract::{
    StoreError,
    overview::{Purge, Purged},
};

/// Numbers of a log that one transaction looks at.
const STEP: i64 = 5_000;
/// For one of them.
const STEPPING: Duration = Duration::from_mins(1);

/// A part of a crawl's log.
#[derive(Debug, Clone)]
struct Step {
    crawl: CrawlId,
    after: i64,
    host: Option<i64>,
    before: Option<i64>,
    outcomes: Vec<i16>,
    superseded: bool,
    archived: bool,
}

/// Visits, as far as they have to be known to be forgotten.
#[derive(Debug, Default)]
struct Visits {
    seqs: Vec<i64>,
    /// Pages without a later visit.
    pages: Vec<i64>,
    /// What copies of them were compared with, and their pages.
    hashes: Vec<Vec<u8>>,
    originals: Vec<i64>,
    records: Released,
    changes: Changes,
    /// By the budget's measure.
    counted: i64,
    purged: Purged,
}

impl PostgresStore {
    pub(super) async fn purge_all(&self, purge: Purge) -> Result<Purged, StoreError> {
        let crawls = self.ask_within(STEPPING, async {
            reader::crawls(&*self.soon().await?).await
        });
        let mut all = Purged::default();
        for crawl in crawls.await? {
            if purge.crawl.is_some_and(|wanted| wanted != crawl.id) {
                continue;
            }
            let runs = matches!(crawl.state, CrawlState::Running | CrawlState::Paused);
            if runs && !crawl.spec.standing {
                all.skipped_crawls += 1;
                continue;
            }
            for after in (0..crawl.last_seq.0).step_by(STEP as usize) {
                let step = Step {
                    crawl: crawl.id,
                    after,
                    host: purge.host.as_ref().map(|host| host_id(self.secret, host).0),
                    before: purge.before.map(|at| at.0),
                    outcomes: purge.outcomes.iter().map(|kind| *kind as i16).collect(),
                    superseded: purge.superseded,
                    archived: purge.archived,
                };
                let done = self.purge_step(&step, purge.dry_run).await?;
                all.visits += done.visits;
                all.bytes += done.bytes;
            }
        }
        Ok(all)
    }

    async fn purge_step(&self, step: &Step, dry_run: bool) -> Result<Purged, StoreError> {
        self.ask_within(STEPPING, async {
            let conn = self.soon().await?;
            if dry_run {
                return Ok(visits(&conn, step).await?.purged);
            }
            conn.begin().await?;
            conn.run("SET LOCAL statement_timeout = 0").await?;
            lock(&conn, step.crawl).await?;
            let visits = visits(&conn, step).await?;
            if visits.purged.visits > 0 {
                forget(&conn, step.crawl, &visits).await?;
            }
            conn.commit().await?;
            Ok(visits.purged)
        })
        .await
    }
}

async fn visits(conn: &Conn, step: &Step) -> Result<Visits, Fault> {
    let sql = "SELECT r.seq, r.page, r.outcome, r.duplicate_of IS NOT NULL,
        coalesce(c.seq = r.seq AND c.state = 2, false), coalesce(r.content_length, 0),
        coalesce(t.text_hash, r.content_hash), r.body_crawl, r.body_seq, t.record_crawl,
        t.record_seq
        FROM results r LEFT JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page
        LEFT JOIN contents t ON t.crawl = r.crawl AND t.seq = r.seq
        WHERE r.crawl = $1 AND r.seq > $2 AND r.seq <= $3 AND ($4::int8 IS NULL OR c.host = $4)
        AND ($5::int8 IS NULL OR r.crawled_at < $5)
        AND (cardinality($6::int2[]) = 0 OR r.outcome = ANY($6)) AND (NOT $7 OR EXISTS (
          SELECT 1 FROM results n WHERE n.page = r.page AND n.crawl > r.crawl))
        AND (NOT $8 OR r.seq <= (SELECT archived FROM crawls WHERE id = $1))";
    let to = step.after + STEP;
    let rows = conn
        .query(
            sql,
            &[
                &step.crawl.0,
                &step.after,
                &to,
                &step.host,
                &step.before,
                &step.outcomes,
                &step.superseded,
                &step.archived,
            ],
        )
        .await?;
    let mut visits = Visits::default();
    for row in &rows {
        visits.add(row);
    }
    Ok(visits)
}

impl Visits {
    fn add(&mut self, row: &Row) {
        let page: i64 = row.get(1);
        let outcome = OutcomeKind::from_stored(row.get::<_, i16>(2) as u8);
        let outcome = outcome.unwrap_or(OutcomeKind::ProtocolError);
        let newest: bool = row.get(4);
        self.seqs.push(row.get(0));
        if newest {
            self.pages.push(page);
        }
        self.changes.forget(outcome, newest, row.get(3));
        self.counted += i64::from(outcome.is_page());
        self.purged.visits += 1;
        self.purged.bytes += row.get::<_, i64>(5) as u64;
        if let Some(hash) = row.get::<_, Option<&[u8]>>(6).and_then(|h| h.get(..16)) {
            self.hashes.push(hash.to_vec());
            self.originals.push(page);
        }
        self.records.add(0, page, row.get(7), row.get(8));
        self.records.add(1, page, row.get(9), row.get(10));
    }
}

/// Visits, the rows of pages that have no later one, and what only they referred to.
async fn forget(conn: &Conn, crawl: CrawlId, visits: &Visits) -> Result<(), Fault> {
    let Visits { seqs, pages, .. } = visits;
    let crawl_id = crawl.0;
    for sql in [
        "DELETE FROM results r USING unnest($2::int8[]) n(seq) WHERE r.crawl = $1 AND r.seq = n.seq",
        "DELETE FROM contents r USING unnest($2::int8[]) n(seq) WHERE r.crawl = $1 AND r.seq = n.seq",
    ] {
        conn.execute(sql, &[&crawl_id, seqs]).await?;
    }
    for sql in [
        "DELETE FROM crawl_pages c USING unnest($2::int8[]) n(page)
         WHERE c.crawl = $1 AND c.page = n.page",
        "DELETE FROM page_links l USING unnest($2::int8[]) n(page)
         WHERE l.page = n.page AND l.first_crawl = $1 AND l.last_crawl = $1",
    ] {
        conn.execute(sql, &[&crawl_id, pages]).await?;
    }
    let sql = "DELETE FROM originals o USING unnest($2::bytea[], $3::int8[]) n(hash, page)
        WHERE o.crawl = $1 AND o.hash = n.hash AND o.page = n.page";
    conn.execute(sql, &[&crawl_id, &visits.hashes, &visits.originals])
        .await?;
    visits.records.release(conn).await?;
    tallies::write(conn, crawl, tallies::LOCKED, &visits.changes).await?;
    let sql = "UPDATE crawls SET pages = greatest(pages - $2, 0) WHERE id = $1";
    conn.execute(sql, &[&crawl_id, &visits.counted]).await?;
    rows_are_gone(conn, crawl).await
}

/// Records that visits referred to: crawls, numbers, kinds and pages.
#[derive(Debug, Default)]
pub(super) struct Released {
    crawls: Vec<i64>,
    seqs: Vec<i64>,
    kinds: Vec<i16>,
    pages: Vec<i64>,
}

impl Released {
    /// A body (0) or content (1) of a page, if it has any.
    pub(super) fn add(&mut self, kind: i16, page: i64, crawl: Option<i64>, seq: Option<i64>) {
        if let (Some(crawl), Some(seq)) = (crawl, seq) {
            self.crawls.push(crawl);
            self.seqs.push(seq);
            self.kinds.push(kind);
            self.pages.push(page);
        }
    }

    /// Removes those that no visit refers to any more. Only visits of the same page can.
    pub(super) async fn release(&self, conn: &Conn) -> Result<(), Fault> {
        let sql = "DELETE FROM records b
            USING unnest($1::int8[], $2::int8[], $3::int2[], $4::int8[]) n(crawl, seq, kind, page)
            WHERE b.crawl = n.crawl AND b.seq = n.seq AND b.kind = n.kind
            AND NOT EXISTS (SELECT 1 FROM results r WHERE r.page = n.page AND b.kind = 0
              AND r.body_crawl = b.crawl AND r.body_seq = b.seq)
            AND NOT EXISTS (SELECT 1 FROM results r
              JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
              WHERE r.page = n.page AND b.kind = 1
              AND c.record_crawl = b.crawl AND c.record_seq = b.seq)";
        let Self {
            crawls,
            seqs,
            kinds,
            pages,
        } = self;
        conn.execute(sql, &[crawls, seqs, kinds, pages]).await?;
        Ok(())
    }
}
