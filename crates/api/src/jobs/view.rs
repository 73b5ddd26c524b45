//! A job as it is shown, and why it ended.

use serde::Serialize;
use serde_json::Value;
use trawl_store::contract::{jobs::JobRow, read::CrawlCounts};
use trawl_types::{CrawlState, OutcomeKind, ReasonCode, UnixMillis};
use utoipa::ToSchema;

pub(crate) fn failed(counts: &CrawlCounts) -> u64 {
    let errors = counts.outcomes.iter().filter(|(kind, _)| kind.is_error());
    errors.map(|(_, count)| count).sum()
}

/// Entries of the result log that are shown: redirects are told by the pages they lead to.
pub(crate) fn shown(counts: &CrawlCounts) -> u64 {
    let entries = counts.outcomes.iter();
    entries
        .filter(|(kind, _)| **kind != OutcomeKind::Redirected)
        .map(|(_, count)| count)
        .sum()
}

/// Why a crawl ended (000).
pub(crate) fn stop_reason(row: &JobRow) -> Option<String> {
    let counts = &row.counts;
    match row.crawl.state {
        CrawlState::Running => None,
        CrawlState::Paused => Some("paused".into()),
        CrawlState::Cancelled => Some("manual_stop".into()),
        CrawlState::Failed => Some("error".into()),
        CrawlState::Completed => Some(
            match row.crawl.spec.scope.max_pages {
                Some(most) if counts.pages >= most => "max_pages",
                _ if counts.reasons.contains_key(&ReasonCode::TooDeep) => "max_depth",
                _ => "completed",
            }
            .into(),
        ),
    }
}

pub(crate) fn duration_seconds(row: &JobRow) -> f64 {
    let end = row.crawl.finished_at.unwrap_or_else(super::now);
    (end.0 - row.crawl.started_at.0).max(0) as f64 / 1000.0
}

/// A job.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JobView {
    /// A UUID.
    pub(crate) job_id: String,
    /// pending, running, paused, completed, failed or cancelled.
    pub(crate) status: String,
    /// Why it stands so, in words.
    reason: Option<String>,
    /// attended (somebody waits for it), spider, crawl, batch or deep.
    kind: String,
    created_at: String,
    started_at: String,
    completed_at: Option<String>,
    pages_crawled: u64,
    pages_failed: u64,
    /// Some pages failed.
    partial: bool,
    urls_discovered: u64,
    urls_pending: u64,
    duration_seconds: f64,
    /// max_pages, max_depth, completed, manual_stop, paused or error.
    stop_reason: Option<String>,
    seed_urls: Vec<String>,
    /// What was asked for.
    config: Value,
    error: Option<String>,
}

impl JobView {
    pub(crate) fn of(row: &JobRow) -> Self {
        let why = (!row.crawl.why.is_empty()).then(|| row.crawl.why.clone());
        let failed = failed(&row.counts);
        Self {
            job_id: row.id.clone(),
            status: row.crawl.state.as_str().to_owned(),
            error: (row.crawl.state == CrawlState::Failed)
                .then(|| why.clone())
                .flatten(),
            reason: why,
            kind: row.kind.clone(),
            created_at: row.created_at.iso(),
            started_at: row.crawl.started_at.iso(),
            completed_at: row.crawl.finished_at.map(UnixMillis::iso),
            pages_crawled: row.counts.pages,
            pages_failed: failed,
            partial: failed > 0,
            urls_discovered: row.counts.discovered,
            urls_pending: row.counts.pending,
            duration_seconds: duration_seconds(row),
            stop_reason: stop_reason(row),
            seed_urls: row.crawl.spec.seeds.clone(),
            config: serde_json::from_str(&row.request).unwrap_or(Value::Null),
        }
    }
}
