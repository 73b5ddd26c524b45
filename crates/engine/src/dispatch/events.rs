//! What happens when a visit or a commit reports.

use std::sync::Arc;

use trawl_frontier::{LeaseId, Offered, Report, Suspend, backoff_ms};
use trawl_store::{
    contract::{
        read::PendingUrl,
        write::{HostUpdate, Settlement, StoredRobots, Suspended, VisitEnd},
    },
    segment::Record,
};
use trawl_types::{CrawlId, CrawlUrl, HostId, Outcome, OutcomeKind};
use url::Url;

use super::{
    Dispatcher, UnderWay,
    hosts::{FAILURE_TTL_MS, KnownRobots, STALE_TTL_MS, robots_until},
    lookups::Next,
};
use crate::{
    commit::{After, Committed, Durable, What},
    progress::{Progress, progress_of},
    task::{PageTask, RobotsTask},
    visit::{Finished, RobotsEnd, RobotsResult, Said, Step, heard},
};

impl Dispatcher {
    pub(crate) fn hear(&mut self, said: Said) {
        match said {
            Said::Answered(lease) => self.frontier.answered(lease, self.clock.now()),
            Said::Finished(finished) => self.take_back(*finished),
        }
    }

    fn take_back(&mut self, finished: Finished) {
        let Finished {
            lease,
            report,
            step,
        } = finished;
        let Some(UnderWay { crawl, host, .. }) = self.visits.remove(&lease) else {
            return;
        };
        match step {
            Step::Settled {
                task,
                settlement,
                raw,
            } => {
                self.count_request(crawl, host, &report);
                self.give_back(crawl, lease, host, report);
                match raw {
                    Some(raw) => self.digest(crawl, task, settlement, raw),
                    None if is_unchanged(&settlement) => {
                        self.look_up_links(crawl, task, settlement);
                    }
                    None => self.settle(crawl, task, settlement),
                }
            }
            Step::CarryOn { mut task, url } => {
                url.as_str().clone_into(&mut task.address);
                self.carry_on(crawl, task, &url);
                self.count_request(crawl, host, &report);
                self.give_back(crawl, lease, host, report);
            }
            Step::Robots(end) => {
                self.give_back(crawl, lease, host, report);
                self.take_robots(crawl, end);
            }
        }
    }

    /// A request that counts towards the host's budget is durable before its page is: after a
    /// crash it may have been made for nothing, but it was made.
    fn count_request(&mut self, crawl: CrawlId, host: HostId, report: &Report) {
        let limited = self.crawls.get(&crawl).is_some_and(|running| {
            let spec = &running.plan.spec;
            spec.scope.max_requests_per_host.is_some() || spec.terrain.is_some()
        });
        if limited && report.contacted {
            let update = HostUpdate {
                host: Some(host),
                requests: 1,
                ..HostUpdate::default()
            };
            self.commit(crawl, What::Host(Box::new(update)), 64);
        }
    }

    /// Settles a lease and stores what must outlive the process: waits, and hosts given up.
    fn give_back(&mut self, crawl: CrawlId, lease: LeaseId, host: HostId, report: Report) {
        let now = self.clock.now();
        let given_up = self.frontier.settle(lease, report, now);
        if !given_up && report.wait_ms.is_none() {
            return;
        }
        let Some(state) = self.frontier.host_state(host) else {
            return;
        };
        let update = HostUpdate {
            host: Some(host),
            next_allowed: Some(self.clock.wall_of(state.next_allowed)),
            delay_ms: Some(state.delay_ms),
            failures: Some(state.failures),
            suspended: given_up.then_some(match report.suspend {
                Some(Suspend::RateLimited) => Suspended::RateLimited,
                Some(Suspend::LongWait) => Suspended::LongWait,
                None => Suspended::GivenUp,
            }),
            ..HostUpdate::default()
        };
        self.commit(crawl, What::Host(Box::new(update)), 64);
        self.spare_others_the_wait(crawl, host, &report);
    }

    /// Other crawls on a host that asked for a long wait give it up as well, as those that begin
    /// later do.
    fn spare_others_the_wait(&mut self, crawl: CrawlId, host: HostId, report: &Report) {
        let Some(wait) = report.wait_ms.filter(|_| report.suspend.is_some()) else {
            return;
        };
        let others: Vec<CrawlId> = self
            .crawls
            .iter()
            .filter(|(id, running)| {
                **id != crawl && running.plan.spec.politeness.max_wait_ms < wait
            })
            .map(|(id, _)| *id)
            .collect();
        for other in others {
            if self.frontier.knows_lane(other, host) && !self.frontier.is_closed(other, host) {
                self.give_up_over_wait(other, host);
            }
        }
    }

    pub(crate) fn settle(
        &mut self,
        crawl: CrawlId,
        mut task: Box<PageTask>,
        settlement: Box<Settlement>,
    ) {
        self.done.count(&settlement);
        let weight = weight_of(&settlement);
        let after = match &settlement.end {
            VisitEnd::Retry {
                attempts,
                not_before,
                ..
            } => {
                task.attempts = *attempts;
                task.address.clone_from(&task.found_as);
                task.hops.clear();
                task.phase = crate::task::Phase::First;
                After::Requeue {
                    not_before: self.clock.moment_of(*not_before),
                    task,
                }
            }
            VisitEnd::Final(_) | VisitEnd::Refused(_) => After::LetGo {
                host: task.home,
                page: task.page,
            },
        };
        self.commit(crawl, What::Page(settlement, after), weight);
    }

    /// Queues the next request of a visit, on the host it leads to.
    fn carry_on(&mut self, crawl: CrawlId, task: Box<PageTask>, url: &CrawlUrl) {
        let home = task.home;
        let at_home = self
            .hosts
            .get(&home)
            .is_some_and(|facts| facts.name == url.host().as_str());
        if !at_home {
            let name = url.host().as_str().to_owned();
            return self.look_up_host(crawl, name, Next::Page(task));
        }
        let now = self.clock.now();
        let item = task.queued(trawl_frontier::Moment::START);
        self.frontier.carry_on(crawl, home, item, now);
    }

    fn take_robots(&mut self, crawl: CrawlId, end: RobotsEnd) {
        let RobotsEnd { task, result } = end;
        match result {
            RobotsResult::Answer { status, body } => {
                self.store_answer(crawl, &task, status, body);
            }
            RobotsResult::Heard(robots) => {
                if robots.is_answer() || !self.goes_on_with_old_rules(crawl, &task) {
                    self.store_robots(crawl, &task, *robots);
                }
            }
            RobotsResult::Hop(url) => self.hop_for_robots(crawl, &task, url),
            RobotsResult::Failed { outcome, .. } => self.robots_failed(crawl, &task, &outcome),
            RobotsResult::Withdrawn => {
                let now = self.clock.now();
                self.frontier.robots_again(task.host, task.scheme, 0, now);
            }
        }
    }

    fn hop_for_robots(&mut self, crawl: CrawlId, task: &RobotsTask, url: Url) {
        let Some(host) = trawl_types::HostKey::of(&url) else {
            return self.store_answer(crawl, task, 404, Vec::new());
        };
        let hops = task.hops + 1;
        let task = RobotsTask {
            host: task.host,
            scheme: task.scheme,
            url,
            hops,
        };
        self.look_up_host(crawl, host.as_str().to_owned(), Next::Robots(task));
    }

    pub(crate) fn robots_failed(&mut self, crawl: CrawlId, task: &RobotsTask, outcome: &Outcome) {
        let Some(plan) = self
            .crawls
            .get(&crawl)
            .map(|running| Arc::clone(&running.plan))
        else {
            return;
        };
        let Some(facts) = self.hosts.get_mut(&task.host) else {
            return;
        };
        let attempts = &mut facts.robots_attempts[task.scheme as usize];
        *attempts += 1;
        let retry = &plan.spec.politeness.retry;
        if outcome.kind.is_retryable() && *attempts < retry.attempts {
            let wait = backoff_ms(retry, *attempts, task.host.0 as u64);
            let now = self.clock.now();
            return self
                .frontier
                .robots_again(task.host, task.scheme, wait, now);
        }
        *attempts = 0;
        if self.goes_on_with_old_rules(crawl, task) {
            return;
        }
        let allows =
            plan.spec.politeness.robots == trawl_types::spec::RobotsPolicy::UnreachableAllows;
        match outcome.status {
            _ if allows && outcome.kind.is_retryable() => {
                let robots = self.answer_now(task, 404, Vec::new());
                self.store_robots(crawl, task, robots);
            }
            Some(status @ (429 | 500..=599)) => self.store_answer(crawl, task, status, Vec::new()),
            _ => {
                let robots = self.failure_now(task, outcome);
                self.store_robots(crawl, task, robots);
            }
        }
    }

    /// A file that cannot be read again leaves its host with the rules it had. True if it had any.
    fn goes_on_with_old_rules(&mut self, crawl: CrawlId, task: &RobotsTask) -> bool {
        let Some(running) = self.crawls.get(&crawl) else {
            return false;
        };
        let spec = &running.plan.spec;
        let agent = spec.fetch.user_agent.robots_name();
        let facts = self.hosts.get_mut(&task.host);
        let Some(known) = facts.and_then(|facts| facts.fall_back(task.scheme, agent)) else {
            return false;
        };
        let delay = known.crawl_delay_ms(&spec.politeness);
        let now = self.clock.now();
        let until = now.after(STALE_TTL_MS);
        self.frontier
            .robots_known(task.host, task.scheme, until, delay, now);
        true
    }

    /// A host is as good as gone if it does not answer itself; what lies behind a redirect of its
    /// robots.txt, and what breaks off, says only that the file cannot be read.
    fn failure_now(&self, task: &RobotsTask, outcome: &Outcome) -> StoredRobots {
        let status = if task.hops == 0 && outcome.status.is_none() {
            StoredRobots::NO_ANSWER
        } else {
            StoredRobots::UNREADABLE
        };
        let mut body = vec![outcome.kind as u8];
        body.extend_from_slice(outcome.detail.as_bytes());
        self.answer_now(task, status, body)
    }

    fn answer_now(&self, task: &RobotsTask, status: u16, body: Vec<u8>) -> StoredRobots {
        StoredRobots {
            scheme: task.scheme,
            status,
            body,
            fetched_at: self.clock.wall(),
        }
    }

    /// What a server has said is passed on to other processes.
    fn store_answer(&mut self, crawl: CrawlId, task: &RobotsTask, status: u16, body: Vec<u8>) {
        let robots = self.answer_now(task, status, body);
        if let Some(facts) = self.hosts.get(&task.host) {
            heard::pass_on(&self.quick, &facts.name, &robots);
        }
        self.store_robots(crawl, task, robots);
    }

    /// Pages may be asked for once robots.txt is durable: a crash must not forget a Crawl-delay.
    fn store_robots(&mut self, crawl: CrawlId, task: &RobotsTask, stored: StoredRobots) {
        let Some(plan) = self
            .crawls
            .get(&crawl)
            .map(|running| Arc::clone(&running.plan))
        else {
            return;
        };
        let agent = plan.spec.fetch.user_agent.robots_name();
        let known = KnownRobots::of(&stored, agent, plan.spec.politeness.robots);
        let delay = known.crawl_delay_ms(&plan.spec.politeness);
        // What others go by is not replaced by a failure.
        let mut worth_keeping = true;
        if let Some(facts) = self.hosts.get_mut(&task.host) {
            worth_keeping = stored.is_answer() || !facts.has_rules(task.scheme);
            facts.learn(task.scheme, agent, known);
            facts.robots_fetched[task.scheme as usize] = stored.fetched_at;
        }
        let weight = 1024 + stored.body.len();
        let update = HostUpdate {
            host: Some(task.host),
            delay_ms: Some(delay.max(plan.spec.politeness.delay_ms)),
            robots: Some(stored).filter(|_| worth_keeping),
            ..HostUpdate::default()
        };
        let what = What::Robots(Box::new(update), task.host, task.scheme);
        self.commit(crawl, what, weight);
        self.plant_sitemaps(crawl, task.host, task.scheme);
    }

    pub(crate) fn take_commit(&mut self, committed: Committed) {
        let crawl = committed.crawl;
        self.uncommitted -= committed.items;
        self.uncommitted_bytes -= committed.weight;
        if let Some(running) = self.crawls.get_mut(&crawl) {
            running.uncommitted -= committed.items;
        }
        match committed.result {
            Ok(durable) => self.go_on_after(crawl, durable),
            Err(error) => self.fail(crawl, error),
        }
    }

    fn go_on_after(&mut self, crawl: CrawlId, durable: Durable) {
        let (Some(running), Some(report)) = (self.crawls.get_mut(&crawl), durable.report) else {
            return;
        };
        if let Some(memory) = report.memory {
            let links = running.plan.memory();
            links.recognise(&report.recognised, memory);
        }
        let in_flight = self.frontier.in_flight(crawl);
        let progress = progress_of(&report.counts, report.last_seq);
        running.progress.send_replace(Progress {
            in_flight,
            ..progress
        });
        if let Some(reread) = durable.reread {
            self.reread(crawl, reread);
        }
        if self.loans.is_some() {
            self.quick.bell().ring(crawl.0);
            self.frontier.pages_at_least(crawl, report.counts.pages);
        } else {
            for host in &report.hosts {
                self.meet_host(crawl, host);
            }
        }
        for url in report.admitted {
            self.offer(crawl, url);
        }
        for after in durable.afters {
            self.after_commit(crawl, after);
        }
        self.release_robots(crawl, durable.robots);
    }

    fn meet_host(&mut self, crawl: CrawlId, host: &trawl_store::contract::read::StoredHost) {
        if self.frontier.knows_lane(crawl, host.id) {
            return;
        }
        if self.frontier.host_count() < self.most_hosts {
            // Its URLs come with the same report; what does not is found by the lane's refill.
            self.add_host(crawl, host, true);
        } else if let Some(running) = self.crawls.get_mut(&crawl) {
            running.scan.ask_for();
        }
    }

    fn offer(&mut self, crawl: CrawlId, url: PendingUrl) {
        let (host, not_before) = (url.host, self.clock.moment_of(url.not_before));
        let item = Box::new(PageTask::of(url)).queued(not_before);
        let offered = self.frontier.offer(crawl, host, item, self.clock.now());
        if offered == Offered::UnknownHost
            && let Some(running) = self.crawls.get_mut(&crawl)
        {
            running.scan.ask_for();
        }
    }

    fn after_commit(&mut self, crawl: CrawlId, after: After) {
        let now = self.clock.now();
        match after {
            After::LetGo { host, page } => self.frontier.let_go(crawl, host, page, now),
            After::Requeue { task, not_before } => {
                let host = task.home;
                self.frontier.let_go(crawl, host, task.page, now);
                self.frontier
                    .offer(crawl, host, task.queued(not_before), now);
            }
        }
    }

    fn release_robots(&mut self, crawl: CrawlId, robots: Vec<(HostId, trawl_types::Scheme)>) {
        let Some(plan) = self
            .crawls
            .get(&crawl)
            .map(|running| Arc::clone(&running.plan))
        else {
            return;
        };
        let agent = plan.spec.fetch.user_agent.robots_name();
        let now = self.clock.now();
        for (host, scheme) in robots {
            let known = self
                .hosts
                .get(&host)
                .and_then(|facts| facts.known(scheme, agent));
            let delay = known.map_or(0, |known| known.crawl_delay_ms(&plan.spec.politeness));
            let fetched_at = self.hosts.get(&host).map(|facts| facts.robots_fetched);
            let until = match (known, fetched_at) {
                (Some(KnownRobots::Rules(_)), Some(at)) => {
                    robots_until(self.clock, at[scheme as usize])
                }
                _ => now.after(FAILURE_TTL_MS),
            };
            self.frontier.robots_known(host, scheme, until, delay, now);
        }
    }
}

fn is_unchanged(settlement: &Settlement) -> bool {
    match &settlement.end {
        VisitEnd::Final(visit) => visit.outcome.kind == OutcomeKind::NotModified,
        VisitEnd::Retry { .. } | VisitEnd::Refused(_) => false,
    }
}

/// About how much memory a settlement holds.
fn weight_of(settlement: &Settlement) -> usize {
    let links: usize = settlement
        .links
        .iter()
        .map(|link| size_of_val(link) + link.target.address_len() + link.anchor.len())
        .sum();
    let body = match &settlement.end {
        VisitEnd::Final(visit) => {
            let content = visit.digest.as_ref().and_then(|d| d.content.as_ref());
            let kept = [visit.body.as_ref(), content].into_iter().flatten();
            let plain: usize = kept.map(Record::len).sum();
            // Packed as soon as their batch is begun.
            plain / 8
        }
        VisitEnd::Retry { .. } | VisitEnd::Refused(_) => 0,
    };
    512 + links + settlement.known.bytes() + body
}
