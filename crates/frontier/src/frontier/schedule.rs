//! Which hosts may be asked now, for which crawl, and who must wait until when.
//!
//! A host is in the ready set of a crawl exactly while it may be asked for it; `reschedule` is
//! called after every change of a host and puts that right.

use std::cmp::Ordering;

use trawl_types::{CrawlId, HostId};

use super::{Frontier, RefillWanted};
use crate::{
    CrawlLimits, Moment,
    host::{Host, Robots},
    lane::{Head, Lane},
};

/// A host to look at again. The earliest is the greatest, as a heap wants it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WakeUp {
    at: Moment,
    host: HostId,
    version: u64,
}

impl Ord for WakeUp {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.host, other.version).cmp(&(self.at, self.host, self.version))
    }
}

impl PartialOrd for WakeUp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What a host as a whole allows.
enum Gate {
    Open,
    /// Something that is out must come back first.
    Busy,
    Until(Moment),
}

/// Whether a host's budgets allow another page.
pub(super) fn has_room<T>(limits: &CrawlLimits, lane: &Lane<T>) -> bool {
    let pages = lane.pages + lane.begun() as u64;
    limits.max_pages_per_host.is_none_or(|most| pages < most)
        && (limits.max_requests_per_host).is_none_or(|most| lane.requests < most)
}

impl<T> Frontier<T> {
    /// The next instant at which something may change by itself.
    pub fn next_wake_up(&mut self) -> Option<Moment> {
        while let Some(wake_up) = self.wake_ups.peek() {
            let current = self
                .hosts
                .get(&wake_up.host)
                .is_some_and(|h| h.version == wake_up.version);
            if current {
                return Some(wake_up.at);
            }
            self.wake_ups.pop();
        }
        None
    }

    pub(crate) fn wake(&mut self, now: Moment) {
        while self.next_wake_up().is_some_and(|at| at <= now) {
            if let Some(wake_up) = self.wake_ups.pop() {
                self.reschedule(wake_up.host, now);
            }
        }
    }

    /// Brings the ready sets, wake-ups, refills and counts of a host up to date.
    pub(crate) fn reschedule(&mut self, host_id: HostId, now: Moment) {
        let Some(mut host) = self.hosts.remove(&host_id) else {
            return;
        };
        host.version += 1;
        self.unlist(host_id, &mut host);
        match self.gate(&host, now) {
            Gate::Open => self.list(host_id, &mut host, now),
            Gate::Until(at) => self.wake_ups.push(WakeUp {
                at,
                host: host_id,
                version: host.version,
            }),
            Gate::Busy => {}
        }
        self.count_and_refill(host_id, &mut host);
        self.hosts.insert(host_id, host);
    }

    pub(super) fn unlist(&mut self, host_id: HostId, host: &mut Host<T>) {
        for (crawl, lane) in &mut host.lanes {
            if let Some((rank, entry)) = lane.listed_rank.take()
                && let Some(crawl) = self.crawls.get_mut(crawl)
            {
                crawl.ready.remove(&(rank, entry, host_id));
            }
        }
    }

    fn gate(&self, host: &Host<T>, now: Moment) -> Gate {
        if host.held_back {
            return Gate::Busy;
        }
        let probing = host.breaker.is_probing();
        let most = self
            .limits_on(host)
            .map(|limits| limits.per_host)
            .min()
            .unwrap_or(1);
        let most = if probing { 1 } else { most };
        if host.in_flight >= most || (host.unanswered > 0 && self.delay_of(host) > 0) {
            return Gate::Busy;
        }
        let at = host.next_allowed.max(host.breaker.open_until());
        if at > now {
            Gate::Until(at)
        } else {
            Gate::Open
        }
    }

    /// Enters every lane that has something to ask for now.
    fn list(&mut self, host_id: HostId, host: &mut Host<T>, now: Moment) {
        let mut wake_at: Option<Moment> = None;
        let robots = [trawl_types::Scheme::Http, trawl_types::Scheme::Https]
            .map(|scheme| host.robots(scheme, now));
        for (crawl_id, lane) in &mut host.lanes {
            let Some(crawl) = self.crawls.get_mut(crawl_id) else {
                continue;
            };
            let errand = host.errands.iter().any(|(owner, _)| owner == crawl_id);
            let rank = match lane.head(now) {
                _ if errand => i64::MIN,
                Head::Ready(rank, scheme) => {
                    let awaiting = robots[scheme as usize] == Robots::Asked;
                    if crawl.limits.needs_robots && awaiting {
                        continue;
                    }
                    let goes_on = rank == i64::MIN;
                    if !goes_on && !has_room(&crawl.limits, lane) {
                        continue;
                    }
                    rank
                }
                Head::At(at) => {
                    wake_at = Some(wake_at.map_or(at, |earlier| earlier.min(at)));
                    continue;
                }
                Head::Empty => continue,
            };
            lane.listed_rank = Some((rank, self.next_entry));
            crawl.ready.insert((rank, self.next_entry, host_id));
            self.next_entry += 1;
        }
        if let Some(at) = wake_at {
            self.wake_ups.push(WakeUp {
                at,
                host: host_id,
                version: host.version,
            });
        }
    }

    fn count_and_refill(&mut self, host_id: HostId, host: &mut Host<T>) {
        for (crawl_id, lane) in &mut host.lanes {
            if let Some(limit) = lane.wants_refill() {
                self.refills.push_back(RefillWanted {
                    crawl: *crawl_id,
                    host: host_id,
                    limit,
                });
            }
            let busy = lane.is_busy();
            if busy != lane.counted_busy {
                lane.counted_busy = busy;
                if let Some(crawl) = self.crawls.get_mut(crawl_id) {
                    if busy {
                        crawl.busy_lanes += 1;
                    } else {
                        crawl.busy_lanes -= 1;
                    }
                }
            }
        }
    }

    /// The crawl whose turn it is and the host to ask for it.
    pub(crate) fn pick(&mut self) -> Option<(CrawlId, HostId)> {
        let turns = &self.turns;
        let could = self
            .crawls
            .iter()
            .filter(|(_, crawl)| {
                !crawl.paused
                    && crawl.in_flight < crawl.limits.concurrency
                    && !crawl.budget_is_taken()
                    && !crawl.ready.is_empty()
            })
            .min_by_key(|(id, crawl)| (turns.order(&crawl.share), **id));
        let crawl_id = could.map(|(id, _)| *id)?;
        let crawl = self.crawls.get_mut(&crawl_id)?;
        self.turns.take(&mut crawl.share);
        let (_, _, host) = crawl.ready.first()?;
        Some((crawl_id, *host))
    }
}
