//! A crawl in numbers while it runs, and how it ended.

use std::sync::atomic::{AtomicU64, Ordering};

use trawl_quick::beats::Done;
use trawl_store::contract::{
    read::CrawlCounts,
    write::{Settlement, VisitEnd},
};
use trawl_types::{CrawlId, CrawlState, Sequence};

/// A snapshot, cheap enough to take on every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Pages by the budget's measure, earlier processes included.
    pub pages: u64,
    pub errors: u64,
    /// URLs seen, wherever they stand.
    pub discovered: u64,
    /// URLs that still wait, in memory or in the store.
    pub pending: u64,
    pub edges: u64,
    pub hosts: u64,
    pub in_flight: u32,
    /// The result log reaches to here.
    pub last_seq: i64,
}

/// The end of a crawl in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlEnd {
    pub crawl: CrawlId,
    pub state: CrawlState,
    /// In words: nothing left, budget used, interrupted.
    pub why: String,
    pub last_seq: Sequence,
}

pub(crate) fn progress_of(counts: &CrawlCounts, last_seq: Option<Sequence>) -> Progress {
    let errors = counts.outcomes.iter().filter(|(kind, _)| kind.is_error());
    Progress {
        pages: counts.pages,
        errors: errors.map(|(_, count)| count).sum(),
        discovered: counts.discovered,
        pending: counts.pending,
        edges: counts.edges,
        hosts: counts.hosts,
        in_flight: 0,
        last_seq: last_seq.map_or(0, |seq| seq.0),
    }
}

/// What this process has done, of all crawls together. For people who look on, not for budgets: what
/// turns out to belong to somebody else counts as well.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pages: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
}

impl Tally {
    pub(crate) fn count(&self, settlement: &Settlement) {
        let VisitEnd::Final(visit) = &settlement.end else {
            return;
        };
        let counter = if visit.outcome.kind.is_page() {
            &self.pages
        } else if visit.outcome.kind.is_error() {
            &self.failed
        } else {
            return;
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let bytes = visit.content_length.unwrap_or_default();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn so_far(&self) -> Done {
        Done {
            pages: self.pages.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}
