//! The schedule, stepped by hand and at random.

use super::*;
use crate::{Health, Report, Work};
use trawl_types::spec::BreakerSpec;

const CRAWL: CrawlId = CrawlId(1);
const HOUR: u64 = 3_600_000;

fn limits() -> CrawlLimits {
    CrawlLimits {
        delay_ms: 100,
        per_host: 1,
        concurrency: 8,
        max_pages: None,
        max_pages_per_host: None,
        max_requests_per_host: None,
        needs_robots: false,
        breaker: BreakerSpec::default(),
        lane_capacity: 16,
        weight: 4,
    }
}

fn at(millis: u64) -> Moment {
    Moment::from_millis(millis)
}

fn entry(host: i64) -> HostEntry {
    HostEntry {
        id: HostId(host),
        next_allowed: Moment::START,
        crawl_delay_ms: 0,
        failures: 0,
        robots_until: [None, None],
    }
}

fn page(id: i64) -> Queued<&'static str> {
    Queued {
        page: PageId(id),
        home: HostId(id / 100),
        scheme: Scheme::Http,
        rank: id,
        not_before: Moment::START,
        tried: false,
        task: "page",
    }
}

/// A frontier with one crawl and pages numbered host * 100 + n.
fn frontier(limits: CrawlLimits, hosts: i64, pages: i64) -> Frontier<&'static str> {
    let mut frontier = Frontier::default();
    frontier.add_crawl(CRAWL, limits, 0);
    for host in 1..=hosts {
        frontier.add_host(&entry(host), CRAWL, Used::default(), false, Moment::START);
        for n in 0..pages {
            frontier.offer(CRAWL, HostId(host), page(host * 100 + n), Moment::START);
        }
    }
    frontier
}

fn page_of(lease: &Lease<&'static str>) -> i64 {
    match &lease.work {
        Work::Page(item) => item.page.0,
        other => panic!("not a page: {other:?}"),
    }
}

fn failing() -> Report {
    Report {
        health: Health::Failing,
        ..Report::well(false)
    }
}

use crate::Lease;

#[test]
fn a_host_is_not_asked_again_before_its_delay_counted_from_the_end_of_the_answer() {
    let mut frontier = frontier(limits(), 1, 3);
    let first = frontier.next(at(0)).unwrap();
    assert!(frontier.next(at(500)).is_none(), "one at a time");
    frontier.settle(first.id, Report::well(true), at(500));
    assert!(frontier.next(at(600)).is_none());
    assert_eq!(frontier.next_wake_up(), Some(at(601)));
    assert_eq!(page_of(&frontier.next(at(601)).unwrap()), 101);
}

#[test]
fn with_several_requests_per_host_the_delay_counts_from_the_beginning_of_the_answer() {
    let mut frontier = frontier(
        CrawlLimits {
            per_host: 2,
            ..limits()
        },
        1,
        3,
    );
    let first = frontier.next(at(0)).unwrap();
    assert!(
        frontier.next(at(1000)).is_none(),
        "the server may not have seen the first one"
    );
    frontier.answered(first.id, at(1000));
    assert!(frontier.next(at(1100)).is_none());
    assert!(frontier.next(at(1101)).is_some());
    assert!(frontier.next(at(9000)).is_none(), "two are out");
}

#[test]
fn hosts_do_not_wait_for_each_other() {
    let mut frontier = frontier(limits(), 3, 1);
    let leases: Vec<_> = std::iter::from_fn(|| frontier.next(at(0))).collect();
    assert_eq!(leases.len(), 3);
}

#[test]
fn the_best_rank_of_all_hosts_goes_first() {
    let mut frontier = frontier(limits(), 3, 2);
    let order: Vec<_> = std::iter::from_fn(|| frontier.next(at(0)))
        .map(|lease| page_of(&lease))
        .collect();
    assert_eq!(order, [100, 200, 300]);
}

#[test]
fn the_first_lease_of_a_host_is_robots_txt_and_pages_wait_until_it_is_known() {
    let mut frontier = frontier(
        CrawlLimits {
            needs_robots: true,
            ..limits()
        },
        1,
        1,
    );
    let robots = frontier.next(at(0)).unwrap();
    assert!(matches!(robots.work, Work::Robots(Scheme::Http)));
    frontier.settle(robots.id, Report::well(false), at(10));
    assert!(
        frontier.next(at(HOUR)).is_none(),
        "read, but not stored yet"
    );
    frontier.robots_known(HostId(1), Scheme::Http, at(25 * HOUR), 2000, at(HOUR));
    assert_eq!(page_of(&frontier.next(at(HOUR)).unwrap()), 100);
}

#[test]
fn a_crawl_delay_holds_from_the_request_that_found_it() {
    let mut frontier = frontier(
        CrawlLimits {
            needs_robots: true,
            ..limits()
        },
        1,
        1,
    );
    let robots = frontier.next(at(0)).unwrap();
    frontier.settle(robots.id, Report::well(false), at(10));
    frontier.robots_known(HostId(1), Scheme::Http, at(HOUR), 2000, at(20));
    assert!(frontier.next(at(2010)).is_none());
    assert!(frontier.next(at(2011)).is_some());
}

#[test]
fn robots_txt_is_read_again_when_it_has_grown_old() {
    let mut frontier = frontier(
        CrawlLimits {
            needs_robots: true,
            ..limits()
        },
        1,
        1,
    );
    let robots = frontier.next(at(0)).unwrap();
    frontier.settle(robots.id, Report::well(false), at(10));
    frontier.robots_known(HostId(1), Scheme::Http, at(HOUR), 0, at(20));
    assert!(matches!(
        frontier.next(at(HOUR)).unwrap().work,
        Work::Robots(_)
    ));
}

#[test]
fn retry_after_holds_for_the_whole_host() {
    let mut frontier = frontier(limits(), 1, 2);
    let lease = frontier.next(at(0)).unwrap();
    frontier.settle(
        lease.id,
        Report {
            wait_ms: Some(5000),
            ..failing()
        },
        at(10),
    );
    assert!(frontier.next(at(5009)).is_none());
    assert!(frontier.next(at(5011)).is_some());
}

#[test]
fn the_page_budget_is_exact_and_failures_give_their_share_back() {
    let mut frontier = frontier(
        CrawlLimits {
            max_pages: Some(2),
            ..limits()
        },
        5,
        1,
    );
    let first = frontier.next(at(0)).unwrap();
    let second = frontier.next(at(0)).unwrap();
    assert!(
        frontier.next(at(0)).is_none(),
        "two are out, two are allowed"
    );
    frontier.settle(first.id, failing(), at(1));
    let third = frontier.next(at(1)).unwrap();
    frontier.settle(second.id, Report::well(true), at(2));
    frontier.settle(third.id, Report::well(true), at(2));
    assert!(frontier.next(at(HOUR)).is_none());
    assert!(frontier.budget_is_used(CRAWL));
}

#[test]
fn the_budget_of_a_host_is_exact_and_others_go_on() {
    let limits = CrawlLimits {
        max_pages_per_host: Some(1),
        delay_ms: 0,
        per_host: 4,
        ..limits()
    };
    let mut frontier = frontier(limits, 2, 3);
    let leases: Vec<_> = std::iter::from_fn(|| frontier.next(at(0))).collect();
    assert_eq!(leases.iter().map(page_of).collect::<Vec<_>>(), [100, 200]);
    for lease in leases {
        let (host, page) = (lease.host, PageId(page_of(&lease)));
        frontier.settle(lease.id, Report::well(true), at(1));
        frontier.let_go(CRAWL, host, page, at(1));
    }
    assert!(frontier.next(at(HOUR)).is_none());
    assert!(frontier.is_idle(CRAWL));
}

#[test]
fn a_page_counts_where_it_was_found_also_while_its_visit_goes_on_elsewhere() {
    let limits = CrawlLimits {
        max_pages_per_host: Some(1),
        delay_ms: 0,
        per_host: 4,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 3);
    frontier.add_host(&entry(2), CRAWL, Used::default(), false, at(0));
    let first = frontier.next(at(0)).unwrap();
    // A redirect to the same page on another host, which has to be looked up.
    frontier.settle(first.id, Report::well(false), at(1));
    assert!(frontier.next(at(1)).is_none(), "the only page is under way");
    frontier.carry_on(CRAWL, HostId(2), page(100), at(2));
    let second = frontier.next(at(2)).unwrap();
    assert_eq!((second.host, page_of(&second)), (HostId(2), 100));
    frontier.settle(second.id, Report::well(true), at(3));
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(3));
    assert!(frontier.is_closed(CRAWL, HostId(1)), "one page is enough");
    assert!(!frontier.is_closed(CRAWL, HostId(2)), "it has none");
    frontier.offer(CRAWL, HostId(2), page(200), at(3));
    assert_eq!(page_of(&frontier.next(at(3)).unwrap()), 200);
    assert!(frontier.next(at(HOUR)).is_none());
}

#[test]
fn a_visit_that_comes_to_nothing_leaves_room_for_the_next_page_once_it_is_committed() {
    let limits = CrawlLimits {
        max_pages_per_host: Some(1),
        delay_ms: 0,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 2);
    let first = frontier.next(at(0)).unwrap();
    frontier.settle(first.id, Report::well(false), at(1));
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(2));
    assert_eq!(page_of(&frontier.next(at(2)).unwrap()), 101);
}

#[test]
fn nothing_more_is_asked_of_a_host_that_is_given_up_also_not_for_visits_that_have_begun() {
    let limits = CrawlLimits {
        delay_ms: 0,
        per_host: 2,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 3);
    let first = frontier.next(at(0)).unwrap();
    let second = frontier.next(at(0)).unwrap();
    frontier.carry_on(CRAWL, HostId(1), page(100), at(1));
    frontier.settle(first.id, Report::well(false), at(1));
    frontier.add_errand(CRAWL, HostId(1), "errand", at(1));
    let long = Report {
        wait_ms: Some(7 * HOUR),
        suspend: Some(crate::Suspend::LongWait),
        ..failing()
    };
    frontier.settle(second.id, long, at(2));
    frontier.carry_on(CRAWL, HostId(1), page(101), at(3));
    let dropped: Vec<_> = std::iter::from_fn(|| frontier.next_dropped()).collect();
    assert_eq!(
        dropped,
        [(CRAWL, "page"), (CRAWL, "errand"), (CRAWL, "page")]
    );
    for id in [100, 101] {
        frontier.let_go(CRAWL, HostId(1), PageId(id), at(3));
    }
    assert!(frontier.is_idle(CRAWL), "nothing is waited for");
    assert!(frontier.next(at(8 * HOUR)).is_none());
}

#[test]
fn one_burst_of_failures_opens_the_circuit_once() {
    let limits = CrawlLimits {
        delay_ms: 0,
        per_host: 12,
        concurrency: 12,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 16);
    let leases: Vec<_> = std::iter::from_fn(|| frontier.next(at(0))).collect();
    assert_eq!(leases.len(), 12);
    for lease in leases {
        assert!(!frontier.settle(lease.id, failing(), at(1)), "not given up");
    }
    let probe = frontier.next(at(60_001)).unwrap();
    assert!(!frontier.settle(probe.id, failing(), at(60_002)));
    assert!(frontier.next(at(120_002)).is_some(), "a second probe");
}

#[test]
fn the_requests_of_a_host_are_counted_whatever_comes_of_them() {
    let limits = CrawlLimits {
        max_requests_per_host: Some(3),
        delay_ms: 0,
        per_host: 1,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 5);
    let untouched = frontier.next(at(0)).unwrap();
    frontier.settle(untouched.id, Report::untouched(), at(0));
    for _ in 0..2 {
        let lease = frontier.next(at(0)).unwrap();
        frontier.settle(lease.id, failing(), at(0));
    }
    let last = frontier.next(at(0)).unwrap();
    assert!(!last.over_budget);
    // The visit wants a further request, for which there is no room.
    frontier.carry_on(CRAWL, HostId(1), page(page_of(&last)), at(0));
    frontier.settle(last.id, Report::well(false), at(0));
    let further = frontier.next(at(0)).unwrap();
    assert!(further.over_budget);
    frontier.settle(further.id, Report::untouched(), at(0));
    assert!(frontier.next(at(HOUR)).is_none());
    assert!(frontier.is_closed(CRAWL, HostId(1)));
}

#[test]
fn a_budget_that_an_earlier_process_used_up_stays_used_up() {
    for used in [
        Used {
            pages: 2,
            requests: 2,
        },
        Used {
            pages: 0,
            requests: 9,
        },
    ] {
        let limits = CrawlLimits {
            max_pages_per_host: Some(2),
            max_requests_per_host: Some(9),
            ..limits()
        };
        let mut frontier: Frontier<&str> = Frontier::default();
        frontier.add_crawl(CRAWL, limits, 0);
        frontier.add_host(&entry(1), CRAWL, used, true, at(0));
        assert!(frontier.next(at(HOUR)).is_none());
        assert!(frontier.is_idle(CRAWL), "nothing is waited for");
    }
}

#[test]
fn a_failing_host_is_left_alone_and_then_probed_one_by_one() {
    let limits = CrawlLimits {
        delay_ms: 0,
        per_host: 4,
        ..limits()
    };
    let mut frontier = frontier(limits, 1, 16);
    for _ in 0..5 {
        let lease = frontier.next(at(0)).unwrap();
        frontier.settle(lease.id, failing(), at(0));
    }
    assert!(frontier.next(at(59_999)).is_none());
    let probe = frontier.next(at(60_000)).unwrap();
    assert!(frontier.next(at(60_000)).is_none(), "one probe at a time");
    frontier.settle(probe.id, Report::well(true), at(60_001));
    let probe = frontier.next(at(60_001)).unwrap();
    frontier.settle(probe.id, Report::well(true), at(60_002));
    assert!(frontier.next(at(60_002)).is_some() && frontier.next(at(60_002)).is_some());
}

#[test]
fn crawls_take_turns_and_share_the_clock_of_a_host() {
    let mut frontier = frontier(limits(), 2, 2);
    let other = CrawlId(2);
    frontier.add_crawl(other, limits(), 0);
    for host in [1, 2] {
        frontier.add_host(&entry(host), other, Used::default(), false, at(0));
        frontier.offer(other, HostId(host), page(900 + host), at(0));
    }
    let first = frontier.next(at(0)).unwrap();
    let second = frontier.next(at(0)).unwrap();
    assert_eq!((first.crawl, second.crawl), (CRAWL, other));
    assert_ne!(first.host, second.host);
    assert!(
        frontier.next(at(0)).is_none(),
        "both hosts are busy, whoever asks"
    );
}

#[test]
fn a_crawl_is_idle_only_when_its_pages_are_committed() {
    let mut frontier = frontier(limits(), 1, 1);
    let lease = frontier.next(at(0)).unwrap();
    frontier.settle(lease.id, Report::well(true), at(1));
    assert!(!frontier.is_idle(CRAWL));
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(2));
    assert!(frontier.is_idle(CRAWL));
}

#[test]
fn a_lane_with_more_in_the_store_asks_for_it() {
    let mut frontier: Frontier<&str> = Frontier::default();
    frontier.add_crawl(CRAWL, limits(), 0);
    frontier.add_host(&entry(1), CRAWL, Used::default(), true, at(0));
    let wanted = frontier.next_refill().unwrap();
    assert_eq!((wanted.host, wanted.limit), (HostId(1), 16));
    assert!(!frontier.is_idle(CRAWL));
    frontier.refilled(CRAWL, HostId(1), vec![page(1)], true, at(0));
    assert!(frontier.next(at(0)).is_some());
}

#[test]
fn an_idle_host_is_forgotten_only_after_its_delay() {
    let mut frontier = frontier(limits(), 1, 1);
    let lease = frontier.next(at(0)).unwrap();
    frontier.settle(lease.id, Report::well(true), at(10));
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(10));
    frontier.forget_idle_hosts(at(110));
    assert_eq!(frontier.host_count(), 1);
    frontier.forget_idle_hosts(at(111));
    assert_eq!(frontier.host_count(), 0);
    assert_eq!(
        frontier.offer(CRAWL, HostId(1), page(5), at(111)),
        Offered::UnknownHost
    );
}

#[test]
fn a_host_that_is_held_back_is_not_asked_until_it_is_let_go() {
    let mut frontier = frontier(limits(), 1, 2);
    frontier.hold_back(HostId(1), true, at(0));
    assert!(frontier.next(at(HOUR)).is_none());
    frontier.hold_back(HostId(1), false, at(HOUR));
    assert!(frontier.next(at(HOUR)).is_some());
}

#[test]
fn a_host_rests_once_nothing_of_it_is_in_hand() {
    let mut frontier = frontier(limits(), 1, 2);
    assert!(
        !frontier.rest(HostId(1), at(0)).unwrap().is_idle,
        "two wait"
    );
    let lease = frontier.next(at(0)).unwrap();
    assert_eq!(frontier.rest(HostId(1), at(0)), None, "one is out");
    frontier.settle(lease.id, Report::well(true), at(10));
    assert_eq!(frontier.rest(HostId(1), at(10)), None, "not committed yet");
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(20));
    let rest = frontier.rest(HostId(1), at(20)).unwrap();
    assert_eq!(rest.wait_ms, 91, "the delay goes on after it is given back");
    assert!(!rest.is_idle, "one waits");
}

#[test]
fn a_host_with_nothing_left_is_idle_and_says_for_whom_it_is_closed() {
    let one_page = CrawlLimits {
        max_pages_per_host: Some(1),
        ..limits()
    };
    let mut frontier = frontier(one_page, 1, 2);
    let lease = frontier.next(at(0)).unwrap();
    frontier.settle(lease.id, Report::well(true), at(10));
    frontier.let_go(CRAWL, HostId(1), PageId(100), at(20));
    let rest = frontier.rest(HostId(1), at(20)).unwrap();
    assert!(rest.is_idle);
    assert_eq!(rest.closed, [CRAWL]);
}

#[test]
fn a_dropped_host_leaves_the_crawl_idle() {
    let mut frontier = frontier(limits(), 1, 2);
    assert!(!frontier.is_idle(CRAWL));
    let lease = frontier.next(at(0)).unwrap();
    frontier.drop_host(HostId(1));
    frontier.settle(lease.id, Report::untouched(), at(10));
    assert!(frontier.is_idle(CRAWL));
    assert!(frontier.next(at(HOUR)).is_none());
}

#[test]
fn pages_of_other_processes_count_towards_the_budget() {
    let limited = CrawlLimits {
        max_pages: Some(5),
        ..limits()
    };
    let mut frontier = frontier(limited, 1, 2);
    frontier.pages_at_least(CRAWL, 5);
    assert!(frontier.budget_is_used(CRAWL));
    assert!(frontier.next(at(HOUR)).is_none());
}
