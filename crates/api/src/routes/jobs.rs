//! Jobs: lists, states, results, events, and what can be done to one.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trawl_store::contract::jobs::JobFilter;
use trawl_types::{CrawlState, OutcomeKind, Sequence};
use utoipa::{IntoParams, ToSchema};

use super::{input, spider::JobCreated};
use crate::{
    app::Shared,
    auth::{Reader, Writer},
    error::{ApiError, ErrorBody},
    jobs::{
        Wanted,
        view::{JobView, shown},
    },
    spider::{fields::Fields, page::Pages, stream},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only jobs in this state.
    status: Option<String>,
    /// Jobs of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobList {
    /// Newest first.
    items: Vec<JobView>,
    total: u64,
    limit: u32,
    offset: u32,
    has_more: bool,
}

/// Jobs of the asker; those of all for administrators.
#[utoipa::path(get, path = "/jobs", tag = "jobs", params(ListQuery), responses(
    (status = 200, body = JobList), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<ListQuery>,
) -> Result<Json<JobList>, ApiError> {
    let states = match query.status.as_deref() {
        None => Vec::new(),
        // A job begins to run when it is made: none is pending for longer than that takes.
        Some("pending") => {
            return Ok(Json(JobList {
                items: Vec::new(),
                total: 0,
                limit: page_size(query.limit)?,
                offset: 0,
                has_more: false,
            }));
        }
        Some(text) => match CrawlState::from_stored(text) {
            Some(state) => vec![state],
            None => {
                return Err(ApiError::field(
                    "status",
                    "must be running, paused, completed, failed or cancelled",
                ));
            }
        },
    };
    let owner = (!identity.is_admin()).then(|| identity.owner.clone());
    listed(&app, owner, states, &query).await
}

/// Jobs that could not go on.
#[utoipa::path(get, path = "/jobs/failed", tag = "jobs", params(ListQuery), responses(
    (status = 200, body = JobList), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody)))]
pub(super) async fn failed(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<ListQuery>,
) -> Result<Json<JobList>, ApiError> {
    let owner = (!identity.is_admin()).then(|| identity.owner.clone());
    listed(&app, owner, vec![CrawlState::Failed], &query).await
}

async fn listed(
    app: &Shared,
    owner: Option<String>,
    states: Vec<CrawlState>,
    query: &ListQuery,
) -> Result<Json<JobList>, ApiError> {
    let limit = page_size(query.limit)?;
    let offset = query.offset.unwrap_or(0);
    let filter = JobFilter {
        owner,
        states,
        offset,
        limit,
        ..JobFilter::default()
    };
    let (rows, total) = app.store.jobs(filter).await?;
    let has_more = u64::from(offset) + (rows.len() as u64) < total;
    Ok(Json(JobList {
        items: rows.iter().map(JobView::of).collect(),
        total,
        limit,
        offset,
        has_more,
    }))
}

pub(super) fn page_size(limit: Option<u32>) -> Result<u32, ApiError> {
    match limit.unwrap_or(100) {
        limit @ 1..=1000 => Ok(limit),
        limit => Err(ApiError::field(
            "limit",
            format!("{limit} is not between 1 and 1000"),
        )),
    }
}

/// How a job stands.
#[utoipa::path(get, path = "/jobs/{id}", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn get(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    Ok(Json(JobView::of(&app.job_of(&identity, &id).await?)))
}

/// Removes a job and its results; stops it first.
#[utoipa::path(delete, path = "/jobs/{id}", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn delete(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<StatusCode, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    app.delete_job(&row).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ResultsQuery {
    /// The `cursor` of the answer before; from the start if left out. Valid as long as the job.
    cursor: Option<i64>,
    /// Pages of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
    include: Option<String>,
    exclude: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct JobResults {
    #[schema(value_type = Vec<Object>)]
    pages: Vec<Map<String, Value>>,
    /// To be sent for what comes after these pages.
    cursor: Option<i64>,
    has_more: bool,
    /// Pages of the job by now.
    total_pages: u64,
    status: String,
}

/// Results of a job in the order in which they were crawled. With `Accept: application/x-ndjson`
/// everything from the cursor on, as it comes.
#[utoipa::path(get, path = "/jobs/{id}/results", tag = "jobs", params(("id" = String, Path), ResultsQuery), responses(
    (status = 200, description = "A page of results, or all as lines", content(
        (JobResults = "application/json"), (String = "application/x-ndjson"), (String = "text/event-stream"))), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn results(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
    input::Query(query): input::Query<ResultsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let fields = Fields::parse(query.include.as_deref(), query.exclude.as_deref(), false)?;
    let limit = page_size(query.limit)?;
    let after = match query.cursor.unwrap_or(0) {
        cursor @ 0.. => Sequence(cursor),
        _ => return Err(ApiError::field("cursor", "must be one that an answer gave")),
    };
    if stream::accepts(&headers, "application/x-ndjson") {
        let source = stream::Source {
            stats: false,
            ..stream::Source::onlooker(&app, &row, fields, after).await?
        };
        return Ok(stream::respond(source, &headers));
    }
    let maker = Pages::of(&app, &row, fields);
    let (mut pages, mut cursor) = (Vec::new(), after);
    while pages.len() < limit as usize {
        let left = limit - pages.len() as u32;
        let records = app.store.results(row.crawl.id, cursor, left).await?;
        let Some(last) = records.last() else { break };
        cursor = last.seq;
        for record in records
            .iter()
            .filter(|r| r.outcome != OutcomeKind::Redirected)
        {
            pages.push(maker.page(record).await?);
        }
    }
    // Asked again: the crawl may have gone on while pages were read.
    let more = app.store.results(row.crawl.id, cursor, 1).await?;
    Ok(Json(JobResults {
        pages,
        cursor: (cursor.0 > 0).then_some(cursor.0),
        has_more: !more.is_empty(),
        total_pages: shown(&row.counts),
        status: row.crawl.state.as_str().to_owned(),
    })
    .into_response())
}

/// A job in numbers.
#[utoipa::path(get, path = "/jobs/{id}/stats", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn stats(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    Ok(Json(JobView::of(&app.job_of(&identity, &id).await?)))
}

/// Pages as server-sent events; `Last-Event-ID` goes on after a break. Ends with the job.
#[utoipa::path(get, path = "/jobs/{id}/events", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, description = "text/event-stream", body = String, content_type = "text/event-stream"),
    (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn events(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let last = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok());
    let after = match last {
        None => 0,
        Some(text) => match text.trim().parse() {
            Ok(id @ 0..) => id,
            _ => {
                return Err(ApiError::field(
                    "Last-Event-ID",
                    "must be the id of an event",
                ));
            }
        },
    };
    let fields = Fields::parse(None, None, false)?;
    let source = stream::Source::onlooker(&app, &row, fields, Sequence(after)).await?;
    Ok(stream::events(source))
}

/// Stops a job so that it can go on later, also after a restart of the server.
#[utoipa::path(post, path = "/jobs/{id}/pause", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn pause(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    Ok(Json(JobView::of(&app.pause_job(&row).await?)))
}

/// Goes on with a job that was paused or failed.
#[utoipa::path(post, path = "/jobs/{id}/resume", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(super) async fn resume(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    Ok(Json(JobView::of(&app.resume_job(&row).await?)))
}

/// Ends a job for good; its results stay.
#[utoipa::path(post, path = "/jobs/{id}/cancel", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 200, body = JobView), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)))]
pub(super) async fn cancel(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Json<JobView>, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    Ok(Json(JobView::of(&app.cancel_job(&row).await?)))
}

/// Tries again: a failed job goes on where it was, one that has ended is made anew.
#[utoipa::path(post, path = "/jobs/{id}/retry", tag = "jobs", params(("id" = String, Path)), responses(
    (status = 202, body = JobCreated), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 429, body = ErrorBody)))]
pub(super) async fn retry(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Response, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let row = match row.crawl.state {
        CrawlState::Failed => app.resume_job(&row).await?,
        CrawlState::Completed | CrawlState::Cancelled => {
            let mut spec = row.crawl.spec.clone();
            app.govern(&mut spec);
            let wanted = Wanted {
                kind: "spider",
                spec,
                request: row.request.clone(),
                idempotency: None,
                attended: false,
            };
            app.start_job(&identity, wanted).await?.row
        }
        CrawlState::Running | CrawlState::Paused => {
            let state = row.crawl.state.as_str();
            let message = format!("the job is {state}: there is nothing to try again");
            return Err(ApiError::new(crate::error::Code::Conflict, message));
        }
    };
    Ok((StatusCode::ACCEPTED, Json(JobCreated::of(&row))).into_response())
}
