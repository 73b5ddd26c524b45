//! Settled visits in two transactions. First the links: URLs, hosts and rows of the crawl that nobody
//! knew, inserted in the order of their keys and never waiting for a row that somebody settles. Then the
//! ends, under the lock of the crawl: results with their numbers, edges, shorter paths. A crash between
//! the two leaves pages pending whose links are known; they are fetched again, and nothing is doubled.
//! Only the second one waits for the disk, and brings the first one there with it: nothing is told to
//! memory or to the frontier before, and whoever has to repeat the second repeats the first.
//! (In one transaction, pages that link to each other wait for each other.)
//!
//! Locks are taken in one order: rows of the first transaction by key, then hosts by id, then the crawl.
//!
//! * [`work`]: a batch under way, and what a process remembers
//! * [`search`]: which URLs of a batch are new
//! * [`routed`]: statements that go to each partition with its own pages
//! * [`links`], [`insert`]: the first transaction
//! * [`ends`]: the second
//! * [`foresight`]: what of the second can be written before the lock is held
//! * [`hosts`]: what becomes of hosts, and the fence around loans that ended
//! * [`activity`]: what was read when
//! * [`log`]: entries of the result log
//! * [`content`]: copies, and what was made of bodies
//! * [`lists`]: the links of settled pages
//! * [`depth`]: shortest distances, kept true

mod activity;
mod content;
mod depth;
mod ends;
mod foresight;
mod hosts;
mod insert;
mod links;
mod lists;
mod log;
mod routed;
mod search;
mod work;

pub(super) use activity::MINUTE;
pub(super) use insert::WAKE;
pub(super) use links::add_links;
pub(super) use search::POSITION_BITS;
pub(super) use work::{Memory, OpenCrawl, Work};

use trawl_types::CrawlId;

use super::{PostgresStore, pool::Param, reader, retry::Attempt, tallies};
use crate::contract::{
    StoreError,
    read::CrawlCounts,
    write::{CommitBatch, CommitReport, VisitEnd},
};
use crate::{segment::Record, shared::compressed::compressed_each};

/// What nearly every commit asks, and what takes longest to plan.
pub(super) fn statements() -> [&'static str; 17] {
    [
        &search::KNOWN,
        &routed::PENDING,
        hosts::LOCK,
        hosts::CLOCKS,
        hosts::ROBOTS,
        hosts::COUNT,
        insert::ADD_URLS,
        insert::ADD_ROWS,
        insert::ADD_HOSTS,
        tallies::ADD,
        tallies::COUNTS,
        ends::LOCK,
        ends::MOVE_ON,
        &ends::FINISH,
        &depth::ROWS,
        &depth::MOVE,
        WAKE,
    ]
}

impl PostgresStore {
    pub(super) async fn settle(&self, batch: CommitBatch) -> Result<CommitReport, StoreError> {
        if self.pool.is_closed() {
            return Err(StoreError::Stopped);
        }
        let crawl = batch.crawl;
        let open = self.opened().get(crawl);
        let open = open.ok_or(StoreError::NoCrawl(crawl))?;
        let done = Box::pin(self.write(Work::new(open, batch))).await;
        if let Err(StoreError::NoCrawl(_)) = &done {
            self.opened().remove(crawl);
            self.sweep_up_after(crawl).await?;
        }
        done
    }

    async fn write(&self, mut work: Work) -> Result<CommitReport, StoreError> {
        if work.has_links() {
            self.links_until_done(&mut work).await?;
        }
        self.ends_until_done(&mut work).await?;
        self.report(work).await
    }

    async fn links_until_done(&self, work: &mut Work) -> Result<(), StoreError> {
        for attempt in 0.. {
            let done = Box::pin(self.record_links(work)).await;
            if let Attempt::Over(done) = self.judge(attempt, done).await {
                return done;
            }
        }
        Err(StoreError::Stopped)
    }

    /// Links that have not reached the disk may have been lost with whatever broke an attempt.
    async fn ends_until_done(&self, work: &mut Work) -> Result<(), StoreError> {
        for attempt in 0.. {
            if attempt > 0 && work.has_links() {
                self.links_until_done(work).await?;
            }
            let done = Box::pin(self.record_ends(work)).await;
            if let Attempt::Over(done) = self.judge(attempt, done).await {
                return done;
            }
        }
        Err(StoreError::Stopped)
    }

    async fn report(&self, work: Work) -> Result<CommitReport, StoreError> {
        let (crawl, new_hosts) = (work.batch.crawl, work.new_hosts);
        let mut report = work.report;
        let (counts, last) = match work.figures {
            Some(figures) => figures,
            None => self.figures(crawl).await?,
        };
        if !new_hosts.is_empty() {
            let hosts = || async {
                let conn = self.for_commits().await?;
                reader::hosts(&conn, crawl, &new_hosts).await
            };
            report.hosts = self.insist(hosts).await?;
        }
        report.counts = counts;
        report.last_seq = (last > 0).then_some(trawl_types::Sequence(last));
        Ok(report)
    }

    async fn figures(&self, crawl: CrawlId) -> Result<(CrawlCounts, i64), StoreError> {
        self.insist(|| async {
            let conn = self.for_commits().await?;
            let sql = "SELECT last_seq FROM crawls WHERE id = $1";
            let number: [Param<'_>; 1] = [&crawl.0];
            let (counts, row) =
                tokio::try_join!(tallies::counts(&conn, crawl), conn.query_opt(sql, &number),)?;
            let last: i64 = row.ok_or(StoreError::NoCrawl(crawl))?.get(0);
            Ok((counts, last))
        })
        .await
    }
}

/// Records as the table keeps them, each in a frame of its own: rows are read alone.
pub(super) async fn compress_kept(batch: &mut CommitBatch) -> Result<(), StoreError> {
    let nothing = || Record::whole(Vec::new());
    let plain = kept(batch).map(|record| std::mem::replace(record, nothing()));
    let plain: Vec<Record> = plain.collect();
    if plain.is_empty() {
        return Ok(());
    }
    let frames = compressed_each(plain).await?;
    for (record, frame) in kept(batch).zip(frames) {
        *record = Record::whole(frame);
    }
    Ok(())
}

fn kept(batch: &mut CommitBatch) -> impl Iterator<Item = &mut Record> {
    batch.settlements.iter_mut().flat_map(|settlement| {
        let visit = match &mut settlement.end {
            VisitEnd::Final(visit) => Some(visit),
            VisitEnd::Retry { .. } | VisitEnd::Refused(_) => None,
        };
        visit.into_iter().flat_map(|visit| {
            let content = visit.digest.as_mut().and_then(|d| d.content.as_mut());
            visit.body.as_mut().into_iter().chain(content)
        })
    })
}
