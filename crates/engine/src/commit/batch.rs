//! What becomes durable together, and who is told once it is.

use std::sync::{Arc, PoisonError};

use trawl_store::{
    Store, StoreError,
    contract::{
        queue::Planted,
        write::{CommitBatch, CommitReport, Prepared},
    },
};
use trawl_types::{CrawlId, HostId, Scheme, UnixMillis};

use super::{After, Durable, Item, Reply, What};
use crate::engine::EngineError;

/// Items of one crawl, as the store takes them.
pub(super) struct Batch {
    rows: CommitBatch,
    then: Then,
}

/// A batch that can be written.
pub(super) struct Ready {
    rows: Prepared,
    then: Then,
}

/// What follows once a batch is durable.
#[derive(Default)]
struct Then {
    afters: Vec<After>,
    robots: Vec<(HostId, Scheme)>,
    adders: Vec<Adder>,
}

/// Somebody who added URLs, and which of the seeds those are.
struct Adder {
    start: usize,
    count: usize,
    reply: Reply<Vec<Planted>>,
}

impl Batch {
    pub(super) fn of(crawl: CrawlId, items: Vec<Item>, now: UnixMillis) -> Self {
        let mut batch = Self {
            rows: CommitBatch {
                crawl,
                now,
                settlements: Vec::new(),
                hosts: Vec::new(),
                seeds: Vec::new(),
            },
            then: Then::default(),
        };
        for item in items {
            batch.add(item);
        }
        batch
    }

    fn add(&mut self, item: Item) {
        let Self { rows, then } = self;
        match item.what {
            What::Page(mut settlement, after) => {
                if let Some(clusters) = item.plan.as_ref().and_then(|plan| plan.clusters()) {
                    let clusters = clusters.lock();
                    let mut clusters = clusters.unwrap_or_else(PoisonError::into_inner);
                    clusters.place(&mut settlement);
                }
                rows.settlements.push(*settlement);
                then.afters.push(after);
            }
            What::Seeds(seeds) => rows.seeds.extend(seeds),
            What::Added(links, reply) => {
                then.adders.push(Adder {
                    start: rows.seeds.len(),
                    count: links.len(),
                    reply,
                });
                rows.seeds.extend(links);
            }
            // Never in a group with others.
            What::Change(..) => {}
            What::Host(update) => rows.hosts.push(*update),
            What::Robots(update, host, scheme) => {
                rows.hosts.push(*update);
                then.robots.push((host, scheme));
            }
        }
    }

    pub(super) async fn made_ready(self, store: &Arc<dyn Store>) -> Result<Ready, StoreError> {
        match store.prepare(self.rows).await {
            Ok(rows) => Ok(Ready {
                rows,
                then: self.then,
            }),
            Err(error) => Err(self.then.came_to_nothing(error)),
        }
    }
}

impl Ready {
    pub(super) async fn written(self, store: &Arc<dyn Store>) -> Result<Durable, StoreError> {
        match store.commit_prepared(self.rows).await {
            Ok(report) => Ok(self.then.after(report)),
            Err(error) => Err(self.then.came_to_nothing(error)),
        }
    }
}

impl Then {
    fn after(self, report: CommitReport) -> Durable {
        for adder in self.adders {
            let planted = report.planted.get(adder.start..adder.start + adder.count);
            let _ = adder.reply.send(Ok(planted.unwrap_or_default().to_vec()));
        }
        Durable {
            report: Some(report),
            reread: None,
            afters: self.afters,
            robots: self.robots,
        }
    }

    /// Tells whoever added something why it was not recorded.
    fn came_to_nothing(self, error: StoreError) -> StoreError {
        let why = Arc::<str>::from(error.to_string());
        for adder in self.adders {
            let failed = EngineError::StoreFailed(Arc::clone(&why));
            let _ = adder.reply.send(Err(failed));
        }
        error
    }
}
