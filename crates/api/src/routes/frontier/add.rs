//! URLs for the open frontier; each is told what became of it.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_engine::Added;
use trawl_types::{
    CrawlId, CrawlUrl, OutcomeKind, PageState, record::PageStanding, spec::MAX_SCORE,
};
use utoipa::ToSchema;

use super::{super::input, state_of};
use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    frontier::Urgency,
};

/// URLs of one request.
const MOST_URLS: usize = 1000;

/// A URL to be added.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub(in crate::routes) enum NewUrl {
    Plain(String),
    Full(UrgentUrl),
}

/// A URL with its priority.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::routes) struct UrgentUrl {
    url: String,
    /// high, medium or low.
    priority: Option<String>,
}

/// URLs to be added.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "urls": ["https://example.org/a", { "url": "https://example.org/b", "priority": "high" }] }))]
pub(in crate::routes) struct AddRequest {
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
pub(in crate::routes) struct SeedRequest {
    /// Up to 1000.
    urls: Vec<String>,
}

/// The page that a URL is another spelling of, or is itself.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct KnownUrl {
    url: String,
    /// pending, completed, failed or refused.
    state: &'static str,
    depth: u32,
    outcome: Option<&'static str>,
    crawled_at: Option<String>,
}

/// What became of a URL that was added.
#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct AddedUrl {
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
pub(in crate::routes) struct AddedUrls {
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
pub(in crate::routes) async fn add(
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
pub(in crate::routes) async fn seed(
    State(app): State<Shared>,
    _: Admin,
    input::Json(body): input::Json<SeedRequest>,
) -> Result<Json<AddedUrls>, ApiError> {
    let urls = body.urls.into_iter().map(|url| (url, MAX_SCORE));
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
