//! Crawls that end with the connection they were asked for on, where servers share a store: each server
//! says which of them it has a reader for, and those of a server that is gone are ended by the others.

use std::{collections::HashSet, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use trawl_quick::bell::WHAT_RUNS;
use trawl_store::{
    StoreError,
    contract::{
        jobs::{JobFilter, JobRow},
        workers::{WorkerRegistry, WorkerRow},
    },
};
use trawl_types::{CrawlState, UnixMillis};
use uuid::Uuid;

use super::{ATTENDED, now};
use crate::app::Shared;

/// Processes that have been silent for so long are forgotten.
const FORGOTTEN_MS: i64 = 24 * 3_600_000;

/// What a server says of itself among the processes of a store.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Doing {
    /// Where it listens.
    pub(crate) answers: String,
    /// Jobs it has a reader for.
    attends: Vec<String>,
}

impl Doing {
    /// Nothing if the process is no server.
    pub(crate) fn of(row: &WorkerRow) -> Option<Self> {
        serde_json::from_str(&row.doing).ok()
    }
}

/// A server among the processes of a store.
#[derive(Debug)]
pub(crate) struct Presence {
    app: Shared,
    answers: String,
    row: WorkerRow,
}

impl Presence {
    pub(crate) fn new(app: &Shared, answers: String) -> Arc<Self> {
        let row = WorkerRow {
            id: format!("server-{}", Uuid::new_v4().simple()),
            host: String::new(),
            version: env!("CARGO_PKG_VERSION").into(),
            started_at: now(),
            heartbeat_at: now(),
            doing: String::new(),
        };
        Arc::new(Self {
            app: Arc::clone(app),
            answers,
            row,
        })
    }

    /// Gives signs of life and looks after the readers of others.
    pub(crate) async fn last(self: Arc<Self>) {
        let patience = self.app.settings.limits.unread;
        while let Some(registry) = self.app.store.registry() {
            if let Err(error) = self.look(registry, patience).await {
                tracing::debug!(%error, "readers could not be looked after");
            }
            tokio::time::sleep(patience / 4).await;
        }
    }

    /// The server stops.
    pub(crate) async fn end(&self) {
        if let Some(registry) = self.app.store.registry() {
            let _ = registry.remove_worker(&self.row.id).await;
        }
    }

    async fn look(
        &self,
        registry: &dyn WorkerRegistry,
        patience: Duration,
    ) -> Result<(), StoreError> {
        let app = &self.app;
        let doing = Doing {
            answers: self.answers.clone(),
            attends: app.jobs.attended(),
        };
        let row = WorkerRow {
            heartbeat_at: now(),
            doing: serde_json::to_string(&doing).unwrap_or_default(),
            ..self.row.clone()
        };
        registry.register_worker(row).await?;
        let processes = registry.workers().await?;
        forget_the_silent(registry, &processes).await?;
        if !app.settings.stop_when_reader_leaves {
            return Ok(());
        }
        let filter = JobFilter {
            states: vec![CrawlState::Running],
            limit: u32::MAX,
            ..JobFilter::default()
        };
        let (running, _) = app.store.jobs(filter).await?;
        for job in unread(&running, &processes, patience, now()) {
            tracing::warn!(
                job = job.id,
                "the server of its reader is gone: it is ended"
            );
            let (crawl, state) = (job.crawl.id, CrawlState::Cancelled);
            let why = "the reader is gone";
            app.store.set_state(crawl, state, why, now()).await?;
            app.quick.bell().ring(WHAT_RUNS);
        }
        Ok(())
    }
}

async fn forget_the_silent(
    registry: &dyn WorkerRegistry,
    processes: &[WorkerRow],
) -> Result<(), StoreError> {
    let long_ago = now().0 - FORGOTTEN_MS;
    for process in processes.iter().filter(|p| p.heartbeat_at.0 < long_ago) {
        registry.remove_worker(&process.id).await?;
    }
    Ok(())
}

/// Jobs that somebody waited for and that no server has had a reader for in so long.
fn unread<'j>(
    running: &'j [JobRow],
    processes: &[WorkerRow],
    patience: Duration,
    now: UnixMillis,
) -> Vec<&'j JobRow> {
    let since = now.0 - patience.as_millis() as i64;
    let alive = processes.iter().filter(|p| p.heartbeat_at.0 >= since);
    let read: HashSet<String> = alive
        .filter_map(Doing::of)
        .flat_map(|doing| doing.attends)
        .collect();
    let jobs = running
        .iter()
        .filter(|job| job.kind == ATTENDED && job.created_at.0 < since && !read.contains(&job.id));
    jobs.collect()
}
