//! Whether the server is well.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::Shared,
    error::{ApiError, Code, ErrorBody, UNAVAILABLE_SECONDS},
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
            .with_retry_after(UNAVAILABLE_SECONDS)
    })?;
    Ok(Json(Ready {
        status: "ready",
        database: "ok",
        running_jobs: app.jobs.count(),
    }))
}
