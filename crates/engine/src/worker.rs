//! Taking part in whatever crawls run, in a store that many processes share. What runs is decided
//! elsewhere: this only looks, joins, and leaves what does not run any more.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use trawl_quick::bell::WHAT_RUNS;
use trawl_store::{Store, StoreError};
use trawl_types::{CrawlId, CrawlSpec};

use crate::engine::{CrawlControl, CrawlHandle, Engine, EngineError};

/// How often the store is asked what runs, besides when somebody says that it has changed: a pause
/// takes effect within this.
const LOOK: Duration = Duration::from_millis(150);
/// A crawl that could not be joined is tried again after so many looks.
const LOOKS_AFTER_FAILURE: u32 = 66;

/// How long a process that is told to stop waits: for answers under way and their commits, then for its
/// hosts to be back. Where the database is away neither comes; pages stay pending, and loans expire.
const LEAVING: Duration = Duration::from_secs(12);
const PARTING: Duration = Duration::from_secs(2);

/// Crawls that this process takes part in.
#[derive(Debug, Clone, Default)]
pub struct Joined {
    crawls: Arc<Mutex<HashMap<CrawlId, CrawlControl>>>,
    /// Those that failed here, with the looks to pass before they are tried again.
    failed: Arc<Mutex<HashMap<CrawlId, u32>>>,
}

impl Joined {
    pub fn controls(&self) -> Vec<CrawlControl> {
        lock(&self.crawls).values().cloned().collect()
    }

    pub fn control(&self, crawl: CrawlId) -> Option<CrawlControl> {
        lock(&self.crawls).get(&crawl).cloned()
    }

    fn insert(&self, control: CrawlControl) {
        lock(&self.crawls).insert(control.crawl, control);
    }

    fn remove(&self, crawl: CrawlId) {
        lock(&self.crawls).remove(&crawl);
    }

    fn fail(&self, crawl: CrawlId) {
        lock(&self.failed).insert(crawl, LOOKS_AFTER_FAILURE);
    }

    /// Those that failed are a look older.
    fn forgive(&self) {
        lock(&self.failed).retain(|_, looks| {
            *looks = looks.saturating_sub(1);
            *looks > 0
        });
    }

    fn may_join(&self, crawl: CrawlId) -> bool {
        self.control(crawl).is_none() && !lock(&self.failed).contains_key(&crawl)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works until `stop` says so, then finishes what is under way and gives everything back, as far as
/// that is possible within a time.
pub async fn work(
    engine: Arc<Engine>,
    store: Arc<dyn Store>,
    joined: Joined,
    change: impl Fn(&mut CrawlSpec) + Send + Sync,
    mut stop: watch::Receiver<bool>,
) {
    let mut news = engine.quick.bell().follow(WHAT_RUNS);
    let looking = async {
        loop {
            look(&engine, &store, &joined, &change).await;
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = news.changed() => {}
            }
        }
    };
    // A look lasts as long as the database is away; who is told to stop does not wait for it.
    tokio::select! {
        () = looking => {}
        _ = stop.wait_for(|stops| *stops) => {}
    }
    for control in joined.controls() {
        control.suspend();
    }
    let left = async {
        while !joined.controls().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(LEAVING, left).await.is_err() {
        tracing::warn!("not everything could be finished: it stays pending");
    }
    if tokio::time::timeout(PARTING, engine.give_back())
        .await
        .is_err()
    {
        tracing::warn!("hosts could not be given back in time: their loans will expire");
    }
}

async fn look(
    engine: &Arc<Engine>,
    store: &Arc<dyn Store>,
    joined: &Joined,
    change: &(impl Fn(&mut CrawlSpec) + Send + Sync),
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
    joined.forgive();
    for crawl in running {
        if !joined.may_join(crawl) {
            continue;
        }
        match engine.join(crawl, change).await {
            Ok(handle) => adopt(joined, handle),
            Err(error) => {
                tracing::warn!(crawl = crawl.0, %error, "a crawl could not be joined");
                joined.fail(crawl);
            }
        }
    }
}

fn adopt(joined: &Joined, mut handle: CrawlHandle) {
    joined.insert(handle.control());
    let joined = joined.clone();
    tokio::spawn(async move {
        let crawl = handle.crawl;
        match handle.ended().await {
            Ok(_) => {}
            Err(EngineError::Store(StoreError::NoCrawl(_))) => {
                tracing::info!(crawl = crawl.0, "a crawl was deleted");
            }
            Err(error) => {
                tracing::error!(crawl = crawl.0, %error, "a crawl was left");
                joined.fail(crawl);
            }
        }
        joined.remove(crawl);
    });
}
