//! How crawls start and stop: by themselves, by request, or because the store failed.

use std::sync::Arc;

use tokio::time::Instant;
use trawl_frontier::{CrawlLimits, LeaseId, Report};
use trawl_store::StoreError;
use trawl_types::{CrawlId, CrawlState, Sequence};

use super::{Dispatcher, GRACE, Running, Start, Stop};
use crate::{engine::EngineError, progress::CrawlEnd};

const USED_UP: &str = "the page budget is used up";
const NOTHING_LEFT: &str = "nothing is left to visit";
const HOSTS_CLOSED: &str =
    "what is left waits on hosts that were given up or have used up their budget";

impl Dispatcher {
    pub(crate) fn start(&mut self, start: Start) {
        let limits = CrawlLimits::of(&start.plan.spec);
        self.frontier.add_crawl(start.crawl, limits, start.pages);
        self.crawls.insert(start.crawl, Running::new(start));
    }

    /// Hands out no more leases; what is under way gets a moment to arrive.
    pub(crate) fn stop(&mut self, crawl: CrawlId, how: Stop) {
        self.frontier.pause(crawl, true);
        if let Some(running) = self.crawls.get_mut(&crawl) {
            running.stopping = Some(how);
            running.stops.send_replace(true);
            let grace = match how {
                Stop::Pause | Stop::Suspend => GRACE,
                Stop::Cancel => std::time::Duration::ZERO,
            };
            running.grace_until.get_or_insert(Instant::now() + grace);
        }
    }

    /// A crawl that is held is not over, and one that stops stays stopped.
    pub(crate) fn hold(&mut self, crawl: CrawlId, held: bool) {
        if let Some(running) = self.crawls.get(&crawl)
            && running.stopping.is_none()
        {
            self.frontier.pause(crawl, held);
        }
    }

    /// True if a crawl ended: it may have left its hosts to others.
    pub(crate) async fn end_what_is_over(&mut self) -> bool {
        let crawls: Vec<CrawlId> = self.crawls.keys().copied().collect();
        let mut ended = false;
        for crawl in crawls {
            if let Some((state, why)) = self.verdict_on(crawl) {
                self.finish(crawl, state, why).await;
                ended = true;
            }
        }
        ended
    }

    /// Whether a crawl is over, and how.
    fn verdict_on(&mut self, crawl: CrawlId) -> Option<(CrawlState, &'static str)> {
        if let Some(how) = self.crawls.get(&crawl)?.stopping {
            return self.verdict_on_stopping(crawl, how);
        }
        let out = self.frontier.in_flight(crawl);
        let running = self.crawls.get(&crawl)?;
        if running.plan.spec.standing {
            return None;
        }
        let used = self.frontier.budget_is_used(crawl);
        if used && out == 0 && running.is_quiet() {
            return self.completed(crawl, USED_UP);
        }
        let scanned = self.loans.is_some() || !running.scan.needed;
        let over = self.frontier.is_idle(crawl) && running.is_quiet() && scanned;
        // Where hosts are shared, what we last saw of the others' pages may be long ago.
        let left = self.loans.is_none() && running.progress.borrow().pending > 0;
        let why = if left { HOSTS_CLOSED } else { NOTHING_LEFT };
        over.then(|| self.completed(crawl, why)).flatten()
    }

    /// A crawl that is to stop does once nothing of it is under way. Answers that take too long are not
    /// awaited: nothing would wake us afterwards, so the end is judged at once.
    fn verdict_on_stopping(
        &mut self,
        crawl: CrawlId,
        how: Stop,
    ) -> Option<(CrawlState, &'static str)> {
        let grace_until = self.crawls.get(&crawl)?.grace_until;
        if grace_until.is_some_and(|until| until <= Instant::now()) {
            self.recall_visits(crawl);
        }
        // An answer of the store that comes after the end would be taken for one to a successor.
        let quiet = self.frontier.in_flight(crawl) == 0 && self.crawls.get(&crawl)?.is_quiet();
        quiet.then_some(match how {
            Stop::Pause => (CrawlState::Paused, "interrupted"),
            Stop::Suspend => (CrawlState::Running, ""),
            Stop::Cancel => (CrawlState::Cancelled, "cancelled"),
        })
    }

    /// A crawl for which nothing is left here. Where hosts are shared, others may have work.
    fn completed(
        &mut self,
        crawl: CrawlId,
        why: &'static str,
    ) -> Option<(CrawlState, &'static str)> {
        if self.loans.is_none() {
            return Some((CrawlState::Completed, why));
        }
        let complete = self.crawls.get(&crawl)?.complete;
        if complete.is_none() {
            self.ask_whether_complete(crawl, why);
        }
        complete.map(|why| (CrawlState::Completed, why))
    }

    /// Gives up visits that take too long to stop; their pages stay pending.
    fn recall_visits(&mut self, crawl: CrawlId) {
        let leases: Vec<LeaseId> = self
            .visits
            .iter()
            .filter(|(_, under_way)| under_way.crawl == crawl)
            .map(|(lease, _)| *lease)
            .collect();
        for lease in leases {
            if let Some(under_way) = self.visits.remove(&lease) {
                under_way.visit.abort();
            }
            self.frontier
                .settle(lease, Report::well(false), self.clock.now());
        }
    }

    async fn finish(&mut self, crawl: CrawlId, state: CrawlState, why: &'static str) {
        let Some(mut running) = self.crawls.remove(&crawl) else {
            return;
        };
        // Where hosts are shared, the state in the store is what others are told, not by us.
        let stored = match running.failure.take() {
            Some(failure) => Err(failure),
            None if self.loans.is_some() => Ok(()),
            None => {
                let now = self.clock.wall();
                let stored = self.store.set_state(crawl, state, why, now).await;
                stored.map_err(EngineError::from)
            }
        };
        self.frontier.remove_crawl(crawl, self.clock.now());
        let last_seq = Sequence(running.progress.borrow().last_seq);
        let end = CrawlEnd {
            crawl,
            state,
            why: why.to_owned(),
            last_seq,
        };
        if self.loans.is_some() {
            self.quick.bell().ring(crawl.0);
        }
        if let Some(ended) = running.ended.take() {
            let _ = ended.send(stored.map(|()| end));
        }
    }

    /// The store cannot go on with a crawl. It ends here as one that is stopped does: leases come
    /// back, and what is on its way to the store or from it is awaited, so that no answer is taken
    /// for one to a successor. What was committed stays; a resume continues.
    pub(crate) fn fail(&mut self, crawl: CrawlId, error: impl Into<EngineError>) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.failure.get_or_insert(error.into());
        running.grace_until = Some(Instant::now());
        running.stopping.get_or_insert(Stop::Suspend);
        running.stops.send_replace(true);
        self.frontier.pause(crawl, true);
    }

    /// No crawl can go on.
    pub(crate) fn fail_all(&mut self, error: &StoreError) {
        let message = Arc::<str>::from(error.to_string());
        let crawls: Vec<CrawlId> = self.crawls.keys().copied().collect();
        for crawl in crawls {
            self.fail(crawl, EngineError::StoreFailed(Arc::clone(&message)));
        }
    }
}
