//! Loans that are over, and hosts that rest although something waits there. The former come right by
//! themselves, and so do the latter unless somebody died before they were woken: servers look now and
//! then, and people may.

use std::time::Duration;

use trawl_types::CrawlId;

use super::{PostgresStore, crawls::wake, fault::Fault, pool::Conn};
use crate::contract::{StoreError, workers::Recovered};

/// There may be many hosts.
const LOOKING: Duration = Duration::from_mins(10);
/// Loans that are ended at once.
const ENDED: i64 = 2_000;

/// A host whose loan is over has no holder any more. Whoever held it can still write what was fetched
/// in time, as long as nobody borrows it: the epoch stays.
const END: &str = "WITH over AS MATERIALIZED (
      SELECT id FROM hosts
      WHERE ready_at <= clock_timestamp() AND ready_at < 'infinity' AND holder IS NOT NULL
      LIMIT $1 FOR UPDATE SKIP LOCKED)
    UPDATE hosts h SET holder = NULL FROM over WHERE h.id = over.id";

impl PostgresStore {
    /// Crawl by crawl and some hosts at a time, so that nobody waits for it.
    pub(super) async fn put_loans_right(&self) -> Result<Recovered, StoreError> {
        self.ask_within(LOOKING, async {
            let conn = self.soon().await?;
            let loans = end_loans(&conn).await?;
            let sql = "SELECT id FROM crawls WHERE state = 'running' ORDER BY id";
            let mut woken = 0;
            for row in conn.query(sql, &[]).await? {
                woken += wake(&conn, CrawlId(row.get(0))).await?;
            }
            Ok(Recovered { loans, woken })
        })
        .await
    }
}

async fn end_loans(conn: &Conn) -> Result<u64, Fault> {
    let mut all = 0;
    loop {
        let ended = conn.execute(END, &[&ENDED]).await?;
        all += ended;
        if ended < ENDED as u64 {
            return Ok(all);
        }
    }
}
