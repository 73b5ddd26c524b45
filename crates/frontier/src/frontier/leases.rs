//! Handing the right to contact a host out, and taking it back.

use trawl_types::{CrawlId, HostId, ReasonCode};

use super::Frontier;
use crate::{
    Lease, LeaseId, Moment, Report,
    host::Robots,
    lease::{Health, LeaseRecord, Work},
};

impl<T> Frontier<T> {
    /// The next request that may be made now, if there is one.
    pub fn next(&mut self, now: Moment) -> Option<Lease<T>> {
        self.wake(now);
        let (crawl_id, host_id) = self.pick()?;
        let work = self.take_work(crawl_id, host_id, now)?;
        let id = LeaseId(self.next_lease);
        self.next_lease += 1;
        let home = match &work {
            Work::Page(item) => Some(item.home),
            Work::Robots(_) | Work::Errand(_) => None,
        };
        let record = LeaseRecord {
            crawl: crawl_id,
            host: host_id,
            home,
            sent: now,
            answered: false,
        };
        self.leases.insert(id, record);
        self.count_out(&record);
        let over_budget = self.is_over_budget(&record);
        self.reschedule(host_id, now);
        Some(Lease {
            id,
            crawl: crawl_id,
            host: host_id,
            over_budget,
            work,
        })
    }

    fn take_work(&mut self, crawl_id: CrawlId, host_id: HostId, now: Moment) -> Option<Work<T>> {
        let needs_robots = self.crawls.get(&crawl_id)?.limits.needs_robots;
        let host = self.hosts.get_mut(&host_id)?;
        if let Some(at) = host
            .errands
            .iter()
            .position(|(owner, _)| *owner == crawl_id)
        {
            return host.errands.remove(at).map(|(_, task)| Work::Errand(task));
        }
        let crate::lane::Head::Ready(_, scheme) = host.lane(crawl_id)?.head(now) else {
            return None;
        };
        if needs_robots && host.robots(scheme, now) == Robots::Unknown {
            host.set_robots(scheme, Robots::Asked);
            return Some(Work::Robots(scheme));
        }
        let probing = host.breaker.is_probing();
        let lane = host.lane(crawl_id)?;
        let item = if probing {
            lane.take_probe(scheme)
        } else {
            lane.take()
        };
        item.map(Work::Page)
    }

    fn is_over_budget(&mut self, record: &LeaseRecord) -> bool {
        let crawl = self.crawls.get(&record.crawl);
        let Some(most) = crawl.and_then(|crawl| crawl.limits.max_requests_per_host) else {
            return false;
        };
        let host = self.hosts.get_mut(&record.host);
        let lane = host.and_then(|host| host.lane(record.crawl));
        record.home.is_some() && lane.is_some_and(|lane| lane.requests > most)
    }

    fn count_out(&mut self, record: &LeaseRecord) {
        let is_page = record.home.is_some();
        if let Some(host) = self.hosts.get_mut(&record.host) {
            host.in_flight += 1;
            host.unanswered += 1;
            if let Some(lane) = host.lane(record.crawl) {
                lane.requests += u64::from(is_page);
            }
        }
        if let Some(crawl) = self.crawls.get_mut(&record.crawl) {
            crawl.in_flight += 1;
            crawl.pages_in_flight += u64::from(is_page);
        }
    }

    /// The answer to a lease has begun to arrive: the delay to the next request counts from here,
    /// since the server has certainly seen this one.
    pub fn answered(&mut self, lease: LeaseId, now: Moment) {
        let Some(record) = self.leases.get_mut(&lease) else {
            return;
        };
        if std::mem::replace(&mut record.answered, true) {
            return;
        }
        let host_id = record.host;
        self.start_clock(host_id, now);
        self.reschedule(host_id, now);
    }

    fn start_clock(&mut self, host_id: HostId, now: Moment) {
        let Some(host) = self.hosts.get_mut(&host_id) else {
            return;
        };
        host.unanswered = host.unanswered.saturating_sub(1);
        host.last_contact = Some(now);
        self.keep_distance(host_id);
    }

    /// The next request comes no sooner than the delay in force allows. Called whenever the last
    /// contact or the delay changes: a crawl or a robots.txt may bring a longer one.
    pub(crate) fn keep_distance(&mut self, host_id: HostId) {
        let Some(host) = self.hosts.get(&host_id) else {
            return;
        };
        let delay = self.delay_of(host);
        if delay > 0
            && let Some(host) = self.hosts.get_mut(&host_id)
            && let Some(last) = host.last_contact
        {
            // One more than asked for: a moment has its fraction of a millisecond cut off.
            host.next_allowed = host.next_allowed.max(last.after(delay + 1));
        }
    }

    /// Takes a lease back. Returns true if the host was given up because of it.
    pub fn settle(&mut self, lease: LeaseId, report: Report, now: Moment) -> bool {
        let Some(record) = self.leases.remove(&lease) else {
            return false;
        };
        self.count_in(&record, &report);
        let gave_up = self.learn(&record, &report, now);
        let gave_up_for_crawl = report.suspend.is_some();
        if gave_up || gave_up_for_crawl {
            self.close_lanes(&record, gave_up);
        }
        if let Some(home) = record.home.filter(|home| *home != record.host) {
            self.reschedule(home, now);
        }
        self.reschedule(record.host, now);
        gave_up || gave_up_for_crawl
    }

    fn count_in(&mut self, record: &LeaseRecord, report: &Report) {
        let counts_as_page = report.counts_as_page;
        let is_page = record.home.is_some();
        if let Some(crawl) = self.crawls.get_mut(&record.crawl) {
            crawl.in_flight -= 1;
            crawl.pages_in_flight -= u64::from(is_page);
            crawl.pages += u64::from(counts_as_page);
        }
        let limits = self.crawls.get(&record.crawl).map(|crawl| &crawl.limits);
        let most_pages = limits.and_then(|limits| limits.max_pages_per_host);
        let most_requests = limits.and_then(|limits| limits.max_requests_per_host);
        if let Some(host) = self.hosts.get_mut(&record.host) {
            host.in_flight = host.in_flight.saturating_sub(1);
            if let Some(lane) = host.lane(record.crawl) {
                if is_page && !report.contacted {
                    lane.requests = lane.requests.saturating_sub(1);
                }
                if most_requests.is_some_and(|most| lane.requests >= most) {
                    lane.close(ReasonCode::HostBudget);
                }
            }
        }
        // A request is one of the host that was asked, a page one of the host it was found on.
        let home = record.home.filter(|_| counts_as_page);
        let home = home.and_then(|home| self.hosts.get_mut(&home));
        if let Some(lane) = home.and_then(|home| home.lane(record.crawl)) {
            lane.pages += 1;
            if most_pages.is_some_and(|most| lane.pages >= most) {
                lane.close(ReasonCode::HostBudget);
            }
        }
    }

    /// What the end of a lease says about the host; true if it should be given up.
    fn learn(&mut self, record: &LeaseRecord, report: &Report, now: Moment) -> bool {
        if report.contacted {
            if record.answered {
                self.restart_clock(record.host, now);
            } else {
                self.start_clock(record.host, now);
            }
        } else if !record.answered
            && let Some(host) = self.hosts.get_mut(&record.host)
        {
            host.unanswered = host.unanswered.saturating_sub(1);
        }
        let Some(breaker) = self
            .crawls
            .get(&record.crawl)
            .map(|c| c.limits.breaker.clone())
        else {
            return false;
        };
        let Some(host) = self.hosts.get_mut(&record.host) else {
            return false;
        };
        if let Some(wait) = report.wait_ms {
            // As with delays: `now` has its fraction cut off.
            let until = now.after(wait.saturating_add(1));
            host.next_allowed = host.next_allowed.max(until);
        }
        match report.health {
            Health::Well => host.breaker.succeeded(&breaker, record.sent),
            Health::Failing => return host.breaker.failed(&breaker, record.sent, now),
            Health::Unknown => {}
        }
        false
    }

    /// With one request at a time the delay counts from the end of the answer.
    fn restart_clock(&mut self, host_id: HostId, now: Moment) {
        let Some(host) = self.hosts.get(&host_id) else {
            return;
        };
        let one_at_a_time = self.limits_on(host).any(|limits| limits.per_host == 1);
        if one_at_a_time && let Some(host) = self.hosts.get_mut(&host_id) {
            host.last_contact = Some(now);
            self.keep_distance(host_id);
        }
    }

    fn close_lanes(&mut self, record: &LeaseRecord, all: bool) {
        let Some(host) = self.hosts.get_mut(&record.host) else {
            return;
        };
        let mut closed = Vec::new();
        for (crawl, lane) in &mut host.lanes {
            if all || *crawl == record.crawl {
                lane.close(ReasonCode::HostSuspended);
                closed.push(*crawl);
            }
        }
        for crawl in closed {
            self.drop_steps(crawl, record.host);
        }
    }
}
