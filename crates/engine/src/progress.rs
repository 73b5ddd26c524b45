//! A crawl in numbers while it runs, and how it ended.

use trawl_store::contract::read::CrawlCounts;
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
