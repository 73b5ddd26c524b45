//! Taking part in whatever crawls run, in a store that many processes share. What runs is decided
//! elsewhere: this only looks, joins, and leaves what does not run any more.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use trawl_quick::bell::WHAT_RUNS;
use trawl_store::Store;
use trawl_types::{CrawlId, CrawlSpec};

use crate::engine::{CrawlControl, CrawlHandle, Engine};

/// How often the store is asked what runs, besides when somebody says that it has changed: a pause
/// takes effect within this.
const LOOK: Duration = Duration::from_millis(150);
/// A crawl that could not be joined is tried again after so many looks.
const LOOKS_AFTER_FAILURE: u32 = 66;

const PARTING: Duration = Duration::from_millis(300);

/// Crawls that this process takes part in.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    crawls: Arc<Mutex<HashMap<CrawlId, CrawlControl>>>,
}

impl Joined {
    pub fn controls(&self) -> Vec<CrawlControl> {
        let crawls = self.crawls.lock().unwrap_or_else(PoisonError::into_inner);
        crawls.values().cloned().collect()
    }

    pub fn control(&self, crawl: CrawlId) -> Option<CrawlControl> {
        let crawls = self.crawls.lock().unwrap_or_else(PoisonError::into_inner);
        crawls.get(&crawl).cloned()
    }

    fn insert(&self, control: CrawlControl) {
        let mut crawls = self.crawls.lock().unwrap_or_else(PoisonError::into_inner);
        crawls.insert(control.crawl, control);
    }

    fn remove(&self, crawl: CrawlId) {
        let mut crawls = self.crawls.lock().unwrap_or_else(PoisonError::into_inner);
        crawls.remove(&crawl);
    }
}

/// Works until `stop` says so, then finishes what is under way and gives everything back.
pub async fn work(
    engine: Arc<Engine>,
    store: Arc<dyn Store>,
    joined: Joined,
    change: impl Fn(&mut CrawlSpec) + Send + Sync,
    mut stop: watch::Receiver<bool>,
) {
    let mut failed: HashMap<CrawlId, u32> = HashMap::new();
    let mut news = engine.quick.bell().follow(WHAT_RUNS);
    while !*stop.borrow() {
        look(&engine, &store, &joined, &change, &mut failed).await;
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = news.changed() => {}
            _ = stop.changed() => {}
        }
    }
    for control in joined.controls() {
        control.suspend();
    }
    while !joined.controls().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The hosts of the last crawl are given back when they are next looked over.
    tokio::time::sleep(PARTING).await;
}

async fn look(
    engine: &Arc<Engine>,
    store: &Arc<dyn Store>,
    joined: &Joined,
    change: &(impl Fn(&mut CrawlSpec) + Send + Sync),
    failed: &mut HashMap<CrawlId, u32>,
) {
    let Some(lender) = store.loans() else { return };
    let running = match lender.running_crawls().await {
        Ok(running) => running,
        Err(error) => return tracing::warn!(%error, "it is not known what runs"),
    };
    for control in joined.controls() {
        if !running.contains(&control.crawl) {
            control.suspend();
        }
    }
    failed.retain(|_, looks| {
        *looks = looks.saturating_sub(1);
        *looks > 0
    });
    for crawl in running {
        if joined.control(crawl).is_some() || failed.contains_key(&crawl) {
            continue;
        }
        match engine.join(crawl, change).await {
            Ok(handle) => adopt(joined, handle),
            Err(error) => {
                tracing::warn!(crawl = crawl.0, %error, "a crawl could not be joined");
                failed.insert(crawl, LOOKS_AFTER_FAILURE);
            }
        }
    }
}

fn adopt(joined: &Joined, mut handle: CrawlHandle) {
    joined.insert(handle.control());
    let joined = joined.clone();
    tokio::spawn(async move {
        if let Err(error) = handle.ended().await {
            tracing::error!(crawl = handle.crawl.0, %error, "a crawl was left");
        }
        joined.remove(handle.crawl);
    });
}
