//! What is kept of pages for those who come later, to be forgotten.

use axum::{Json, extract::State};
use serde::Serialize;
use trawl_quick::cache::Kind;
use utoipa::ToSchema;

use super::{domains::host_name, input};
use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
};

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Forgotten {
    /// Pages and robots.txt files that are kept no more.
    removed: u64,
}

/// Forgets the pages that are kept for `max_age_seconds`, of all hosts.
#[utoipa::path(delete, path = "/cache/crawl", tag = "admin", responses(
    (status = 200, body = Forgotten), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn forget_pages(State(app): State<Shared>, _: Admin) -> Json<Forgotten> {
    let removed = app.quick.forget(Kind::Page, None).await;
    Json(Forgotten { removed })
}

/// Forgets the pages that are kept of one host, and its robots.txt as workers tell it each other.
#[utoipa::path(delete, path = "/cache/domain/{domain}", tag = "admin", params(("domain" = String, Path)), responses(
    (status = 200, body = Forgotten), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody)))]
pub(super) async fn forget_domain(
    State(app): State<Shared>,
    _: Admin,
    input::Path(domain): input::Path<String>,
) -> Result<Json<Forgotten>, ApiError> {
    let host = host_name(&domain)?;
    let mut removed = 0;
    for kind in [Kind::Page, Kind::Robots] {
        removed += app.quick.forget(kind, Some(&host)).await;
    }
    Ok(Json(Forgotten { removed }))
}
