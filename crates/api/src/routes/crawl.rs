//! Single URLs, batches and deep crawls as jobs (001 §7.1).

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trawl_types::{CrawlSpec, Sequence, spec::KeepSpec};
use utoipa::ToSchema;

use super::{input, jobs, spider::idempotency};
use crate::{
    app::Shared,
    auth::{Identity, Reader, Writer},
    error::{ApiError, ErrorBody},
    jobs::{Wanted, view::JobView},
    spider::{
        fields::Fields,
        request::{SpiderBody, priority},
        stream::{Source, events},
    },
};

/// URLs of one request.
const MOST_URLS: usize = 100;

/// URLs to be read, each as a job of its own.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "urls": ["https://example.org/a", "https://example.org/b"] }))]
pub(super) struct CrawlRequest {
    urls: Vec<String>,
    /// high, normal (the default) or low: its share where several crawls want to go on.
    priority: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobResponse {
    job_id: Option<String>,
    url: String,
    status: String,
    /// What was wrong with a URL that was not taken.
    message: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BatchJobs {
    /// The first job.
    job_id: Option<String>,
    status: String,
    jobs: Vec<JobResponse>,
    total_submitted: usize,
    failed_count: usize,
}

/// Reads URLs; a job for each.
#[utoipa::path(post, path = "/crawl", tag = "crawl", request_body = CrawlRequest, responses(
    (status = 202, body = BatchJobs), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(super) async fn crawl(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<CrawlRequest>,
) -> Result<Response, ApiError> {
    if let [url] = body.urls.as_slice() {
        // One URL that cannot be read is an error of the request.
        single(&app, url, body.priority.as_deref())?;
    }
    submit(&app, &identity, &headers, &body).await
}

/// Reads up to 100 URLs; one that cannot be read does not stop the others.
#[utoipa::path(post, path = "/crawl/batch", tag = "crawl", request_body = CrawlRequest, responses(
    (status = 202, body = BatchJobs), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(super) async fn crawl_batch(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<CrawlRequest>,
) -> Result<Response, ApiError> {
    submit(&app, &identity, &headers, &body).await
}

async fn submit(
    app: &Shared,
    identity: &Identity,
    headers: &HeaderMap,
    body: &CrawlRequest,
) -> Result<Response, ApiError> {
    if body.urls.is_empty() || body.urls.len() > MOST_URLS {
        return Err(ApiError::field(
            "urls",
            format!("give 1 to {MOST_URLS} URLs"),
        ));
    }
    priority(body.priority.as_deref())?;
    let key = idempotency(headers)?;
    let mut jobs = Vec::new();
    for (number, url) in body.urls.iter().enumerate() {
        let spec = match single(app, url, body.priority.as_deref()) {
            Ok(spec) => spec,
            Err(error) => {
                jobs.push(refused(url, &error));
                continue;
            }
        };
        let wanted = Wanted {
            kind: "crawl",
            spec,
            request: serde_json::json!({ "url": url }).to_string(),
            idempotency: key.as_ref().map(|key| format!("{key} {number}")),
            attended: false,
        };
        let row = app.start_job(identity, wanted).await?.row;
        jobs.push(JobResponse {
            job_id: Some(row.id.clone()),
            url: url.clone(),
            status: row.crawl.state.as_str().to_owned(),
            message: None,
        });
    }
    let failed = jobs.iter().filter(|job| job.job_id.is_none()).count();
    let answer = BatchJobs {
        job_id: jobs.iter().find_map(|job| job.job_id.clone()),
        status: if failed == jobs.len() {
            "failed"
        } else {
            "running"
        }
        .into(),
        total_submitted: jobs.len() - failed,
        failed_count: failed,
        jobs,
    };
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
}

fn refused(url: &str, error: &ApiError) -> JobResponse {
    JobResponse {
        job_id: None,
        url: url.to_owned(),
        status: "failed".into(),
        message: Some(error.message().to_owned()),
    }
}

/// One page and nothing beyond it.
fn single(app: &Shared, url: &str, priority: Option<&str>) -> Result<CrawlSpec, ApiError> {
    pages(app, vec![url.to_owned()], 1, priority)
}

/// These pages and nothing beyond them, with their content.
pub(super) fn pages(
    app: &Shared,
    urls: Vec<String>,
    concurrency: u32,
    priority: Option<&str>,
) -> Result<CrawlSpec, ApiError> {
    let body = SpiderBody {
        max_pages: Some(urls.len().max(1) as u64),
        seed_urls: urls,
        max_depth: Some(0),
        concurrency: Some(concurrency),
        same_domain_only: Some(false),
        priority: priority.map(str::to_owned),
        ..SpiderBody::default()
    };
    let keep = KeepSpec {
        html: true,
        markdown: true,
        text: true,
    };
    body.to_spec(app, keep, false)
}

/// A crawl from one URL.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "url": "https://example.org/", "strategy": "bfs", "max_depth": 2, "max_pages": 100 }))]
pub(super) struct DeepCrawlRequest {
    url: String,
    /// bfs, dfs or best_first.
    strategy: Option<String>,
    /// 2 if left out.
    max_depth: Option<u32>,
    /// 100 if left out.
    max_pages: Option<u64>,
    /// What best_first looks for; it needs at least one.
    keywords: Vec<String>,
    /// 0 to 1: links that score less are not followed.
    score_threshold: Option<f64>,
    /// high, normal (the default) or low.
    priority: Option<String>,
}

/// Crawls from one URL as a job.
#[utoipa::path(post, path = "/crawl/deep", tag = "crawl", request_body = DeepCrawlRequest, responses(
    (status = 202, body = JobView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, body = ErrorBody)))]
pub(super) async fn crawl_deep(
    State(app): State<Shared>,
    Writer(identity): Writer,
    headers: HeaderMap,
    input::Json(body): input::Json<DeepCrawlRequest>,
) -> Result<Response, ApiError> {
    let request = serde_json::to_string(&body).unwrap_or_default();
    let spider = SpiderBody {
        seed_urls: vec![body.url],
        max_depth: Some(body.max_depth.unwrap_or(2)),
        max_pages: Some(body.max_pages.unwrap_or(100)),
        strategy: body.strategy,
        keywords: body.keywords,
        score_threshold: body.score_threshold,
        priority: body.priority,
        ..SpiderBody::default()
    };
    let keep = KeepSpec {
        markdown: true,
        ..KeepSpec::default()
    };
    let wanted = Wanted {
        kind: "deep",
        spec: spider.to_spec(&app, keep, identity.is_admin())?,
        request,
        idempotency: idempotency(&headers)?,
        attended: false,
    };
    let row = app.start_job(&identity, wanted).await?.row;
    Ok((StatusCode::ACCEPTED, Json(JobView::of(&row))).into_response())
}

/// How a job stands.
#[utoipa::path(get, path = "/crawl/{id}", tag = "crawl", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn crawl_job(
    state: State<Shared>,
    reader: Reader,
    id: input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    jobs::get(state, reader, id).await
}

/// Pages of a job as server-sent events.
#[utoipa::path(get, path = "/crawl/{id}/stream", tag = "crawl", params(("id" = String, Path)), responses(
    (status = 200, description = "text/event-stream", body = String, content_type = "text/event-stream"),
    (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn crawl_stream(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Response, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let fields = Fields::parse(None, None, false)?;
    let source = Source::onlooker(&app, &row, fields, Sequence(0)).await?;
    Ok(events(source))
}

/// Ends a job for good; its results stay.
#[utoipa::path(post, path = "/crawl/{id}/cancel", tag = "crawl", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn crawl_cancel(
    state: State<Shared>,
    writer: Writer,
    id: input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    jobs::cancel(state, writer, id).await
}
