//! The server in numbers, now and over time.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_store::contract::{
    jobs::JobFilter,
    overview::{Bucket, Window},
};
use trawl_types::{CrawlState, OutcomeKind, UnixMillis};
use utoipa::{IntoParams, ToSchema};

use super::{
    cache::CacheStats,
    input,
    pages::{time, visible_job},
};
use crate::{
    app::Shared,
    auth::{Onlooker, Reader},
    error::{ApiError, ErrorBody},
    jobs::now,
    search::Search,
};

/// Buckets of one answer.
const MOST_BUCKETS: i64 = 5_000;

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Stats {
    jobs_total: u64,
    jobs_running: u64,
    jobs_paused: u64,
    jobs_completed: u64,
    jobs_failed: u64,
    jobs_cancelled: u64,
    /// From here on: of one's jobs and the open frontier; of all for administrators.
    pages_crawled: u64,
    pages_failed: u64,
    bytes_downloaded: u64,
    duplicates: u64,
    urls_discovered: u64,
    urls_pending: u64,
    urls_refused: u64,
    /// Visits by how they ended.
    outcomes: BTreeMap<String, u64>,
    uptime_seconds: u64,
    /// The search index; nothing where it is switched off.
    search: Option<SearchStats>,
}

/// The search index in numbers, whoever asks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SearchStats {
    documents: u64,
    chunks: u64,
    /// Chunks that can be found by their meaning.
    embedded: u64,
    /// The model they were embedded with.
    model: Option<String>,
    /// This server keeps the index up to date.
    indexing: bool,
    /// Entries of result logs that were read since the server was started.
    pages_read: u64,
    documents_added: u64,
    documents_changed: u64,
    documents_removed: u64,
    /// Documents whose pages are gone, but too many at once to remove them unasked.
    held_back: u64,
    /// Pages of which a crawl kept nothing to index.
    without_content: u64,
    /// What the last look at the logs failed of.
    problem: Option<String>,
    cache: CacheStats,
}

/// The server in numbers: one's own jobs, those of all for administrators.
#[utoipa::path(get, path = "/stats", tag = "stats", responses(
    (status = 200, body = Stats), (status = 401, body = ErrorBody)))]
pub(super) async fn stats(
    State(app): State<Shared>,
    onlooker: Onlooker,
) -> Result<Json<Stats>, ApiError> {
    let count = async |states: Vec<CrawlState>| {
        let filter = JobFilter {
            states,
            owner: onlooker.owner.clone(),
            ..JobFilter::default()
        };
        app.store.jobs(filter).await.map(|(_, total)| total)
    };
    let totals = app.store.totals(onlooker.sees()).await?;
    Ok(Json(Stats {
        jobs_total: count(Vec::new()).await?,
        jobs_running: count(vec![CrawlState::Running]).await?,
        jobs_paused: count(vec![CrawlState::Paused]).await?,
        jobs_completed: count(vec![CrawlState::Completed]).await?,
        jobs_failed: count(vec![CrawlState::Failed]).await?,
        jobs_cancelled: count(vec![CrawlState::Cancelled]).await?,
        pages_crawled: totals.pages,
        pages_failed: errors(&totals.outcomes),
        bytes_downloaded: totals.bytes,
        duplicates: totals.duplicates,
        urls_discovered: totals.discovered,
        urls_pending: totals.pending,
        urls_refused: totals.refused,
        outcomes: named(&totals.outcomes),
        uptime_seconds: app.started.elapsed().as_secs(),
        search: match &app.search {
            Some(search) => Some(of_search(search).await?),
            None => None,
        },
    }))
}

async fn of_search(search: &Search) -> Result<SearchStats, ApiError> {
    let model = search.read(|index| Ok((index.counts(), index.model()?)));
    let (counts, model) = model.await?;
    let figures = search.bell.figures();
    Ok(SearchStats {
        documents: counts.documents,
        chunks: counts.chunks,
        embedded: counts.embedded,
        model: model.map(|model| model.name),
        indexing: search.follows(),
        pages_read: figures.done.read,
        documents_added: figures.done.added,
        documents_changed: figures.done.changed,
        documents_removed: figures.done.removed,
        held_back: figures.done.held_back,
        without_content: figures.done.without_content,
        problem: figures.failure,
        cache: CacheStats::of(search),
    })
}

fn errors(outcomes: &BTreeMap<OutcomeKind, u64>) -> u64 {
    let errors = outcomes.iter().filter(|(kind, _)| kind.is_error());
    errors.map(|(_, count)| count).sum()
}

fn named(outcomes: &BTreeMap<OutcomeKind, u64>) -> BTreeMap<String, u64> {
    let named = outcomes.iter().filter(|(_, count)| **count > 0);
    named
        .map(|(kind, count)| (kind.as_str().to_owned(), *count))
        .collect()
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SeriesQuery {
    /// minute, hour (the default) or day.
    interval: Option<String>,
    /// The beginning; 60 minutes, 24 hours or 30 days before the end if left out.
    #[param(example = "2025-01-15T00:00:00Z")]
    from: Option<String>,
    /// The end, not included; now if left out.
    to: Option<String>,
    /// Only this job.
    job: Option<String>,
}

/// What happened in one stretch of time.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Point {
    start: String,
    pages: u64,
    errors: u64,
    bytes: u64,
    /// Visits by how they ended.
    outcomes: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Series {
    interval: &'static str,
    from: String,
    to: String,
    /// One for each interval, those without visits too.
    points: Vec<Point>,
}

/// Visits over time: of one's jobs and the open frontier; of all for administrators.
#[utoipa::path(get, path = "/stats/timeseries", tag = "stats", params(SeriesQuery), responses(
    (status = 200, body = Series), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(super) async fn timeseries(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<SeriesQuery>,
) -> Result<Json<Series>, ApiError> {
    let (interval, minutes, count) = match query.interval.as_deref() {
        Some("minute") => ("minute", 1, 60),
        None | Some("hour") => ("hour", 60, 24),
        Some("day") => ("day", 1440, 30),
        Some(_) => {
            return Err(ApiError::field("interval", "must be minute, hour or day"));
        }
    };
    let width = i64::from(minutes) * 60_000;
    let to = time("to", query.to.as_deref())?.map_or(now().0 + 1, |to| to.0);
    // Whole buckets, so that the same bucket is the same whenever it is asked for.
    let to = (to + width - 1).div_euclid(width) * width;
    let from = time("from", query.from.as_deref())?;
    let from = from.map_or(to - count * width, |from| from.0.div_euclid(width) * width);
    let buckets = (to - from) / width;
    if !(1..=MOST_BUCKETS).contains(&buckets) {
        let problem = format!("the window has {buckets} intervals, 1 to {MOST_BUCKETS} can be had");
        return Err(ApiError::field("from", problem));
    }
    let crawl = match &query.job {
        Some(job) => Some(visible_job(&app, &identity, job).await?),
        None => None,
    };
    let window = Window {
        whose: identity.sees(),
        crawl,
        from: UnixMillis(from),
        to: UnixMillis(to),
        bucket_minutes: minutes,
    };
    let found = app.store.activity(window).await?;
    let starts = (0..buckets).map(|number| UnixMillis(from + number * width));
    Ok(Json(Series {
        interval,
        from: UnixMillis(from).iso(),
        to: UnixMillis(to).iso(),
        points: starts.map(|start| point(start, &found)).collect(),
    }))
}

fn point(start: UnixMillis, found: &[Bucket]) -> Point {
    let at = found.binary_search_by_key(&start, |bucket| bucket.start);
    let none = BTreeMap::new();
    let bucket = at.ok().and_then(|at| found.get(at));
    let outcomes = bucket.map_or(&none, |bucket| &bucket.outcomes);
    let pages = outcomes.iter().filter(|(kind, _)| kind.is_page());
    Point {
        start: start.iso(),
        pages: pages.map(|(_, count)| count).sum(),
        errors: errors(outcomes),
        bytes: bucket.map_or(0, |bucket| bucket.bytes),
        outcomes: named(outcomes),
    }
}
