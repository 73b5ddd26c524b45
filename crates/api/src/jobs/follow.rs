//! The results of a job as they come in: read from the log in the store, so that memory does not
//! grow with a slow reader. Where the reader is the reason for the crawl, the crawl waits for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;
use trawl_engine::{CrawlControl, Progress};
use trawl_store::{StoreError, contract::server::ServerStore};
use trawl_types::{CrawlId, OutcomeKind, PageRecord, Sequence};

const BATCH: u32 = 50;
/// Results that may wait for their reader before the crawl is held.
const MOST_AHEAD: i64 = 400;
/// How often those who only look on are told.
const ONLOOKER: Duration = Duration::from_millis(200);
/// Results left when it goes on.
const LEAST_AHEAD: i64 = 100;

#[derive(Debug)]
pub(crate) struct Follow {
    store: Arc<dyn ServerStore>,
    crawl: CrawlId,
    after: Sequence,
    progress: Option<watch::Receiver<Progress>>,
    pace: Option<Pace>,
}

/// Keeps a crawl from running away from its reader.
#[derive(Debug)]
struct Pace {
    control: CrawlControl,
    read: Arc<AtomicI64>,
}

impl Drop for Pace {
    /// A reader that leaves holds nobody up.
    fn drop(&mut self) {
        self.read.store(i64::MAX / 2, Ordering::Relaxed);
        self.control.hold(false);
    }
}

impl Follow {
    /// `control` belongs to a job that runs; without it, what is in the log is all.
    pub(crate) fn new(
        store: &Arc<dyn ServerStore>,
        crawl: CrawlId,
        after: Sequence,
        control: Option<&CrawlControl>,
    ) -> Self {
        Self {
            store: Arc::clone(store),
            crawl,
            after,
            progress: control.map(|control| control.progress.clone()),
            pace: None,
        }
    }

    /// From now on the crawl waits for this reader.
    pub(crate) fn set_pace(&mut self, control: CrawlControl) {
        let read = Arc::new(AtomicI64::new(self.after.0));
        tokio::spawn(hold_when_ahead(control.clone(), Arc::clone(&read)));
        self.pace = Some(Pace { control, read });
    }

    /// The next results, once there are some; nothing when the job has ended and all were given.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<PageRecord>>, StoreError> {
        loop {
            // Asked before the log is read: whatever was written by then is found.
            let live = self
                .progress
                .as_ref()
                .is_some_and(|p| p.has_changed().is_ok());
            let mut records = self.store.results(self.crawl, self.after, BATCH).await?;
            if let Some(last) = records.last() {
                self.after = last.seq;
                self.tell_pace();
                records.retain(|record| record.outcome != OutcomeKind::Redirected);
                if records.is_empty() {
                    continue;
                }
                return Ok(Some(records));
            }
            if !live {
                return Ok(None);
            }
            if let Some(progress) = &mut self.progress {
                let _ = progress.changed().await;
            }
            if self.pace.is_none() {
                // A thousand onlookers must not ask the store a thousand times for every commit.
                tokio::time::sleep(ONLOOKER).await;
            }
        }
    }

    fn tell_pace(&self) {
        let Some(pace) = &self.pace else { return };
        pace.read.store(self.after.0, Ordering::Relaxed);
        let ahead = pace.control.progress.borrow().last_seq - self.after.0;
        if ahead < LEAST_AHEAD {
            pace.control.hold(false);
        }
    }
}

async fn hold_when_ahead(mut control: CrawlControl, read: Arc<AtomicI64>) {
    while control.progress.changed().await.is_ok() {
        let reaches = control.progress.borrow_and_update().last_seq;
        if reaches - read.load(Ordering::Relaxed) > MOST_AHEAD {
            control.hold(true);
        }
    }
}
