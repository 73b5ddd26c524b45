//! Content is made of bodies beside the loop, on as many threads as there are cores, after the
//! host has its lease back: politeness never waits for it. What waits counts as uncommitted, so
//! that no more is leased than can be worked off.

use std::sync::Arc;

use trawl_store::contract::write::Settlement;
use trawl_types::CrawlId;

use super::{Dispatcher, lookups::Found};
use crate::{
    task::PageTask,
    visit::{Raw, digest},
};

impl Dispatcher {
    pub(crate) fn digest(
        &mut self,
        crawl: CrawlId,
        task: Box<PageTask>,
        mut settlement: Box<Settlement>,
        raw: Box<Raw>,
    ) {
        let Some(running) = self.crawls.get_mut(&crawl) else {
            return;
        };
        running.lookups += 1;
        let weight = raw.body.bytes.len();
        self.uncommitted += 1;
        self.uncommitted_bytes += weight;
        let (plan, tell) = (Arc::clone(&running.plan), self.found.0.clone());
        let cores = Arc::clone(&self.cores);
        let score = task.score;
        tokio::spawn(async move {
            // Never closed; without a permit there would merely be more threads than cores.
            let _permit = cores.acquire_owned().await;
            let work = move || {
                digest(&plan, &raw, score, &mut settlement);
                settlement
            };
            let settlement = tokio::task::spawn_blocking(work).await.ok();
            let _ = tell.send(Found::Digest {
                crawl,
                task,
                settlement,
                weight,
            });
        });
    }

    pub(super) fn take_digest(
        &mut self,
        crawl: CrawlId,
        task: Box<PageTask>,
        settlement: Option<Box<Settlement>>,
    ) {
        // Only a runtime that shuts down gives none: the page stays pending.
        if let Some(settlement) = settlement {
            self.settle(crawl, task, settlement);
        }
    }
}
