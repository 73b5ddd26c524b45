//! Whether the server is well.

use axum::{Json, extract::State};
use serde::Serialize;
use trawl_store::{
    Store,
    contract::jobs::{JobFilter, JobStore},
};
use trawl_types::CrawlState;
use utoipa::ToSchema;

use crate::{
    app::Shared,
    auth::Onlooker,
    error::{ApiError, Code, ErrorBody},
};

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Health {
    status: &'static str,
    version: &'static str,
    uptime_seconds: u64,
}

/// The process answers.
#[utoipa::path(get, path = "/health", tag = "health", security(()), responses((status = 200, body = Health)))]
pub(super) async fn health(State(app): State<Shared>) -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: app.started.elapsed().as_secs(),
    })
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ready {
    status: &'static str,
    database: &'static str,
    running_jobs: usize,
}

/// What the server needs is there.
#[utoipa::path(get, path = "/health/ready", tag = "health", security(()), responses(
    (status = 200, body = Ready), (status = 503, body = ErrorBody)))]
pub(super) async fn ready(State(app): State<Shared>) -> Result<Json<Ready>, ApiError> {
    let asked = app.store.crawls().await;
    asked.map_err(|error| {
        tracing::error!(%error, "the database does not answer");
        ApiError::new(Code::Unavailable, "the database does not answer")
    })?;
    Ok(Json(Ready {
        status: "ready",
        database: "ok",
        running_jobs: app.jobs.count(),
    }))
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stats {
    jobs_total: u64,
    jobs_running: u64,
    jobs_paused: u64,
    jobs_completed: u64,
    jobs_failed: u64,
    jobs_cancelled: u64,
    uptime_seconds: u64,
}

/// The server in numbers: one's own jobs, those of all for administrators.
#[utoipa::path(get, path = "/stats", tag = "health", responses(
    (status = 200, body = Stats), (status = 401, body = ErrorBody)))]
pub(super) async fn stats(
    State(app): State<Shared>,
    Onlooker { owner }: Onlooker,
) -> Result<Json<Stats>, ApiError> {
    let count = async |states: Vec<CrawlState>| {
        let filter = JobFilter {
            states,
            owner: owner.clone(),
            ..JobFilter::default()
        };
        app.store.jobs(filter).await.map(|(_, total)| total)
    };
    Ok(Json(Stats {
        jobs_total: count(Vec::new()).await?,
        jobs_running: count(vec![CrawlState::Running]).await?,
        jobs_paused: count(vec![CrawlState::Paused]).await?,
        jobs_completed: count(vec![CrawlState::Completed]).await?,
        jobs_failed: count(vec![CrawlState::Failed]).await?,
        jobs_cancelled: count(vec![CrawlState::Cancelled]).await?,
        uptime_seconds: app.started.elapsed().as_secs(),
    }))
}
