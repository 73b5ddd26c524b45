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

/// A page whose content has been read.
pub(super) type Digested = (Box<PageTask>, Box<Settlement>);

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
        tokio::spawn(async move {
            // Never closed; without a permit there would merely be more threads than cores.
            let _permit = cores.acquire_owned().await;
            let work = move || {
                digest(&plan, &raw, &task, &mut settlement);
                (task, settlement)
            };
            let page = tokio::task::spawn_blocking(work).await.ok();
            let _ = tell.send(Found::Digest {
                crawl,
                page,
                weight,
            });
        });
    }

    pub(super) fn take_digest(&mut self, crawl: CrawlId, page: Option<Digested>, weight: usize) {
        self.uncommitted -= 1;
        self.uncommitted_bytes -= weight;
        // Only a runtime that shuts down gives none: the page stays pending.
        if let Some((task, settlement)) = page {
            self.settle(crawl, task, settlement);
        }
    }
}
