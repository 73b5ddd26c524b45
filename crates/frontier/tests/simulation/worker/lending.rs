//! Hosts come and go: borrowed, renewed, lost, given back.

use trawl_frontier::{HostEntry, Report, Used};
use trawl_types::{CrawlId, HostId};

use super::{Loan, Worker};
use crate::{store::Store, web::Web};

impl Worker {
    pub(crate) fn borrow(&mut self, host: i64, lasts: u64, store: &mut Store, now: u64) {
        let lent = store.hosts.get_mut(&host).expect("a host");
        assert!(lent.ready_at <= now, "host {host} is lent twice");
        lent.epoch += 1;
        lent.ready_at = now.saturating_add(lasts);
        let loan = Loan {
            epoch: lent.epoch,
            until: lent.ready_at,
        };
        self.loans.insert(host, loan);
        let entry = HostEntry {
            id: HostId(host),
            next_allowed: self.moment(lent.next_allowed),
            crawl_delay_ms: 0,
            failures: 0,
            robots_until: [None, None],
        };
        let known = lent.robots_known;
        let crawls: Vec<i64> = store.budgets.keys().copied().collect();
        for crawl in crawls {
            let used = Used::default();
            let at = self.moment(now);
            self.frontier
                .add_host(&entry, CrawlId(crawl), used, true, at);
        }
        if known {
            self.robots_known(host, store, now);
        }
    }

    /// Whether the loan lasts longer than the delay, by this process's clock.
    pub(super) fn may_ask(&self, host: i64, delay: u64, now: u64) -> bool {
        let loan = self.loans.get(&host);
        loan.is_some_and(|loan| now.saturating_add(delay) < loan.until)
    }

    pub(crate) fn renew(&mut self, lasts: u64, store: &mut Store, now: u64) {
        for (host, loan) in &mut self.loans {
            let lent = store.hosts.get_mut(host).expect("a host");
            if lent.epoch == loan.epoch && now < loan.until {
                lent.ready_at = now.saturating_add(lasts);
                loan.until = lent.ready_at;
            }
        }
    }

    /// Loans that ran out; gives how many.
    pub(crate) fn drop_lost(&mut self, web: &mut Web, now: u64) -> u64 {
        let lost = self.loans.iter().filter(|(_, loan)| loan.until <= now);
        let lost: Vec<i64> = lost.map(|(host, _)| *host).collect();
        for host in &lost {
            self.forget(*host, web, now);
        }
        lost.len() as u64
    }

    pub(super) fn forget(&mut self, host: i64, web: &mut Web, now: u64) {
        let at = self.moment(now);
        for out in self.out.extract_if(.., |out| out.host == host) {
            web.ends(out.request, now);
            self.frontier.settle(out.lease, Report::untouched(), at);
        }
        self.let_host_go(host);
    }

    fn let_host_go(&mut self, host: i64) {
        self.frontier.drop_host(HostId(host));
        self.loans.remove(&host);
        self.refills.retain(|(wanted, _)| wanted.host.0 != host);
    }

    /// Hosts of which nothing is in hand go back; all of them, or those without work.
    pub(crate) fn give_back(
        &mut self,
        idle_only: bool,
        web: &mut Web,
        store: &mut Store,
        now: u64,
    ) -> bool {
        let at = self.moment(now);
        let hosts: Vec<(i64, Loan)> = self.loans.iter().map(|(h, l)| (*h, *l)).collect();
        let mut any = false;
        for (host, loan) in hosts {
            let rest = self.frontier.rest(HostId(host), at);
            let Some(rest) = rest.filter(|rest| rest.is_idle || !idle_only) else {
                continue;
            };
            let lent = store.hosts.get_mut(&host).expect("a host");
            if lent.epoch == loan.epoch && now < loan.until {
                lent.ready_at = now + rest.wait_ms;
                web.is_returned(host, loan.epoch);
            }
            self.let_host_go(host);
            any = true;
        }
        any
    }
}
