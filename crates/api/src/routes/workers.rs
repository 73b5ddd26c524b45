//! Who crawls, where several processes do.

use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::Value;
use trawl_quick::beats::Done;
use trawl_store::contract::workers::WorkerRow;
use trawl_types::UnixMillis;
use utoipa::ToSchema;

use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    jobs::{now, readers::Doing},
};

/// Three signs of life were missed.
const SILENT_MS: i64 = 90_000;

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "id": "node-7-4711-9f3a21", "host": "node-7", "version": "0.1.0",
    "started_at": "2026-11-16T08:00:00.000Z", "heartbeat_at": "2026-11-16T08:12:30.000Z",
    "status": "active", "doing": { "crawls": [{ "crawl": 3, "in_flight": 40 }], "pages": 4810,
    "failed": 12, "bytes": 912_345 } }))]
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
pub(super) struct Processes {
    /// Whether others than this server can take part in its crawls.
    shared: bool,
    workers: Vec<Worker>,
    /// Those that answer requests, where they share a database.
    servers: Vec<AnsweringServer>,
    /// What all of them have done since Redis last forgot; nothing where there is none.
    done: Option<Totals>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnsweringServer {
    id: String,
    /// Where it listens.
    address: String,
    version: String,
    started_at: String,
    heartbeat_at: String,
    /// As of a worker.
    status: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Totals {
    pages_crawled: u64,
    pages_failed: u64,
    bytes_downloaded: u64,
}

impl Totals {
    fn of(done: Done) -> Self {
        Self {
            pages_crawled: done.pages,
            pages_failed: done.failed,
            bytes_downloaded: done.bytes,
        }
    }
}

fn status(heartbeat_at: UnixMillis, now: UnixMillis) -> &'static str {
    if now.0 - heartbeat_at.0 > SILENT_MS {
        "silent"
    } else {
        "active"
    }
}

/// Servers, and those that crawl.
fn apart(rows: Vec<WorkerRow>, now: UnixMillis) -> (Vec<AnsweringServer>, Vec<WorkerRow>) {
    let (mut servers, mut workers) = (Vec::new(), Vec::new());
    for row in rows {
        match Doing::of(&row) {
            None => workers.push(row),
            Some(doing) => servers.push(AnsweringServer {
                address: doing.answers,
                started_at: row.started_at.iso(),
                heartbeat_at: row.heartbeat_at.iso(),
                status: status(row.heartbeat_at, now),
                id: row.id,
                version: row.version,
            }),
        }
    }
    (servers, workers)
}

/// The processes that crawl from this server's database, and those that answer.
#[utoipa::path(get, path = "/workers", tag = "admin", responses(
    (status = 200, body = Processes), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    _admin: Admin,
) -> Result<Json<Processes>, ApiError> {
    let rows = match app.store.registry() {
        Some(registry) => registry.workers().await?,
        None => Vec::new(),
    };
    let now = now();
    let (servers, rows) = apart(rows, now);
    let (mut beats, done) = tokio::join!(app.quick.beats(now.0), app.quick.done());
    let rows = rows.into_iter().map(|row| match beats.remove(&row.id) {
        Some(beat) if beat.at > row.heartbeat_at.0 => WorkerRow {
            heartbeat_at: UnixMillis(beat.at),
            doing: beat.doing,
            ..row
        },
        _ => row,
    });
    let workers = rows.map(|row| Worker {
        status: status(row.heartbeat_at, now),
        started_at: row.started_at.iso(),
        heartbeat_at: row.heartbeat_at.iso(),
        doing: serde_json::from_str(&row.doing).unwrap_or_default(),
        id: row.id,
        host: row.host,
        version: row.version,
    });
    Ok(Json(Processes {
        shared: app.store.is_shared(),
        workers: workers.collect(),
        servers,
        done: done.map(Totals::of),
    }))
}
