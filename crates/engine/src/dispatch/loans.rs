//! Hosts on loan, where several processes crawl from one store: borrowed while there is room for
//! them, held back while a loan is not certain, given back when nothing of them is in hand. How
//! long a loan lasts and who else borrows is the store's business.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use rustc_hash::{FxHashMap, FxHashSet};
use tokio::{
    sync::{oneshot, watch},
    task::JoinHandle,
};
use trawl_frontier::{LeaseId, Moment, Report};
use trawl_store::{
    StoreError,
    contract::{
        known::KnownLinks,
        loans::{HostLoans, LoanedHost, ReturnedHost},
        read::StoredHost,
        write::{Settlement, VisitEnd},
    },
};
use trawl_types::{CrawlId, HostId, Outcome, OutcomeKind, UnixMillis};

use super::{
    Dispatcher,
    lookups::{Found, Next},
};
use crate::visit::Permit;

/// Hosts borrowed in one go: few, so that all processes come to some.
const GULP: u32 = 16;
/// Between two rounds that brought hosts, and after one that brought none: soon for a while, because the
/// first pages of a crawl lead to many hosts at once, and whoever comes late finds them taken; then seldom.
const NEXT_GULP_MS: u64 = 10;
const NOTHING_THERE_MS: u64 = 10;
const STILL_NOTHING_MS: u64 = 250;
/// Rounds without hosts after which the pause doubles.
const TRIES_BEFORE_LONGER: u32 = 4;
/// Crawls that are looked for by name in one go.
const NEEDY_AT_ONCE: usize = 4;
/// How often loans are looked over. A request is checked once more right before it is sent.
const LOOK_OVER_MS: u64 = 50;
/// A host is not kept for longer, so that new crawls and other processes get their turn.
const MOST_HELD_MS: u64 = 15_000;
/// How long the next step of a visit waits for a host that somebody else has.
const MOST_TRIES: u32 = 80;
const NEXT_TRY_MS: u64 = 250;
/// And how long the visit is then put off.
const PUT_OFF_MS: i64 = 5_000;
/// Between two questions whether a crawl is complete.
const NEXT_VERDICT_MS: u64 = 150;

/// What this process has borrowed.
#[derive(Debug, Default)]
pub(crate) struct Loans {
    since: FxHashMap<HostId, Moment>,
    /// To be given back as soon as nothing of them is in hand.
    retiring: FxHashSet<HostId>,
    borrowing: bool,
    ordinary: Pace,
    /// For crawls that have nothing while others have plenty.
    needy: Pace,
    /// Which of them comes first.
    turn: usize,
    next_look: Moment,
    /// Hosts on their way back.
    returning: Vec<JoinHandle<()>>,
}

/// When to borrow next.
#[derive(Debug, Default)]
struct Pace {
    next: Moment,
    /// Rounds in a row that brought none.
    fruitless: u32,
}

impl Pace {
    fn after(&mut self, hosts: usize, now: Moment) {
        self.next = now.after(self.pause_after(hosts));
    }

    /// How long to wait after a round that brought so many hosts.
    fn pause_after(&mut self, hosts: usize) -> u64 {
        if hosts > 0 {
            self.fruitless = 0;
            return NEXT_GULP_MS;
        }
        self.fruitless = self.fruitless.saturating_add(1);
        let doublings = (self.fruitless - 1) / TRIES_BEFORE_LONGER;
        (NOTHING_THERE_MS << doublings.min(8)).min(STILL_NOTHING_MS)
    }
}

impl Dispatcher {
    fn lender(&self) -> Option<&dyn HostLoans> {
        self.store.loans()
    }

    /// Looks after what is borrowed and borrows more.
    pub(crate) fn tend_loans(&mut self) {
        let now = self.clock.now();
        if self.look_is_due(now) {
            self.drop_lost(now);
            self.look_over(now);
            self.give_back_what_rests(now);
        }
        self.borrow_more(now);
    }

    fn look_is_due(&mut self, now: Moment) -> bool {
        let Some(loans) = &mut self.loans else {
            return false;
        };
        let due = now >= loans.next_look;
        if due {
            loans.next_look = now.after(LOOK_OVER_MS);
        }
        due
    }

    /// When loans want to be looked over next.
    pub(crate) fn next_look(&self) -> Option<Moment> {
        self.loans.as_ref().map(|loans| loans.next_look)
    }

    pub(crate) fn has_loans_to_tend(&self) -> bool {
        let loans = self.loans.as_ref();
        loans.is_some_and(|loans| !loans.since.is_empty() || !self.crawls.is_empty())
    }

    /// Time may have passed unnoticed while this process was stopped.
    pub(crate) fn loans_are_stale(&self) -> bool {
        let now = self.clock.now();
        let next = self.next_look();
        next.is_some_and(|next| now >= next)
    }

    /// Others have these hosts now; what was under way for them counts for nothing.
    fn drop_lost(&mut self, now: Moment) {
        let lost = self.lender().map(HostLoans::lost).unwrap_or_default();
        for host in lost {
            let loans = self.loans.as_ref();
            if loans.is_some_and(|loans| loans.since.contains_key(&host)) {
                self.forget(host, now);
            }
        }
    }

    fn forget(&mut self, host: HostId, now: Moment) {
        let visits = self.visits.iter();
        let leases: Vec<LeaseId> = visits
            .filter(|(_, under_way)| under_way.host == host)
            .map(|(lease, _)| *lease)
            .collect();
        for lease in leases {
            if let Some(under_way) = self.visits.remove(&lease) {
                under_way.visit.abort();
            }
            self.frontier.settle(lease, Report::untouched(), now);
        }
        self.let_host_go(host);
    }

    fn let_host_go(&mut self, host: HostId) {
        self.frontier.drop_host(host);
        self.hosts.remove(&host);
        if let Some(loans) = &mut self.loans {
            loans.since.remove(&host);
            loans.retiring.remove(&host);
        }
    }

    fn look_over(&mut self, now: Moment) {
        let Some(loans) = &mut self.loans else { return };
        for (host, since) in &loans.since {
            if since.after(MOST_HELD_MS) <= now {
                loans.retiring.insert(*host);
            }
        }
        let Some(lender) = self.store.loans() else {
            return;
        };
        for host in loans.since.keys() {
            let delay = self.frontier.host_state(*host).map_or(0, |s| s.delay_ms);
            // Once more than until the next look.
            let certain = lender.may_ask(*host, delay + 2 * LOOK_OVER_MS);
            let held = !certain || loans.retiring.contains(host);
            self.frontier.hold_back(*host, held, now);
        }
    }

    fn give_back_what_rests(&mut self, now: Moment) {
        let Some(loans) = &self.loans else { return };
        let mut returned = Vec::new();
        for host in loans.since.keys() {
            let known = self.frontier.host_state(*host).is_some();
            let rest = self.frontier.rest(*host, now);
            match rest {
                Some(rest) if rest.is_idle || loans.retiring.contains(host) => {
                    returned.push(ReturnedHost {
                        host: *host,
                        wait_ms: rest.wait_ms,
                        closed: rest.closed,
                    });
                }
                // Its crawl had ended when it came.
                None if !known => returned.push(ReturnedHost {
                    host: *host,
                    wait_ms: 0,
                    closed: Vec::new(),
                }),
                _ => {}
            }
        }
        if returned.is_empty() {
            return;
        }
        for host in &returned {
            self.let_host_go(host.host);
        }
        let store = Arc::clone(&self.store);
        let returning = tokio::spawn(async move {
            if let Some(lender) = store.loans()
                && let Err(error) = lender.give_back(returned).await
            {
                tracing::warn!(%error, "hosts could not be given back; their loans will expire");
            }
        });
        if let Some(loans) = &mut self.loans {
            loans.returning.retain(|task| !task.is_finished());
            loans.returning.push(returning);
        }
    }

    /// What rests goes back at once; says so when it has arrived.
    pub(crate) fn give_all_back(&mut self, done: oneshot::Sender<()>) {
        self.give_back_what_rests(self.clock.now());
        let returning = self
            .loans
            .as_mut()
            .map(|loans| std::mem::take(&mut loans.returning));
        tokio::spawn(async move {
            for task in returning.unwrap_or_default() {
                let _ = task.await;
            }
            let _ = done.send(());
        });
    }

    /// Borrows what has been ready for longest while some crawl could ask for more. A crawl that has
    /// nothing while others have plenty does not wait until all their hosts have been borrowed: it
    /// is looked for by name.
    fn borrow_more(&mut self, now: Moment) {
        let Some(loans) = &self.loans else { return };
        let room = self.frontier.host_count() < self.most_hosts;
        // One crawl alone never has to be looked for.
        let due = now >= loans.ordinary.next || self.crawls.len() > 1 && now >= loans.needy.next;
        if loans.borrowing || !room || !due {
            return;
        }
        let running = self.crawls.iter();
        let crawls: Vec<CrawlId> = running
            .filter(|(_, running)| running.stopping.is_none())
            .map(|(crawl, _)| *crawl)
            .collect();
        let (mut idle, busy): (Vec<CrawlId>, Vec<CrawlId>) = crawls
            .iter()
            .partition(|crawl| self.frontier.is_idle(**crawl));
        let hungry = if busy.is_empty() {
            !idle.is_empty()
        } else {
            busy.iter().any(|crawl| self.frontier.is_hungry(*crawl))
        };
        if busy.is_empty() || now < loans.needy.next {
            idle.clear();
        } else if !idle.is_empty() {
            let first = loans.turn % idle.len();
            idle.rotate_left(first);
            idle.truncate(NEEDY_AT_ONCE);
        }
        let wanted = Wanted {
            ordinary: hungry && now >= loans.ordinary.next,
            needy: idle,
            crawls,
        };
        let Some(loans) = &mut self.loans else { return };
        if wanted.needy.is_empty() {
            loans.needy.next = loans.needy.next.max(now.after(NEXT_GULP_MS));
        }
        if !wanted.ordinary && wanted.needy.is_empty() {
            return;
        }
        loans.turn = loans.turn.wrapping_add(NEEDY_AT_ONCE);
        loans.borrowing = true;
        let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
        tokio::spawn(async move {
            let round = match store.loans() {
                Some(lender) => borrow(lender, wanted).await,
                None => Ok(Round::default()),
            };
            let _ = tell.send(Found::Loans(round));
        });
    }

    pub(crate) fn take_round(&mut self, round: &Round) {
        let now = self.clock.now();
        if let Some(loans) = &mut self.loans {
            loans.borrowing = false;
            if let Some(hosts) = round.ordinary {
                loans.ordinary.after(hosts, now);
            }
            if let Some(hosts) = round.needy {
                loans.needy.after(hosts, now);
            }
        }
        self.take_loans(&round.hosts);
    }

    fn take_loans(&mut self, hosts: &[LoanedHost]) {
        let now = self.clock.now();
        // A host may have been lost and lent to us again: what was lost is let go first, or the new
        // loan would go with it, and be renewed for ever without anybody asking the host.
        self.drop_lost(now);
        let Some(loans) = &mut self.loans else { return };
        for loaned in hosts {
            loans.since.entry(loaned.host.id).or_insert(now);
        }
        for loaned in hosts {
            if !self.frontier.knows_lane(loaned.crawl, loaned.host.id) {
                self.add_host(loaned.crawl, &loaned.host, true);
            }
        }
    }

    /// Without hosts no crawl can go on. They are all left; whoever looks after them joins anew.
    pub(crate) fn nothing_is_lent(&mut self, error: &StoreError) {
        self.take_round(&Round {
            ordinary: Some(0),
            needy: Some(0),
            hosts: Vec::new(),
        });
        self.fail_all(error);
    }

    pub(crate) fn note_loan(&mut self, host: HostId) {
        let now = self.clock.now();
        self.drop_lost(now);
        if let Some(loans) = &mut self.loans {
            loans.since.entry(host).or_insert(now);
        }
    }

    /// The host was not to be had: the visit begins anew later.
    pub(crate) fn put_off(&mut self, crawl: CrawlId, next: Next) {
        match next {
            Next::Robots(task) => {
                let now = self.clock.now();
                let wait = PUT_OFF_MS as u64;
                self.frontier
                    .robots_again(task.host, task.scheme, wait, now);
            }
            Next::Page(task) => {
                let outcome = Outcome::new(OutcomeKind::ConnectFailed, None, "the host was busy");
                let end = VisitEnd::Retry {
                    attempts: task.attempts,
                    not_before: UnixMillis(self.clock.wall().0 + PUT_OFF_MS),
                    outcome,
                };
                let settlement = Settlement {
                    page: task.page,
                    end,
                    links: Vec::new(),
                    known: KnownLinks::default(),
                };
                self.settle(crawl, task, Box::new(settlement));
            }
        }
    }

    /// Asks the store whether a crawl that this process has nothing to do for is complete.
    pub(crate) fn ask_whether_complete(&mut self, crawl: CrawlId, why: &'static str) {
        let now = self.clock.now();
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        if now < running.next_verdict {
            return;
        }
        running.next_verdict = now.after(NEXT_VERDICT_MS);
        running.lookups += 1;
        let wall = self.clock.wall();
        let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
        tokio::spawn(async move {
            let complete = match store.loans() {
                Some(lender) => lender.complete(crawl, why, wall).await,
                None => Ok(false),
            };
            let complete = complete.map(|yes| yes.then_some(why));
            let _ = tell.send(Found::Complete { crawl, complete });
        });
    }

    pub(crate) fn take_complete(&mut self, crawl: CrawlId, complete: Option<&'static str>) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.complete = complete;
        if complete.is_none() && self.frontier.budget_is_used(crawl) {
            // Only here: what was read under loans that others had taken over was counted, not written.
            let pages = running.progress.borrow().pages;
            self.frontier.pages_are(crawl, pages);
        }
    }

    pub(crate) fn permit(&self, host: HostId) -> Permit {
        let delay_ms = self.frontier.host_state(host).map_or(0, |s| s.delay_ms);
        Permit {
            store: Arc::clone(&self.store),
            host,
            delay_ms,
        }
    }
}

/// What is to be borrowed in one round.
struct Wanted {
    crawls: Vec<CrawlId>,
    /// What has been ready for longest.
    ordinary: bool,
    needy: Vec<CrawlId>,
}

/// What a round brought: hosts, and how many of each kind if that kind was asked for.
#[derive(Debug, Default)]
pub(crate) struct Round {
    hosts: Vec<LoanedHost>,
    ordinary: Option<usize>,
    needy: Option<usize>,
}

/// What was lent before something failed is on loan, and must not be forgotten; the next round fails as
/// well, or it does not.
async fn borrow(lender: &dyn HostLoans, wanted: Wanted) -> Result<Round, StoreError> {
    let mut round = Round::default();
    if wanted.ordinary {
        let lent = lender.borrow_hosts(&wanted.crawls, GULP).await?;
        round.ordinary = Some(lent.len());
        round.hosts = lent;
    }
    for needy in wanted.needy {
        let lent = lender.borrow_hosts_of(needy, &wanted.crawls, GULP).await;
        match lent {
            Ok(lent) => {
                *round.needy.get_or_insert(0) += lent.len();
                round.hosts.extend(lent);
            }
            Err(error) if round.hosts.is_empty() => return Err(error),
            Err(_) => return Ok(round),
        }
    }
    Ok(round)
}

/// A host by its name, for as long as it is reasonable to wait for it and the crawl goes on. A question
/// under way is not given up: a host that it brought would be on loan to nobody.
pub(crate) async fn borrow_by_name(
    lender: &dyn HostLoans,
    crawl: CrawlId,
    name: &str,
    mut stopping: watch::Receiver<bool>,
) -> Result<Option<StoredHost>, StoreError> {
    for _ in 0..MOST_TRIES {
        if let Some(host) = lender.borrow_host(crawl, name).await? {
            return Ok(Some(host));
        }
        let stops = stopping.wait_for(|stops| *stops);
        let next_try = Duration::from_millis(NEXT_TRY_MS);
        if tokio::time::timeout(next_try, stops).await.is_ok() {
            break;
        }
    }
    Ok(None)
}
