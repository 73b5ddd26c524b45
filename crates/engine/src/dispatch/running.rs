//! What is known of a crawl while it runs.

use std::sync::Arc;

use tokio::{
    sync::{oneshot, watch},
    time::Instant,
};
use trawl_frontier::Moment;
use trawl_types::HostId;

use super::{Start, Stop};
use crate::{
    engine::EngineError,
    plan::CrawlPlan,
    progress::{CrawlEnd, Progress},
};

pub(crate) struct Running {
    pub(crate) plan: Arc<CrawlPlan>,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) ended: Option<oneshot::Sender<Result<CrawlEnd, EngineError>>>,
    pub(crate) uncommitted: usize,
    /// Look-ups of the store under way.
    pub(crate) lookups: usize,
    pub(crate) scan: HostScan,
    pub(crate) stopping: Option<Stop>,
    /// Tells those who wait for something that others have.
    pub(crate) stops: watch::Sender<bool>,
    pub(crate) grace_until: Option<Instant>,
    /// Why it cannot go on.
    pub(crate) failure: Option<EngineError>,
    /// Where hosts are shared: when to ask whether it is complete, and what the store said.
    pub(crate) next_verdict: Moment,
    pub(crate) complete: Option<&'static str>,
}

/// Finding hosts with pending URLs that the frontier does not know: after a start, and when there
/// were more hosts than fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostScan {
    /// There may be such hosts.
    pub(crate) needed: bool,
    pub(crate) running: bool,
    pub(crate) after: HostId,
    /// This round found a host, or one was turned away while it ran.
    pub(crate) again: bool,
}

impl HostScan {
    pub(crate) fn due() -> Self {
        Self {
            needed: true,
            running: false,
            after: HostId(i64::MIN),
            again: false,
        }
    }

    pub(crate) fn ask_for(&mut self) {
        self.needed = true;
        self.again = true;
    }

    /// A step brought `found` new hosts; `last` if the store has no further ones.
    pub(crate) fn stepped(&mut self, after: Option<HostId>, found: usize, last: bool) {
        self.running = false;
        self.again |= found > 0;
        match after {
            Some(after) if !last => self.after = after,
            _ => {
                self.after = HostId(i64::MIN);
                self.needed = self.again;
                self.again = false;
            }
        }
    }
}

impl Running {
    pub(crate) fn new(start: Start) -> Self {
        Self {
            plan: start.plan,
            progress: start.progress,
            ended: Some(start.ended),
            uncommitted: 0,
            lookups: 0,
            scan: HostScan::due(),
            stopping: None,
            stops: watch::Sender::new(false),
            grace_until: None,
            failure: None,
            next_verdict: Moment::START,
            complete: None,
        }
    }

    /// True if nothing outside the frontier is under way for this crawl.
    pub(crate) fn is_quiet(&self) -> bool {
        self.uncommitted == 0 && self.lookups == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_ends_after_a_round_without_news() {
        let mut scan = HostScan::due();
        scan.stepped(Some(HostId(5)), 2, false);
        scan.stepped(None, 0, true);
        assert!(scan.needed, "this round found something");
        scan.stepped(None, 0, true);
        assert!(!scan.needed);
    }

    #[test]
    fn a_host_turned_away_during_a_round_starts_another() {
        let mut scan = HostScan::due();
        scan.ask_for();
        scan.stepped(None, 0, true);
        assert!(scan.needed);
    }
}
