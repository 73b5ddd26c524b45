//! The whole: all crawls and hosts of a process, and the schedule over them.
//!
//! * `schedule`: which hosts may be asked now, for which crawl, and who must wait until when
//! * `shares`: whose turn it is, where several crawls could go on
//! * `leases`: handing the right to contact a host out, and taking it back
//! * `loans`: hosts that come and go, where several processes share them

mod leases;
mod loans;
mod schedule;
mod shares;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, HostId, PageId, ReasonCode, Scheme};

use crate::{
    CrawlLimits, HostEntry, HostState, LeaseId, Moment, Queued,
    breaker::Breaker,
    host::{Host, Robots},
    lane::{Lane, Used},
    lease::LeaseRecord,
};
pub use loans::Rest;
use schedule::{WakeUp, has_room};
use shares::{Share, Turns};

/// What became of an offered URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// In the lane, or known to it to be in the store.
    Taken,
    /// The frontier does not know the host (any more): it must be added first.
    UnknownHost,
}

/// A lane that runs low: ask the store for its first URLs by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefillWanted {
    pub crawl: CrawlId,
    pub host: HostId,
    pub limit: usize,
}

#[derive(Debug)]
pub(crate) struct Crawl {
    limits: CrawlLimits,
    /// Hosts that may be asked for this crawl now: best rank first, then whoever waited longest.
    ready: BTreeSet<(i64, u64, HostId)>,
    pages: u64,
    pages_in_flight: u64,
    in_flight: u32,
    busy_lanes: usize,
    paused: bool,
    share: Share,
}

impl Crawl {
    fn budget_is_used(&self) -> bool {
        self.limits.max_pages.is_some_and(|most| self.pages >= most)
    }

    /// True if one more page could go over the budget.
    fn budget_is_taken(&self) -> bool {
        self.limits
            .max_pages
            .is_some_and(|most| self.pages + self.pages_in_flight >= most)
    }
}

/// See the crate's head.
#[derive(Debug)]
pub struct Frontier<T> {
    hosts: FxHashMap<HostId, Host<T>>,
    crawls: FxHashMap<CrawlId, Crawl>,
    /// Whose turn it is.
    turns: Turns,
    wake_ups: BinaryHeap<WakeUp>,
    leases: FxHashMap<LeaseId, LeaseRecord>,
    refills: VecDeque<RefillWanted>,
    dropped: VecDeque<(CrawlId, T)>,
    next_lease: u64,
    next_entry: u64,
}

impl<T> Default for Frontier<T> {
    fn default() -> Self {
        Self {
            hosts: FxHashMap::default(),
            crawls: FxHashMap::default(),
            turns: Turns::default(),
            wake_ups: BinaryHeap::new(),
            leases: FxHashMap::default(),
            refills: VecDeque::new(),
            dropped: VecDeque::new(),
            next_lease: 0,
            next_entry: 0,
        }
    }
}

impl<T> Frontier<T> {
    /// Adds a crawl that has `pages` of its budget behind it.
    pub fn add_crawl(&mut self, id: CrawlId, limits: CrawlLimits, pages: u64) {
        let share = Share::new(limits.weight);
        let crawl = Crawl {
            limits,
            ready: BTreeSet::new(),
            pages,
            pages_in_flight: 0,
            in_flight: 0,
            busy_lanes: 0,
            paused: false,
            share,
        };
        self.crawls.insert(id, crawl);
    }

    /// Forgets a crawl with all that it has queued. Its leases that are out must still be settled.
    pub fn remove_crawl(&mut self, id: CrawlId, now: Moment) {
        self.crawls.remove(&id);
        self.refills.retain(|refill| refill.crawl != id);
        self.dropped.retain(|(crawl, _)| *crawl != id);
        let hosts: Vec<HostId> = self.hosts.keys().copied().collect();
        for host_id in hosts {
            if let Some(host) = self.hosts.get_mut(&host_id) {
                host.lanes.retain(|(crawl, _)| *crawl != id);
                host.errands.retain(|(crawl, _)| *crawl != id);
                host.ask_robots_again();
            }
            self.reschedule(host_id, now);
        }
    }

    /// Hands out nothing more for this crawl until it is resumed.
    pub fn pause(&mut self, id: CrawlId, paused: bool) {
        if let Some(crawl) = self.crawls.get_mut(&id) {
            crawl.paused = paused;
        }
    }

    /// Makes a host known (once) and opens a lane of a crawl on it (once).
    pub fn add_host(
        &mut self,
        entry: &HostEntry,
        crawl: CrawlId,
        used: Used,
        more_in_store: bool,
        now: Moment,
    ) {
        let Some(limits) = self.crawls.get(&crawl).map(|crawl| &crawl.limits) else {
            return;
        };
        let host = self
            .hosts
            .entry(entry.id)
            .or_insert_with(|| Host::new(entry));
        if host.lane(crawl).is_none() {
            let mut lane = Lane::new(limits.lane_capacity, used, more_in_store);
            if !has_room(limits, &lane) {
                lane.close(ReasonCode::HostBudget);
            }
            host.lanes.push((crawl, lane));
        }
        self.keep_distance(entry.id);
        self.reschedule(entry.id, now);
    }

    pub fn knows_lane(&mut self, crawl: CrawlId, host: HostId) -> bool {
        self.hosts
            .get_mut(&host)
            .is_some_and(|host| host.lane(crawl).is_some())
    }

    /// True if nothing more of this host is asked for in this crawl.
    pub fn is_closed(&mut self, crawl: CrawlId, host: HostId) -> bool {
        let lane = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl));
        lane.is_some_and(|lane| lane.closed.is_some())
    }

    /// Offers a URL that is committed to the store.
    pub fn offer(&mut self, crawl: CrawlId, host: HostId, item: Queued<T>, now: Moment) -> Offered {
        let Some(lane) = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl)) else {
            return Offered::UnknownHost;
        };
        lane.offer(item, now);
        self.reschedule(host, now);
        Offered::Taken
    }

    /// Queues the next step of a visit that has begun, on whatever host it leads to.
    pub fn carry_on(
        &mut self,
        crawl: CrawlId,
        host: HostId,
        item: Queued<T>,
        now: Moment,
    ) -> Offered {
        let Some(lane) = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl)) else {
            return Offered::UnknownHost;
        };
        if lane.is_suspended() {
            self.dropped.push_back((crawl, item.task));
            return Offered::Taken;
        }
        lane.carry_on(item);
        self.reschedule(host, now);
        Offered::Taken
    }

    /// Queues a request that is not a page and needs no robots.txt.
    pub fn add_errand(&mut self, crawl: CrawlId, host: HostId, task: T, now: Moment) -> Offered {
        let Some(entry) = self.hosts.get_mut(&host) else {
            return Offered::UnknownHost;
        };
        if entry.lane(crawl).is_some_and(|lane| lane.is_suspended()) {
            self.dropped.push_back((crawl, task));
            return Offered::Taken;
        }
        entry.errands.push_back((crawl, task));
        self.reschedule(host, now);
        Offered::Taken
    }

    /// robots.txt of a host is known and stored: its pages may be asked for.
    pub fn robots_known(
        &mut self,
        host_id: HostId,
        scheme: Scheme,
        until: Moment,
        crawl_delay_ms: u64,
        now: Moment,
    ) {
        if let Some(host) = self.hosts.get_mut(&host_id) {
            host.set_robots(scheme, Robots::KnownUntil(until));
            host.crawl_delay_ms = host.crawl_delay_ms.max(crawl_delay_ms);
        }
        self.keep_distance(host_id);
        self.reschedule(host_id, now);
    }

    /// robots.txt could not be had this time: it will be asked for again after a pause.
    pub fn robots_again(&mut self, host_id: HostId, scheme: Scheme, wait_ms: u64, now: Moment) {
        if let Some(host) = self.hosts.get_mut(&host_id) {
            host.set_robots(scheme, Robots::Unknown);
            host.next_allowed = host.next_allowed.max(now.after(wait_ms));
        }
        self.reschedule(host_id, now);
    }

    /// A page's end is committed: it is no longer in hand.
    pub fn let_go(&mut self, crawl: CrawlId, host: HostId, page: PageId, now: Moment) {
        if let Some(lane) = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl)) {
            lane.let_go(page);
        }
        self.reschedule(host, now);
    }

    pub fn next_refill(&mut self) -> Option<RefillWanted> {
        self.refills.pop_front()
    }

    /// The answer to a [`RefillWanted`]; `exhausted` if the store had no more than `items`.
    pub fn refilled(
        &mut self,
        crawl: CrawlId,
        host: HostId,
        items: Vec<Queued<T>>,
        exhausted: bool,
        now: Moment,
    ) {
        if let Some(lane) = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl)) {
            lane.refill(items, exhausted, now);
        }
        self.reschedule(host, now);
    }

    /// Gives a host up for a crawl; what waits for it stays in the store.
    pub fn suspend(&mut self, crawl: CrawlId, host: HostId, why: ReasonCode, now: Moment) {
        if let Some(lane) = self.hosts.get_mut(&host).and_then(|host| host.lane(crawl)) {
            lane.close(why);
        }
        self.drop_steps(crawl, host);
        self.reschedule(host, now);
    }

    /// Steps of visits that had begun on a host that was given up since: they will not be taken,
    /// and whoever waits for them must be told.
    pub fn next_dropped(&mut self) -> Option<(CrawlId, T)> {
        self.dropped.pop_front()
    }

    /// A host that was given up is asked nothing more, however little was left to ask.
    pub(crate) fn drop_steps(&mut self, crawl: CrawlId, host_id: HostId) {
        let Some(host) = self.hosts.get_mut(&host_id) else {
            return;
        };
        let Some(lane) = host.lane(crawl).filter(|lane| lane.is_suspended()) else {
            return;
        };
        let steps = lane.drop_continued().into_iter().map(|item| item.task);
        self.dropped.extend(steps.map(|task| (crawl, task)));
        while let Some(at) = host.errands.iter().position(|(owner, _)| *owner == crawl) {
            self.dropped.extend(host.errands.remove(at));
        }
    }

    /// The store's pending URLs were changed behind the frontier's back: lanes of the crawl, on one
    /// host or on all, are read anew. `reopen` takes hosts up again that were given up.
    pub fn reread(&mut self, crawl: CrawlId, host: Option<HostId>, reopen: bool, now: Moment) {
        let hosts: Vec<HostId> = match host {
            Some(host) => vec![host],
            None => self.hosts.keys().copied().collect(),
        };
        for host_id in hosts {
            let Some(host) = self.hosts.get_mut(&host_id) else {
                continue;
            };
            let Some(lane) = host.lane(crawl) else {
                continue;
            };
            if reopen && lane.closed == Some(ReasonCode::HostSuspended) {
                lane.closed = None;
            }
            lane.reread();
            self.reschedule(host_id, now);
        }
    }

    /// Forgets that a host failed, and waits that came of it. Delays stay.
    pub fn forgive(&mut self, host_id: HostId, now: Moment) {
        if let Some(host) = self.hosts.get_mut(&host_id) {
            host.breaker = Breaker::with_failures(0);
            host.next_allowed = now;
        }
        self.keep_distance(host_id);
        self.reschedule(host_id, now);
    }

    /// True if nothing of a crawl is queued, out or uncommitted, and no lane has more in the store.
    pub fn is_idle(&self, crawl: CrawlId) -> bool {
        self.crawls
            .get(&crawl)
            .is_none_or(|c| c.busy_lanes == 0 && c.in_flight == 0)
    }

    pub fn in_flight(&self, crawl: CrawlId) -> u32 {
        self.crawls.get(&crawl).map_or(0, |c| c.in_flight)
    }

    /// True once the crawl has as many pages as it may have.
    pub fn budget_is_used(&self, crawl: CrawlId) -> bool {
        self.crawls.get(&crawl).is_some_and(Crawl::budget_is_used)
    }

    /// True if the crawl has slots free that nothing in memory can fill, and is not idle.
    pub fn is_hungry(&self, crawl: CrawlId) -> bool {
        self.crawls
            .get(&crawl)
            .is_some_and(|c| c.in_flight < c.limits.concurrency && c.ready.is_empty())
            && !self.is_idle(crawl)
    }

    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }

    pub fn queued_in_memory(&self) -> usize {
        self.hosts
            .values()
            .flat_map(|host| &host.lanes)
            .map(|(_, lane)| lane.queued())
            .sum()
    }

    pub fn host_state(&self, host: HostId) -> Option<HostState> {
        let host = self.hosts.get(&host)?;
        Some(HostState {
            next_allowed: host.next_allowed,
            delay_ms: self.delay_of(host),
            failures: host.breaker.failures(),
            in_flight: host.in_flight,
        })
    }

    /// Forgets hosts that have nothing to do and whose clock has run out.
    pub fn forget_idle_hosts(&mut self, now: Moment) {
        self.hosts.retain(|_, host| !host.is_forgettable(now));
    }

    /// The delay in force: the longest that any crawl on the host, or the host itself, asks for.
    pub(crate) fn delay_of(&self, host: &Host<T>) -> u64 {
        let configured = self
            .limits_on(host)
            .map(|limits| limits.delay_ms)
            .max()
            .unwrap_or(0);
        host.crawl_delay_ms.max(configured)
    }

    pub(crate) fn limits_on<'a>(
        &'a self,
        host: &'a Host<T>,
    ) -> impl Iterator<Item = &'a CrawlLimits> {
        host.lanes
            .iter()
            .filter_map(|(crawl, _)| self.crawls.get(crawl))
            .map(|crawl| &crawl.limits)
    }
}
