//! A crawl's beginning, return and end.

use std::time::Duration;

use trawl_types::{CrawlId, CrawlSpec, CrawlState, UnixMillis};

use super::{
    PostgresStore,
    commit::{OpenCrawl, WAKE, Work, add_links},
    fault::Fault,
    jobs,
    pool::Conn,
    reader,
    text::Said,
    unused::TOGETHER,
};
use crate::{
    contract::{
        StoreError,
        jobs::NewJob,
        write::{CommitBatch, NewLink, WriteRules},
    },
    shared::codes::keeps,
};

/// Beginning a crawl may mean to write many seeds.
const BEGINNING: Duration = Duration::from_secs(20);

/// Hosts that a crawl is closed to and that are passed over at once.
const SKIPPED: i64 = 500;

/// Hosts that are woken at once.
const WOKEN: i64 = 2000;

impl PostgresStore {
    /// The crawl and its seeds land in one transaction: there is no crawl without seeds.
    pub(super) async fn begin_crawl(
        &self,
        spec: &CrawlSpec,
        name: &str,
        seeds: Vec<NewLink>,
        rules: WriteRules,
        job: Option<NewJob>,
        now: UnixMillis,
    ) -> Result<CrawlId, StoreError> {
        let kept = i16::from(keeps(spec));
        // Whether there are elders is known when the crawl has its number; seeds do not ask.
        let open = OpenCrawl::new(rules, true, kept)?;
        let batch = CommitBatch {
            crawl: CrawlId(0),
            now,
            settlements: Vec::new(),
            hosts: Vec::new(),
            seeds,
        };
        let mut work = Work::new(open.clone(), batch);
        let begun = self.ask_within(BEGINNING, async {
            loop {
                let conn = self.soon().await?;
                conn.begin_with(TOGETHER).await?;
                conn.run("SET LOCAL statement_timeout = '20s'").await?;
                self.remembered().forget_hosts();
                let done = add_crawl(&conn, spec, name, job.as_ref(), now, kept).await;
                let crawl = match done {
                    Ok(crawl) => crawl,
                    Err(fault) => return Err(fault),
                };
                work.is_of(crawl, next_commit(&conn).await?);
                match Box::pin(add_links(self, &conn, &mut work)).await {
                    Err(Fault::Overtaken) => {}
                    Err(fault) => return Err(fault),
                    Ok(()) => {
                        conn.commit().await?;
                        return Ok(crawl);
                    }
                }
            }
        });
        let crawl = Box::pin(begun).await?;
        self.opened().insert(crawl, open);
        Ok(crawl)
    }

    pub(super) async fn open_again(
        &self,
        crawl: CrawlId,
        rules: WriteRules,
    ) -> Result<(), StoreError> {
        let (keeps, has_elders) = self
            .insist(|| async {
                let conn = self.patiently().await?;
                let sql = "SELECT keeps FROM crawls WHERE id = $1";
                let row = conn.query_opt(sql, &[&crawl.0]).await?;
                let keeps: i16 = row.ok_or(StoreError::NoCrawl(crawl))?.get(0);
                wake(&conn, crawl).await?;
                Ok((keeps, reader::has_elders(&conn, crawl).await?))
            })
            .await?;
        let open = OpenCrawl::new(rules, has_elders, keeps)?;
        self.remembered().forget_hosts();
        self.opened().insert(crawl, open);
        Ok(())
    }

    /// A crawl that has ended needs no memory but for stragglers; one that goes on is reopened.
    pub(super) async fn move_to(
        &self,
        crawl: CrawlId,
        state: CrawlState,
        why: &str,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        let finished = has_ended(state).then_some(now.0);
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "UPDATE crawls SET state = $2, why = $3, finished_at = $4 WHERE id = $1";
            let values: [super::pool::Param<'_>; 4] =
                [&crawl.0, &state.as_str(), &Said(why), &finished];
            if conn.execute(sql, &values).await? == 0 {
                return Err(StoreError::NoCrawl(crawl).into());
            }
            if state == CrawlState::Running {
                wake(&conn, crawl).await?;
            }
            Ok(())
        })
        .await?;
        if finished.is_some() {
            self.opened().end(crawl);
        }
        Ok(())
    }

    /// Under the lock of the crawl nothing of it can stop being pending. Something can begin to be, but
    /// only as a link of a page that is pending itself.
    pub(super) async fn call_completed(
        &self,
        crawl: CrawlId,
        why: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let max_pages = self.opened().get(crawl).and_then(|open| open.max_pages());
        let over = self
            .insist(|| async {
                let conn = self.patiently().await?;
                complete(&conn, crawl, max_pages, why, now).await
            })
            .await?;
        if over {
            self.opened().end(crawl);
        }
        Ok(over)
    }
}

fn has_ended(state: CrawlState) -> bool {
    match state {
        CrawlState::Running | CrawlState::Paused => false,
        CrawlState::Completed | CrawlState::Cancelled | CrawlState::Failed => true,
    }
}

async fn add_crawl(
    conn: &Conn,
    spec: &CrawlSpec,
    name: &str,
    job: Option<&NewJob>,
    now: UnixMillis,
    keeps: i16,
) -> Result<CrawlId, Fault> {
    let json = serde_json::to_string(spec)
        .map_err(|error| StoreError::Database(format!("the specification: {error}")))?;
    let sql = "INSERT INTO crawls (name, spec, state, started_at, keeps)
        VALUES ($1, $2, $3, $4, $5) RETURNING id";
    let state = CrawlState::Running.as_str();
    let row = conn
        .query_one(sql, &[&Said(name), &Said(&json), &state, &now.0, &keeps])
        .await?;
    let crawl = CrawlId(row.get(0));
    if let Some(job) = job {
        jobs::add(conn, crawl, job, now).await?;
    }
    Ok(crawl)
}

async fn next_commit(conn: &Conn) -> Result<i64, Fault> {
    let row = conn.query_one("SELECT nextval('commits')", &[]).await?;
    Ok(row.get(0))
}

/// Hosts of a crawl, and whether they sleep although it has something for them.
pub(super) const ASLEEP: &str =
    "SELECT h.host, t.empties > 0 AND EXISTS (SELECT 1 FROM crawl_pages p
      WHERE p.crawl = $1 AND p.host = h.host AND p.state = 0)
    FROM (SELECT host FROM crawl_hosts WHERE crawl = $1 AND host > $2 AND NOT closed
          ORDER BY host LIMIT $3) h
    JOIN hosts t ON t.id = h.host ORDER BY h.host";

/// Wakes hosts that a crawl has something for. Goes through all hosts of the crawl, some at a time: most
/// are awake, and only of those that are not is it asked whether anything is pending. Gives how many.
pub(super) async fn wake(conn: &Conn, crawl: CrawlId) -> Result<u64, Fault> {
    let (mut after, mut woken) = (0_i64, 0);
    loop {
        let rows = conn.query(ASLEEP, &[&crawl.0, &after, &WOKEN]).await?;
        let Some(last) = rows.last() else {
            return Ok(woken);
        };
        after = last.get(0);
        let idle = rows.iter().filter(|row| row.get(1));
        let idle: Vec<i64> = idle.map(|row| row.get(0)).collect();
        if !idle.is_empty() {
            woken += conn.execute(WAKE, &[&idle]).await?;
        }
    }
}

/// Whether a crawl is over. One that does not run is not for us to end.
enum Verdict {
    Over,
    /// With hosts that it has something for.
    GoesOn(Vec<i64>),
}

async fn verdict(
    conn: &Conn,
    sql: &'static str,
    crawl: CrawlId,
    max_pages: Option<u64>,
) -> Result<Verdict, Fault> {
    let row = conn.query_opt(sql, &[&crawl.0]).await?;
    let row = row.ok_or(StoreError::NoCrawl(crawl))?;
    if row.get::<_, &str>(0) != CrawlState::Running.as_str() {
        return Ok(Verdict::GoesOn(Vec::new()));
    }
    if max_pages.is_some_and(|max| row.get::<_, i64>(1) as u64 >= max) {
        return Ok(Verdict::Over);
    }
    let left = left(conn, crawl).await?;
    Ok(if left.is_empty() {
        Verdict::Over
    } else {
        Verdict::GoesOn(left)
    })
}

/// Should what is left have been forgotten, it is not any more.
async fn goes_on(conn: &Conn, left: &[i64]) -> Result<bool, Fault> {
    if !left.is_empty() {
        conn.execute(WAKE, &[&left]).await?;
    }
    Ok(false)
}

/// A host with something left for a crawl.
async fn left(conn: &Conn, crawl: CrawlId) -> Result<Vec<i64>, Fault> {
    let (mut after, mut step) = (Some(0), 1);
    while let Some(from) = after {
        let hosts;
        (hosts, after) = reader::open_hosts(conn, crawl, from, step).await?;
        if !hosts.is_empty() {
            return Ok(hosts);
        }
        step = SKIPPED;
    }
    Ok(Vec::new())
}

async fn complete(
    conn: &Conn,
    crawl: CrawlId,
    max_pages: Option<u64>,
    why: &str,
    now: UnixMillis,
) -> Result<bool, Fault> {
    // Most ask too early: that is seen without standing in the way of commits.
    let sql = "SELECT state, pages FROM crawls WHERE id = $1";
    if let Verdict::GoesOn(left) = verdict(conn, sql, crawl, max_pages).await? {
        return goes_on(conn, &left).await;
    }
    conn.begin().await?;
    let sql = "SELECT state, pages FROM crawls WHERE id = $1 FOR UPDATE";
    if let Verdict::GoesOn(left) = verdict(conn, sql, crawl, max_pages).await? {
        conn.roll_back().await?;
        return goes_on(conn, &left).await;
    }
    let sql = "UPDATE crawls SET state = $2, why = $3, finished_at = $4 WHERE id = $1";
    let state = CrawlState::Completed.as_str();
    conn.execute(sql, &[&crawl.0, &state, &Said(why), &now.0])
        .await?;
    conn.commit().await?;
    Ok(true)
}
