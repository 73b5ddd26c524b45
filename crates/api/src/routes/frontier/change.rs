//! What of the open frontier is tried again, and what is forgotten.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_store::contract::{
    queue::{QueueChange, Requeue},
    workers::Recovered as Stale,
};
use trawl_types::{OutcomeKind, UnixMillis};
use utoipa::{IntoParams, ToSchema};

use super::super::{domains::host_name, input, pages::outcome};
use crate::{
    app::Shared,
    auth::Admin,
    error::{ApiError, ErrorBody},
    jobs::now,
};

/// What is to be tried again.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "domain": "example.org", "states": ["failed", "delayed", "suspended", "stale"] }))]
pub(in crate::routes) struct RecoverRequest {
    /// Only URLs of this host.
    domain: Option<String>,
    /// failed (visits that ended in vain), delayed (URLs that wait for their next attempt),
    /// suspended (hosts that were given up), stale (hosts whose workers are gone, or that were
    /// forgotten, of all crawls); all four if left out.
    states: Option<Vec<String>>,
    /// Ends that count as failed; those that may pass if left out.
    outcomes: Option<Vec<String>>,
    /// Only visits that ended longer ago.
    older_than_seconds: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct Recovered {
    /// URLs that wait for their turn again.
    requeued: u64,
    /// URLs that need not wait for their next attempt.
    hurried: u64,
    /// Hosts that are asked again.
    domains: u64,
    /// Loans of hosts that were over, where workers share a database. They can be borrowed again by
    /// themselves: a worker that dies keeps its hosts for a minute at most.
    loans: u64,
    /// Hosts that rested although something waits there.
    woken: u64,
}

/// Tries again what failed or is stuck. URLs under way when a server or worker ends need no help.
#[utoipa::path(post, path = "/frontier/recover", tag = "frontier", request_body = RecoverRequest, responses(
    (status = 200, body = Recovered), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(in crate::routes) async fn recover(
    State(app): State<Shared>,
    _: Admin,
    input::Json(body): input::Json<RecoverRequest>,
) -> Result<Json<Recovered>, ApiError> {
    let wanted = body.requeue()?;
    let stale = match app.store.registry() {
        Some(registry) if body.wants("stale") => registry.recover_loans().await?,
        _ => Stale::default(),
    };
    let frontier = app.frontier().await?;
    let changed = frontier.change(QueueChange::Requeue(wanted)).await?;
    Ok(Json(Recovered {
        requeued: changed.requeued,
        hurried: changed.hurried,
        domains: changed.hosts,
        loans: stale.loans,
        woken: stale.woken,
    }))
}

const STATES: [&str; 4] = ["failed", "delayed", "suspended", "stale"];

impl RecoverRequest {
    fn wants(&self, state: &str) -> bool {
        let states = self.states.as_ref();
        states.is_none_or(|states| states.iter().any(|wanted| wanted == state))
    }

    fn requeue(&self) -> Result<Requeue, ApiError> {
        let mut states = self.states.iter().flatten();
        if states.any(|state| !STATES.contains(&state.as_str())) {
            let problem = "must be failed, delayed, suspended or stale";
            return Err(ApiError::field("states", problem));
        }
        let outcomes = match &self.outcomes {
            None => may_pass(),
            Some(names) => names
                .iter()
                .map(|name| outcome("outcomes", name))
                .collect::<Result<_, _>>()?,
        };
        let age = |seconds: u32| UnixMillis(now().0 - i64::from(seconds) * 1000);
        Ok(Requeue {
            host: self.domain.as_deref().map(host_name).transpose()?,
            outcomes: if self.wants("failed") {
                outcomes
            } else {
                Vec::new()
            },
            ended_before: self.older_than_seconds.map(age),
            delayed: self.wants("delayed"),
            suspended: self.wants("suspended"),
            ..Requeue::default()
        })
    }
}

/// Ends that another attempt may change.
pub(in crate::routes) fn may_pass() -> Vec<OutcomeKind> {
    let kinds = OutcomeKind::ALL.iter().copied();
    let passing = |kind: &OutcomeKind| kind.is_retryable() || kind.is_host_failure();
    kinds.filter(passing).collect()
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::routes) struct ClearQuery {
    /// Must be true.
    confirm: Option<bool>,
    /// Only URLs of this host.
    domain: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(in crate::routes) struct Cleared {
    /// URLs that were forgotten.
    cleared: u64,
}

/// Forgets the URLs that wait. What was crawled stays.
#[utoipa::path(delete, path = "/frontier", tag = "frontier", params(ClearQuery), responses(
    (status = 200, body = Cleared), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(in crate::routes) async fn clear(
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
