//! Politeness of one host, shared by all crawls: when it may be asked next, how many requests may
//! be out at once, whether robots.txt is known.

use std::collections::VecDeque;

use trawl_types::{CrawlId, HostId, Scheme};

use crate::{Moment, breaker::Breaker, lane::Lane};

/// What is remembered of a host from an earlier process.
#[derive(Debug, Clone, Copy)]
pub struct HostEntry {
    pub id: HostId,
    pub next_allowed: Moment,
    /// Crawl-delay of its robots.txt.
    pub crawl_delay_ms: u64,
    pub failures: u32,
    /// Until when robots.txt is known, under http and https.
    pub robots_until: [Option<Moment>; 2],
}

/// A host as the rest of the engine may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostState {
    pub next_allowed: Moment,
    pub delay_ms: u64,
    pub failures: u32,
    pub in_flight: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Robots {
    Unknown,
    Asked,
    KnownUntil(Moment),
}

#[derive(Debug)]
pub(crate) struct Host<T> {
    pub(crate) next_allowed: Moment,
    /// When it was last asked by this process: a longer delay that comes up later counts from here.
    pub(crate) last_contact: Option<Moment>,
    pub(crate) crawl_delay_ms: u64,
    pub(crate) in_flight: u32,
    /// Leases out whose answer has not begun. With a delay, nobody may follow them.
    pub(crate) unanswered: u32,
    pub(crate) breaker: Breaker,
    robots: [Robots; 2],
    pub(crate) errands: VecDeque<(CrawlId, T)>,
    pub(crate) lanes: Vec<(CrawlId, Lane<T>)>,
    /// Asked for nothing until this is lifted.
    pub(crate) held_back: bool,
    /// Which entry of the wake-up heap counts.
    pub(crate) version: u64,
}

impl<T> Host<T> {
    pub(crate) fn new(entry: &HostEntry) -> Self {
        let known = |until: Option<Moment>| until.map_or(Robots::Unknown, Robots::KnownUntil);
        Self {
            next_allowed: entry.next_allowed,
            last_contact: None,
            crawl_delay_ms: entry.crawl_delay_ms,
            in_flight: 0,
            unanswered: 0,
            breaker: Breaker::with_failures(entry.failures),
            robots: entry.robots_until.map(known),
            errands: VecDeque::new(),
            lanes: Vec::new(),
            held_back: false,
            version: 0,
        }
    }

    pub(crate) fn lane(&mut self, crawl: CrawlId) -> Option<&mut Lane<T>> {
        self.lanes
            .iter_mut()
            .find(|(id, _)| *id == crawl)
            .map(|(_, lane)| lane)
    }

    pub(crate) fn robots(&self, scheme: Scheme, now: Moment) -> Robots {
        match self.robots[scheme as usize] {
            Robots::KnownUntil(until) if until <= now => Robots::Unknown,
            state => state,
        }
    }

    pub(crate) fn set_robots(&mut self, scheme: Scheme, state: Robots) {
        self.robots[scheme as usize] = state;
    }

    /// Whoever asked for robots.txt may be gone: the next crawl asks for itself.
    pub(crate) fn ask_robots_again(&mut self) {
        for state in &mut self.robots {
            if *state == Robots::Asked {
                *state = Robots::Unknown;
            }
        }
    }

    /// True if nothing of the host is in hand but what waits in its lanes, which the store has too.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.in_flight == 0
            && self.errands.is_empty()
            && !self.robots.contains(&Robots::Asked)
            && self.lanes.iter().all(|(_, lane)| lane.is_at_rest())
    }

    /// True if forgetting the host loses nothing: the store has all that matters.
    pub(crate) fn is_forgettable(&self, now: Moment) -> bool {
        self.in_flight == 0
            && self.errands.is_empty()
            && self.next_allowed <= now
            && !self.breaker.is_probing()
            && !self.robots.contains(&Robots::Asked)
            && self.lanes.iter().all(|(_, lane)| !lane.is_busy())
    }
}
