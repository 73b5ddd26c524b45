//! The index follows what is crawled, on a thread of its own: its work is never in the way of those
//! who wait for an answer, and seldom in that of crawls.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use tokio::{runtime::Handle, sync::watch};
use trawl_search::{
    follow::{
        Indexer,
        pace::{Busy, Pace},
    },
    qdrant::mirror,
};
use trawl_store::Store;

use super::owners::JobOwners;
use crate::{
    app::{App, Shared},
    jobs::now,
};

/// A follower that runs.
#[derive(Debug)]
pub(crate) struct Following {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Crawls go first.
#[derive(Debug)]
struct Crawls(Shared);

impl Busy for Crawls {
    fn is_busy(&self) -> bool {
        self.0.jobs.are_crawling()
    }

    fn written(&self) -> u64 {
        self.0.jobs.written()
    }
}

impl Following {
    /// Begins what this server is to do.
    pub(crate) fn start(app: &Shared) -> Self {
        let (stop, stopped) = watch::channel(false);
        if let Some(qdrant) = app.search.as_ref().and_then(|search| search.mirrored()) {
            tokio::spawn(mirror(Arc::clone(qdrant), stopped.clone()));
        }
        let thread = follow(app, stopped);
        Self { stop, thread }
    }

    /// What is being written is written.
    pub(crate) async fn stop(self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

/// Indexes, if this server is to follow.
fn follow(app: &Shared, stopped: watch::Receiver<bool>) -> Option<JoinHandle<()>> {
    let indexer = indexer(app)?;
    let bell = app.search.as_ref()?.bell.clone();
    let runtime = Handle::current();
    let work = move || runtime.block_on(indexer.follow(now, &bell, stopped));
    match thread::Builder::new().name("indexing".into()).spawn(work) {
        Ok(thread) => Some(thread),
        Err(error) => {
            tracing::error!(%error, "nothing will be indexed: there is no thread for it");
            None
        }
    }
}

fn indexer(app: &Arc<App>) -> Option<Indexer> {
    let search = app.search.as_ref()?;
    let settings = search.follow.clone()?;
    let store: Arc<dyn Store> = Arc::clone(&app.store) as Arc<dyn Store>;
    let model = search.searcher.model.clone();
    let mut indexer = Indexer::new(store, Arc::clone(search.index()), model, settings);
    indexer.owners = Some(Arc::new(JobOwners::new(Arc::clone(&app.store))));
    indexer.pace = Pace::sparing(Arc::new(Crawls(Arc::clone(app))));
    Some(indexer)
}
