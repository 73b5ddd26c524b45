//! Old jobs and unused files are removed beside everything else.

use std::time::Duration;

use trawl_store::contract::{jobs::JobFilter, upkeep};
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
                    if let Err(error) = app.delete_job(&row).await {
                        tracing::warn!(job = row.id, ?error, "an old job could not be removed");
                    }
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

/// Removes what has grown too old, if that is wanted, at the start and every so often.
pub(crate) async fn clean_up(app: Shared) {
    let upkeep = &app.settings.upkeep;
    if upkeep.every.is_zero() {
        return;
    }
    loop {
        match upkeep::clean_up(&*app.store, &upkeep.ages, now(), false).await {
            Ok(done) => {
                for (what, cleaned) in done.iter().filter(|(_, cleaned)| cleaned.rows > 0) {
                    let (what, rows) = (what.as_str(), cleaned.rows);
                    tracing::info!(what, rows, cleaned.bytes, "old data was removed");
                }
            }
            Err(error) => tracing::warn!(%error, "old data could not be removed"),
        }
        tokio::time::sleep(upkeep.every).await;
    }
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
