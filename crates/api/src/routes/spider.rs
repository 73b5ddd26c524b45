//! Crawls with results in one of five ways (000).

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use trawl_store::contract::jobs::JobRow;
use trawl_types::{CrawlSpec, Sequence, spec::KeepSpec};
use utoipa::ToSchema;

use super::input;
use crate::{
    app::{App, Shared},
    auth::{Identity, Writer},
    error::{ApiError, Code, ErrorBody},
    jobs::{
        Started, Wanted,
        follow::Follow,
        view::{duration_seconds, failed, stop_reason},
    },
    spider::{
        fields::Fields,
        page::{Pages, keep_for},
        request::{ResultMode, SpiderBody, SpiderQuery},
        stream::{self, Attendance},
    },
};

/// What a crawl came to; lists are there in the modes that have them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SpiderResult {
    pages_crawled: u64,
    pages_failed: u64,
    duration_seconds: f64,
    /// max_pages, max_depth, completed, manual_stop or error.
    stop_reason: String,
    domains: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discovered_urls: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    pages: Option<Vec<Map<String, Value>>>,
}

/// A job that was made.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobCreated {
    job_id: String,
    status: String,
    created_at: String,
}

impl JobCreated {
    pub(super) fn of(row: &JobRow) -> Self {
        Self {
            job_id: row.id.clone(),
            status: row.crawl.state.as_str().to_owned(),
            created_at: row.created_at.iso(),
        }
    }
}

/// Crawls from seeds; `result_mode` says how the results are delivered.
#[utoipa::path(post, path = "/spider/crawl", tag = "spider", params(SpiderQuery),
    request_body = SpiderBody,
    responses(
        (status = 200, description = "Figures, URLs or pages; a stream of lines or events", content(
            (SpiderResult = "application/json"), (String = "application/x-ndjson"), (String = "text/event-stream"))),
        (status = 202, description = "A stored job (result_mode=store)", body = JobCreated),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
        (status = 403, body = ErrorBody), (status = 413, body = ErrorBody),
        (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody)))]
pub(super) async fn spider_crawl(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Query(query): input::Query<SpiderQuery>,
    headers: HeaderMap,
    input::Json(body): input::Json<SpiderBody>,
) -> Result<Response, ApiError> {
    let mode = query.result_mode;
    let heavy = mode == ResultMode::Stream;
    let fields = Fields::parse(query.include.as_deref(), query.exclude.as_deref(), heavy)?;
    let keep = match mode {
        ResultMode::Stats | ResultMode::Urls => KeepSpec::default(),
        ResultMode::Pages | ResultMode::Stream | ResultMode::Store => keep_for(&fields),
    };
    let mut spec = body.to_spec(&app, keep, identity.is_admin())?;
    let most = page_limit(&app, &query);
    if mode == ResultMode::Pages {
        // One page more than fits is enough to know that it does not.
        let wanted = spec.scope.max_pages.unwrap_or(u64::MAX);
        spec.scope.max_pages = Some(wanted.min(most + 1));
    }
    let request = json!({ "result_mode": mode, "body": body }).to_string();
    let started = begin(
        &app,
        &identity,
        &headers,
        spec,
        request,
        mode != ResultMode::Store,
    )
    .await?;
    match mode {
        ResultMode::Store => {
            let created = JobCreated::of(&started.row);
            Ok((StatusCode::ACCEPTED, Json(created)).into_response())
        }
        ResultMode::Stream => Ok(streamed(&app, started, fields, &headers)),
        ResultMode::Stats | ResultMode::Urls | ResultMode::Pages => {
            let mut attendance = Attendance::new(&app, started.control.clone());
            app.jobs.ended(&started.row.id).await;
            attendance.done();
            let row = app.job_of(&identity, &started.row.id).await?;
            whole(&app, &row, mode, fields, most).await
        }
    }
}

fn page_limit(app: &App, query: &SpiderQuery) -> u64 {
    let limits = &app.settings.limits;
    let most = query.max_pages.unwrap_or(limits.pages_per_request);
    most.clamp(1, limits.most_pages_per_request)
}

pub(super) async fn begin(
    app: &Shared,
    identity: &Identity,
    headers: &HeaderMap,
    spec: CrawlSpec,
    request: String,
    attended: bool,
) -> Result<Started, ApiError> {
    let wanted = Wanted {
        kind: "spider",
        spec,
        request,
        idempotency: idempotency(headers)?,
        attended,
    };
    app.start_job(identity, wanted).await
}

/// The text under which a repeated request is the same request.
pub(super) fn idempotency(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let Some(value) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(text) if (1..=200).contains(&text.len()) => Ok(Some(text.to_owned())),
        _ => Err(ApiError::field(
            "Idempotency-Key",
            "must be 1 to 200 printable characters",
        )),
    }
}

fn streamed(app: &Shared, started: Started, fields: Fields, headers: &HeaderMap) -> Response {
    let Started { row, control } = started;
    let mut follow = Follow::new(&app.store, row.crawl.id, Sequence(0), control.as_ref());
    if let Some(control) = control.clone() {
        follow.set_pace(control);
    }
    let source = stream::Source {
        pages: Pages::of(app, &row, fields),
        attendance: Some(Attendance::new(app, control)),
        app: Shared::clone(app),
        job: row.id,
        follow,
        stats: true,
    };
    stream::respond(source, headers)
}

async fn whole(
    app: &Shared,
    row: &JobRow,
    mode: ResultMode,
    fields: Fields,
    most: u64,
) -> Result<Response, ApiError> {
    if mode == ResultMode::Pages && row.counts.pages > most {
        return Err(too_large(row.counts.pages, most));
    }
    let pages = Pages::of(app, row, fields);
    let mut follow = Follow::new(&app.store, row.crawl.id, Sequence(0), None);
    let (mut urls, mut found, mut domains) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(records) = follow.next().await? {
        for record in &records {
            if let Some(host) = url::Url::parse(&record.url)
                .ok()
                .and_then(|u| u.host_str().map(str::to_owned))
                && !domains.contains(&host)
            {
                domains.push(host);
            }
            if mode == ResultMode::Pages {
                found.push(pages.page(record).await?);
            } else if mode == ResultMode::Urls && urls.len() < app.settings.limits.discovered_urls {
                urls.push(record.url.clone());
            }
        }
    }
    let result = SpiderResult {
        pages_crawled: row.counts.pages,
        pages_failed: failed(&row.counts),
        duration_seconds: duration_seconds(row),
        stop_reason: stop_reason(row).unwrap_or_default(),
        domains,
        discovered_urls: (mode == ResultMode::Urls).then_some(urls),
        api_version: (mode == ResultMode::Pages).then_some("1.0"),
        pages: (mode == ResultMode::Pages).then_some(found),
    };
    Ok(Json(result).into_response())
}

fn too_large(pages: u64, most: u64) -> ApiError {
    let message = format!("Crawl result ({pages} pages) exceeds maximum response size ({most})");
    ApiError::new(Code::ResultTooLarge, message).with_details(json!({
        "page_count": pages,
        "limit": most,
        "suggestions": [
            "Use result_mode=stream for NDJSON/SSE streaming",
            "Use result_mode=store for async job execution",
            "Reduce max_pages parameter",
        ],
    }))
}
