//! The open frontier (004 §13): what waits, what is added, what is tried again.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_engine::Added;
use trawl_store::{
    Store,
    contract::{
        overview::Overview,
        queue::{QueueChange, QueueCursor, QueueFilter, QueueState, QueuedUrl, Requeue},
    },
};
use trawl_types::{
    CrawlId, CrawlUrl, HostId, OutcomeKind, PageId, PageState, UnixMillis, record::PageStanding,
};
use utoipa::{IntoParams, ToSchema};

use super::{domains::host_name, input, jobs::page_size};
use crate::{
    app::Shared,
    auth::{Admin, Reader},
    error::{ApiError, ErrorBody},
    frontier::{HIGH, MEDIUM, Urgency},
    jobs::{now, view::failed},
};

/// URLs of one request.
const MOST_URLS: usize = 1000;

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

/// A URL to be added.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(super) enum NewUrl {
    Plain(String),
    Full(UrgentUrl),
}

/// A URL with its priority.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UrgentUrl {
    url: String,
    /// high, medium or low.
    priority: Option<String>,
}

/// URLs to be added.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "urls": ["https://example.org/a", { "url": "https://example.org/b", "priority": "high" }] }))]
pub(super) struct AddRequest {
    /// One URL.
    url: Option<String>,
    /// Many, up to 1000.
    urls: Vec<NewUrl>,
    /// high, medium (the default) or low, for those that do not say.
    priority: Option<String>,
}

/// URLs to begin with.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "urls": ["https://example.org/"] }))]
pub(super) struct SeedRequest {
    /// Up to 1000.
    urls: Vec<String>,
}

/// The page that a URL is another spelling of, or is itself.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct KnownUrl {
    url: String,
    /// pending, completed, failed or refused.
    state: &'static str,
    depth: u32,
    outcome: Option<&'static str>,
    crawled_at: Option<String>,
}

/// What became of a URL that was added.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AddedUrl {
    /// As it was sent.
    url: String,
    /// As it will be requested.
    address: Option<String>,
    /// added, duplicate or refused.
    status: &'static str,
    priority: &'static str,
    duplicate_of: Option<KnownUrl>,
    /// The rule that refuses it.
    rule: Option<&'static str>,
    explanation: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AddedUrls {
    added: usize,
    duplicates: usize,
    refused: usize,
    /// One for each URL, in the order in which they were sent.
    results: Vec<AddedUrl>,
}

/// Adds URLs to the open frontier; they are durable when this answers.
#[utoipa::path(post, path = "/frontier/add", tag = "frontier", request_body = AddRequest, responses(
    (status = 200, body = AddedUrls), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(super) async fn add(
    State(app): State<Shared>,
    _: Admin,
    input::Json(body): input::Json<AddRequest>,
) -> Result<Json<AddedUrls>, ApiError> {
    let default = body.priority.as_deref().unwrap_or("medium");
    let default = Urgency::parse("priority", default)?;
    let mut urls: Vec<(String, u8)> = Vec::new();
    urls.extend(body.url.map(|url| (url, default.score())));
    for url in body.urls {
        urls.push(match url {
            NewUrl::Plain(url) => (url, default.score()),
            NewUrl::Full(UrgentUrl { url, priority }) => {
                let own = priority.map(|text| Urgency::parse("urls.priority", &text));
                (url, own.transpose()?.unwrap_or(default).score())
            }
        });
    }
    added(&app, urls).await
}

/// Adds URLs to the open frontier that come up before all others.
#[utoipa::path(post, path = "/frontier/seed", tag = "frontier", request_body = SeedRequest, responses(
    (status = 200, body = AddedUrls), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(super) async fn seed(
    State(app): State<Shared>,
    _: Admin,
    input::Json(body): input::Json<SeedRequest>,
) -> Result<Json<AddedUrls>, ApiError> {
    let highest = trawl_types::spec::MAX_SCORE;
    let urls = body.urls.into_iter().map(|url| (url, highest));
    added(&app, urls.collect()).await
}

async fn added(app: &Shared, urls: Vec<(String, u8)>) -> Result<Json<AddedUrls>, ApiError> {
    if urls.is_empty() || urls.len() > MOST_URLS {
        let problem = format!("give 1 to {MOST_URLS} URLs");
        return Err(ApiError::field("urls", problem));
    }
    let frontier = app.frontier().await?;
    let answers = frontier.add(&urls).await?;
    let mut results = Vec::with_capacity(urls.len());
    for ((url, score), answer) in urls.into_iter().zip(answers) {
        results.push(told(app, frontier.crawl, url, score, answer).await?);
    }
    let count = |status| results.iter().filter(|r| r.status == status).count();
    Ok(Json(AddedUrls {
        added: count("added"),
        duplicates: count("duplicate"),
        refused: count("refused"),
        results,
    }))
}

async fn told(
    app: &Shared,
    crawl: CrawlId,
    url: String,
    score: u8,
    answer: Added,
) -> Result<AddedUrl, ApiError> {
    let mut told = AddedUrl {
        url,
        address: None,
        status: "added",
        priority: Urgency::of(score).as_str(),
        duplicate_of: None,
        rule: None,
        explanation: None,
    };
    let text = |url: &CrawlUrl| Some(url.as_str().to_owned());
    let reason = match answer {
        Added::New(url) => {
            told.address = text(&url);
            return Ok(told);
        }
        Added::Unusable(reason) => reason,
        Added::Refused(url, reason) => {
            told.address = text(&url);
            reason
        }
        Added::Known(url) => {
            told.address = text(&url);
            let standing = app.store.standing(crawl, url.key()).await?;
            match standing {
                Some(PageStanding {
                    state: PageState::Refused,
                    reason: Some(reason),
                    ..
                }) => reason,
                standing => {
                    told.status = "duplicate";
                    told.duplicate_of = standing.map(KnownUrl::of);
                    return Ok(told);
                }
            }
        }
    };
    told.status = "refused";
    told.rule = Some(reason.code.as_str());
    told.explanation = Some(reason.to_string());
    Ok(told)
}

impl KnownUrl {
    fn of(standing: PageStanding) -> Self {
        let record = standing.record;
        let outcome = record.as_ref().map(|record| record.outcome);
        Self {
            url: standing.url,
            state: state_of(standing.state, outcome),
            depth: standing.depth,
            outcome: outcome.map(OutcomeKind::as_str),
            crawled_at: record.map(|record| record.crawled_at.iso()),
        }
    }
}

/// What is to be tried again.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "domain": "example.org", "states": ["failed", "delayed", "suspended"] }))]
pub(super) struct RecoverRequest {
    /// Only URLs of this host.
    domain: Option<String>,
    /// failed (visits that ended in vain), delayed (URLs that wait for their next attempt),
    /// suspended (hosts that were given up); all three if left out.
    states: Option<Vec<String>>,
    /// Ends that count as failed; those that may pass if left out.
    outcomes: Option<Vec<String>>,
    /// Only visits that ended longer ago.
    older_than_seconds: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Recovered {
    /// URLs that wait for their turn again.
    requeued: u64,
    /// URLs that need not wait for their next attempt.
    hurried: u64,
    /// Hosts that are asked again.
    domains: u64,
}

/// Tries again what failed or is stuck. URLs under way when a server ends need no help.
#[utoipa::path(post, path = "/frontier/recover", tag = "frontier", request_body = RecoverRequest, responses(
    (status = 200, body = Recovered), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(super) async fn recover(
    State(app): State<Shared>,
    _: Admin,
    input::Json(body): input::Json<RecoverRequest>,
) -> Result<Json<Recovered>, ApiError> {
    let wanted = body.requeue()?;
    let frontier = app.frontier().await?;
    let changed = frontier.change(QueueChange::Requeue(wanted)).await?;
    Ok(Json(Recovered {
        requeued: changed.requeued,
        hurried: changed.hurried,
        domains: changed.hosts,
    }))
}

impl RecoverRequest {
    fn requeue(&self) -> Result<Requeue, ApiError> {
        const STATES: [&str; 3] = ["failed", "delayed", "suspended"];
        let states: Vec<&str> = match &self.states {
            None => STATES.to_vec(),
            Some(states) => states.iter().map(String::as_str).collect(),
        };
        if states.iter().any(|state| !STATES.contains(state)) {
            let problem = "must be failed, delayed or suspended";
            return Err(ApiError::field("states", problem));
        }
        let outcomes = match &self.outcomes {
            None => may_pass(),
            Some(names) => names
                .iter()
                .map(|name| super::pages::outcome("outcomes", name))
                .collect::<Result<_, _>>()?,
        };
        let failed = states.contains(&"failed");
        let age = |seconds: u32| UnixMillis(now().0 - i64::from(seconds) * 1000);
        Ok(Requeue {
            host: self.domain.as_deref().map(host_name).transpose()?,
            outcomes: if failed { outcomes } else { Vec::new() },
            ended_before: self.older_than_seconds.map(age),
            delayed: states.contains(&"delayed"),
            suspended: states.contains(&"suspended"),
        })
    }
}

/// Ends that another attempt may change.
pub(super) fn may_pass() -> Vec<OutcomeKind> {
    let kinds = OutcomeKind::ALL.iter().copied();
    let passing = |kind: &OutcomeKind| kind.is_retryable() || kind.is_host_failure();
    kinds.filter(passing).collect()
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ClearQuery {
    /// Must be true.
    confirm: Option<bool>,
    /// Only URLs of this host.
    domain: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Cleared {
    /// URLs that were forgotten.
    cleared: u64,
}

/// Forgets the URLs that wait. What was crawled stays.
#[utoipa::path(delete, path = "/frontier", tag = "frontier", params(ClearQuery), responses(
    (status = 200, body = Cleared), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(super) async fn clear(
    State(app): State<Shared>,
    _: Admin,
    input::Query(query): input::Query<ClearQuery>,
) -> Result<Json<Cleared>, ApiError> {
    if query.confirm != Some(true) {
        let problem = "must be true: what waits is forgotten for good";
        return Err(ApiError::field("confirm", problem));
    }
    let host = query.domain.as_deref().map(host_name).transpose()?;
    let frontier = app.frontier().await?;
    let changed = frontier.change(QueueChange::Clear { host }).await?;
    Ok(Json(Cleared {
        cleared: changed.cleared,
    }))
}
