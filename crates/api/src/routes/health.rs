//! Whether the server is well.

use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::json;
use trawl_quick::Standing;
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
#[schema(example = json!({ "status": "degraded", "database": "ok", "redis": "unreachable",
    "reasons": ["Redis: no answer in time; rates and caches are this server's own, news come later"],
    "running_jobs": 3 }))]
pub(super) struct Ready {
    /// `ready`; or `degraded`: it works, though not as well as it could.
    status: &'static str,
    database: &'static str,
    /// `ok`, `unreachable`, or `none` where there is none.
    redis: &'static str,
    /// What is wrong, in words.
    reasons: Vec<String>,
    running_jobs: usize,
}

/// What the server needs is there. Without its database it is not ready (503); without Redis it is, and
/// says what is worse.
#[utoipa::path(get, path = "/health/ready", tag = "health", security(()), responses(
    (status = 200, body = Ready), (status = 503, body = ErrorBody)))]
pub(super) async fn ready(State(app): State<Shared>) -> Result<Json<Ready>, ApiError> {
    let (asked, standing) = tokio::join!(app.store.answers(), app.quick.standing());
    let (redis, reason) = match standing {
        Standing::None => ("none", None),
        Standing::Well => ("ok", None),
        Standing::Away(why) => ("unreachable", Some(without_redis(&why))),
    };
    asked.map_err(|error| {
        tracing::error!(%error, "the database does not answer");
        let away = app.store.away();
        let reasons: Vec<String> = away
            .map(without_database)
            .into_iter()
            .chain(reason.clone())
            .collect();
        let breaker = if away.is_some() { "open" } else { "closed" };
        let details = json!({ "database": "unreachable", "breaker": breaker, "redis": redis,
            "reasons": reasons });
        ApiError::new(Code::Unavailable, "the database does not answer")
            .with_details(details)
            .with_retry_after(UNAVAILABLE_SECONDS)
    })?;
    Ok(Json(Ready {
        status: if reason.is_none() {
            "ready"
        } else {
            "degraded"
        },
        database: "ok",
        redis,
        reasons: reason.into_iter().collect(),
        running_jobs: app.jobs.count(),
    }))
}

fn without_database(why: &str) -> String {
    format!("database: {why}; requests that need it are refused at once, until it is back")
}

fn without_redis(why: &str) -> String {
    format!("Redis: {why}; rates and caches are this server's own, news come later")
}
