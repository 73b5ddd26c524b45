//! A crawl and the main content of its pages in one go.

use axum::{Json, extract::State, http::HeaderMap};
use regex::Regex;
use serde::{Deserialize, Serialize};
use trawl_types::{Sequence, spec::KeepSpec};
use utoipa::ToSchema;

use super::page::{ExtractedPage, Format, one};
use crate::{
    app::Shared,
    auth::Writer,
    error::{ApiError, ErrorBody},
    jobs::{
        follow::Follow,
        view::{duration_seconds, failed, stop_reason},
    },
    routes::{input, spider::begin},
    spider::{request::SpiderBody, stream::Attendance},
};

/// A crawl whose pages are wanted as content.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "seeds": ["https://example.org/"], "scope": { "max_depth": 2 }, "extract_pattern": ".*/article/.*" }))]
pub(in crate::routes) struct SpiderExtractRequest {
    seeds: Vec<String>,
    scope: Option<SpiderScope>,
    /// Accepted for compatibility: content and metadata are always there.
    include: Vec<String>,
    /// Accepted for compatibility: pages.
    result_mode: Option<String>,
    /// Only pages whose URL this regular expression finds are given.
    extract_pattern: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::routes) struct SpiderScope {
    max_depth: Option<u32>,
    max_pages: Option<u64>,
    same_domain_only: Option<bool>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct CrawlStats {
    pages_crawled: u64,
    pages_failed: u64,
    duration_seconds: f64,
    stop_reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct SpiderExtractResponse {
    crawl_stats: CrawlStats,
    extracted_pages: Vec<ExtractedPage>,
}

/// Crawls and extracts in one go: every page is fetched once.
#[utoipa::path(post, path = "/spider+extract", tag = "extract", request_body = SpiderExtractRequest, responses(
    (status = 200, body = SpiderExtractResponse), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(in crate::routes) async fn spider_extract(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<SpiderExtractRequest>,
) -> Result<Json<SpiderExtractResponse>, ApiError> {
    let pattern = match &body.extract_pattern {
        None => None,
        Some(text) => {
            Some(Regex::new(text).map_err(|error| ApiError::field("extract_pattern", error))?)
        }
    };
    let request = serde_json::to_string(&body).unwrap_or_default();
    if body.seeds.is_empty() {
        return Err(ApiError::field("seeds", "give at least one URL"));
    }
    let scope = body.scope.unwrap_or_default();
    if scope.max_pages == Some(0) {
        return Err(ApiError::field("scope.max_pages", "give 1 or more"));
    }
    let spider = SpiderBody {
        seed_urls: body.seeds,
        max_depth: scope.max_depth,
        max_pages: scope.max_pages,
        same_domain_only: scope.same_domain_only,
        ..SpiderBody::default()
    };
    let keep = KeepSpec {
        markdown: true,
        ..KeepSpec::default()
    };
    let spec = spider.to_spec(&app, keep, identity.is_admin())?;
    let started = begin(&app, &identity, &headers, spec, request, true).await?;
    let mut attendance = Attendance::new(&app, started.control.clone());
    app.jobs.ended(&started.row.id).await;
    attendance.done();
    let row = app.job_of(&identity, &started.row.id).await?;
    let mut follow = Follow::new(&app.store, row.crawl.id, Sequence(0), None);
    let mut extracted = Vec::new();
    while let Some(records) = follow.next().await? {
        for record in &records {
            if pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(&record.url))
            {
                extracted.push(one(&app, row.crawl.id, record, Format::Markdown).await?);
            }
        }
    }
    Ok(Json(SpiderExtractResponse {
        crawl_stats: CrawlStats {
            pages_crawled: row.counts.pages,
            pages_failed: failed(&row.counts),
            duration_seconds: duration_seconds(&row),
            stop_reason: stop_reason(&row).unwrap_or_default(),
        },
        extracted_pages: extracted,
    }))
}
