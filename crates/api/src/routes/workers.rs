//! Who crawls, where several processes do.

use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    jobs::now,
};

/// Three signs of life were missed.
const SILENT_MS: i64 = 90_000;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "id": "node-7-4711-9f3a21", "host": "node-7", "version": "0.1.0",
    "started_at": "2026-11-16T08:00:00.000Z", "heartbeat_at": "2026-11-16T08:12:30.000Z",
    "status": "active", "doing": { "crawls": [{ "crawl": 3, "in_flight": 40 }] } }))]
pub(super) struct Worker {
    id: String,
    /// The machine it runs on.
    host: String,
    version: String,
    started_at: String,
    heartbeat_at: String,
    /// `active`, or `silent` if it has given no sign of life for 90 seconds.
    status: &'static str,
    doing: Value,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Workers {
    /// Whether others than this server can take part in its crawls.
    shared: bool,
    workers: Vec<Worker>,
}

/// The processes that crawl from this server's database.
#[utoipa::path(get, path = "/workers", tag = "admin", responses(
    (status = 200, body = Workers), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    _admin: Admin,
) -> Result<Json<Workers>, ApiError> {
    let rows = match app.store.registry() {
        Some(registry) => registry.workers().await?,
        None => Vec::new(),
    };
    let now = now();
    let workers = rows.into_iter().map(|row| Worker {
        status: if now.0 - row.heartbeat_at.0 > SILENT_MS {
            "silent"
        } else {
            "active"
        },
        started_at: row.started_at.iso(),
        heartbeat_at: row.heartbeat_at.iso(),
        doing: serde_json::from_str(&row.doing).unwrap_or_default(),
        id: row.id,
        host: row.host,
        version: row.version,
    });
    Ok(Json(Workers {
        shared: app.store.is_shared(),
        workers: workers.collect(),
    }))
}
