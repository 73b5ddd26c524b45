//! Old jobs and unused files are removed beside everything else.

use std::time::Duration;

use trawl_store::{
    StoreError,
    contract::jobs::{JobFilter, JobRow},
};
use trawl_types::UnixMillis;

use super::now;
use crate::app::Shared;

const EVERY_HOUR: Duration = Duration::from_hours(1);

/// Removes jobs that ended longer ago than they are kept, at the start and every hour; files that
/// nothing refers to, at the start and every day.
pub(crate) async fn remove_old(app: Shared) {
    for hour in 0_u64.. {
        let kept = app.settings.limits.retention.as_millis() as i64;
        let filter = JobFilter {
            ended_before: Some(UnixMillis(now().0 - kept)),
            limit: 1000,
            ..JobFilter::default()
        };
        match app.store.jobs(filter).await {
            Ok((rows, _)) => {
                for row in rows {
                    remove(&app, &row).await;
                }
            }
            Err(error) => tracing::warn!(%error, "old jobs could not be looked for"),
        }
        if hour.is_multiple_of(24) {
            sweep(&app).await;
        }
        tokio::time::sleep(EVERY_HOUR).await;
    }
}

async fn remove(app: &Shared, job: &JobRow) {
    match may_go(app, job).await {
        Ok(true) => {}
        Ok(false) => return,
        Err(error) => return tracing::warn!(job = job.id, %error, "an old job is left alone"),
    }
    if let Err(error) = app.delete_job(job).await {
        tracing::warn!(job = job.id, ?error, "an old job could not be removed");
    }
}

/// Whether all of a job that has to be archived before it goes has been.
async fn may_go(app: &Shared, job: &JobRow) -> Result<bool, StoreError> {
    let crawl = &job.crawl;
    Ok(!app.settings.upkeep.keeping.archived_first
        || app.store.archived(crawl.id).await? >= crawl.last_seq)
}

async fn sweep(app: &Shared) {
    match app.store.sweep().await {
        Ok(swept) if swept.segments > 0 => {
            tracing::info!(
                swept.segments,
                swept.bytes,
                "unused body files were removed"
            );
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "unused body files could not be removed"),
    }
}
