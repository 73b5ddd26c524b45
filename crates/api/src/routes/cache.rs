//! What is remembered of searches and pages, and forgetting it (001 §7.11). The vectors of documents are
//! part of the index.

use axum::{Json, extract::State};
use serde::Serialize;
use trawl_quick::cache::Kind;
use trawl_search::CacheFigures;
use utoipa::ToSchema;

use super::{domains::host_name, input};
use crate::{
    app::Shared,
    auth::{Admin, Reader},
    error::{ApiError, ErrorBody},
    search::Search,
};

/// A cache in numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CacheView {
    entries: u64,
    /// About as many bytes are held.
    bytes: u64,
    hits: u64,
    misses: u64,
    /// Hits of all questions, 0 to 1.
    hit_rate: f64,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "query": { "entries": 12, "bytes": 48211, "hits": 30, "misses": 14, "hit_rate": 0.68 },
    "embeddings": { "entries": 14, "bytes": 21504, "hits": 2, "misses": 14, "hit_rate": 0.125 }
}))]
pub(super) struct CacheStats {
    /// Results of searches; they go when the data changes.
    query: CacheView,
    /// Vectors of queries.
    embeddings: CacheView,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "cleared": 12 }))]
pub(super) struct Cleared {
    /// Entries that were there.
    cleared: u64,
}

impl From<CacheFigures> for CacheView {
    fn from(figures: CacheFigures) -> Self {
        let asked = figures.hits + figures.misses;
        Self {
            entries: figures.entries,
            bytes: figures.bytes,
            hits: figures.hits,
            misses: figures.misses,
            hit_rate: figures.hits as f64 / asked.max(1) as f64,
        }
    }
}

impl CacheStats {
    pub(super) fn of(search: &Search) -> Self {
        Self {
            query: search.searcher.result_figures().into(),
            embeddings: search.searcher.vector_figures().into(),
        }
    }
}

/// The caches in numbers.
#[utoipa::path(get, path = "/cache/stats", tag = "cache", responses(
    (status = 200, body = CacheStats), (status = 401, body = ErrorBody)))]
pub(super) async fn stats(
    State(app): State<Shared>,
    _: Reader,
) -> Result<Json<CacheStats>, ApiError> {
    Ok(Json(CacheStats::of(app.search()?)))
}

/// Forgets the results of searches.
#[utoipa::path(delete, path = "/cache/query", tag = "cache", responses(
    (status = 200, body = Cleared), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn clear_query(
    State(app): State<Shared>,
    _: Admin,
) -> Result<Json<Cleared>, ApiError> {
    let cleared = app.search()?.searcher.forget_results();
    Ok(Json(Cleared { cleared }))
}

/// Forgets the vectors of queries.
#[utoipa::path(delete, path = "/cache/embeddings", tag = "cache", responses(
    (status = 200, body = Cleared), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn clear_embeddings(
    State(app): State<Shared>,
    _: Admin,
) -> Result<Json<Cleared>, ApiError> {
    let cleared = app.search()?.searcher.forget_vectors();
    Ok(Json(Cleared { cleared }))
}

/// Forgets the pages that are kept for `max_age_seconds`, of all hosts.
#[utoipa::path(delete, path = "/cache/crawl", tag = "cache", responses(
    (status = 200, body = Cleared), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn clear_crawl(State(app): State<Shared>, _: Admin) -> Json<Cleared> {
    let cleared = app.quick.forget(Kind::Page, None).await;
    Json(Cleared { cleared })
}

/// Forgets the results that name a document of a host, or of one below it, the pages that are kept of it,
/// and its robots.txt as workers tell it each other.
#[utoipa::path(delete, path = "/cache/domain/{domain}", tag = "cache", params(("domain" = String, Path)), responses(
    (status = 200, body = Cleared), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody)))]
pub(super) async fn clear_domain(
    State(app): State<Shared>,
    _: Admin,
    input::Path(domain): input::Path<String>,
) -> Result<Json<Cleared>, ApiError> {
    let domain = host_name(&domain)?;
    let searches = app.search.as_ref();
    let mut cleared = searches.map_or(0, |search| search.searcher.forget_domain(&domain));
    for kind in [Kind::Page, Kind::Robots] {
        cleared += app.quick.forget(kind, Some(&domain)).await;
    }
    Ok(Json(Cleared { cleared }))
}
