//! What a lease carries: everything a visit must know, nothing that could go stale.

use trawl_frontier::{Moment, Queued};
use trawl_store::contract::read::PendingUrl;
use trawl_types::{HostId, PageId, Scheme};
use url::Url;

/// The work behind a lease.
#[derive(Debug)]
pub(crate) enum Task {
    Page(Box<PageTask>),
    Robots(RobotsTask),
}

/// Which request of a visit comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not decided yet: HEAD or GET by the spec's policy.
    First,
    /// HEAD said HTML, or could not be used.
    Get,
}

/// One visit of one page, which may take several leases: HEAD, redirects to itself.
#[derive(Debug)]
pub(crate) struct PageTask {
    pub(crate) page: PageId,
    /// The host in whose lane the page is held.
    pub(crate) home: HostId,
    /// What to request now.
    pub(crate) address: String,
    /// What the page is known by.
    pub(crate) found_as: String,
    pub(crate) rank: i64,
    pub(crate) score: u8,
    pub(crate) depth: u32,
    /// Attempts behind us.
    pub(crate) attempts: u32,
    pub(crate) phase: Phase,
    /// Addresses requested in this visit, for loops.
    pub(crate) hops: Vec<String>,
    /// Marks of all addresses whose redirects led here, for loops and lengths.
    pub(crate) chain: Vec<u64>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

/// robots.txt of one origin, possibly behind redirects.
#[derive(Debug, Clone)]
pub(crate) struct RobotsTask {
    pub(crate) host: HostId,
    pub(crate) scheme: Scheme,
    pub(crate) url: Url,
    pub(crate) hops: u8,
}

impl PageTask {
    pub(crate) fn of(pending: PendingUrl) -> Self {
        Self {
            page: pending.page,
            home: pending.host,
            found_as: pending.address.clone(),
            address: pending.address,
            rank: pending.rank,
            score: pending.score,
            depth: pending.depth,
            attempts: pending.attempts,
            phase: Phase::First,
            hops: Vec::new(),
            chain: pending.chain,
            etag: pending.etag,
            last_modified: pending.last_modified,
        }
    }

    /// The task as the frontier queues it.
    pub(crate) fn queued(self: Box<Self>, not_before: Moment) -> Queued<Task> {
        let scheme = if self.address.starts_with("https:") {
            Scheme::Https
        } else {
            Scheme::Http
        };
        Queued {
            page: self.page,
            home: self.home,
            scheme,
            rank: self.rank,
            not_before,
            tried: self.attempts > 0,
            task: Task::Page(self),
        }
    }
}
