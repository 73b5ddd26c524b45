//! Questions to the store that run beside the loop and come back as messages.

use std::sync::Arc;

use trawl_frontier::{Offered, RefillWanted};
use trawl_store::{
    StoreError,
    contract::{
        read::{PendingUrl, StoredHost, StoredLink},
        write::{Digest, Settlement, VisitEnd},
    },
};
use trawl_types::{CrawlId, HostId};

use super::{
    Dispatcher,
    digests::Digested,
    loans::{Round, borrow_by_name},
};
use crate::{
    task::{PageTask, RobotsTask, Task},
    visit::{Parent, known_links},
};

/// Hosts taken in by one step of a scan.
const SCAN_STEP: u32 = 256;

/// What the store answered.
#[derive(Debug)]
pub(crate) enum Found {
    Urls {
        wanted: RefillWanted,
        urls: Result<Vec<PendingUrl>, StoreError>,
    },
    Hosts {
        crawl: CrawlId,
        hosts: Result<Vec<StoredHost>, StoreError>,
    },
    /// The links of a page that has not changed since an earlier crawl.
    Links {
        crawl: CrawlId,
        links: Result<Vec<StoredLink>, StoreError>,
        task: Box<PageTask>,
        settlement: Box<Settlement>,
    },
    /// What a body means is in its settlement.
    Digest {
        crawl: CrawlId,
        page: Option<Digested>,
        weight: usize,
    },
    /// A host that the next step of something leads to; nothing if others have it.
    Host {
        crawl: CrawlId,
        host: Result<Option<StoredHost>, StoreError>,
        next: Next,
    },
    /// Hosts on loan.
    Loans(Result<Round, StoreError>),
    /// Why a crawl is complete, if it is.
    Complete {
        crawl: CrawlId,
        complete: Result<Option<&'static str>, StoreError>,
    },
}

/// What waits for a host to be known.
#[derive(Debug)]
pub(crate) enum Next {
    Page(Box<PageTask>),
    Robots(RobotsTask),
}

/// The fingerprint of a page that has not changed, to be compared with those of this crawl.
fn note_print(settlement: &mut Settlement, near: Option<u64>) {
    if let VisitEnd::Final(visit) = &mut settlement.end
        && near.is_some()
    {
        visit.digest = Some(Digest {
            near,
            ..Digest::default()
        });
    }
}

impl Dispatcher {
    pub(crate) fn ask_for_refills(&mut self) {
        while let Some(wanted) = self.frontier.next_refill() {
            let Some(running) = self.crawls.get_mut(&wanted.crawl) else {
                continue;
            };
            running.lookups += 1;
            let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
            tokio::spawn(async move {
                let urls = store
                    .pending(wanted.crawl, wanted.host, wanted.limit as u32)
                    .await;
                let _ = tell.send(Found::Urls { wanted, urls });
            });
        }
    }

    /// Looks for further hosts while there is room for them.
    pub(crate) fn scan_for_hosts(&mut self) {
        if self.frontier.host_count() >= self.most_hosts {
            let now = self.clock.now();
            self.frontier.forget_idle_hosts(now);
            let frontier = &self.frontier;
            self.hosts
                .retain(|host, _| frontier.host_state(*host).is_some());
        }
        let room = self.frontier.host_count() < self.most_hosts;
        for (crawl, running) in &mut self.crawls {
            let scan = &mut running.scan;
            if !room || !scan.needed || scan.running || running.stopping.is_some() {
                continue;
            }
            scan.running = true;
            running.lookups += 1;
            let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
            let (crawl, after) = (*crawl, scan.after);
            tokio::spawn(async move {
                let hosts = store.pending_hosts(crawl, after, SCAN_STEP).await;
                let _ = tell.send(Found::Hosts { crawl, hosts });
            });
        }
    }

    pub(crate) fn look_up_host(&mut self, crawl: CrawlId, name: String, next: Next) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.lookups += 1;
        let stopping = running.stops.subscribe();
        let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
        tokio::spawn(async move {
            let host = match store.loans() {
                Some(lender) => borrow_by_name(lender, crawl, &name, stopping).await,
                None => store.ensure_host(crawl, &name).await.map(Some),
            };
            let _ = tell.send(Found::Host { crawl, host, next });
        });
    }

    /// A page that has not changed still leads where it led.
    pub(crate) fn look_up_links(
        &mut self,
        crawl: CrawlId,
        task: Box<PageTask>,
        mut settlement: Box<Settlement>,
    ) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.lookups += 1;
        let compared = running.plan.clusters().is_some();
        let (store, tell) = (Arc::clone(&self.store), self.found.0.clone());
        tokio::spawn(async move {
            let mut links = store.earlier_links(crawl, task.page).await;
            if compared {
                match store.earlier_print(crawl, task.page).await {
                    Ok(near) => note_print(&mut settlement, near),
                    Err(error) => links = Err(error),
                }
            }
            let _ = tell.send(Found::Links {
                crawl,
                links,
                task,
                settlement,
            });
        });
    }

    pub(crate) fn take_found(&mut self, found: Found) {
        let crawl = match &found {
            Found::Urls { wanted, .. } => Some(wanted.crawl),
            Found::Hosts { crawl, .. }
            | Found::Links { crawl, .. }
            | Found::Digest { crawl, .. }
            | Found::Complete { crawl, .. }
            | Found::Host { crawl, .. } => Some(*crawl),
            Found::Loans(_) => None,
        };
        if let Some(running) = crawl.and_then(|crawl| self.crawls.get_mut(&crawl)) {
            running.lookups -= 1;
        }
        let result = match found {
            Found::Urls { wanted, urls } => urls.map(|urls| self.take_urls(wanted, urls)),
            Found::Hosts { crawl, hosts } => hosts.map(|hosts| self.take_hosts(crawl, &hosts)),
            Found::Links {
                crawl,
                links,
                task,
                settlement,
            } => links.map(|links| self.take_links(crawl, &links, task, settlement)),
            Found::Digest {
                crawl,
                page,
                weight,
            } => {
                self.take_digest(crawl, page, weight);
                Ok(())
            }
            Found::Host { crawl, host, next } => host.map(|host| match host {
                Some(host) => self.go_on(crawl, &host, next),
                None => self.put_off(crawl, next),
            }),
            Found::Loans(round) => round.map(|round| self.take_round(&round)),
            Found::Complete { crawl, complete } => {
                complete.map(|complete| self.take_complete(crawl, complete))
            }
        };
        match (result, crawl) {
            (Ok(()), _) => {}
            (Err(error), Some(crawl)) => self.fail(crawl, error),
            (Err(error), None) => self.nothing_is_lent(&error),
        }
    }

    fn take_urls(&mut self, wanted: RefillWanted, urls: Vec<PendingUrl>) {
        let exhausted = urls.len() < wanted.limit;
        let clock = self.clock;
        let items = urls.into_iter().map(|url| {
            let not_before = clock.moment_of(url.not_before);
            Box::new(PageTask::of(url)).queued(not_before)
        });
        let items = items.collect();
        self.frontier
            .refilled(wanted.crawl, wanted.host, items, exhausted, clock.now());
    }

    fn take_links(
        &mut self,
        crawl: CrawlId,
        links: &[StoredLink],
        task: Box<PageTask>,
        mut settlement: Box<Settlement>,
    ) {
        let Some(running) = self.crawls.get(&crawl) else {
            return;
        };
        settlement.links = known_links(&running.plan, links, Parent::of(&task));
        self.settle(crawl, task, settlement);
    }

    fn take_hosts(&mut self, crawl: CrawlId, hosts: &[StoredHost]) {
        let mut found = 0;
        for host in hosts {
            if !self.frontier.knows_lane(crawl, host.id) {
                self.add_host(crawl, host, true);
                found += usize::from(!self.frontier.is_closed(crawl, host.id));
            }
        }
        let last = hosts.len() < SCAN_STEP as usize;
        let after: Option<HostId> = hosts.last().map(|host| host.id);
        if let Some(running) = self.crawls.get_mut(&crawl) {
            running.scan.stepped(after, found, last);
        }
    }

    fn go_on(&mut self, crawl: CrawlId, host: &StoredHost, next: Next) {
        self.note_loan(host.id);
        if !self.frontier.knows_lane(crawl, host.id) {
            self.add_host(crawl, host, true);
        }
        let now = self.clock.now();
        let offered = match next {
            Next::Page(task) => {
                let item = task.queued(trawl_frontier::Moment::START);
                self.frontier.carry_on(crawl, host.id, item, now)
            }
            Next::Robots(task) => self
                .frontier
                .add_errand(crawl, host.id, Task::Robots(task), now),
        };
        debug_assert!(
            offered == Offered::Taken || !self.crawls.contains_key(&crawl),
            "the host has just been added"
        );
    }
}
