//! What happens with a lease the frontier hands out: robots.txt is asked, then a visit is sent off.

use std::sync::Arc;

use trawl_frontier::{Lease, LeaseId, Moment, Report, Work};
use trawl_store::contract::{
    known::KnownLinks,
    write::{Settlement, Visit, VisitEnd},
};
use trawl_types::{
    CrawlId, HostId, Outcome, OutcomeKind, Reason, ReasonCode, Scheme, UnixMillis,
    spec::RobotsPolicy,
};
use url::Url;

use super::{
    Dispatcher, MOST_UNCOMMITTED, MOST_UNCOMMITTED_BYTES, UnderWay,
    hosts::{Says, robots_until},
    running::Running,
};
use crate::{
    appetite::{Appetite, FEW_LEFT},
    commit::{After, Item, What},
    plan::CrawlPlan,
    task::{PageTask, RobotsTask, Task},
    visit::{visit_page, visit_robots},
};

/// A lease without its work.
#[derive(Debug, Clone, Copy)]
struct Slot {
    lease: LeaseId,
    crawl: CrawlId,
    host: HostId,
}

impl Dispatcher {
    /// Leases as long as there is something to lease and room for what comes of it.
    pub(crate) fn lease_what_may_go(&mut self) {
        if self.loans.is_some() {
            self.tend_loans();
        } else {
            self.scan_for_hosts();
        }
        self.ask_for_refills();
        while let Some((crawl, task)) = self.frontier.next_dropped() {
            self.put_back(crawl, task);
        }
        while self.uncommitted < MOST_UNCOMMITTED && self.uncommitted_bytes < MOST_UNCOMMITTED_BYTES
        {
            if self.loans_are_stale() {
                self.tend_loans();
            }
            let Some(lease) = self.frontier.next(self.clock.now()) else {
                break;
            };
            self.send_off(lease);
        }
        self.ask_for_refills();
        self.hunger.set(self.appetite());
    }

    /// Of all crawls together. One that waits for URLs is enough for nobody to wait for company; that
    /// little is left counts only where no other crawl has much to do.
    fn appetite(&self) -> Appetite {
        let mut crawls = self.crawls.keys();
        if crawls.any(|crawl| self.frontier.is_hungry(*crawl)) {
            return Appetite::Hungry;
        }
        let has_much = |(crawl, running): (&CrawlId, &Running)| {
            let pending = running.progress.borrow().pending;
            let left = pending.saturating_sub(running.uncommitted as u64);
            left >= FEW_LEFT && !self.frontier.is_idle(*crawl)
        };
        if self.crawls.iter().any(has_much) {
            Appetite::Sated
        } else {
            Appetite::Low
        }
    }

    /// The host of a visit's next step was given up. A page stays in the store, as those do that
    /// wait for the host; robots.txt could not be read.
    fn put_back(&mut self, crawl: CrawlId, task: Task) {
        match task {
            Task::Page(task) => {
                let now = self.clock.now();
                self.frontier.let_go(crawl, task.home, task.page, now);
            }
            Task::Robots(task) => {
                let why = ReasonCode::HostSuspended.explanation();
                let outcome = Outcome::new(OutcomeKind::ConnectFailed, None, why);
                self.robots_failed(crawl, &task, &outcome);
            }
        }
    }

    fn send_off(&mut self, lease: Lease<Task>) {
        let slot = Slot {
            lease: lease.id,
            crawl: lease.crawl,
            host: lease.host,
        };
        let Some(running) = self.crawls.get(&lease.crawl) else {
            self.frontier
                .settle(lease.id, Report::untouched(), self.clock.now());
            return;
        };
        let plan = Arc::clone(&running.plan);
        let task = match lease.work {
            Work::Robots(scheme) => return self.send_for_robots(&plan, slot, scheme),
            Work::Errand(task) => task,
            Work::Page(item) => item.task,
        };
        match task {
            Task::Page(task) if lease.over_budget => {
                let reason = Reason::from(ReasonCode::HostBudget);
                self.end_without_visit(slot, &task, VisitEnd::Refused(reason));
            }
            Task::Page(task) => self.send_to_page(&plan, slot, task),
            Task::Robots(task) => self.spawn_robots(&plan, slot, task),
        }
    }

    fn send_for_robots(&mut self, plan: &Arc<CrawlPlan>, slot: Slot, scheme: Scheme) {
        let url = self
            .hosts
            .get(&slot.host)
            .and_then(|facts| facts.robots_url(scheme));
        if let Some(url) = url {
            let task = RobotsTask {
                host: slot.host,
                scheme,
                url,
                hops: 0,
            };
            return self.spawn_robots(plan, slot, task);
        }
        // A host whose name makes no URL cannot be asked; its pages will say so themselves.
        let now = self.clock.now();
        self.frontier.settle(slot.lease, Report::untouched(), now);
        let until = robots_until(self.clock, self.clock.wall());
        self.frontier.robots_known(slot.host, scheme, until, 0, now);
    }

    fn spawn_robots(&mut self, plan: &Arc<CrawlPlan>, slot: Slot, task: RobotsTask) {
        let visit = visit_robots(
            Arc::clone(plan),
            self.quick.clone(),
            self.clock,
            slot.lease,
            task,
            self.permit(slot.host),
            self.said.0.clone(),
        );
        self.set_off(slot, visit);
    }

    fn set_off(&mut self, slot: Slot, visit: impl Future<Output = ()> + Send + 'static) {
        let visit = tokio::spawn(visit).abort_handle();
        self.visits.insert(
            slot.lease,
            UnderWay {
                crawl: slot.crawl,
                host: slot.host,
                visit,
            },
        );
    }

    fn send_to_page(&mut self, plan: &Arc<CrawlPlan>, slot: Slot, task: Box<PageTask>) {
        let Ok(url) = Url::parse(&task.address) else {
            let reason = Reason::new(ReasonCode::InvalidUrl, task.address.clone());
            return self.end_without_visit(slot, &task, VisitEnd::Refused(reason));
        };
        match self.ask_robots(plan, slot.host, &url) {
            Says::Allowed => {
                let plan = Arc::clone(plan);
                let (permit, tell) = (self.permit(slot.host), self.said.0.clone());
                self.set_off(
                    slot,
                    visit_page(plan, self.clock, slot.lease, task, url, permit, tell),
                );
            }
            Says::Refused(reason) => {
                let end = refusal(&task, reason, self.clock.wall());
                self.end_without_visit(slot, &task, end);
            }
            Says::Dead(outcome) => {
                let end = ended(&task, outcome, self.clock.wall());
                self.end_without_visit(slot, &task, end);
            }
            Says::NotRead => {
                let now = self.clock.now();
                let scheme = Scheme::of(&url).unwrap_or(Scheme::Http);
                self.frontier.settle(slot.lease, Report::untouched(), now);
                self.frontier.robots_again(slot.host, scheme, 0, now);
                self.frontier
                    .carry_on(slot.crawl, slot.host, task.queued(Moment::START), now);
            }
        }
    }

    fn ask_robots(&self, plan: &CrawlPlan, host: HostId, url: &Url) -> Says {
        if plan.spec.politeness.robots == RobotsPolicy::Ignore {
            return Says::Allowed;
        }
        let scheme = Scheme::of(url).unwrap_or(Scheme::Http);
        let agent = plan.spec.fetch.user_agent.robots_name();
        self.hosts
            .get(&host)
            .map_or(Says::NotRead, |facts| facts.says(scheme, agent, url))
    }

    /// Settles a page's lease without having asked its host.
    fn end_without_visit(&mut self, slot: Slot, task: &PageTask, end: VisitEnd) {
        self.frontier
            .settle(slot.lease, Report::untouched(), self.clock.now());
        let settlement = Settlement {
            page: task.page,
            end,
            links: Vec::new(),
            known: KnownLinks::default(),
        };
        let after = After::LetGo {
            host: task.home,
            page: task.page,
        };
        self.commit(slot.crawl, What::Page(Box::new(settlement), after), 256);
    }

    pub(crate) fn commit(&mut self, crawl: CrawlId, what: What, weight: usize) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        // What was fetched for a crawl that has failed would fail as well.
        if running.failure.is_some() {
            return;
        }
        running.uncommitted += 1;
        let plan = running.plan.clusters().is_some();
        let plan = plan.then(|| Arc::clone(&running.plan));
        self.uncommitted += 1;
        self.uncommitted_bytes += weight;
        let _ = self.items.send(Item {
            crawl,
            what,
            weight,
            plan,
        });
    }
}

/// A page that robots.txt refuses. One that was reached through a redirect of itself was asked for
/// before, so it ends with an outcome; any other is refused like a URL out of scope.
fn refusal(task: &PageTask, reason: Reason, now: UnixMillis) -> VisitEnd {
    if task.hops.is_empty() {
        return VisitEnd::Refused(reason);
    }
    ended(
        task,
        Outcome::new(OutcomeKind::RobotsDenied, None, reason.to_string()),
        now,
    )
}

fn ended(task: &PageTask, outcome: Outcome, now: UnixMillis) -> VisitEnd {
    let visit = Visit {
        attempts: task.attempts,
        ..Visit::new(outcome, now)
    };
    VisitEnd::Final(Box::new(visit))
}
