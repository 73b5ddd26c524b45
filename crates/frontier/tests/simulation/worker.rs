//! A process with a frontier: it does with it what the engine does, in whatever order it is told to.
//!
//! * `lending`: hosts come and go

mod lending;

use std::collections::{BTreeMap, VecDeque};

use trawl_frontier::{
    CrawlLimits, Frontier, Health, LeaseId, Moment, Queued, RefillWanted, Report, Work,
};
use trawl_types::{CrawlId, HostId, PageId, Scheme};

use crate::{
    dice::Dice,
    store::{End, Row, Store},
    web::{Request, Web},
};

/// A host on loan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loan {
    pub(crate) epoch: u64,
    pub(crate) until: u64,
}

/// A lease that is out.
#[derive(Debug)]
struct Out {
    lease: LeaseId,
    crawl: i64,
    host: i64,
    /// Nothing for robots.txt.
    page: Option<i64>,
    request: Request,
    epoch: u64,
}

/// A visit that has ended and is not durable yet.
#[derive(Debug)]
struct Uncommitted {
    crawl: i64,
    page: i64,
    epoch: u64,
    end: End,
    wait_until: u64,
}

/// A question to the store, and what it saw, if it has looked already.
type Refill = (RefillWanted, Option<Vec<(i64, Row)>>);

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) frontier: Frontier<()>,
    born: u64,
    pub(crate) loans: BTreeMap<i64, Loan>,
    out: Vec<Out>,
    uncommitted: VecDeque<Uncommitted>,
    refills: VecDeque<Refill>,
    pub(crate) asleep_until: u64,
    /// Nobody else crawls.
    alone: bool,
    /// Commits that the store did not take.
    pub(crate) refused: u64,
}

impl Worker {
    pub(crate) fn new(
        crawls: &BTreeMap<i64, CrawlLimits>,
        alone: bool,
        store: &Store,
        now: u64,
    ) -> Self {
        let mut frontier = Frontier::default();
        for (id, limits) in crawls {
            frontier.add_crawl(CrawlId(*id), limits.clone(), store.pages_of(*id));
        }
        Self {
            frontier,
            born: now,
            loans: BTreeMap::new(),
            out: Vec::new(),
            uncommitted: VecDeque::new(),
            refills: VecDeque::new(),
            asleep_until: 0,
            alone,
            refused: 0,
        }
    }

    /// Its own clock begins with the process.
    pub(crate) fn moment(&self, at: u64) -> Moment {
        Moment::from_millis(at.saturating_sub(self.born))
    }

    pub(crate) fn true_time(&self, at: Moment) -> u64 {
        self.born + at.millis_from(Moment::START)
    }

    fn queued(&self, page: i64, row: &Row) -> Queued<()> {
        Queued {
            page: PageId(page),
            home: HostId(row.host),
            scheme: Scheme::Http,
            rank: row.rank,
            not_before: self.moment(row.not_before),
            tried: false,
            task: (),
        }
    }

    fn robots_known(&mut self, host: i64, store: &Store, now: u64) {
        let delay = store.crawl_delays.get(&host).copied().unwrap_or(0);
        let (until, at) = (self.moment(u64::MAX / 4), self.moment(now));
        self.frontier
            .robots_known(HostId(host), Scheme::Http, until, delay, at);
    }

    /// Sends the next request, if there is one; true if something happened.
    pub(crate) fn ask(&mut self, web: &mut Web, store: &Store, now: u64) -> bool {
        let at = self.moment(now);
        let Some(lease) = self.frontier.next(at) else {
            return false;
        };
        let host = lease.host.0;
        let page = match &lease.work {
            Work::Page(item) => Some(item.page.0),
            Work::Robots(_) | Work::Errand(()) => None,
        };
        if !self.may_ask(host, web.delay_of(host), now) {
            self.frontier.settle(lease.id, Report::untouched(), at);
            self.forget(host, web, now);
            return true;
        }
        let epoch = self.loans[&host].epoch;
        if let Some(page) = page {
            assert!(web.known.contains(&host), "host {host} before robots.txt");
            self.assert_wanted((lease.crawl.0, page, epoch), store);
        }
        self.out.push(Out {
            lease: lease.id,
            crawl: lease.crawl.0,
            host,
            page,
            request: web.ask(host, epoch, now),
            epoch,
        });
        true
    }

    /// A page that is leased waits in the store, nobody has it in hand, and the budget has room for it.
    fn assert_wanted(&self, (crawl, page, epoch): (i64, i64, u64), store: &Store) {
        assert!(
            !store.rows[&(crawl, page)].done,
            "page {page} of crawl {crawl} is done"
        );
        let out = self
            .out
            .iter()
            .filter(|out| out.crawl == crawl && out.page.is_some());
        let ended = self.uncommitted.iter().filter(|end| end.crawl == crawl);
        let is_it = |other: i64, under: u64| (other, under) == (page, epoch);
        let twice = out
            .clone()
            .any(|out| is_it(out.page.unwrap_or(-1), out.epoch))
            || ended.clone().any(|end| is_it(end.page, end.epoch));
        assert!(!twice, "page {page} of crawl {crawl} is leased twice");
        // Several workers learn of each other's pages with their commits.
        if let (true, Some(most)) = (self.alone, store.budgets[&crawl]) {
            let current = |page: i64, epoch: u64| store.hosts[&store.host_of(page)].epoch == epoch;
            let read =
                ended.filter(|end| matches!(end.end, End::Read) && current(end.page, end.epoch));
            let all = store.pages_of(crawl) + (read.count() + out.count()) as u64;
            assert!(
                all < most,
                "crawl {crawl} has {all} of {most} pages, and another one"
            );
        }
    }

    pub(crate) fn answer(&mut self, dice: &mut Dice, web: &mut Web, now: u64) {
        if let Some(out) = dice.among(&self.out) {
            web.answers(out.request, now);
            let (lease, at) = (out.lease, self.moment(now));
            self.frontier.answered(lease, at);
        }
    }

    /// Something that is out ends: well, badly, or with a wait.
    pub(crate) fn finish(
        &mut self,
        dice: &mut Dice,
        always_well: bool,
        web: &mut Web,
        store: &mut Store,
        now: u64,
    ) -> bool {
        if self.out.is_empty() {
            return false;
        }
        let out = self
            .out
            .swap_remove(dice.below(self.out.len() as u64) as usize);
        web.ends(out.request, now);
        let fate = if always_well { 99 } else { dice.below(100) };
        let wait = (10..25).contains(&fate).then(|| dice.within(1, 400));
        let well = fate >= 25;
        let report = Report {
            health: if well { Health::Well } else { Health::Failing },
            wait_ms: wait,
            ..Report::well(well && out.page.is_some())
        };
        let at = self.moment(now);
        self.frontier.settle(out.lease, report, at);
        match out.page {
            Some(page) => self.uncommitted.push_back(Uncommitted {
                crawl: out.crawl,
                page,
                epoch: out.epoch,
                end: if well {
                    End::Read
                } else {
                    End::Again(now + dice.within(1, 300))
                },
                wait_until: wait.map_or(0, |wait| now + wait),
            }),
            None => self.take_robots(&out, well, web, store, now),
        }
        true
    }

    /// Its answer is durable before anything is asked under it.
    fn take_robots(&mut self, out: &Out, well: bool, web: &mut Web, store: &mut Store, now: u64) {
        let (host, at) = (out.host, self.moment(now));
        let lent = store.hosts.get_mut(&host).expect("a host");
        if well && lent.epoch == out.epoch {
            lent.robots_known = true;
            if !web.known.contains(&host) {
                web.known.push(host);
            }
            self.robots_known(host, store, now);
        } else {
            self.frontier
                .robots_again(HostId(host), Scheme::Http, 20, at);
        }
    }

    /// The oldest visit that is not durable becomes so, unless its host was taken over.
    pub(crate) fn commit(&mut self, web: &mut Web, store: &mut Store, now: u64) -> bool {
        let Some(visit) = self.uncommitted.pop_front() else {
            return false;
        };
        let (crawl, page, at) = (visit.crawl, visit.page, self.moment(now));
        let home = store.host_of(page);
        let Ok(found) = store.commit((crawl, page), visit.epoch, visit.end) else {
            self.refused += 1;
            return true;
        };
        if visit.wait_until > 0 {
            let lent = store.hosts.get_mut(&home).expect("a host");
            lent.next_allowed = lent.next_allowed.max(visit.wait_until);
            web.must_wait(home, visit.wait_until);
        }
        self.frontier
            .let_go(CrawlId(crawl), HostId(home), PageId(page), at);
        if matches!(visit.end, End::Again(_)) {
            self.offer(crawl, page, store, now);
        }
        for page in found {
            self.offer(crawl, page, store, now);
        }
        let pages = store.pages_of(crawl);
        self.frontier.pages_at_least(CrawlId(crawl), pages);
        true
    }

    fn offer(&mut self, crawl: i64, page: i64, store: &Store, now: u64) {
        let row = store.rows[&(crawl, page)];
        let item = self.queued(page, &row);
        let at = self.moment(now);
        // Whoever borrows the host finds it.
        let _ = self
            .frontier
            .offer(CrawlId(crawl), HostId(row.host), item, at);
    }

    /// The store is asked for pages of lanes that run low.
    pub(crate) fn want(&mut self, looks_now: bool, store: &Store) -> bool {
        let Some(wanted) = self.frontier.next_refill() else {
            return false;
        };
        let seen = looks_now.then(|| store.pending(wanted.crawl.0, wanted.host.0, wanted.limit));
        self.refills.push_back((wanted, seen));
        true
    }

    /// What the store said arrives, however long ago it looked.
    pub(crate) fn refill(&mut self, store: &Store, now: u64) -> bool {
        let Some((wanted, seen)) = self.refills.pop_front() else {
            return false;
        };
        let look = || store.pending(wanted.crawl.0, wanted.host.0, wanted.limit);
        let rows = seen.unwrap_or_else(look);
        let exhausted = rows.len() < wanted.limit;
        let items = rows
            .iter()
            .map(|(page, row)| self.queued(*page, row))
            .collect();
        let at = self.moment(now);
        self.frontier
            .refilled(wanted.crawl, wanted.host, items, exhausted, at);
        true
    }

    /// Where a budget seems to be used up, the store is asked.
    pub(crate) fn doubt_budgets(&mut self, store: &Store) {
        for (crawl, most) in &store.budgets {
            let (id, pages) = (CrawlId(*crawl), store.pages_of(*crawl));
            let goes_on = most.is_some_and(|most| pages < most);
            if goes_on && !self.is_busy() && self.frontier.budget_is_used(id) {
                self.frontier.pages_are(id, pages);
            }
        }
    }

    /// Something the process does is still on its way.
    pub(crate) fn is_busy(&self) -> bool {
        !(self.out.is_empty() && self.uncommitted.is_empty() && self.refills.is_empty())
    }
}
