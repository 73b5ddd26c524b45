//! The life of a job. A job is a crawl that somebody asked for: pausing, resuming and recovering
//! are the engine's one mechanism, and the state in the store is the truth.
//!
//! * [`running`]: jobs that run in this process
//! * [`changes`]: what people do to a job
//! * [`view`]: a job as it is shown
//! * [`cleaning`]: old jobs and unused files
//! * [`follow`]: the results of a job as they come in
//! * [`readers`]: jobs whose readers are gone with their server

mod changes;
pub(crate) mod cleaning;
pub(crate) mod follow;
pub(crate) mod readers;
mod running;
pub(crate) mod view;

use trawl_engine::{CrawlControl, EngineError};
use trawl_store::contract::jobs::{JobFilter, JobRow, NewJob};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, UnixMillis};
use uuid::Uuid;

use crate::{
    app::{App, Shared},
    auth::Identity,
    error::{ApiError, Code},
};
pub(crate) use running::Jobs;

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

/// A job that has been started, or was there already.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) row: JobRow,
    /// Nothing where the job has ended before.
    pub(crate) control: Option<CrawlControl>,
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
