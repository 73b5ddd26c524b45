//! Settlements to transactions. Batches form by themselves: while one commit runs, the next fills.

use std::{
    sync::{
        Arc, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use trawl_frontier::Moment;
use trawl_store::{
    Store, StoreError,
    contract::write::{CommitBatch, CommitReport, HostUpdate, NewLink, Settlement},
};
use trawl_types::{CrawlId, HostId, PageId, Scheme};

use crate::{clock::Clock, plan::CrawlPlan, task::PageTask};

const MOST_PER_BATCH: usize = 512;
/// Bytes of one batch, about: what it admits comes back all at once.
const MOST_BYTES_PER_BATCH: usize = 2 << 20;
/// How long a small batch waits for company while there is other work to lease.
const PATIENCE: Duration = Duration::from_millis(20);

/// One thing to make durable, and what may happen once it is.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) crawl: CrawlId,
    pub(crate) what: What,
    pub(crate) weight: usize,
    /// Where near-duplicates are looked for.
    pub(crate) plan: Option<Arc<CrawlPlan>>,
}

#[derive(Debug)]
pub(crate) enum What {
    Page(Box<Settlement>, After),
    Host(Box<HostUpdate>),
    Robots(Box<HostUpdate>, HostId, Scheme),
    Seeds(Vec<NewLink>),
}

#[derive(Debug)]
pub(crate) enum After {
    LetGo {
        host: HostId,
        page: PageId,
    },
    Requeue {
        task: Box<PageTask>,
        not_before: Moment,
    },
}

/// What a commit tells the dispatcher.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) crawl: CrawlId,
    pub(crate) report: CommitReport,
    pub(crate) afters: Vec<After>,
    pub(crate) robots: Vec<(HostId, Scheme)>,
    pub(crate) items: usize,
    pub(crate) weight: usize,
}

pub(crate) struct Committer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) items: UnboundedReceiver<Item>,
    pub(crate) done: UnboundedSender<Result<Committed, StoreError>>,
    /// Set while nothing is left to lease: the next commit should not wait.
    pub(crate) hungry: Arc<AtomicBool>,
}

impl Committer {
    /// Runs until the dispatcher is gone or the store fails.
    pub(crate) async fn run(mut self) {
        while let Some(first) = self.items.recv().await {
            for (crawl, items) in by_crawl(self.gather(first).await) {
                let result = self.commit(crawl, items).await;
                let failed = result.is_err();
                if self.done.send(result).is_err() || failed {
                    return;
                }
            }
        }
    }

    async fn gather(&mut self, first: Item) -> Vec<Item> {
        let mut weight = first.weight;
        let mut batch = vec![first];
        let mut waited = false;
        while batch.len() < MOST_PER_BATCH && weight < MOST_BYTES_PER_BATCH {
            match self.items.try_recv() {
                Ok(item) => {
                    weight += item.weight;
                    batch.push(item);
                }
                Err(_) if waited || self.hungry.load(Ordering::Relaxed) => break,
                Err(_) => {
                    tokio::time::sleep(PATIENCE).await;
                    waited = true;
                }
            }
        }
        batch
    }

    async fn commit(&self, crawl: CrawlId, items: Vec<Item>) -> Result<Committed, StoreError> {
        let mut batch = CommitBatch {
            crawl,
            now: self.clock.wall(),
            settlements: Vec::new(),
            hosts: Vec::new(),
            seeds: Vec::new(),
        };
        let count = items.len();
        let weight = items.iter().map(|item| item.weight).sum();
        let (mut afters, mut robots) = (Vec::new(), Vec::new());
        for item in items {
            match item.what {
                What::Page(mut settlement, after) => {
                    if let Some(clusters) = item.plan.as_ref().and_then(|plan| plan.clusters()) {
                        let clusters = clusters.lock();
                        let mut clusters = clusters.unwrap_or_else(PoisonError::into_inner);
                        clusters.place(&mut settlement);
                    }
                    batch.settlements.push(*settlement);
                    afters.push(after);
                }
                What::Seeds(seeds) => batch.seeds.extend(seeds),
                What::Host(update) => batch.hosts.push(*update),
                What::Robots(update, host, scheme) => {
                    batch.hosts.push(*update);
                    robots.push((host, scheme));
                }
            }
        }
        let report = self.store.commit(batch).await?;
        Ok(Committed {
            crawl,
            report,
            afters,
            robots,
            items: count,
            weight,
        })
    }
}

/// A batch is one crawl's; order within a crawl is kept.
fn by_crawl(items: Vec<Item>) -> Vec<(CrawlId, Vec<Item>)> {
    let mut groups: Vec<(CrawlId, Vec<Item>)> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|(crawl, _)| *crawl == item.crawl) {
            Some((_, group)) => group.push(item),
            None => groups.push((item.crawl, vec![item])),
        }
    }
    groups
}
