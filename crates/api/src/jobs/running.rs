//! Jobs that run in this process: what can be done about them, who waits for them, who changes them.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use trawl_engine::{CrawlControl, CrawlHandle, EngineError};
use trawl_store::StoreError;
use trawl_types::CrawlId;

use crate::{
    app::Shared,
    error::{ApiError, Code},
};

/// How long a request waits for a job to have stopped. Answers under way get a few seconds.
const STOPPING: Duration = Duration::from_secs(10);

/// Jobs that run in this process, and those that are being changed.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    running: Mutex<HashMap<String, Running>>,
    /// Those of them that somebody waits for, on a connection of this server.
    attended: Mutex<HashSet<String>>,
    changing: Mutex<HashSet<String>>,
}

/// The right to change a job: one request at a time.
#[derive(Debug)]
pub(super) struct Change<'j> {
    jobs: &'j Jobs,
    id: String,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        let mut changing = lock(&self.jobs.changing);
        changing.remove(&self.id);
    }
}

#[derive(Debug, Clone)]
struct Running {
    control: CrawlControl,
    over: watch::Receiver<bool>,
}

impl Jobs {
    pub(crate) fn control(&self, id: &str) -> Option<CrawlControl> {
        let running = lock(&self.running);
        running.get(id).map(|running| running.control.clone())
    }

    /// The crawl of whichever job it belongs to, if it runs in this process.
    pub(crate) fn control_of(&self, crawl: CrawlId) -> Option<CrawlControl> {
        let running = lock(&self.running);
        let mut controls = running.values().map(|running| &running.control);
        controls.find(|control| control.crawl == crawl).cloned()
    }

    fn running(&self, id: &str) -> Option<Running> {
        let running = lock(&self.running);
        running.get(id).cloned()
    }

    /// Jobs that somebody waits for, on a connection of this server.
    pub(super) fn attended(&self) -> Vec<String> {
        let attended = lock(&self.attended);
        attended.iter().cloned().collect()
    }

    pub(super) fn attend(&self, id: &str) {
        let mut attended = lock(&self.attended);
        attended.insert(id.to_owned());
    }

    pub(super) fn leave(&self, id: &str) {
        let mut attended = lock(&self.attended);
        attended.remove(id);
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.running).len()
    }

    pub(super) fn change(&self, id: &str) -> Result<Change<'_>, ApiError> {
        let mut changing = lock(&self.changing);
        if !changing.insert(id.to_owned()) {
            let message = "another request is changing this job: try again";
            return Err(ApiError::new(Code::Conflict, message));
        }
        Ok(Change {
            jobs: self,
            id: id.to_owned(),
        })
    }

    /// Whether a crawl asks the web for something, or is about to.
    pub(crate) fn are_crawling(&self) -> bool {
        let running = lock(&self.running);
        let mut controls = running.values().map(|running| &running.control);
        controls.any(|control| {
            let progress = control.progress.borrow();
            progress.in_flight > 0 || progress.pending > 0
        })
    }

    /// How far the logs of the crawls that run here reach, in one number.
    pub(crate) fn written(&self) -> u64 {
        let running = lock(&self.running);
        let controls = running.values().map(|running| &running.control);
        controls
            .map(|control| control.progress.borrow().last_seq as u64)
            .fold(0, u64::wrapping_add)
    }

    /// Remembers a crawl until it ends.
    pub(crate) fn adopt(app: &Shared, id: &str, mut handle: CrawlHandle) -> CrawlControl {
        let control = handle.control();
        let (tell, over) = watch::channel(false);
        let running = Running {
            control: control.clone(),
            over,
        };
        lock(&app.jobs.running).insert(id.to_owned(), running);
        app.tell_search();
        let (app, id) = (Arc::clone(app), id.to_owned());
        tokio::spawn(async move {
            match handle.ended().await {
                // Where servers share a store, another may have deleted it.
                Ok(_) | Err(EngineError::Store(StoreError::NoCrawl(_))) => {}
                Err(error) => app.call_failed(&id, handle.crawl, &error).await,
            }
            app.jobs.leave(&id);
            lock(&app.jobs.running).remove(&id);
            app.tell_search();
            let _ = tell.send(true);
        });
        control
    }

    /// Waits until a job has ended in this process, however long that takes.
    pub(crate) async fn ended(&self, id: &str) {
        if let Some(mut running) = self.running(id) {
            let _ = running.over.wait_for(|over| *over).await;
        }
    }

    pub(super) async fn ended_soon(&self, id: &str) -> Result<(), ApiError> {
        tokio::time::timeout(STOPPING, self.ended(id))
            .await
            .map_err(|_| ApiError::new(Code::Unavailable, "the job has not stopped yet: try again"))
    }

    /// Stops everything so that the next process goes on with it.
    pub(crate) async fn suspend_all(&self) {
        let ids: Vec<String> = {
            let running = lock(&self.running);
            for job in running.values() {
                job.control.suspend();
            }
            running.keys().cloned().collect()
        };
        for id in ids {
            self.ended(&id).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
