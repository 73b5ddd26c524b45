//! The queue of a crawl as people see and change it. What is changed here must be told to whoever
//! has read the queue before; nobody but the engine does that.

use serde::Serialize;
use trawl_types::{HostId, OutcomeKind, PageId, PageState, Reason, UnixMillis};

/// A change of a crawl's queue. Hosts are named as `HostKey::as_str` gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueChange {
    Requeue(Requeue),
    /// Pending URLs are forgotten, as if nobody had found them.
    Clear {
        host: Option<String>,
    },
}

/// URLs to be tried again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requeue {
    /// Only those of one host.
    pub host: Option<String>,
    /// Visits that ended in one of these, as pages that were never tried.
    pub outcomes: Vec<OutcomeKind>,
    /// Only visits that ended before this.
    pub ended_before: Option<UnixMillis>,
    /// Only visits that ended at this moment or later.
    pub ended_since: Option<UnixMillis>,
    /// Only count the visits.
    pub dry_run: bool,
    /// URLs that wait for their next attempt need not wait.
    pub delayed: bool,
    /// Hosts that were given up are taken up again, and their failures forgotten.
    pub suspended: bool,
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Changed {
    /// URLs that are pending again.
    pub requeued: u64,
    /// URLs whose wait is over.
    pub hurried: u64,
    /// Hosts that are asked again.
    pub hosts: u64,
    /// URLs that were forgotten.
    pub cleared: u64,
    /// The host that was named, if the store knows it.
    #[serde(skip)]
    pub host: Option<HostId>,
}

/// What became of a URL that no page led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// It waits for its turn now, and did not before.
    Admitted,
    /// A rule refused it, just now.
    Refused,
    /// The crawl knew it.
    Known,
}

/// Which URLs of a crawl are wanted. Pending ones come by host and rank,
/// others in a fixed order: that of their discovery where the store keeps one for them.
#[derive(Debug, Clone, Default)]
pub struct QueueFilter {
    pub state: Option<QueueState>,
    pub host: Option<String>,
    pub depth: Option<(u32, u32)>,
    pub score: Option<(u8, u8)>,
    pub after: Option<QueueCursor>,
    pub limit: u32,
}

impl QueueFilter {
    /// Whether a URL is wanted, its host and its place in the list aside.
    pub(crate) fn matches(&self, url: &QueuedUrl) -> bool {
        let failed = url.outcome.is_some_and(OutcomeKind::is_error);
        let state = match self.state {
            None => true,
            Some(QueueState::Pending) => url.state == PageState::Pending,
            Some(QueueState::Refused) => url.state == PageState::Refused,
            Some(QueueState::Completed) => url.state == PageState::Done && !failed,
            Some(QueueState::Failed) => url.state == PageState::Done && failed,
        };
        let within = |depth: &(u32, u32)| (depth.0..=depth.1).contains(&url.depth);
        let scored = |score: &(u8, u8)| (score.0..=score.1).contains(&url.score);
        state && self.depth.as_ref().is_none_or(within) && self.score.as_ref().is_none_or(scored)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueState {
    Pending,
    Refused,
    /// Visited, and not in vain.
    Completed,
    /// Visited in vain.
    Failed,
}

/// A place in a list of URLs; only the store that gave it knows what it means. Places before pages of other states are of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueCursor {
    pub host: HostId,
    pub rank: i64,
    pub page: PageId,
}

/// A URL and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedUrl {
    pub page: PageId,
    pub url: String,
    pub host: String,
    pub state: PageState,
    pub depth: u32,
    pub score: u8,
    pub attempts: u32,
    pub not_before: UnixMillis,
    pub discovered_at: UnixMillis,
    pub reason: Option<Reason>,
    /// Of the last attempt.
    pub outcome: Option<OutcomeKind>,
}

/// One page of a list; `next` if there may be more. A list may be short, or empty, before its end:
/// no more than a bounded number of rows is looked at for one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<T, C> {
    pub items: Vec<T>,
    pub next: Option<C>,
}

/// How the pending URLs of a crawl divide by score: at least `high`, at least `medium`, less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByScore {
    pub high: u64,
    pub medium: u64,
    pub low: u64,
}
