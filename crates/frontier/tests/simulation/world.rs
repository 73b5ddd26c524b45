//! All of it, and time: a while of chance, then a while in which everything goes well.

use std::collections::BTreeMap;

use trawl_frontier::CrawlLimits;
use trawl_types::{CrawlId, HostId, spec::BreakerSpec};

use crate::{
    dice::{Dice, mixed},
    store::Store,
    web::Web,
    worker::Worker,
};

const STEPS: u64 = 700;
/// More than any crawl needs once everything goes well.
const ROUNDS: u64 = 20_000;

#[derive(Debug)]
pub(crate) struct World {
    dice: Dice,
    now: u64,
    store: Store,
    web: Web,
    workers: Vec<Worker>,
    limits: BTreeMap<i64, CrawlLimits>,
    seeds: Vec<i64>,
    /// How long loans last.
    lasts: u64,
    /// Crashes, loans lost, commits refused, waits that hosts asked for.
    pub(crate) happened: [u64; 4],
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let (hosts, pages) = (dice.within(1, 5) as i64, dice.within(5, 60) as i64);
        let (delay, per_host) = (dice.within(1, 100), dice.within(1, 3) as u32);
        let mut store = Store::new(dice.below(u64::MAX), hosts, pages);
        for host in 1..=hosts {
            if dice.percent(30) {
                store.crawl_delays.insert(host, dice.within(1, 200));
            }
        }
        let web = Web::new(per_host, delay, store.crawl_delays.clone());
        let seeds: Vec<i64> = (0..dice.within(1, 6))
            .map(|_| dice.below(pages as u64) as i64)
            .collect();
        let mut limits = BTreeMap::new();
        for crawl in 1..=dice.within(1, 3) as i64 {
            let most = dice.percent(30).then(|| dice.within(1, 30));
            store.budgets.insert(crawl, most);
            for page in &seeds {
                store.add(crawl, *page);
            }
            limits.insert(crawl, limit(&mut dice, delay, per_host, most));
        }
        let workers = if dice.percent(30) {
            1
        } else {
            dice.within(2, 4)
        };
        // Longer than any delay, as it must be.
        let lasts = dice.within(400, 1_500);
        let workers = (0..workers)
            .map(|_| Worker::new(&limits, workers == 1, &store, 0))
            .collect();
        Self {
            dice,
            now: 0,
            store,
            web,
            workers,
            limits,
            seeds,
            lasts,
            happened: [0; 4],
        }
    }

    /// A while in which anything may happen.
    pub(crate) fn stir(&mut self) {
        for _ in 0..STEPS {
            if self.dice.percent(25) {
                self.now += self.dice.within(1, 60);
            }
            let at = self.dice.below(self.workers.len() as u64) as usize;
            if self.workers[at].asleep_until <= self.now {
                self.step(at);
            }
        }
    }

    fn step(&mut self, at: usize) {
        let Self {
            dice, store, web, ..
        } = self;
        let (now, worker) = (self.now, &mut self.workers[at]);
        match dice.below(1_000) {
            0..80 => {
                if let Some(host) = dice.among(&store.ready(now)) {
                    if worker.loans.contains_key(host) {
                        self.happened[1] += worker.drop_lost(web, now);
                    }
                    worker.borrow(*host, self.lasts, store, now);
                }
            }
            80..300 => {
                worker.ask(web, store, now);
            }
            300..420 => worker.answer(dice, web, now),
            420..600 => {
                worker.finish(dice, false, web, store, now);
            }
            600..750 => {
                worker.commit(web, store, now);
            }
            750..810 => {
                worker.want(dice.percent(50), store);
            }
            810..870 => {
                worker.refill(store, now);
            }
            870..900 => worker.renew(self.lasts, store, now),
            900..930 => self.happened[1] += worker.drop_lost(web, now),
            930..950 => {
                worker.give_back(dice.percent(50), web, store, now);
            }
            950..975 => self.disturb(at),
            975..990 => worker.asleep_until = now + dice.within(1, 2 * self.lasts),
            _ => {
                self.happened[2] += worker.refused;
                self.happened[0] += 1;
                let alone = self.workers.len() == 1;
                self.workers[at] = Worker::new(&self.limits, alone, &self.store, now);
            }
        }
    }

    /// Hosts are held back, crawls pause, lanes are read anew.
    fn disturb(&mut self, at: usize) {
        let Self { dice, limits, .. } = self;
        let worker = &mut self.workers[at];
        let moment = worker.moment(self.now);
        let crawl = CrawlId(dice.within(1, limits.len() as u64) as i64);
        let hosts: Vec<i64> = worker.loans.keys().copied().collect();
        let host = dice.among(&hosts).map(|host| HostId(*host));
        match (dice.below(3), host) {
            (0, _) => worker.frontier.pause(crawl, dice.percent(50)),
            (1, Some(host)) => worker.frontier.hold_back(host, dice.percent(50), moment),
            (_, host) => worker.frontier.reread(crawl, host, false, moment),
        }
    }

    /// Nothing goes wrong any more: everything that is left gets done.
    pub(crate) fn calm_down(&mut self) {
        for _ in 0..ROUNDS {
            if self.store.is_complete() && !self.workers.iter().any(Worker::is_busy) {
                return;
            }
            if !self.round() {
                self.now = self.next_event();
            }
        }
        let left = self.store.rows.iter().filter(|(_, row)| !row.done);
        let left: Vec<(i64, i64)> = left.map(|(key, _)| *key).collect();
        panic!("stuck at {} with {left:?}", self.now);
    }

    /// True if something happened.
    fn round(&mut self) -> bool {
        let mut any = false;
        let Self {
            dice, store, web, ..
        } = self;
        let now = self.now;
        for worker in &mut self.workers {
            self.happened[1] += worker.drop_lost(web, now);
            for crawl in self.limits.keys() {
                worker.frontier.pause(CrawlId(*crawl), false);
            }
            let held: Vec<i64> = worker.loans.keys().copied().collect();
            for host in held {
                let moment = worker.moment(now);
                worker.frontier.hold_back(HostId(host), false, moment);
            }
            worker.renew(self.lasts, store, now);
            worker.doubt_budgets(store);
            for host in store.ready(now) {
                worker.borrow(host, self.lasts, store, now);
                any = true;
            }
            while worker.want(false, store) || worker.refill(store, now) {
                any = true;
            }
            while worker.ask(web, store, now) {
                any = true;
            }
            while worker.finish(dice, true, web, store, now) || worker.commit(web, store, now) {
                any = true;
            }
            // Now and then also what has work left, so that nobody else waits for it for ever.
            any |= worker.give_back(dice.percent(90), web, store, now);
        }
        any
    }

    fn next_event(&mut self) -> u64 {
        let now = self.now;
        let mut next = now + self.lasts;
        for worker in &mut self.workers {
            if let Some(at) = worker.frontier.next_wake_up() {
                next = next.min(worker.true_time(at));
            }
        }
        for lent in self.store.hosts.values().filter(|lent| lent.ready_at > now) {
            next = next.min(lent.ready_at);
        }
        // Loans must be renewed on the way.
        next.clamp(now + 1, now + self.lasts / 3)
    }

    pub(crate) fn assert_all_is_well(&mut self) {
        self.happened[2] += self
            .workers
            .iter()
            .map(|worker| worker.refused)
            .sum::<u64>();
        self.happened[3] = self
            .store
            .hosts
            .values()
            .filter(|h| h.next_allowed > 0)
            .count() as u64;
        let mut once = self.store.log.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(
            once.len(),
            self.store.log.len(),
            "pages are in the log twice"
        );
        let reachable = self.store.reachable(&self.seeds);
        for (crawl, most) in &self.store.budgets {
            let pages = self.store.pages_of(*crawl);
            let wanted = (reachable.len() as u64).min(most.unwrap_or(u64::MAX));
            assert_eq!(pages, wanted, "of crawl {crawl}");
            if most.is_none() {
                let rows = self.store.rows.iter().filter(|((of, _), _)| of == crawl);
                assert!(
                    rows.into_iter()
                        .all(|((_, page), row)| row.done && reachable.contains(page))
                );
            }
        }
    }

    /// What happened, in one number.
    pub(crate) fn story(&self) -> u64 {
        let pages = self
            .store
            .log
            .iter()
            .flat_map(|(crawl, page)| [*crawl, *page]);
        let all = pages
            .map(|n| n as u64)
            .chain([self.now, self.web.contacts() as u64]);
        all.fold(0, |story, n| mixed(story ^ n))
    }
}

fn limit(dice: &mut Dice, delay: u64, per_host: u32, most: Option<u64>) -> CrawlLimits {
    CrawlLimits {
        delay_ms: delay,
        per_host,
        concurrency: dice.within(1, 6) as u32,
        max_pages: most,
        max_pages_per_host: None,
        max_requests_per_host: None,
        needs_robots: true,
        breaker: BreakerSpec {
            failures: 3,
            reset_ms: 100,
            successes: 1,
            give_up_after: u32::MAX,
        },
        lane_capacity: dice.within(2, 12) as usize,
        weight: 1,
    }
}
