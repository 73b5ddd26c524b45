//! What was crawled, across jobs.

use std::collections::{HashMap, hash_map::Entry};

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use trawl_store::contract::overview::{PageCursor, PageFilter};
use trawl_types::{CrawlId, OutcomeKind, Sequence, UnixMillis};
use utoipa::{IntoParams, ToSchema};

use super::{domains::host_name, input, jobs::page_size};
use crate::{
    app::Shared,
    auth::{Identity, Reader},
    error::{ApiError, ErrorBody},
    spider::{fields::Fields, page::Pages},
};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PagesQuery {
    /// Only pages of this job.
    job: Option<String>,
    /// Only pages of this host, in a fixed order that is not time.
    domain: Option<String>,
    /// How visits ended, separated by commas; all but redirects if left out.
    #[param(example = "fetched,not_found")]
    outcome: Option<String>,
    /// An HTTP status, or a class of them such as 4xx.
    #[param(example = "4xx")]
    status: Option<String>,
    min_depth: Option<u32>,
    max_depth: Option<u32>,
    /// Crawled at this time or later (ISO 8601, or a date).
    #[param(example = "2025-01-15")]
    from: Option<String>,
    /// Crawled before this time.
    to: Option<String>,
    /// What the content type begins with.
    #[param(example = "text/html")]
    content_type: Option<String>,
    /// true: only copies of other pages; false: none of them.
    duplicate: Option<bool>,
    /// In URL or title.
    q: Option<String>,
    /// Fields of a page to send, separated by commas.
    include: Option<String>,
    /// Fields of a page to leave out.
    exclude: Option<String>,
    /// The `cursor` of the answer before, with the same filters.
    cursor: Option<String>,
    /// Pages of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PageList {
    /// As results of jobs, each with its `job_id`.
    #[schema(value_type = Vec<Object>)]
    pages: Vec<Map<String, Value>>,
    /// To be sent for what comes after these.
    cursor: Option<String>,
    /// There may be more. An answer may be short, or empty, before the end: no more than a bounded
    /// number of pages is looked at for it.
    has_more: bool,
}

/// Pages of one's jobs and of the open frontier, newest first; of all for administrators.
#[utoipa::path(get, path = "/pages", tag = "pages", params(PagesQuery), responses(
    (status = 200, body = PageList), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<PagesQuery>,
) -> Result<Json<PageList>, ApiError> {
    let fields = Fields::parse(query.include.as_deref(), query.exclude.as_deref(), false)?;
    let filter = query.filter(&app, &identity).await?;
    let listed = app.store.pages(filter).await?;
    let mut makers: HashMap<CrawlId, Pages> = HashMap::new();
    let mut pages = Vec::with_capacity(listed.items.len());
    for found in listed.items {
        let maker = match makers.entry(found.crawl) {
            Entry::Occupied(maker) => maker.into_mut(),
            Entry::Vacant(place) => {
                let crawl = app.store.crawl(found.crawl).await?;
                place.insert(Pages::of_crawl(&app, &crawl, fields.clone()))
            }
        };
        let mut page = maker.page(&found.record).await?;
        page.insert("job_id".into(), json!(found.job));
        pages.push(page);
    }
    Ok(Json(PageList {
        pages,
        has_more: listed.next.is_some(),
        cursor: listed.next.map(written),
    }))
}

impl PagesQuery {
    async fn filter(&self, app: &Shared, identity: &Identity) -> Result<PageFilter, ApiError> {
        let crawl = match &self.job {
            Some(job) => Some(visible_job(app, identity, job).await?),
            None => None,
        };
        let depth = (self.min_depth, self.max_depth);
        Ok(PageFilter {
            whose: identity.sees(),
            crawl,
            host: self.domain.as_deref().map(host_name).transpose()?,
            outcomes: outcomes(self.outcome.as_deref())?,
            status: self.status.as_deref().map(status).transpose()?,
            depth: (depth != (None, None))
                .then(|| (depth.0.unwrap_or(0), depth.1.unwrap_or(u32::MAX))),
            from: time("from", self.from.as_deref())?,
            to: time("to", self.to.as_deref())?,
            content_type: self.content_type.clone(),
            duplicate: self.duplicate,
            text: self.q.clone(),
            after: self.cursor.as_deref().map(read).transpose()?,
            limit: page_size(self.limit)?,
        })
    }
}

/// The crawl of one's own job, or of the open frontier.
pub(super) async fn visible_job(
    app: &Shared,
    identity: &Identity,
    job: &str,
) -> Result<CrawlId, ApiError> {
    let frontier = app.frontier_row().await?;
    match frontier.filter(|row| row.id == job) {
        Some(row) => Ok(row.crawl.id),
        None => Ok(app.job_of(identity, job).await?.crawl.id),
    }
}

fn outcomes(names: Option<&str>) -> Result<Vec<OutcomeKind>, ApiError> {
    let Some(names) = names else {
        let kinds = OutcomeKind::ALL.iter().copied();
        return Ok(kinds
            .filter(|kind| *kind != OutcomeKind::Redirected)
            .collect());
    };
    let names = names.split(',').map(str::trim);
    names.map(|name| outcome("outcome", name)).collect()
}

pub(super) fn outcome(field: &str, name: &str) -> Result<OutcomeKind, ApiError> {
    let found = OutcomeKind::ALL.iter().find(|kind| kind.as_str() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
        ApiError::field(field, format!("must be some of {}", names.join(", ")))
    })
}

fn status(text: &str) -> Result<(u16, u16), ApiError> {
    let wrong = || ApiError::field("status", "must be an HTTP status or a class such as 4xx");
    if let Some(class) = text.strip_suffix("xx") {
        let class: u16 = class.parse().map_err(|_| wrong())?;
        return match class {
            1..=5 => Ok((class * 100, class * 100 + 99)),
            _ => Err(wrong()),
        };
    }
    let code: u16 = text.parse().map_err(|_| wrong())?;
    Ok((code, code))
}

/// A moment, or the beginning of a day.
pub(super) fn time(field: &str, text: Option<&str>) -> Result<Option<UnixMillis>, ApiError> {
    let Some(text) = text else { return Ok(None) };
    let whole = chrono::DateTime::parse_from_rfc3339(text).map(|at| at.timestamp_millis());
    let day = || {
        let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        Some(day.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
    };
    let wrong = || {
        ApiError::field(
            field,
            "must be a time such as 2025-01-15T10:30:00Z, or a day",
        )
    };
    let at = whole.ok().or_else(day).ok_or_else(wrong)?;
    Ok(Some(UnixMillis(at)))
}

fn written(at: PageCursor) -> String {
    match at.key {
        Some(key) => format!("{key}.{}.{}", at.crawl.0, at.seq.0),
        None => format!("{}.{}", at.crawl.0, at.seq.0),
    }
}

fn read(text: &str) -> Result<PageCursor, ApiError> {
    let wrong = || ApiError::field("cursor", "must be one that an answer gave");
    let parts: Result<Vec<i64>, _> = text.split('.').map(str::parse).collect();
    match parts.map_err(|_| wrong())?.as_slice() {
        [crawl, seq] => Ok(PageCursor {
            key: None,
            crawl: CrawlId(*crawl),
            seq: Sequence(*seq),
        }),
        [key, crawl, seq] => Ok(PageCursor {
            key: Some(*key),
            crawl: CrawlId(*crawl),
            seq: Sequence(*seq),
        }),
        _ => Err(wrong()),
    }
}
