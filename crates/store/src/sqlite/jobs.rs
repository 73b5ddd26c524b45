//! Jobs of a server: rows beside crawls.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter, types::Value};
use trawl_types::{CrawlId, UnixMillis};

use super::{
    SqliteStore, counters::Counters, fault::Fault, keys, reader, writer::Command, writer::Writer,
};
use crate::contract::{
    StoreError,
    jobs::{JobFilter, JobRow, JobStore, KeyRow, NewJob},
};

const JOB: &str = "SELECT j.id, j.crawl, j.owner, j.kind, j.request, j.created_at FROM jobs j
                   JOIN crawls c ON c.id = j.crawl ";

/// Tables that know rows of a crawl by its number in a column `crawl`.
const OF_A_CRAWL: [&str; 13] = [
    "results",
    "contents",
    "originals",
    "crawl_pages",
    "crawl_hosts",
    "tallies",
    "activity",
    "map_origins",
    "map_hosts",
    "map_depths",
    "jobs",
    "page_links",
    "crawls",
];

#[async_trait]
impl JobStore for SqliteStore {
    async fn job(&self, id: &str) -> Result<Option<JobRow>, StoreError> {
        let id = id.to_owned();
        self.pool
            .ask(move |conn| one(conn, "WHERE j.id = ?1", vec![Value::Text(id)]))
            .await
    }

    async fn job_by_idempotency(
        &self,
        owner: &str,
        idempotency: &str,
    ) -> Result<Option<JobRow>, StoreError> {
        let values = vec![
            Value::Text(owner.to_owned()),
            Value::Text(idempotency.to_owned()),
        ];
        let condition = "WHERE j.owner = ?1 AND j.idempotency = ?2";
        self.pool
            .ask(move |conn| one(conn, condition, values))
            .await
    }

    async fn jobs(&self, filter: JobFilter) -> Result<(Vec<JobRow>, u64), StoreError> {
        self.pool.ask(move |conn| list(conn, &filter)).await
    }

    async fn delete_job(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.tell(|reply| Command::DeleteJob(id, reply)).await
    }

    async fn key(&self, id: &str) -> Result<Option<KeyRow>, StoreError> {
        let id = id.to_owned();
        self.pool.ask(move |conn| keys::find(conn, &id)).await
    }

    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        self.pool.ask(keys::all).await
    }
}

fn one(conn: &Connection, condition: &str, values: Vec<Value>) -> Result<Option<JobRow>, Fault> {
    let found = conn
        .prepare_cached(&format!("{JOB} {condition}"))?
        .query_row(params_from_iter(values), head)
        .optional()?;
    found.map(|head| whole(conn, head)).transpose()
}

type Head = (JobRowHead, CrawlId);

struct JobRowHead {
    id: String,
    owner: String,
    kind: String,
    request: String,
    created_at: UnixMillis,
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let head = JobRowHead {
        id: row.get(0)?,
        owner: row.get(2)?,
        kind: row.get(3)?,
        request: row.get(4)?,
        created_at: UnixMillis(row.get(5)?),
    };
    Ok((head, CrawlId(row.get(1)?)))
}

fn whole(conn: &Connection, (head, crawl): Head) -> Result<JobRow, Fault> {
    Ok(JobRow {
        id: head.id,
        owner: head.owner,
        kind: head.kind,
        request: head.request,
        created_at: head.created_at,
        crawl: reader::crawl(conn, crawl)?,
        counts: Counters::load(conn, crawl)?.counts(),
    })
}

fn list(conn: &Connection, filter: &JobFilter) -> Result<(Vec<JobRow>, u64), Fault> {
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut values = Vec::new();
    if let Some(owner) = &filter.owner {
        values.push(Value::Text(owner.clone()));
        conditions.push(format!("j.owner = ?{}", values.len()));
    }
    if let Some(at) = filter.ended_before {
        values.push(Value::Integer(at.0));
        conditions.push(format!("c.finished_at < ?{}", values.len()));
    }
    if !filter.states.is_empty() {
        let states = filter.states.iter().map(|state| {
            values.push(Value::Text(state.as_str().to_owned()));
            format!("?{}", values.len())
        });
        let states: Vec<String> = states.collect();
        conditions.push(format!("c.state IN ({})", states.join(", ")));
    }
    let condition = format!("WHERE {}", conditions.join(" AND "));
    let count = format!("SELECT count(*) FROM jobs j JOIN crawls c ON c.id = j.crawl {condition}");
    let total: i64 = conn.query_row(&count, params_from_iter(values.iter()), |row| row.get(0))?;
    let page = format!(
        "{JOB} {condition} ORDER BY j.created_at DESC, j.crawl DESC LIMIT {} OFFSET {}",
        filter.limit, filter.offset
    );
    let mut statement = conn.prepare(&page)?;
    let heads = statement.query_map(params_from_iter(values.iter()), head)?;
    let heads: Vec<Head> = heads.collect::<Result<_, _>>()?;
    let rows = heads.into_iter().map(|head| whole(conn, head));
    Ok((rows.collect::<Result<_, _>>()?, total as u64))
}

/// The job's row, in the transaction that makes its crawl.
pub(super) fn add(
    conn: &Connection,
    crawl: CrawlId,
    job: &NewJob,
    now: UnixMillis,
) -> Result<(), Fault> {
    conn.prepare_cached(
        "INSERT INTO jobs (id, crawl, owner, kind, request, idempotency, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        job.id,
        crawl.0,
        job.owner,
        job.kind,
        job.request,
        job.idempotency,
        now.0
    ])?;
    Ok(())
}

impl Writer {
    /// What several crawls share (identities, hosts, lists of links, bodies) stays.
    pub(super) fn delete_job(&mut self, id: &str) -> Result<bool, Fault> {
        let crawl: Option<i64> = self
            .conn
            .query_row("SELECT crawl FROM jobs WHERE id = ?1", [id], |row| {
                row.get(0)
            })
            .optional()?;
        let Some(crawl) = crawl else {
            return Ok(false);
        };
        let tx = self.conn.transaction()?;
        for table in OF_A_CRAWL {
            let condition = match table {
                "crawls" => "id = ?1",
                "page_links" => "first_crawl = ?1 AND last_crawl = ?1",
                _ => "crawl = ?1",
            };
            tx.execute(&format!("DELETE FROM {table} WHERE {condition}"), [crawl])?;
        }
        tx.commit()?;
        self.memory.clear();
        self.open.remove(&CrawlId(crawl));
        Ok(true)
    }
}
