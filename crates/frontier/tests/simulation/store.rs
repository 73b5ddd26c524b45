//! What is durable: pages of crawls, what hosts asked for, and who has which host on loan.

use std::collections::{BTreeMap, BTreeSet};

use crate::dice::mixed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) host: i64,
    pub(crate) rank: i64,
    pub(crate) not_before: u64,
    pub(crate) done: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lending {
    /// Lent to nobody before; while on loan its end.
    pub(crate) ready_at: u64,
    pub(crate) epoch: u64,
    /// What the host asked for.
    pub(crate) next_allowed: u64,
    pub(crate) robots_known: bool,
}

/// How a visit ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Read,
    /// Once more, not before.
    Again(u64),
}

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) rows: BTreeMap<(i64, i64), Row>,
    pub(crate) hosts: BTreeMap<i64, Lending>,
    pub(crate) log: Vec<(i64, i64)>,
    /// Of each crawl.
    pub(crate) budgets: BTreeMap<i64, Option<u64>>,
    /// What robots.txt of a host asks for.
    pub(crate) crawl_delays: BTreeMap<i64, u64>,
    graph: u64,
    pages: i64,
}

impl Store {
    pub(crate) fn new(graph: u64, hosts: i64, pages: i64) -> Self {
        Self {
            rows: BTreeMap::new(),
            hosts: (1..=hosts).map(|host| (host, Lending::default())).collect(),
            log: Vec::new(),
            budgets: BTreeMap::new(),
            crawl_delays: BTreeMap::new(),
            graph,
            pages,
        }
    }

    pub(crate) fn host_of(&self, page: i64) -> i64 {
        1 + page % self.hosts.len() as i64
    }

    /// Where a page leads, in every crawl.
    pub(crate) fn links(&self, page: i64) -> Vec<i64> {
        let of = |n: u64| mixed(self.graph ^ (page as u64) << 8 ^ n);
        (0..of(9) % 5)
            .map(|n| (of(n) % self.pages as u64) as i64)
            .collect()
    }

    /// A page that somebody found; true if it was not known.
    pub(crate) fn add(&mut self, crawl: i64, page: i64) -> bool {
        let row = Row {
            host: self.host_of(page),
            rank: mixed(page as u64).cast_signed() >> 40,
            not_before: 0,
            done: false,
        };
        let is_new = !self.rows.contains_key(&(crawl, page));
        self.rows.entry((crawl, page)).or_insert(row);
        is_new
    }

    /// The first pending pages of a host by rank.
    pub(crate) fn pending(&self, crawl: i64, host: i64, limit: usize) -> Vec<(i64, Row)> {
        let rows = self.rows.range((crawl, i64::MIN)..=(crawl, i64::MAX));
        let rows = rows.filter(|(_, row)| row.host == host && !row.done);
        let mut rows: Vec<(i64, Row)> = rows.map(|((_, page), row)| (*page, *row)).collect();
        rows.sort_by_key(|(page, row)| (row.rank, *page));
        rows.truncate(limit);
        rows
    }

    pub(crate) fn pages_of(&self, crawl: i64) -> u64 {
        self.log.iter().filter(|(of, _)| *of == crawl).count() as u64
    }

    pub(crate) fn has_work(&self, crawl: i64, host: i64) -> bool {
        let open = self.budgets[&crawl].is_none_or(|most| self.pages_of(crawl) < most);
        open && !self.pending(crawl, host, 1).is_empty()
    }

    /// Whether something is left to be done that may be.
    pub(crate) fn is_complete(&self) -> bool {
        let hosts: Vec<i64> = self.hosts.keys().copied().collect();
        let mut crawls = self.budgets.keys();
        crawls.all(|crawl| hosts.iter().all(|host| !self.has_work(*crawl, *host)))
    }

    /// Hosts that may be lent now.
    pub(crate) fn ready(&self, now: u64) -> Vec<i64> {
        let free = self.hosts.iter().filter(|(_, lent)| lent.ready_at <= now);
        let works = |host: &i64| {
            self.budgets
                .keys()
                .any(|crawl| self.has_work(*crawl, *host))
        };
        free.map(|(host, _)| *host).filter(works).collect()
    }

    /// Nothing is written under a loan that others have taken over, nor beyond a budget.
    pub(crate) fn commit(
        &mut self,
        (crawl, page): (i64, i64),
        epoch: u64,
        end: End,
    ) -> Result<Vec<i64>, ()> {
        let host = self.host_of(page);
        if self.hosts[&host].epoch != epoch {
            return Err(());
        }
        let most = self.budgets[&crawl];
        let is_full = most.is_some_and(|most| self.pages_of(crawl) >= most);
        let row = self.rows.get_mut(&(crawl, page)).expect("it was leased");
        if row.done || is_full {
            return Ok(Vec::new());
        }
        match end {
            End::Again(at) => row.not_before = at,
            End::Read => {
                row.done = true;
                self.log.push((crawl, page));
                let links = self.links(page);
                return Ok(links
                    .into_iter()
                    .filter(|to| self.add(crawl, *to))
                    .collect());
            }
        }
        Ok(Vec::new())
    }

    /// Every page that the seeds lead to.
    pub(crate) fn reachable(&self, seeds: &[i64]) -> BTreeSet<i64> {
        let (mut found, mut open) = (BTreeSet::new(), seeds.to_vec());
        while let Some(page) = open.pop() {
            if found.insert(page) {
                open.extend(self.links(page));
            }
        }
        found
    }
}
