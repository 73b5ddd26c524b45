//! Jobs and keys of a server: rows beside crawls.

use async_trait::async_trait;
use tokio_postgres::Row;
use trawl_types::{CrawlId, UnixMillis};

use super::{
    PostgresStore,
    fault::Fault,
    pool::Conn,
    reader::crawl_row,
    tallies,
    text::{Heard, Said, said},
};
use crate::contract::{
    StoreError,
    jobs::{JobFilter, JobRow, JobStore, KeyRow, NewJob},
};

/// Removing a large crawl takes its time.
const REMOVAL: std::time::Duration = std::time::Duration::from_mins(10);

/// Tables that know rows of a crawl by its number in a column `crawl`.
const OF_A_CRAWL: [&str; 8] = [
    "activity",
    "contents",
    "results",
    "originals",
    "crawl_pages",
    "crawl_hosts",
    "tallies",
    "jobs",
];

/// Bodies and content of a crawl that goes: its own unless a later one has inherited them, and those that
/// it was the last heir of.
const RELEASE: &str = "
    DELETE FROM records b WHERE b.crawl = {crawl}
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.body_crawl = b.crawl AND r.body_seq = b.seq
        AND r.body_crawl <> r.crawl)
      AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.record_crawl = b.crawl
        AND c.record_seq = b.seq AND c.record_crawl <> c.crawl);
    DELETE FROM records b USING (
        SELECT body_crawl, body_seq FROM results WHERE crawl = {crawl} AND body_crawl <> crawl
        UNION SELECT record_crawl, record_seq FROM contents
          WHERE crawl = {crawl} AND record_crawl <> crawl) n(crawl, seq)
      WHERE b.crawl = n.crawl AND b.seq = n.seq
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.crawl = b.crawl AND r.seq = b.seq)
      AND NOT EXISTS (SELECT 1 FROM results r WHERE r.body_crawl = b.crawl AND r.body_seq = b.seq
        AND r.body_crawl <> r.crawl AND r.crawl <> {crawl})
      AND NOT EXISTS (SELECT 1 FROM contents c WHERE c.record_crawl = b.crawl
        AND c.record_seq = b.seq AND c.record_crawl <> c.crawl AND c.crawl <> {crawl});";

macro_rules! jobs {
    ($condition:literal) => {
        concat!(
            "SELECT j.id, j.owner, j.kind, j.request, j.created_at, c.id, c.name, c.spec, c.state,
             c.why, c.started_at, c.finished_at, c.last_seq
             FROM jobs j JOIN crawls c ON c.id = j.crawl ",
            $condition
        )
    };
}

#[async_trait]
impl JobStore for PostgresStore {
    async fn job(&self, id: &str) -> Result<Option<JobRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let row = conn
                .query_opt(jobs!("WHERE j.id = $1"), &[&Said(id)])
                .await?;
            one(&conn, row).await
        })
        .await
    }

    async fn job_by_idempotency(
        &self,
        owner: &str,
        idempotency: &str,
    ) -> Result<Option<JobRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = jobs!("WHERE j.owner = $1 AND j.idempotency = $2");
            let row = conn
                .query_opt(sql, &[&Said(owner), &Said(idempotency)])
                .await?;
            one(&conn, row).await
        })
        .await
    }

    async fn jobs(&self, filter: JobFilter) -> Result<(Vec<JobRow>, u64), StoreError> {
        self.ask(async { list(&*self.soon().await?, &filter).await })
            .await
    }

    async fn delete_job(&self, id: &str) -> Result<bool, StoreError> {
        let removed = self.ask_within(REMOVAL, async {
            let conn = self.soon().await?;
            remove(&conn, id).await
        });
        let crawl = removed.await?;
        if let Some(crawl) = crawl {
            self.opened().remove(crawl);
        }
        Ok(crawl.is_some())
    }

    async fn key(&self, id: &str) -> Result<Option<KeyRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "SELECT id, name, hash, scope, per_minute, created_at, expires_at, revoked_at
                       FROM api_keys WHERE id = $1";
            Ok(conn.query_opt(sql, &[&Said(id)]).await?.as_ref().map(key))
        })
        .await
    }

    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "SELECT id, name, hash, scope, per_minute, created_at, expires_at, revoked_at
                       FROM api_keys ORDER BY created_at, id";
            Ok(conn.query(sql, &[]).await?.iter().map(key).collect())
        })
        .await
    }
}

async fn whole(conn: &Conn, row: &Row) -> Result<JobRow, Fault> {
    let crawl = crawl_row(row, 5)?;
    Ok(JobRow {
        id: row.get::<_, Heard>(0).0,
        owner: row.get::<_, Heard>(1).0,
        kind: row.get::<_, Heard>(2).0,
        request: row.get::<_, Heard>(3).0,
        created_at: UnixMillis(row.get(4)),
        counts: tallies::counts(conn, crawl.id).await?,
        crawl,
    })
}

async fn one(conn: &Conn, row: Option<Row>) -> Result<Option<JobRow>, Fault> {
    match row {
        Some(row) => Ok(Some(whole(conn, &row).await?)),
        None => Ok(None),
    }
}

async fn list(conn: &Conn, filter: &JobFilter) -> Result<(Vec<JobRow>, u64), Fault> {
    let owner = filter.owner.as_deref().map(Said);
    let states = filter.states.iter().map(|state| state.as_str());
    let states: Option<Vec<&str>> = (!filter.states.is_empty()).then(|| states.collect());
    let ended = filter.ended_before.map(|at| at.0);
    let sql = "SELECT count(*) FROM jobs j JOIN crawls c ON c.id = j.crawl
        WHERE ($1::text IS NULL OR j.owner = $1) AND ($2::text[] IS NULL OR c.state = ANY($2))
        AND ($3::int8 IS NULL OR c.finished_at < $3)";
    let total = conn.query_one(sql, &[&owner, &states, &ended]).await?;
    let sql = jobs!(
        "WHERE ($1::text IS NULL OR j.owner = $1) AND ($2::text[] IS NULL OR c.state = ANY($2))
         AND ($3::int8 IS NULL OR c.finished_at < $3)
         ORDER BY j.created_at DESC, j.crawl DESC LIMIT $4 OFFSET $5"
    );
    let (limit, offset) = (i64::from(filter.limit), i64::from(filter.offset));
    let rows = conn
        .query(sql, &[&owner, &states, &ended, &limit, &offset])
        .await?;
    let mut jobs = Vec::with_capacity(rows.len());
    for row in &rows {
        jobs.push(whole(conn, row).await?);
    }
    Ok((jobs, total.get::<_, i64>(0) as u64))
}

/// The job's row, in the transaction that makes its crawl.
pub(super) async fn add(
    conn: &Conn,
    crawl: CrawlId,
    job: &NewJob,
    now: UnixMillis,
) -> Result<(), Fault> {
    let sql = "INSERT INTO jobs (id, crawl, owner, kind, request, idempotency, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let (id, owner, kind) = (Said(&job.id), Said(&job.owner), Said(&job.kind));
    let (request, idempotency) = (Said(&job.request), said(job.idempotency.as_ref()));
    conn.execute(
        sql,
        &[&id, &crawl.0, &owner, &kind, &request, &idempotency, &now.0],
    )
    .await?;
    Ok(())
}

/// What several crawls share (identities, hosts, lists of links) stays, and so do bodies that a later
/// crawl has inherited.
async fn remove(conn: &Conn, id: &str) -> Result<Option<CrawlId>, Fault> {
    conn.begin().await?;
    conn.run("SET LOCAL statement_timeout = 0").await?;
    let sql = "SELECT crawl FROM jobs WHERE id = $1";
    let Some(row) = conn.query_opt(sql, &[&Said(id)]).await? else {
        conn.roll_back().await?;
        return Ok(None);
    };
    let crawl: i64 = row.get(0);
    conn.run(&format!(
        "SELECT 1 FROM crawls WHERE id = {crawl} FOR UPDATE;
         DELETE FROM page_links WHERE first_crawl = {crawl} AND last_crawl = {crawl};"
    ))
    .await?;
    conn.run(&RELEASE.replace("{crawl}", &crawl.to_string()))
        .await?;
    for table in OF_A_CRAWL {
        conn.run(&format!("DELETE FROM {table} WHERE crawl = {crawl}"))
            .await?;
    }
    conn.run(&format!("DELETE FROM crawls WHERE id = {crawl}"))
        .await?;
    conn.commit().await?;
    Ok(Some(CrawlId(crawl)))
}

impl PostgresStore {
    /// A crawl was deleted while links of it were written, which nobody looks for any more.
    pub(super) async fn sweep_up_after(&self, crawl: CrawlId) -> Result<(), StoreError> {
        self.insist(|| async {
            let conn = self.patiently().await?;
            for sql in [
                "DELETE FROM crawl_pages WHERE crawl = $1
                 AND NOT EXISTS (SELECT 1 FROM crawls WHERE id = $1)",
                "DELETE FROM crawl_hosts WHERE crawl = $1
                 AND NOT EXISTS (SELECT 1 FROM crawls WHERE id = $1)",
                "DELETE FROM tallies WHERE crawl = $1
                 AND NOT EXISTS (SELECT 1 FROM crawls WHERE id = $1)",
            ] {
                conn.execute(sql, &[&crawl.0]).await?;
            }
            Ok(())
        })
        .await
    }
}

fn key(row: &Row) -> KeyRow {
    KeyRow {
        id: row.get::<_, Heard>(0).0,
        name: row.get::<_, Heard>(1).0,
        hash: row.get(2),
        scope: row.get::<_, Heard>(3).0,
        per_minute: row.get::<_, Option<i64>>(4).map(|limit| limit as u32),
        created_at: UnixMillis(row.get(5)),
        expires_at: row.get::<_, Option<i64>>(6).map(UnixMillis),
        revoked_at: row.get::<_, Option<i64>>(7).map(UnixMillis),
    }
}
