//! What administrators clean up (004 §17).

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_store::contract::{
    overview::Purge,
    queue::{QueueChange, Requeue},
};
use trawl_types::UnixMillis;
use utoipa::{IntoParams, ToSchema};

use super::{
    domains::host_name,
    frontier::change::may_pass,
    input,
    pages::{time, visible_job},
};
use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    jobs::now,
};

#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct DomainReset {
    domain: String,
    /// URLs of crawls under way that wait for their turn again.
    requeued: u64,
    /// URLs that need not wait for their next attempt.
    hurried: u64,
    /// Crawls that had given it up and ask it again.
    crawls: u64,
}

/// Forgets failures, suspensions and waits of a host, and tries again what failed of it in crawls
/// under way. Its delay stays.
#[utoipa::path(post, path = "/admin/domains/{domain}/reset", tag = "admin", params(("domain" = String, Path)), responses(
    (status = 200, body = DomainReset), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn reset_domain(
    State(app): State<Shared>,
    _: Admin,
    input::Path(domain): input::Path<String>,
) -> Result<Json<DomainReset>, ApiError> {
    let name = host_name(&domain)?;
    let host = app.store.forgive(&name).await?;
    let host = host.ok_or_else(|| ApiError::not_found("no crawl knows this domain"))?;
    app.engine.forgive(host);
    let mut reset = DomainReset {
        domain: name.clone(),
        ..DomainReset::default()
    };
    for crawl in app.store.crawls_on_host(&name).await? {
        let change = QueueChange::Requeue(Requeue {
            host: Some(name.clone()),
            outcomes: may_pass(),
            delayed: true,
            suspended: true,
            ..Requeue::default()
        });
        let changed = match app.jobs.control_of(crawl) {
            Some(control) => control.change(change).await?,
            None => app.store.change_queue(crawl, change).await?,
        };
        reset.requeued += changed.requeued;
        reset.hurried += changed.hurried;
        reset.crawls += changed.hosts;
    }
    Ok(Json(reset))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PurgeQuery {
    /// Only pages of this host.
    domain: Option<String>,
    /// Only pages of this job.
    job: Option<String>,
    /// Only pages crawled before this time (ISO 8601, or a date).
    #[param(example = "2025-01-15")]
    before: Option<String>,
    /// Only pages crawled longer ago.
    older_than_days: Option<u32>,
    /// Only count, which is the default: `false` deletes.
    dry_run: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PagesPurged {
    dry_run: bool,
    /// Entries of result logs that were deleted, or would be.
    pages: u64,
    /// Bytes of their content, as it was downloaded.
    bytes: u64,
    /// Jobs under way, which are left alone.
    jobs_skipped: u64,
}

/// Deletes pages of jobs that have ended and of the open frontier. Cursors stay valid.
#[utoipa::path(delete, path = "/admin/pages", tag = "admin", params(PurgeQuery), responses(
    (status = 200, body = PagesPurged), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn purge_pages(
    State(app): State<Shared>,
    Admin(identity): Admin,
    input::Query(query): input::Query<PurgeQuery>,
) -> Result<Json<PagesPurged>, ApiError> {
    let age = query
        .older_than_days
        .map(|days| now().0 - i64::from(days) * 86_400_000);
    let before = time("before", query.before.as_deref())?.or(age.map(UnixMillis));
    if before.is_none() && query.domain.is_none() && query.job.is_none() {
        let problem = "say which pages: give before, older_than_days, domain or job";
        return Err(ApiError::field("before", problem));
    }
    let crawl = match &query.job {
        Some(job) => Some(visible_job(&app, &identity, job).await?),
        None => None,
    };
    let dry_run = query.dry_run.unwrap_or(true);
    let purge = Purge {
        crawl,
        host: query.domain.as_deref().map(host_name).transpose()?,
        before,
        dry_run,
        ..Purge::default()
    };
    let purged = app.store.purge(purge).await?;
    Ok(Json(PagesPurged {
        dry_run,
        pages: purged.visits,
        bytes: purged.bytes,
        jobs_skipped: purged.skipped_crawls,
    }))
}
