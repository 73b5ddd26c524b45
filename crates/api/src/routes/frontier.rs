//! The open frontier (004 §13): what waits.
//!
//! * [`add`]: URLs in
//! * [`change`]: what is tried again, what is forgotten

pub(super) mod add;
pub(super) mod change;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_store::contract::queue::{QueueCursor, QueueFilter, QueueState, QueuedUrl};
use trawl_types::{HostId, OutcomeKind, PageId, PageState, UnixMillis};
use utoipa::{IntoParams, ToSchema};

use super::{domains::host_name, input, jobs::page_size};
use crate::{
    app::Shared,
    auth::Reader,
    error::{ApiError, ErrorBody},
    frontier::{HIGH, MEDIUM, Urgency},
    jobs::{now, view::failed},
};

/// Waiting URLs that are looked at to be counted.
const MOST_COUNTED: u64 = 100_000;

/// The open frontier in numbers.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(example = json!({
    "job_id": "0b6c9f5e-0000-4000-8000-000000000000", "status": "running", "pending": 120,
    "in_progress": 4, "completed": 900, "failed": 12, "refused": 44, "total": 1076, "domains": 7,
    "by_priority": { "high": 3, "medium": 100, "low": 17 }
}))]
pub(super) struct FrontierStats {
    /// Its results are those of this job; nothing before it was first used.
    job_id: Option<String>,
    /// running, paused, failed, or unused.
    status: String,
    /// URLs that wait, those under way included.
    pending: u64,
    in_progress: u32,
    completed: u64,
    failed: u64,
    refused: u64,
    total: u64,
    domains: u64,
    /// Left out where more than 100,000 URLs wait.
    by_priority: Option<ByPriority>,
}

/// Waiting URLs by how soon they come up.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct ByPriority {
    high: u64,
    medium: u64,
    low: u64,
}

/// The open frontier in numbers.
#[utoipa::path(get, path = "/frontier/stats", tag = "frontier", responses(
    (status = 200, body = FrontierStats), (status = 401, body = ErrorBody)))]
pub(super) async fn stats(
    State(app): State<Shared>,
    _: Reader,
) -> Result<Json<FrontierStats>, ApiError> {
    let Some(row) = app.frontier_row().await? else {
        return Ok(Json(FrontierStats {
            status: "unused".into(),
            ..FrontierStats::default()
        }));
    };
    let by_priority = if row.counts.pending <= MOST_COUNTED {
        let crawl = row.crawl.id;
        let waiting = app.store.pending_by_score(crawl, HIGH, MEDIUM).await?;
        Some(ByPriority {
            high: waiting.high,
            medium: waiting.medium,
            low: waiting.low,
        })
    } else {
        None
    };
    let control = app.jobs.control(&row.id);
    let counts = &row.counts;
    let failures = failed(counts).min(counts.done);
    Ok(Json(FrontierStats {
        status: row.crawl.state.as_str().to_owned(),
        pending: counts.pending,
        in_progress: control.map_or(0, |control| control.progress.borrow().in_flight),
        completed: counts.done - failures,
        failed: failures,
        refused: counts.refused,
        total: counts.discovered,
        domains: counts.hosts,
        by_priority,
        job_id: Some(row.id),
    }))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UrlsQuery {
    /// pending, completed, failed or refused; all if left out.
    state: Option<String>,
    /// Only URLs of this host.
    domain: Option<String>,
    /// high, medium or low.
    priority: Option<String>,
    min_depth: Option<u32>,
    max_depth: Option<u32>,
    /// The `cursor` of the answer before, with the same filters.
    cursor: Option<String>,
    /// URLs of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
}

/// A URL of the frontier.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FrontierUrl {
    id: i64,
    url: String,
    domain: String,
    /// pending, completed, failed or refused.
    state: &'static str,
    priority: &'static str,
    depth: u32,
    attempts: u32,
    created_at: String,
    /// Not to be tried before, where that is later than now.
    scheduled_at: Option<String>,
    /// How the last attempt ended.
    outcome: Option<&'static str>,
    /// The rule that refused it.
    rule: Option<&'static str>,
    explanation: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FrontierUrls {
    urls: Vec<FrontierUrl>,
    /// To be sent for what comes after these.
    cursor: Option<String>,
    /// There may be more. An answer may be short, or empty, before the end.
    has_more: bool,
}

/// URLs of the open frontier; pending ones in the order in which each host is asked for them.
#[utoipa::path(get, path = "/frontier/urls", tag = "frontier", params(UrlsQuery), responses(
    (status = 200, body = FrontierUrls), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody)))]
pub(super) async fn urls(
    State(app): State<Shared>,
    _: Reader,
    input::Query(query): input::Query<UrlsQuery>,
) -> Result<Json<FrontierUrls>, ApiError> {
    let filter = query.filter()?;
    let Some(row) = app.frontier_row().await? else {
        return Ok(Json(FrontierUrls {
            urls: Vec::new(),
            cursor: None,
            has_more: false,
        }));
    };
    let listed = app.store.queue(row.crawl.id, filter).await?;
    let now = now();
    let urls = listed
        .items
        .into_iter()
        .map(|url| FrontierUrl::of(url, now));
    Ok(Json(FrontierUrls {
        urls: urls.collect(),
        has_more: listed.next.is_some(),
        cursor: listed
            .next
            .map(|at| format!("{}.{}.{}", at.host.0, at.rank, at.page.0)),
    }))
}

impl UrlsQuery {
    fn filter(&self) -> Result<QueueFilter, ApiError> {
        let state = match self.state.as_deref() {
            None => None,
            Some("pending") => Some(QueueState::Pending),
            Some("completed") => Some(QueueState::Completed),
            Some("failed") => Some(QueueState::Failed),
            Some("refused") => Some(QueueState::Refused),
            Some(_) => {
                let problem = "must be pending, completed, failed or refused";
                return Err(ApiError::field("state", problem));
            }
        };
        let priority = self.priority.as_deref();
        let priority = priority.map(|text| Urgency::parse("priority", text));
        let depth = (self.min_depth, self.max_depth);
        Ok(QueueFilter {
            state,
            host: self.domain.as_deref().map(host_name).transpose()?,
            depth: (depth != (None, None))
                .then(|| (depth.0.unwrap_or(0), depth.1.unwrap_or(u32::MAX))),
            score: priority.transpose()?.map(Urgency::scores),
            after: self.cursor.as_deref().map(cursor).transpose()?,
            limit: page_size(self.limit)?,
        })
    }
}

fn cursor(text: &str) -> Result<QueueCursor, ApiError> {
    let parts: Vec<i64> = text.split('.').flat_map(str::parse).collect();
    match parts.as_slice() {
        [host, rank, page] => Ok(QueueCursor {
            host: HostId(*host),
            rank: *rank,
            page: PageId(*page),
        }),
        _ => Err(ApiError::field("cursor", "must be one that an answer gave")),
    }
}

fn state_of(state: PageState, outcome: Option<OutcomeKind>) -> &'static str {
    match state {
        PageState::Pending => "pending",
        PageState::Refused => "refused",
        PageState::Done if outcome.is_some_and(OutcomeKind::is_error) => "failed",
        PageState::Done => "completed",
    }
}

impl FrontierUrl {
    fn of(url: QueuedUrl, now: UnixMillis) -> Self {
        Self {
            id: url.page.0,
            url: url.url,
            domain: url.host,
            state: state_of(url.state, url.outcome),
            priority: Urgency::of(url.score).as_str(),
            depth: url.depth,
            attempts: url.attempts,
            created_at: url.discovered_at.iso(),
            scheduled_at: (url.not_before > now).then(|| url.not_before.iso()),
            outcome: url.outcome.map(OutcomeKind::as_str),
            rule: url.reason.as_ref().map(|reason| reason.code.as_str()),
            explanation: url.reason.as_ref().map(ToString::to_string),
        }
    }
}
