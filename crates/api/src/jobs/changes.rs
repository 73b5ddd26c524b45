//! What people do to a job: pause, resume, cancel, delete.

use trawl_store::contract::jobs::JobRow;
use trawl_types::CrawlState;

use super::{Jobs, now};
use crate::{
    app::{App, Shared},
    error::{ApiError, Code},
};

impl App {
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
