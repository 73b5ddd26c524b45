//! The life of a job. A job is a crawl that somebody asked for: pausing, resuming and recovering
//! are the engine's one mechanism, and the state in the store is the truth.
//!
//! * [`view`]: a job as it is shown
//! * [`cleaning`]: old jobs and unused files
//! * [`follow`]: the results of a job as they come in
//! * [`readers`]: jobs whose readers are gone with their server

pub(crate) mod cleaning;
pub(crate) mod follow;
pub(crate) mod readers;
pub(crate) mod view;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use trawl_engine::{CrawlControl, CrawlHandle, EngineError};
use trawl_store::{
    StoreError,
    contract::jobs::{JobFilter, JobRow, NewJob},
};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, UnixMillis};
use uuid::Uuid;

use crate::{
    app::{App, Shared},
    auth::Identity,
    error::{ApiError, Code},
};

/// How long a request waits for a job to have stopped. Answers under way get a few seconds.
const STOPPING: Duration = Duration::from_secs(10);

/// What makes up a new job.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) kind: &'static str,
    pub(crate) spec: CrawlSpec,
    /// JSON, as it was asked for.
    pub(crate) request: String,
    pub(crate) idempotency: Option<String>,
    /// Somebody waits for the results on the same connection.
    pub(crate) attended: bool,
}

/// Kinds of jobs that end with the connection they were asked for on.
const ATTENDED: &str = "attended";

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
struct Change<'j> {
    jobs: &'j Jobs,
    id: String,
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        let mut changing = self
            .jobs
            .changing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        changing.remove(&self.id);
    }
}

#[derive(Debug, Clone)]
struct Running {
    control: CrawlControl,
    over: watch::Receiver<bool>,
}

/// A job that has been started, or was there already.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) row: JobRow,
    /// Nothing where the job has ended before.
    pub(crate) control: Option<CrawlControl>,
}

impl Jobs {
    pub(crate) fn control(&self, id: &str) -> Option<CrawlControl> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(id).map(|running| running.control.clone())
    }

    /// The crawl of whichever job it belongs to, if it runs in this process.
    pub(crate) fn control_of(&self, crawl: CrawlId) -> Option<CrawlControl> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut controls = running.values().map(|running| &running.control);
        controls.find(|control| control.crawl == crawl).cloned()
    }

    fn running(&self, id: &str) -> Option<Running> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(id).cloned()
    }

    /// Jobs that somebody waits for, on a connection of this server.
    fn attended(&self) -> Vec<String> {
        let attended = self.attended.lock().unwrap_or_else(PoisonError::into_inner);
        attended.iter().cloned().collect()
    }

    fn attend(&self, id: &str) {
        let mut attended = self.attended.lock().unwrap_or_else(PoisonError::into_inner);
        attended.insert(id.to_owned());
    }

    fn leave(&self, id: &str) {
        let mut attended = self.attended.lock().unwrap_or_else(PoisonError::into_inner);
        attended.remove(id);
    }

    pub(crate) fn count(&self) -> usize {
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    fn change(&self, id: &str) -> Result<Change<'_>, ApiError> {
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
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
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut controls = running.values().map(|running| &running.control);
        controls.any(|control| {
            let progress = control.progress.borrow();
            progress.in_flight > 0 || progress.pending > 0
        })
    }

    /// How far the logs of the crawls that run here reach, in one number.
    pub(crate) fn written(&self) -> u64 {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
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
        let jobs = &app.jobs.running;
        jobs.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.to_owned(), running);
        app.tell_search();
        let (app, id) = (Arc::clone(app), id.to_owned());
        tokio::spawn(async move {
            match handle.ended().await {
                // Where servers share a store, another may have deleted it.
                Ok(_) | Err(EngineError::Store(StoreError::NoCrawl(_))) => {}
                Err(error) => app.call_failed(&id, handle.crawl, &error).await,
            }
            app.jobs.leave(&id);
            let jobs = &app.jobs.running;
            jobs.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id);
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

    async fn ended_soon(&self, id: &str) -> Result<(), ApiError> {
        tokio::time::timeout(STOPPING, self.ended(id))
            .await
            .map_err(|_| ApiError::new(Code::Unavailable, "the job has not stopped yet: try again"))
    }

    /// Stops everything so that the next process goes on with it.
    pub(crate) async fn suspend_all(&self) {
        let ids: Vec<String> = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
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

pub(crate) fn now() -> UnixMillis {
    UnixMillis(chrono::Utc::now().timestamp_millis())
}

impl App {
    async fn call_failed(&self, id: &str, crawl: CrawlId, error: &EngineError) {
        tracing::error!(job = id, %error, "a job could not go on");
        let why = error.to_string();
        let said = self.store.set_state(crawl, CrawlState::Failed, &why, now());
        let _ = said.await;
    }

    /// Starts a job, or finds the one that was asked for under the same idempotency key.
    pub(crate) async fn start_job(
        self: &Shared,
        identity: &Identity,
        wanted: Wanted,
    ) -> Result<Started, ApiError> {
        if let Some(key) = &wanted.idempotency
            && let Some(row) = self.store.job_by_idempotency(&identity.owner, key).await?
        {
            let control = self.control(&row).await?;
            return Ok(Started { row, control });
        }
        self.check_quota(identity).await?;
        let id = Uuid::new_v4().to_string();
        let kind = if wanted.attended {
            ATTENDED
        } else {
            wanted.kind
        };
        let job = NewJob {
            id: id.clone(),
            owner: identity.owner.clone(),
            kind: kind.to_owned(),
            request: wanted.request,
            idempotency: wanted.idempotency,
        };
        let name = wanted.spec.seeds.first().cloned().unwrap_or_default();
        let key = job.idempotency.clone();
        if wanted.attended {
            self.jobs.attend(&id);
        }
        let handle = match self.engine.crawl_for(wanted.spec, &name, Some(job)).await {
            Ok(handle) => handle,
            Err(error) => {
                self.jobs.leave(&id);
                return self.other_was_first(identity, key, error).await;
            }
        };
        let control = Jobs::adopt(self, &id, handle);
        Ok(Started {
            row: self.find(&id).await?,
            control: Some(control),
        })
    }

    /// Two requests with the same idempotency key at once: one makes the job, both get it.
    async fn other_was_first(
        self: &Shared,
        identity: &Identity,
        key: Option<String>,
        error: EngineError,
    ) -> Result<Started, ApiError> {
        let Some(key) = key else {
            return Err(error.into());
        };
        match self.store.job_by_idempotency(&identity.owner, &key).await? {
            Some(row) => {
                let control = self.control(&row).await?;
                Ok(Started { row, control })
            }
            None => Err(error.into()),
        }
    }

    async fn check_quota(&self, identity: &Identity) -> Result<(), ApiError> {
        let filter = JobFilter {
            owner: Some(identity.owner.clone()),
            states: vec![CrawlState::Running],
            ..JobFilter::default()
        };
        let (_, running) = self.store.jobs(filter).await?;
        let most = self.settings.limits.jobs_per_key;
        if running < most {
            return Ok(());
        }
        let message = "Maximum concurrent jobs reached. Please wait for existing jobs to complete.";
        Err(ApiError::new(Code::QuotaExceeded, message)
            .with_details(serde_json::json!({ "running": running, "limit": most }))
            .with_retry_after(30))
    }

    pub(crate) fn govern(&self, spec: &mut CrawlSpec) {
        self.settings.govern(spec);
    }

    async fn find(&self, id: &str) -> Result<JobRow, ApiError> {
        let row = self.store.job(id).await?;
        row.ok_or_else(|| ApiError::not_found(format!("there is no job {id}")))
    }

    /// A job that the asker may see. Others' jobs are as if they were not there.
    pub(crate) async fn job_of(&self, identity: &Identity, id: &str) -> Result<JobRow, ApiError> {
        let row = self.find(id).await?;
        if identity.is_admin() || row.owner == identity.owner {
            return Ok(row);
        }
        Err(ApiError::not_found(format!("there is no job {id}")))
    }

    /// What can be done about a job that runs. Where servers share a store, one that another server
    /// started is looked on from here as well.
    pub(crate) async fn control(
        self: &Shared,
        row: &JobRow,
    ) -> Result<Option<CrawlControl>, ApiError> {
        let known = self.jobs.control(&row.id);
        let elsewhere = self.store.is_shared() && row.crawl.state == CrawlState::Running;
        if known.is_some() || !elsewhere {
            return Ok(known);
        }
        let attended = self
            .engine
            .resume_under(row.crawl.id, |spec| self.govern(spec))
            .await;
        match attended {
            Ok(handle) => Ok(Some(Jobs::adopt(self, &row.id, handle))),
            // It has ended meanwhile.
            Err(EngineError::NothingLeft(..)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn pause_job(self: &Shared, row: &JobRow) -> Result<JobRow, ApiError> {
        let _change = self.jobs.change(&row.id)?;
        match (self.control(row).await?, row.crawl.state) {
            (Some(control), _) => {
                control.pause();
                self.jobs.ended_soon(&row.id).await?;
            }
            (None, CrawlState::Paused) => {}
            (None, state) => return Err(wrong_state("paused", state)),
        }
        self.find(&row.id).await
    }

    pub(crate) async fn resume_job(self: &Shared, row: &JobRow) -> Result<JobRow, ApiError> {
        let _change = self.jobs.change(&row.id)?;
        if self.jobs.control(&row.id).is_none() {
            if !matches!(
                row.crawl.state,
                CrawlState::Paused | CrawlState::Failed | CrawlState::Running
            ) {
                return Err(wrong_state("resumed", row.crawl.state));
            }
            let handle = self
                .engine
                .resume_under(row.crawl.id, |spec| self.govern(spec))
                .await?;
            Jobs::adopt(self, &row.id, handle);
        }
        self.find(&row.id).await
    }

    pub(crate) async fn cancel_job(self: &Shared, row: &JobRow) -> Result<JobRow, ApiError> {
        never_ends(row)?;
        let _change = self.jobs.change(&row.id)?;
        match (self.control(row).await?, row.crawl.state) {
            (Some(control), _) => {
                control.cancel();
                self.jobs.ended_soon(&row.id).await?;
            }
            (None, CrawlState::Completed) => {
                return Err(wrong_state("cancelled", CrawlState::Completed));
            }
            (None, CrawlState::Cancelled) => {}
            (None, _) => {
                let why = "cancelled";
                let (crawl, state) = (row.crawl.id, CrawlState::Cancelled);
                self.store.set_state(crawl, state, why, now()).await?;
            }
        }
        self.find(&row.id).await
    }

    pub(crate) async fn delete_job(self: &Shared, row: &JobRow) -> Result<(), ApiError> {
        never_ends(row)?;
        let _change = self.jobs.change(&row.id)?;
        if let Some(control) = self.control(row).await? {
            control.cancel();
            self.jobs.ended_soon(&row.id).await?;
        }
        self.store.delete_job(&row.id).await?;
        Ok(())
    }

    /// After a restart: jobs that ran go on by themselves; those whose reader is gone end. Where servers
    /// share a store nothing has to be taken up: workers go on whoever looks on, and a reader may be
    /// another server's.
    pub(crate) async fn recover(self: &Shared) -> Result<usize, ApiError> {
        if self.store.is_shared() {
            return Ok(0);
        }
        let filter = JobFilter {
            states: vec![CrawlState::Running],
            limit: u32::MAX,
            ..JobFilter::default()
        };
        let (rows, _) = self.store.jobs(filter).await?;
        let mut resumed = 0;
        for row in rows {
            if row.kind == ATTENDED {
                let why = "the reader is gone";
                let (crawl, state) = (row.crawl.id, CrawlState::Cancelled);
                self.store.set_state(crawl, state, why, now()).await?;
                continue;
            }
            match self
                .engine
                .resume_under(row.crawl.id, |spec| self.govern(spec))
                .await
            {
                Ok(handle) => {
                    Jobs::adopt(self, &row.id, handle);
                    resumed += 1;
                }
                // One job that cannot go on does not keep the others from it.
                Err(error) => {
                    tracing::error!(job = row.id, %error, "a job could not be taken up again");
                    let (why, state) = (error.to_string(), CrawlState::Failed);
                    self.store
                        .set_state(row.crawl.id, state, &why, now())
                        .await?;
                }
            }
        }
        Ok(resumed)
    }
}

/// The open frontier can be paused and cleared, not ended.
fn never_ends(row: &JobRow) -> Result<(), ApiError> {
    if row.crawl.spec.standing {
        let message = "the open frontier never ends: pause it, or clear it with DELETE /frontier";
        return Err(ApiError::new(Code::Conflict, message));
    }
    Ok(())
}

fn wrong_state(wanted: &str, state: CrawlState) -> ApiError {
    let message = format!("the job is {}: it cannot be {wanted}", state.as_str());
    ApiError::new(Code::Conflict, message)
}
