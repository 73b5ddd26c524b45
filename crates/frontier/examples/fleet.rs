//! Many workers that borrow hosts from one store, on a clock that is stepped: how close a fleet comes
//! to what politeness allows, and how often it asks the database. The frontier is the real one; the
//! store, the web and time are models.
//!
//! `cargo run --release -p trawl-frontier --example fleet`

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

use trawl_frontier::{
    CrawlLimits, Frontier, HostEntry, LeaseId, Moment, Queued, Report, Used, Work,
};
use trawl_types::{CrawlId, HostId, PageId, Scheme, spec::BreakerSpec};

const CRAWL: CrawlId = CrawlId(1);
/// As in the engine.
const GULP: usize = 16;
const TICK_MS: u64 = 50;
const MOST_HELD_MS: u64 = 15_000;
/// A transaction, and what a page of one costs the database (docs/scale-out.md).
const COMMIT_MS: u64 = 90;
const DATABASE_MS_PER_PAGE: f64 = 1.0;
const DATABASE_MS_PER_LOAN: f64 = 0.3;

struct Fleet {
    workers: usize,
    hosts: usize,
    delay_ms: u64,
    latency_ms: u64,
    concurrency: u32,
}

/// A host as the store has it.
struct Stored {
    ready_at: u64,
    pending: i64,
    next_page: i64,
}

struct Worker {
    frontier: Frontier<()>,
    since: HashMap<i64, u64>,
    next_borrow: u64,
}

enum Event {
    Tick,
    Answered(LeaseId, i64, PageId),
    Committed(i64, PageId),
}

struct Simulation {
    fleet: Fleet,
    store: Vec<Stored>,
    /// Hosts that may be borrowed, by the time from which on.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    workers: Vec<Worker>,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    what: HashMap<u64, Event>,
    next_event: u64,
    pages: u64,
    loans: u64,
    most_held: usize,
}

impl Simulation {
    fn new(fleet: Fleet) -> Self {
        // Sites are of very unequal size: the n-th has a share of 1/n.
        let store: Vec<Stored> = (0..fleet.hosts)
            .map(|n| Stored {
                ready_at: 0,
                pending: 100 + 200_000 / (n as i64 + 1),
                next_page: n as i64 * 1_000_000,
            })
            .collect();
        let ready = (0..fleet.hosts).map(|host| Reverse((0, host))).collect();
        let limits = CrawlLimits {
            delay_ms: fleet.delay_ms,
            per_host: 1,
            concurrency: fleet.concurrency,
            max_pages: None,
            max_pages_per_host: None,
            max_requests_per_host: None,
            needs_robots: false,
            breaker: BreakerSpec::default(),
            weight: 1,
            lane_capacity: 64,
        };
        let worker = || {
            let mut frontier = Frontier::default();
            frontier.add_crawl(CRAWL, limits.clone(), 0);
            Worker {
                frontier,
                since: HashMap::new(),
                next_borrow: 0,
            }
        };
        let workers = (0..fleet.workers).map(|_| worker()).collect();
        let mut simulation = Self {
            store,
            ready,
            workers,
            events: BinaryHeap::new(),
            what: HashMap::new(),
            next_event: 0,
            pages: 0,
            loans: 0,
            most_held: 0,
            fleet,
        };
        for worker in 0..simulation.workers.len() {
            simulation.at(worker as u64 % TICK_MS, worker, Event::Tick);
        }
        simulation
    }

    fn at(&mut self, time: u64, worker: usize, event: Event) {
        self.what.insert(self.next_event, event);
        self.events.push(Reverse((time, self.next_event, worker)));
        self.next_event += 1;
    }

    fn run(&mut self, until: u64) {
        while let Some(Reverse((now, number, worker))) = self.events.pop() {
            if now > until {
                return;
            }
            match self.what.remove(&number) {
                Some(Event::Tick) => self.tick(worker, now),
                Some(Event::Answered(lease, host, page)) => {
                    let frontier = &mut self.workers[worker].frontier;
                    frontier.settle(lease, Report::well(true), Moment::from_millis(now));
                    self.at(now + COMMIT_MS, worker, Event::Committed(host, page));
                }
                Some(Event::Committed(host, page)) => {
                    let frontier = &mut self.workers[worker].frontier;
                    frontier.let_go(CRAWL, HostId(host), page, Moment::from_millis(now));
                    self.store[host as usize].pending -= 1;
                    self.pages += 1;
                }
                None => {}
            }
            self.lease(worker, now);
        }
    }

    fn tick(&mut self, worker: usize, now: u64) {
        self.give_back(worker, now);
        self.borrow(worker, now);
        self.refill(worker, now);
        self.at(now + TICK_MS, worker, Event::Tick);
    }

    fn give_back(&mut self, worker: usize, now: u64) {
        let Worker {
            frontier, since, ..
        } = &mut self.workers[worker];
        let moment = Moment::from_millis(now);
        let held: Vec<(i64, u64)> = since.iter().map(|(host, at)| (*host, *at)).collect();
        for (host, at) in held {
            let retiring = at + MOST_HELD_MS <= now;
            frontier.hold_back(HostId(host), retiring, moment);
            let Some(rest) = frontier.rest(HostId(host), moment) else {
                continue;
            };
            if retiring || rest.is_idle {
                frontier.drop_host(HostId(host));
                since.remove(&host);
                let stored = &mut self.store[host as usize];
                stored.ready_at = now + rest.wait_ms;
                if stored.pending > 0 {
                    self.ready.push(Reverse((stored.ready_at, host as usize)));
                }
            }
        }
    }

    fn borrow(&mut self, worker: usize, now: u64) {
        let Worker {
            frontier,
            since,
            next_borrow,
        } = &mut self.workers[worker];
        let has_room = frontier.is_hungry(CRAWL) || frontier.is_idle(CRAWL);
        if now < *next_borrow || !has_room {
            return;
        }
        *next_borrow = now + TICK_MS;
        for _ in 0..GULP {
            match self.ready.peek() {
                Some(Reverse((at, _))) if *at <= now => {}
                _ => break,
            }
            let Some(Reverse((_, host))) = self.ready.pop() else {
                break;
            };
            let entry = HostEntry {
                id: HostId(host as i64),
                next_allowed: Moment::from_millis(now),
                crawl_delay_ms: 0,
                failures: 0,
                robots_until: [None, None],
            };
            frontier.add_host(
                &entry,
                CRAWL,
                Used::default(),
                true,
                Moment::from_millis(now),
            );
            since.insert(host as i64, now);
            self.loans += 1;
        }
        self.most_held = self.most_held.max(since.len());
    }

    fn refill(&mut self, worker: usize, now: u64) {
        let frontier = &mut self.workers[worker].frontier;
        while let Some(wanted) = frontier.next_refill() {
            let stored = &mut self.store[wanted.host.0 as usize];
            let left = stored.pending.max(0) as usize;
            let count = left.min(64);
            let items = (0..count).map(|n| {
                let page = stored.next_page + n as i64;
                Queued {
                    page: PageId(page),
                    home: wanted.host,
                    scheme: Scheme::Http,
                    rank: page,
                    not_before: Moment::START,
                    tried: false,
                    task: (),
                }
            });
            let items = items.collect();
            frontier.refilled(
                wanted.crawl,
                wanted.host,
                items,
                left <= 64,
                Moment::from_millis(now),
            );
        }
    }

    fn lease(&mut self, worker: usize, now: u64) {
        let latency = self.fleet.latency_ms;
        while let Some(lease) = self.workers[worker].frontier.next(Moment::from_millis(now)) {
            if let Work::Page(item) = lease.work {
                // Answers take between half and twice the mean.
                let took =
                    latency / 2 + (item.page.0 as u64 * 7919) % (latency + latency / 2).max(1);
                self.store[lease.host.0 as usize].next_page += 1;
                self.at(
                    now + took,
                    worker,
                    Event::Answered(lease.id, lease.host.0, item.page),
                );
            }
        }
    }
}

fn main() {
    println!(
        "{:>7} {:>7} {:>8} {:>9} {:>9} {:>7} {:>9} {:>8}",
        "workers", "hosts", "delay", "possible", "pages/s", "share", "loans/s", "database"
    );
    for (workers, hosts, delay_ms) in [
        (4, 300, 1_000),
        (4, 2_000, 5_000),
        (20, 2_000, 5_000),
        (80, 2_000, 5_000),
        (150, 2_000, 5_000),
        (20, 7_500, 5_000),
        (80, 7_500, 5_000),
        (150, 60_000, 5_000),
    ] {
        let fleet = Fleet {
            workers,
            hosts,
            delay_ms,
            latency_ms: 400,
            concurrency: 256,
        };
        let seconds = 120;
        let polite = hosts as f64 * 1000.0 / (delay_ms as f64 + 500.0);
        let slots = workers as f64 * 256.0 * 1000.0 / 500.0;
        let possible = polite.min(slots);
        let mut simulation = Simulation::new(fleet);
        simulation.run(seconds * 1000);
        let rate = simulation.pages as f64 / seconds as f64;
        let loans = simulation.loans as f64 / seconds as f64;
        let database = (rate * DATABASE_MS_PER_PAGE + loans * DATABASE_MS_PER_LOAN) / 1000.0;
        println!(
            "{workers:>7} {hosts:>7} {delay_ms:>5} ms {possible:>9.0} {rate:>9.0} {:>6.0}% {loans:>9.0} {database:>6.2} c",
            100.0 * rate / possible
        );
    }
}
