//! Why a URL was or was not crawled, and what would become of one.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_engine::{RobotsSays, explain as explain_url};
use trawl_types::spec::KeepSpec;
use utoipa::{IntoParams, ToSchema};

use super::input;
use crate::{
    app::Shared,
    auth::{Reader, Writer},
    error::{ApiError, ErrorBody},
    spider::request::SpiderBody,
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExplainQuery {
    url: String,
}

/// The answer to "what about this URL?".
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ExplainedUrl {
    url: String,
    /// As it would be requested.
    address: Option<String>,
    /// pending, refused or done; nothing if the job has not seen it.
    state: Option<String>,
    /// Whether the rules of the job allow it, apart from depth, budgets and robots.txt.
    allowed: bool,
    /// The rule that refuses it.
    rule: Option<String>,
    explanation: String,
    outcome: Option<String>,
    depth: Option<u32>,
    /// From a seed to the URL.
    chain: Vec<String>,
    /// What is known of robots.txt.
    robots: Option<String>,
}

/// Why a job did or did not crawl a URL.
#[utoipa::path(get, path = "/jobs/{id}/explain", tag = "explain", params(("id" = String, Path), ExplainQuery), responses(
    (status = 200, body = ExplainedUrl), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn explain_job(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
    input::Query(query): input::Query<ExplainQuery>,
) -> Result<Json<ExplainedUrl>, ApiError> {
    let row = app.job_of(&identity, &id).await?;
    let plan = app.engine.plan(row.crawl.spec.clone())?;
    let found = explain_url(app.store.as_ref(), &plan, row.crawl.id, &query.url).await?;
    let standing = found.standing.as_ref();
    let reason = standing
        .and_then(|standing| standing.reason.clone())
        .or_else(|| found.foreseen().err());
    let outcome = standing.and_then(|standing| standing.record.as_ref());
    let outcome = outcome.map(|record| record.outcome.as_str().to_owned());
    let explanation = match (&outcome, &reason, standing) {
        (Some(outcome), ..) => format!("it was visited: {outcome}"),
        (None, Some(reason), _) => reason.to_string(),
        (None, None, Some(_)) => "it waits for its turn".into(),
        (None, None, None) => {
            "no page of the job has linked to it; the rules would allow it".into()
        }
    };
    Ok(Json(ExplainedUrl {
        url: query.url,
        address: found.address,
        state: standing.map(|standing| standing.state.as_str().to_owned()),
        allowed: found.verdict.is_ok(),
        rule: reason.map(|reason| reason.code.as_str().to_owned()),
        explanation,
        outcome,
        depth: standing.map(|standing| standing.depth),
        chain: standing
            .map(|standing| standing.chain.clone())
            .unwrap_or_default(),
        robots: Some(robots_text(&found.robots)),
    }))
}

fn robots_text(says: &RobotsSays) -> String {
    match says {
        RobotsSays::Ignored => "ignored".into(),
        RobotsSays::NotRead => "not read yet".into(),
        RobotsSays::Unreachable { status } => format!("could not be read (status {status})"),
        RobotsSays::Allowed { line: None } => "allows it".into(),
        RobotsSays::Allowed { line: Some(line) } => format!("line {line} allows it"),
        RobotsSays::Disallowed { line, rule } => format!("line {line} disallows it: {rule}"),
    }
}

/// A crawl, and URLs to hold against it.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "spec": { "seed_urls": ["https://example.org/"] }, "urls": ["https://example.org/a"] }))]
pub(super) struct ExplainRequest {
    spec: SpiderBody,
    urls: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Explained {
    results: Vec<ExplainedUrl>,
}

/// What a crawl would do with URLs, without asking anybody.
#[utoipa::path(post, path = "/explain", tag = "explain", request_body = ExplainRequest, responses(
    (status = 200, body = Explained), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn explain(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Json(body): input::Json<ExplainRequest>,
) -> Result<Json<Explained>, ApiError> {
    if body.urls.is_empty() || body.urls.len() > 1000 {
        return Err(ApiError::field("urls", "give 1 to 1000 URLs"));
    }
    let spec = body
        .spec
        .to_spec(&app, KeepSpec::default(), identity.is_admin())?;
    let plan = app.engine.plan(spec)?;
    let results = body.urls.into_iter().map(|url| {
        let (address, verdict) = match plan.foresee(&url) {
            Ok((found, verdict)) => (Some(found.as_str().to_owned()), verdict),
            Err(reason) => (None, Err(reason)),
        };
        ExplainedUrl {
            url,
            address,
            state: None,
            allowed: verdict.is_ok(),
            explanation: match &verdict {
                Ok(()) => {
                    "it would be crawled, unless robots.txt, depth or a budget is against it".into()
                }
                Err(reason) => reason.to_string(),
            },
            rule: verdict.err().map(|reason| reason.code.as_str().to_owned()),
            outcome: None,
            depth: None,
            chain: Vec::new(),
            robots: None,
        }
    });
    Ok(Json(Explained {
        results: results.collect(),
    }))
}
