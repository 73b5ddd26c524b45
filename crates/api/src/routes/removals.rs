//! Documents whose pages are gone, too many at once to be removed unasked.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::input;
use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    jobs::now,
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RemovalsQuery {
    /// false removes them; true, and nothing, only counts.
    dry_run: Option<bool>,
}

/// Documents of one host.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GoneOfDomain {
    domain: String,
    /// Those whose pages are gone.
    gone: usize,
    /// All of the host.
    documents: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "dry_run": true, "domains": [{ "domain": "example.org", "gone": 40, "documents": 60 }], "removed": 0
}))]
pub(super) struct Removals {
    dry_run: bool,
    domains: Vec<GoneOfDomain>,
    removed: u64,
}

/// Removes documents whose pages are gone and which were kept because they are many (`held_back` in
/// `/stats`). Without `dry_run=false` it only counts.
#[utoipa::path(post, path = "/admin/search/removals", tag = "admin", params(RemovalsQuery), responses(
    (status = 200, body = Removals), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody)))]
pub(super) async fn confirm(
    State(app): State<Shared>,
    _: Admin,
    input::Query(query): input::Query<RemovalsQuery>,
) -> Result<Json<Removals>, ApiError> {
    let search = app.search()?;
    let dry_run = query.dry_run.unwrap_or(true);
    let found = search.read(|index| index.missing(now())).await?;
    let mut domains: Vec<GoneOfDomain> = found
        .into_iter()
        .map(|(domain, missing)| GoneOfDomain {
            domain,
            gone: missing.urls.len(),
            documents: missing.documents,
        })
        .collect();
    domains.sort_by(|a, b| a.domain.cmp(&b.domain));
    let removed = if dry_run {
        0
    } else {
        search.desk.remove_gone(now()).await?
    };
    Ok(Json(Removals {
        dry_run,
        domains,
        removed,
    }))
}
