//! Hosts that come and go, where several processes share them. Knows nothing of who lends them.

use trawl_types::{CrawlId, HostId};

use super::Frontier;
use crate::Moment;

/// A host of which nothing is in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// Not to be asked for this long.
    pub wait_ms: u64,
    /// Nothing of it waits in memory either, and the store had no more when it was last asked.
    pub is_idle: bool,
    /// Crawls that ask nothing more of it.
    pub closed: Vec<CrawlId>,
}

impl<T> Frontier<T> {
    /// Asks a host for nothing, or lets it be asked again. What is out comes back as ever.
    pub fn hold_back(&mut self, host_id: HostId, held: bool, now: Moment) {
        if let Some(host) = self.hosts.get_mut(&host_id)
            && host.held_back != held
        {
            host.held_back = held;
            self.reschedule(host_id, now);
        }
    }

    /// What is to be said when a host is given back; nothing while something of it is in hand.
    pub fn rest(&self, host_id: HostId, now: Moment) -> Option<Rest> {
        let host = self.hosts.get(&host_id)?;
        if !host.is_at_rest() {
            return None;
        }
        let until = host.next_allowed.max(host.breaker.open_until());
        let lanes = host.lanes.iter();
        let closed = lanes.filter(|(_, lane)| lane.closed.is_some());
        Some(Rest {
            wait_ms: until.millis_from(now),
            is_idle: host.lanes.iter().all(|(_, lane)| !lane.is_busy()),
            closed: closed.map(|(crawl, _)| *crawl).collect(),
        })
    }

    /// Forgets a host with all that waits for it. Its leases that are out must still be settled.
    pub fn drop_host(&mut self, host_id: HostId) {
        let Some(mut host) = self.hosts.remove(&host_id) else {
            return;
        };
        self.unlist(host_id, &mut host);
        self.refills.retain(|refill| refill.host != host_id);
        for (crawl, lane) in &host.lanes {
            if lane.counted_busy
                && let Some(crawl) = self.crawls.get_mut(crawl)
            {
                crawl.busy_lanes -= 1;
            }
        }
    }

    /// Other processes have pages of the crawl's budget, too.
    pub fn pages_at_least(&mut self, crawl: CrawlId, pages: u64) {
        if let Some(crawl) = self.crawls.get_mut(&crawl) {
            crawl.pages = crawl.pages.max(pages);
        }
    }

    /// The crawl has so many pages, and none that was settled here is still to be counted. Those that
    /// were settled too late, under loans that others had taken over, do not count.
    pub fn pages_are(&mut self, crawl: CrawlId, pages: u64) {
        if let Some(crawl) = self.crawls.get_mut(&crawl) {
            crawl.pages = pages;
        }
    }
}
