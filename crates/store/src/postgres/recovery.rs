//! Loans that are over, and hosts that rest although something waits there. Both come right by themselves;
//! this is for people who want to be sure.

use std::time::Duration;

use super::{PostgresStore, borrowing::worth_asking, commit::WAKE, fault::Fault, pool::Conn};
use crate::contract::{StoreError, workers::Recovered};

/// There may be many hosts.
const LOOKING: Duration = Duration::from_mins(2);

/// A host whose loan is over has no holder any more. Whoever held it can still write what was fetched
/// in time, as long as nobody borrows it: the epoch stays.
const END: &str = "WITH over AS MATERIALIZED (
      SELECT id FROM hosts
      WHERE ready_at <= clock_timestamp() AND ready_at < 'infinity' AND holder IS NOT NULL
      ORDER BY id FOR UPDATE SKIP LOCKED)
    UPDATE hosts h SET holder = NULL FROM over WHERE h.id = over.id";

const RESTING: &str = concat!(
    "SELECT DISTINCT h.host FROM crawls w JOIN crawl_hosts h ON h.crawl = w.id
     JOIN hosts t ON t.id = h.host AND t.ready_at = 'infinity'
     WHERE w.state = 'running' AND ",
    worth_asking!()
);

impl PostgresStore {
    pub(super) async fn put_loans_right(&self) -> Result<Recovered, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.soon().await?;
            conn.begin().await?;
            conn.run("SET LOCAL statement_timeout = 0").await?;
            let loans = conn.execute(END, &[]).await?;
            let woken = wake(&conn).await?;
            conn.commit().await?;
            Ok(Recovered { loans, woken })
        })
        .await
    }
}

async fn wake(conn: &Conn) -> Result<u64, Fault> {
    let rows = conn.query(RESTING, &[]).await?;
    let hosts: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    if hosts.is_empty() {
        return Ok(0);
    }
    conn.execute(WAKE, &[&hosts]).await
}
