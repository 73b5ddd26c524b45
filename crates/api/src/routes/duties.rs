//! What the server does by itself, and how it went.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::Shared,
    auth::Admin,
    duties::Known,
    error::{ApiError, ErrorBody},
    jobs::now,
};

/// Something that is done every so often by one of the servers of a database.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "name": "backup", "status": "waiting", "every_seconds": 86_400,
    "begun_at": "2026-11-16T03:00:00.000Z", "ended_at": "2026-11-16T03:04:11.000Z",
    "succeeded_at": "2026-11-16T03:04:11.000Z", "next_at": "2026-11-17T03:00:00.000Z",
    "result": "/backups/20261116T030000Z: 98112 results, 4 files, 1402118911 bytes", "error": null }))]
pub(super) struct DutyView {
    /// `archive`, `backup`, `hosts` or `retention`.
    name: &'static str,
    /// `off`, `waiting`, `running`, or `failed` where the last run did.
    status: &'static str,
    /// 0 where it is switched off on this server.
    every_seconds: u64,
    /// The last run, whichever server did it.
    begun_at: Option<String>,
    ended_at: Option<String>,
    succeeded_at: Option<String>,
    next_at: Option<String>,
    /// What the last run did that succeeded.
    result: Option<String>,
    /// Why the last run failed.
    error: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DutyList {
    duties: Vec<DutyView>,
}

fn view(known: &Known) -> DutyView {
    let row = known.row.as_ref();
    let running = row.is_some_and(|row| row.holder.is_some() && row.held_until > now());
    let failed = row.is_some_and(|row| row.error.is_some());
    DutyView {
        name: known.name,
        status: match (running, known.every.is_zero(), failed) {
            (true, ..) => "running",
            (_, true, _) => "off",
            (_, _, true) => "failed",
            _ => "waiting",
        },
        every_seconds: known.every.as_secs(),
        begun_at: row.map(|row| row.begun_at.iso()),
        ended_at: row.and_then(|row| Some(row.ended_at?.iso())),
        succeeded_at: row.and_then(|row| Some(row.succeeded_at?.iso())),
        next_at: known.next_at.map(trawl_types::UnixMillis::iso),
        result: row.and_then(|row| row.result.clone()),
        error: row.and_then(|row| row.error.clone()),
    }
}

/// Archives, backups and removal of old data, where the settings ask for them, and where servers share a
/// database waking hosts that rest by mistake: when each was done last, how it went, and when it is next.
#[utoipa::path(get, path = "/admin/duties", tag = "admin", responses(
    (status = 200, body = DutyList), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    _admin: Admin,
) -> Result<Json<DutyList>, ApiError> {
    let known = app.duties.known().await?;
    let duties = known.iter().map(view).collect();
    Ok(Json(DutyList { duties }))
}
