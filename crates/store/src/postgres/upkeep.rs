//! Looking after the database: chores of some thousands of rows each, so that crawls go on in between, and
//! figures counted row by row.

use std::time::Duration;

use async_trait::async_trait;
use trawl_types::{CrawlId, CrawlState, OutcomeKind, ReasonCode, Sequence, UnixMillis};

use super::{
    PostgresStore, duties,
    fault::Fault,
    pool::Conn,
    purge::Released,
    queue::{lock, rows_are_gone},
    reader, records, revise, storage,
    tallies::{self, Changes},
};
use crate::{
    contract::{
        StoreError,
        read::{CrawlCounts, CrawlRow},
        upkeep::{
            Ageing, Cleaned, Cutoff, DAY_MINUTES, HOUR_MINUTES, Storage, Upkeep, miscounts,
            whole_buckets,
        },
        write::Digest,
    },
    segment::Record,
    shared::{codes::FINGERPRINTS, compressed::compressed},
};

/// Numbers of a log, or rows of a queue, that one transaction looks at.
const STEP: i64 = 5_000;
/// Answers to robots.txt that one statement looks at: few, they may be large.
const ROBOTS: i64 = 500;
/// For one of them.
const STEPPING: Duration = Duration::from_mins(1);
/// For whole tables.
pub(super) const READING: Duration = Duration::from_hours(1);

/// Plans for whole tables, and time for them.
pub(super) const WHOLE_TABLES: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL enable_seqscan = on;
    SET LOCAL enable_hashjoin = on";

#[async_trait]
impl Upkeep for PostgresStore {
    async fn clean_rows(
        &self,
        what: Ageing,
        old: Cutoff,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        let before = old.before;
        match what {
            Ageing::Bodies => self.shed(old, dry_run).await,
            Ageing::Queue => self.unqueue(before, dry_run).await,
            Ageing::Minutes => self.roll_up(before, HOUR_MINUTES, dry_run).await,
            Ageing::Hours => self.roll_up(before, DAY_MINUTES, dry_run).await,
            Ageing::Robots => self.forget_robots(before, dry_run).await,
            Ageing::Unused => Box::pin(self.forget_unused(before, dry_run)).await,
            Ageing::Visits | Ageing::Failures | Ageing::Versions => Ok(Cleaned::default()),
        }
    }

    async fn archived(&self, crawl: CrawlId) -> Result<Sequence, StoreError> {
        self.ask(async { duties::archived(&*self.soon().await?, crawl).await })
            .await
    }

    async fn note_archived(&self, crawl: CrawlId, through: Sequence) -> Result<(), StoreError> {
        self.ask_within(STEPPING, async {
            duties::note_archived(&*self.soon().await?, crawl, through).await
        })
        .await
    }

    async fn storage(&self, hosts: u32) -> Result<Storage, StoreError> {
        self.ask_within(READING, async {
            let conn = self.soon().await?;
            conn.begin().await?;
            conn.run(WHOLE_TABLES).await?;
            let found = storage::storage(&conn, hosts).await?;
            conn.commit().await?;
            Ok(found)
        })
        .await
    }

    async fn recount(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError> {
        self.ask_within(READING, async {
            let conn = self.soon().await?;
            conn.begin().await?;
            conn.run(WHOLE_TABLES).await?;
            let counted = recount(&conn, crawl).await?;
            conn.commit().await?;
            Ok(counted)
        })
        .await
    }

    async fn repair_counts(&self, crawl: CrawlId) -> Result<(), StoreError> {
        self.ask_within(READING, async {
            let conn = self.soon().await?;
            conn.begin().await?;
            conn.run(WHOLE_TABLES).await?;
            lock(&conn, crawl).await?;
            let counted = recount(&conn, crawl).await?;
            let said = tallies::counts(&conn, crawl).await?;
            if !miscounts(&said, &counted).is_empty() {
                tallies::replace(&conn, crawl, &counted).await?;
            }
            let sql = "UPDATE crawls SET pages = $2 WHERE id = $1";
            conn.execute(sql, &[&crawl.0, &(counted.pages as i64)])
                .await?;
            conn.commit().await
        })
        .await
    }

    async fn answer(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        self.ask(async { records::answer(&*self.soon().await?, crawl, seq).await })
            .await
    }

    async fn revise(
        &self,
        crawl: CrawlId,
        seq: Sequence,
        mut digest: Digest,
        _now: UnixMillis,
    ) -> Result<Option<Sequence>, StoreError> {
        if let Some(record) = digest.content.take() {
            let frame = compressed(record.bytes().into_owned()).await?;
            digest.content = Some(Record::whole(frame));
        }
        self.ask_within(STEPPING, async {
            let conn = self.soon().await?;
            revise::revise(&conn, crawl, seq, &digest).await
        })
        .await
    }
}

impl PostgresStore {
    async fn every_crawl(&self) -> Result<Vec<CrawlRow>, StoreError> {
        self.ask_within(STEPPING, async {
            reader::crawls(&*self.soon().await?).await
        })
        .await
    }

    /// Bodies and content go, what is known of the visits stays.
    async fn shed(&self, old: Cutoff, dry_run: bool) -> Result<Cleaned, StoreError> {
        let mut all = Cleaned::default();
        for crawl in self.every_crawl().await? {
            let runs = matches!(crawl.state, CrawlState::Running | CrawlState::Paused);
            if runs && !crawl.spec.standing {
                continue;
            }
            let last = if old.archived {
                self.archived(crawl.id).await?.0
            } else {
                crawl.last_seq.0
            };
            for after in (0..last).step_by(STEP as usize) {
                let part = (after, (after + STEP).min(last));
                let step = self.ask_within(STEPPING, async {
                    let conn = self.soon().await?;
                    conn.begin().await?;
                    conn.run("SET LOCAL statement_timeout = 0").await?;
                    lock(&conn, crawl.id).await?;
                    let done = shed_some(&conn, crawl.id, part, old.before.0, dry_run).await?;
                    conn.commit().await?;
                    Ok(done)
                });
                let done = Box::pin(step).await?;
                all.rows += done.rows;
                all.bytes += done.bytes;
            }
        }
        Ok(all)
    }

    /// URLs that crawls left when they ended.
    async fn unqueue(&self, before: UnixMillis, dry_run: bool) -> Result<Cleaned, StoreError> {
        let mut all = Cleaned::default();
        for crawl in self.every_crawl().await? {
            let over = matches!(crawl.state, CrawlState::Completed | CrawlState::Cancelled);
            if !over || crawl.finished_at.is_none_or(|at| at >= before) {
                continue;
            }
            loop {
                let step = self.ask_within(STEPPING, async {
                    let conn = self.soon().await?;
                    conn.begin().await?;
                    conn.run("SET LOCAL statement_timeout = 0").await?;
                    let gone = unqueue_some(&conn, crawl.id, dry_run).await?;
                    conn.commit().await?;
                    Ok(gone)
                });
                let gone = Box::pin(step).await?;
                all.rows += gone;
                if dry_run || gone == 0 {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// Figures of whole buckets become one row for each of them.
    async fn roll_up(
        &self,
        before: UnixMillis,
        width: i64,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        let before = whole_buckets(before, width);
        self.ask_within(READING, async {
            let conn = self.soon().await?;
            conn.begin().await?;
            conn.run(WHOLE_TABLES).await?;
            let rows = if dry_run {
                let sql = "SELECT count(*) FROM activity WHERE minute < $1 AND minute % $2 <> 0";
                let row = conn.query_one(sql, &[&before, &width]).await?;
                row.get::<_, i64>(0)
            } else {
                let sql = "WITH gone AS (DELETE FROM activity
                      WHERE minute < $1 AND minute % $2 <> 0
                      RETURNING crawl, minute - minute % $2 AS start, outcome, visits, bytes),
                    added AS (INSERT INTO activity AS a (crawl, minute, outcome, visits, bytes)
                      SELECT crawl, start, outcome, sum(visits)::int8, sum(bytes)::int8 FROM gone
                      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
                      ON CONFLICT (crawl, minute, outcome) DO UPDATE
                      SET visits = a.visits + excluded.visits, bytes = a.bytes + excluded.bytes)
                    SELECT count(*) FROM gone";
                conn.query_one(sql, &[&before, &width]).await?.get(0)
            };
            conn.commit().await?;
            Ok(Cleaned {
                rows: rows as u64,
                bytes: 0,
            })
        })
        .await
    }

    async fn forget_robots(
        &self,
        before: UnixMillis,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        let mut all = Cleaned::default();
        let mut after = Some(0);
        while let Some(from) = after {
            let step = self.ask_within(STEPPING, async {
                let conn = self.soon().await?;
                forget_some_robots(&conn, from, before, dry_run).await
            });
            let (cleaned, last) = step.await?;
            all.rows += cleaned.rows;
            all.bytes += cleaned.bytes;
            after = last;
        }
        Ok(all)
    }
}

/// Of the hosts after one; gives the last one that was looked at, if there may be more.
async fn forget_some_robots(
    conn: &Conn,
    after: i64,
    before: UnixMillis,
    dry_run: bool,
) -> Result<(Cleaned, Option<i64>), Fault> {
    let sql = "SELECT max(host), count(*) FROM (SELECT host FROM robots WHERE host > $1
        ORDER BY host LIMIT $2) n";
    let row = conn.query_one(sql, &[&after, &ROBOTS]).await?;
    let (Some(last), looked_at) = (row.get::<_, Option<i64>>(0), row.get::<_, i64>(1)) else {
        return Ok((Cleaned::default(), None));
    };
    let sql = if dry_run {
        "SELECT count(*), coalesce(sum(octet_length(body)), 0)::int8 FROM robots
         WHERE host > $1 AND host <= $2 AND fetched_at < $3"
    } else {
        "WITH gone AS (DELETE FROM robots WHERE host > $1 AND host <= $2 AND fetched_at < $3
           RETURNING octet_length(body) AS bytes)
         SELECT count(*), coalesce(sum(bytes), 0)::int8 FROM gone"
    };
    let row = conn.query_one(sql, &[&after, &last, &before.0]).await?;
    let cleaned = Cleaned {
        rows: row.get::<_, i64>(0) as u64,
        bytes: row.get::<_, i64>(1) as u64,
    };
    Ok((cleaned, (looked_at == ROBOTS).then_some(last)))
}

async fn shed_some(
    conn: &Conn,
    crawl: CrawlId,
    (after, to): (i64, i64),
    before: i64,
    dry_run: bool,
) -> Result<Cleaned, Fault> {
    let sql = "SELECT r.seq, r.page, r.body_crawl, r.body_seq, c.record_crawl, c.record_seq,
        coalesce(octet_length(b.record), 0)::int8 + coalesce(octet_length(t.record), 0)::int8
        FROM results r LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
        LEFT JOIN records b ON b.crawl = r.body_crawl AND b.seq = r.body_seq AND b.kind = 0
        LEFT JOIN records t ON t.crawl = c.record_crawl AND t.seq = c.record_seq AND t.kind = 1
        WHERE r.crawl = $1 AND r.seq > $2 AND r.seq <= $3 AND r.crawled_at < $4
        AND (r.body_seq IS NOT NULL OR c.record_seq IS NOT NULL)";
    let rows = conn.query(sql, &[&crawl.0, &after, &to, &before]).await?;
    let (mut cleaned, mut records, mut seqs) =
        (Cleaned::default(), Released::default(), Vec::new());
    for row in &rows {
        let (page, body, content): (i64, Option<i64>, Option<i64>) =
            (row.get(1), row.get(3), row.get(5));
        cleaned.rows += u64::from(body.is_some()) + u64::from(content.is_some());
        cleaned.bytes += row.get::<_, i64>(6) as u64;
        records.add(0, page, row.get(2), body);
        records.add(1, page, row.get(4), content);
        seqs.push(row.get::<_, i64>(0));
    }
    if dry_run || seqs.is_empty() {
        return Ok(cleaned);
    }
    let sql = "UPDATE results r SET body_crawl = NULL, body_seq = NULL
        FROM unnest($2::int8[]) n(seq) WHERE r.crawl = $1 AND r.seq = n.seq";
    conn.execute(sql, &[&crawl.0, &seqs]).await?;
    let sql = "UPDATE contents c SET record_crawl = NULL, record_seq = NULL, kept = kept & $3
        FROM unnest($2::int8[]) n(seq) WHERE c.crawl = $1 AND c.seq = n.seq";
    conn.execute(sql, &[&crawl.0, &seqs, &i16::from(FINGERPRINTS)])
        .await?;
    records.release(conn).await?;
    Ok(cleaned)
}

/// The crawl may have been taken up again since somebody looked: then it is left alone.
async fn unqueue_some(conn: &Conn, crawl: CrawlId, dry_run: bool) -> Result<u64, Fault> {
    if dry_run {
        let sql = "SELECT count(*) FROM crawl_pages WHERE crawl = $1 AND state < 2";
        let row = conn.query_one(sql, &[&crawl.0]).await?;
        return Ok(row.get::<_, i64>(0) as u64);
    }
    let sql = "SELECT state FROM crawls WHERE id = $1 FOR UPDATE";
    let row = conn.query_opt(sql, &[&crawl.0]).await?;
    let state = row.and_then(|row| CrawlState::from_stored(row.get(0)));
    if !matches!(state, Some(CrawlState::Completed | CrawlState::Cancelled)) {
        return Ok(0);
    }
    let sql = "DELETE FROM crawl_pages c USING (SELECT page FROM crawl_pages
          WHERE crawl = $1 AND state < 2 LIMIT $2) n
        WHERE c.crawl = $1 AND c.page = n.page RETURNING c.state, c.reason";
    let rows = conn.query(sql, &[&crawl.0, &STEP]).await?;
    let mut changes = Changes::default();
    for row in &rows {
        let reason: Option<i16> = row.get(1);
        let reason = reason.filter(|_| row.get::<_, i16>(0) == 1);
        changes.unqueue(reason.and_then(|code| ReasonCode::from_stored(code as u8)));
    }
    tallies::write(conn, crawl, tallies::LOCKED, &changes).await?;
    if !rows.is_empty() {
        rows_are_gone(conn, crawl).await?;
    }
    Ok(rows.len() as u64)
}

async fn recount(conn: &Conn, crawl: CrawlId) -> Result<CrawlCounts, Fault> {
    let mut counts = tallies::counts(conn, crawl).await?;
    counts.outcomes.clear();
    counts.reasons.clear();
    (
        counts.discovered,
        counts.pending,
        counts.done,
        counts.refused,
    ) = (0, 0, 0, 0);
    (counts.pages, counts.duplicates) = (0, 0);
    let sql = "SELECT state, reason, count(*) FROM crawl_pages WHERE crawl = $1 GROUP BY 1, 2";
    for row in conn.query(sql, &[&crawl.0]).await? {
        let (state, reason): (i16, Option<i16>) = (row.get(0), row.get(1));
        let count = row.get::<_, i64>(2) as u64;
        counts.discovered += count;
        match state {
            0 => counts.pending += count,
            1 => {
                counts.refused += count;
                let reason = reason.and_then(|code| ReasonCode::from_stored(code as u8));
                if let Some(reason) = reason {
                    *counts.reasons.entry(reason).or_default() += count;
                }
            }
            _ => counts.done += count,
        }
    }
    let sql = "SELECT outcome, duplicate_of IS NOT NULL, count(*) FROM results
        WHERE crawl = $1 GROUP BY 1, 2";
    for row in conn.query(sql, &[&crawl.0]).await? {
        let count = row.get::<_, i64>(2) as u64;
        let Some(outcome) = OutcomeKind::from_stored(row.get::<_, i16>(0) as u8) else {
            continue;
        };
        *counts.outcomes.entry(outcome).or_default() += count;
        counts.pages += if outcome.is_page() { count } else { 0 };
        counts.duplicates += if row.get(1) { count } else { 0 };
    }
    let sql = "SELECT count(*) FROM crawl_hosts WHERE crawl = $1";
    let row = conn.query_one(sql, &[&crawl.0]).await?;
    counts.hosts = row.get::<_, i64>(0) as u64;
    Ok(counts)
}
