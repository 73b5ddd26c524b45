//! Whose turn it is, where several crawls could go on: each gets requests by its weight, and none
//! waits for another to end. A crawl that could not go on for a while (its hosts had to be left
//! alone, or it had nothing to do) neither saves up turns nor loses any: it comes in with the next.

/// What one turn costs a crawl of weight 1.
const WHOLE: u64 = 1 << 20;

/// What a crawl has had.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Grows with every turn, the slower the greater its weight.
    had: u64,
    cost: u64,
    last_turn: u64,
}

/// The turns of all crawls.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// What the last one to have a turn had had by then: nobody else counts for less.
    level: u64,
    count: u64,
}

impl Share {
    pub(crate) fn new(weight: u32) -> Self {
        Self {
            had: 0,
            cost: WHOLE / u64::from(weight.max(1)),
            last_turn: 0,
        }
    }
}

impl Turns {
    /// The least goes first. Of equals the heavier, then whoever has waited longer.
    pub(crate) fn order(&self, share: &Share) -> (u64, u64, u64) {
        (share.had.max(self.level), share.cost, share.last_turn)
    }

    pub(crate) fn take(&mut self, share: &mut Share) {
        self.level = share.had.max(self.level);
        self.count += 1;
        share.had = self.level + share.cost;
        share.last_turn = self.count;
    }
}

#[cfg(test)]
mod tests {
    use trawl_types::{
        CrawlId, HostId, PageId, ReasonCode, Scheme,
        spec::{BreakerSpec, Priority},
    };

    use crate::{CrawlLimits, Frontier, HostEntry, Moment, Queued, Report, Used, Work};

    const HOST: HostId = HostId(1);

    fn at(millis: u64) -> Moment {
        Moment::from_millis(millis)
    }

    fn limits(priority: Priority) -> CrawlLimits {
        CrawlLimits {
            delay_ms: 10,
            per_host: 1,
            concurrency: 8,
            max_pages: None,
            max_pages_per_host: None,
            max_requests_per_host: None,
            needs_robots: false,
            breaker: BreakerSpec::default(),
            lane_capacity: 2000,
            weight: priority.weight(),
        }
    }

    /// A crawl with pages on the one host that all share.
    fn add(frontier: &mut Frontier<()>, id: i64, priority: Priority, pages: i64, now: Moment) {
        let crawl = CrawlId(id);
        frontier.add_crawl(crawl, limits(priority), 0);
        let entry = HostEntry {
            id: HOST,
            next_allowed: Moment::START,
            crawl_delay_ms: 0,
            failures: 0,
            robots_until: [None, None],
        };
        frontier.add_host(&entry, crawl, Used::default(), false, now);
        for n in 0..pages {
            frontier.offer(crawl, HOST, page(id * 10_000 + n), now);
        }
    }

    fn page(id: i64) -> Queued<()> {
        Queued {
            page: PageId(id),
            home: HOST,
            scheme: Scheme::Http,
            rank: id,
            not_before: Moment::START,
            tried: false,
            task: (),
        }
    }

    /// One request after the other, a delay apart: which crawl each was for.
    fn turns(frontier: &mut Frontier<()>, from: u64, count: u64) -> Vec<i64> {
        let mut turns = Vec::new();
        for step in 0..count {
            let now = at(from + step * 20);
            let lease = frontier.next(now).expect("somebody can go on");
            turns.push(lease.crawl.0);
            if let Work::Page(item) = &lease.work {
                frontier.let_go(lease.crawl, HOST, item.page, now);
            }
            frontier.settle(lease.id, Report::well(true), now);
        }
        turns
    }

    fn count(turns: &[i64], crawl: i64) -> usize {
        turns.iter().filter(|turn| **turn == crawl).count()
    }

    #[test]
    fn requests_are_shared_by_weight_and_nobody_is_left_out() {
        let mut frontier = Frontier::default();
        add(&mut frontier, 1, Priority::Low, 1000, at(0));
        add(&mut frontier, 2, Priority::Normal, 1000, at(0));
        add(&mut frontier, 3, Priority::High, 1000, at(0));
        let turns = turns(&mut frontier, 0, 210);
        assert_eq!(
            [1, 2, 3].map(|crawl| count(&turns, crawl)),
            [10, 40, 160],
            "1 to 4 to 16"
        );
    }

    #[test]
    fn equals_take_turns() {
        let mut frontier = Frontier::default();
        for crawl in [1, 2, 3] {
            add(&mut frontier, crawl, Priority::Normal, 100, at(0));
        }
        assert_eq!(turns(&mut frontier, 0, 6), [1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn a_small_crawl_of_high_priority_is_served_at_once_beside_large_ones() {
        let mut frontier = Frontier::default();
        add(&mut frontier, 1, Priority::Low, 1500, at(0));
        add(&mut frontier, 2, Priority::Low, 1500, at(0));
        turns(&mut frontier, 0, 500);
        add(&mut frontier, 3, Priority::High, 10, at(10_000));
        let turns = turns(&mut frontier, 10_000, 12);
        assert_eq!(turns[0], 3, "it does not wait for a turn of the others");
        assert_eq!(count(&turns, 3), 10);
    }

    #[test]
    fn a_crawl_that_waited_has_saved_nothing_up() {
        let mut frontier = Frontier::default();
        add(&mut frontier, 1, Priority::Normal, 1000, at(0));
        add(&mut frontier, 2, Priority::Normal, 0, at(0));
        turns(&mut frontier, 0, 300);
        for n in 0..100 {
            frontier.offer(CrawlId(2), HOST, page(20_000 + n), at(6_000));
        }
        let turns = turns(&mut frontier, 6_000, 20);
        assert_eq!((count(&turns, 1), count(&turns, 2)), (10, 10));
    }

    #[test]
    fn what_changed_in_the_store_is_read_anew_and_hosts_are_taken_up_again() {
        let mut frontier = Frontier::default();
        add(&mut frontier, 1, Priority::Normal, 5, at(0));
        let crawl = CrawlId(1);
        frontier.suspend(crawl, HOST, ReasonCode::HostSuspended, at(0));
        assert!(frontier.next(at(0)).is_none());
        frontier.reread(crawl, Some(HOST), true, at(0));
        frontier.forgive(HOST, at(0));
        let wanted = frontier.next_refill().expect("the store is asked");
        assert_eq!((wanted.crawl, wanted.host), (crawl, HOST));
        frontier.reread(crawl, None, false, at(0));
        frontier.refilled(crawl, HOST, vec![page(1)], true, at(0));
        assert!(frontier.next(at(0)).is_none(), "that answer was outdated");
        assert!(frontier.next_refill().is_some(), "so it is asked again");
        frontier.refilled(crawl, HOST, vec![page(2)], true, at(0));
        assert!(frontier.next(at(0)).is_some());
    }
}
