//! What happens with a lease the frontier hands out: robots.txt is asked, then a visit is sent off.

use std::sync::{Arc, atomic::Ordering};

use trawl_frontier::{Lease, LeaseId, Moment, Report, Work};
use trawl_store::contract::write::{Settlement, Visit, VisitEnd};
use trawl_types::{
    CrawlId, HostId, Outcome, OutcomeKind, Reason, ReasonCode, Scheme, spec::RobotsPolicy,
};
use url::Url;

use super::{Dispatcher, MOST_UNCOMMITTED, MOST_UNCOMMITTED_BYTES, hosts::Says};
use crate::{
    commit::{After, Item, What},
    plan::CrawlPlan,
    task::{PageTask, RobotsTask, Task},
    visit::{visit_page, visit_robots},
};

impl Dispatcher {
    /// Leases as long as there is something to lease and room for what comes of it.
    pub(crate) fn lease_what_may_go(&mut self) {
        self.scan_for_hosts();
        self.ask_for_refills();
        while self.uncommitted < MOST_UNCOMMITTED && self.uncommitted_bytes < MOST_UNCOMMITTED_BYTES
        {
            let Some(lease) = self.frontier.next(self.clock.now()) else {
                break;
            };
            self.send_off(lease);
        }
        self.ask_for_refills();
        let hungry = self
            .crawls
            .keys()
            .any(|crawl| self.frontier.is_hungry(*crawl));
        self.hungry.store(hungry, Ordering::Relaxed);
    }

    fn send_off(&mut self, lease: Lease<Task>) {
        let Some(plan) = self
            .crawls
            .get(&lease.crawl)
            .map(|running| Arc::clone(&running.plan))
        else {
            self.frontier
                .settle(lease.id, Report::untouched(), self.clock.now());
            return;
        };
        let (id, crawl, host) = (lease.id, lease.crawl, lease.host);
        match lease.work {
            Work::Robots(scheme) => self.send_for_robots(&plan, id, crawl, host, scheme),
            Work::Errand(Task::Robots(task)) => self.spawn_robots(&plan, id, crawl, task),
            Work::Errand(Task::Page(task)) => self.send_to_page(&plan, id, crawl, host, task),
            Work::Page(item) => match item.task {
                Task::Page(task) => self.send_to_page(&plan, id, crawl, host, task),
                Task::Robots(task) => self.spawn_robots(&plan, id, crawl, task),
            },
        }
    }

    fn send_for_robots(
        &mut self,
        plan: &Arc<CrawlPlan>,
        lease: LeaseId,
        crawl: CrawlId,
        host: HostId,
        scheme: Scheme,
    ) {
        let url = self
            .hosts
            .get(&host)
            .and_then(|facts| facts.robots_url(scheme));
        match url {
            Some(url) => {
                let task = RobotsTask {
                    host,
                    scheme,
                    url,
                    hops: 0,
                };
                self.spawn_robots(plan, lease, crawl, task);
            }
            None => {
                self.frontier
                    .settle(lease, Report::untouched(), self.clock.now());
            }
        }
    }

    fn spawn_robots(
        &mut self,
        plan: &Arc<CrawlPlan>,
        lease: LeaseId,
        crawl: CrawlId,
        task: RobotsTask,
    ) {
        let visit = visit_robots(Arc::clone(plan), lease, task, self.said.0.clone());
        let handle = tokio::spawn(visit).abort_handle();
        self.visits.insert(lease, (crawl, handle));
    }

    fn send_to_page(
        &mut self,
        plan: &Arc<CrawlPlan>,
        lease: LeaseId,
        crawl: CrawlId,
        host: HostId,
        task: Box<PageTask>,
    ) {
        let Ok(url) = Url::parse(&task.address) else {
            let reason = Reason::new(ReasonCode::InvalidUrl, task.address.clone());
            return self.refuse(lease, crawl, &task, VisitEnd::Refused(reason));
        };
        let scheme = Scheme::of(&url).unwrap_or(Scheme::Http);
        let agent = plan.spec.fetch.user_agent.robots_name();
        let says = match self.hosts.get(&host) {
            _ if plan.spec.politeness.robots == RobotsPolicy::Ignore => Says::Allowed,
            Some(facts) => facts.says(scheme, agent, &url),
            None => Says::NotRead,
        };
        match says {
            Says::Allowed => self.spawn_page(plan, lease, crawl, task, url),
            Says::Refused(reason) => self.refuse(lease, crawl, &task, refusal(&task, reason, self)),
            Says::Dead(outcome) => {
                let end = self.end_without_visit(&task, outcome);
                self.refuse(lease, crawl, &task, end);
            }
            Says::NotRead => {
                let now = self.clock.now();
                self.frontier.settle(lease, Report::untouched(), now);
                self.frontier.robots_again(host, scheme, 0, now);
                let item = task.queued(Moment::START);
                self.frontier.carry_on(crawl, host, item, now);
            }
        }
    }

    fn spawn_page(
        &mut self,
        plan: &Arc<CrawlPlan>,
        lease: LeaseId,
        crawl: CrawlId,
        task: Box<PageTask>,
        url: Url,
    ) {
        let plan = Arc::clone(plan);
        let visit = visit_page(plan, self.clock, lease, task, url, self.said.0.clone());
        let handle = tokio::spawn(visit).abort_handle();
        self.visits.insert(lease, (crawl, handle));
    }

    /// Ends a page's visit without asking its host.
    fn refuse(&mut self, lease: LeaseId, crawl: CrawlId, task: &PageTask, end: VisitEnd) {
        self.frontier
            .settle(lease, Report::untouched(), self.clock.now());
        let settlement = Settlement {
            page: task.page,
            end,
            links: Vec::new(),
        };
        let after = After::LetGo {
            host: task.home,
            page: task.page,
        };
        self.commit(crawl, What::Page(Box::new(settlement), after), 256);
    }

    fn end_without_visit(&self, task: &PageTask, outcome: Outcome) -> VisitEnd {
        VisitEnd::Final(Box::new(Visit {
            outcome,
            attempts: task.attempts,
            final_url: None,
            redirect_to: None,
            canonical_url: None,
            title: None,
            description: None,
            content_type: None,
            charset: None,
            language: None,
            content_length: None,
            content_hash: None,
            truncated: false,
            etag: None,
            last_modified: None,
            robots: None,
            links_total: 0,
            fetch_time_ms: 0,
            crawled_at: self.clock.wall(),
            body: None,
        }))
    }

    pub(crate) fn commit(&mut self, crawl: CrawlId, what: What, weight: usize) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.uncommitted += 1;
        self.uncommitted += 1;
        self.uncommitted_bytes += weight;
        let _ = self.items.send(Item {
            crawl,
            what,
            weight,
        });
    }
}

/// A page that robots.txt refuses. One that was reached through a redirect of itself was asked for
/// before, so it ends with an outcome; any other is refused like a URL out of scope.
fn refusal(task: &PageTask, reason: Reason, dispatcher: &Dispatcher) -> VisitEnd {
    if task.hops.is_empty() {
        return VisitEnd::Refused(reason);
    }
    let outcome = Outcome::new(OutcomeKind::RobotsDenied, None, reason.to_string());
    dispatcher.end_without_visit(task, outcome)
}
