//! Hosts, as all jobs that somebody may look at have seen them, and their robots.txt.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_rules::{RobotsFromStatus, RobotsRules, robots_for_status};
use trawl_store::contract::{
    overview::{HostCursor, HostFilter, HostOrder, HostOverview},
    write::StoredRobots,
};
use trawl_types::{CrawlId, HostKey, UnixMillis, spec::RobotsPolicy};
use utoipa::{IntoParams, ToSchema};

use super::{input, jobs::page_size};
use crate::{
    app::Shared,
    auth::{Identity, Reader},
    error::{ApiError, ErrorBody},
    jobs::now,
};

/// Bytes of a robots.txt that are shown.
const SHOWN_BYTES: usize = 500 * 1024;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DomainsQuery {
    /// name (the default), pages, errors or last_crawled; most first but for names.
    sort: Option<String>,
    /// Only hosts that a crawl under way has given up, or has not.
    suspended: Option<bool>,
    /// The `cursor` of the answer before, with the same filters.
    cursor: Option<String>,
    /// Hosts of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
}

/// A host.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "domain": "example.org", "pages_crawled": 420, "pages_failed": 3, "bytes": 8812, "crawls": 2,
    "last_crawled_at": "2025-01-15T10:30:00.000Z", "delay_ms": 1000, "next_allowed_at": null,
    "failures": 0, "suspended": false
}))]
pub(super) struct DomainView {
    domain: String,
    pages_crawled: u64,
    pages_failed: u64,
    bytes: u64,
    /// Crawls that have admitted URLs of it.
    crawls: u64,
    last_crawled_at: Option<String>,
    /// Between two requests, when it was last noted.
    delay_ms: u64,
    /// It is to be left alone until then.
    next_allowed_at: Option<String>,
    /// In a row.
    failures: u32,
    /// A crawl under way has given it up.
    suspended: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DomainList {
    domains: Vec<DomainView>,
    /// To be sent for what comes after these.
    cursor: Option<String>,
    has_more: bool,
}

impl DomainView {
    fn of(host: HostOverview, now: UnixMillis) -> Self {
        Self {
            domain: host.name,
            pages_crawled: host.pages,
            pages_failed: host.errors,
            bytes: host.bytes,
            crawls: host.crawls,
            last_crawled_at: host.last_crawled.map(UnixMillis::iso),
            delay_ms: host.delay_ms,
            next_allowed_at: (host.next_allowed > now).then(|| host.next_allowed.iso()),
            failures: host.failures,
            suspended: host.suspended,
        }
    }
}

/// A host as people write it: a name, perhaps with a port.
pub(super) fn host_name(text: &str) -> Result<String, ApiError> {
    let wrong = || ApiError::field("domain", "must be a host name such as example.org");
    if text.is_empty() || text.contains(['/', '?', '#', '@', '\\']) {
        return Err(wrong());
    }
    let url = url::Url::parse(&format!("http://{text}/")).map_err(|_| wrong())?;
    let host = HostKey::of(&url).ok_or_else(wrong)?;
    Ok(host.as_str().to_owned())
}

/// Hosts of one's jobs and of the open frontier; of all for administrators.
#[utoipa::path(get, path = "/domains", tag = "domains", params(DomainsQuery), responses(
    (status = 200, body = DomainList), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<DomainsQuery>,
) -> Result<Json<DomainList>, ApiError> {
    let order = match query.sort.as_deref() {
        None | Some("name") => HostOrder::Name,
        Some("pages") => HostOrder::Pages,
        Some("errors") => HostOrder::Errors,
        Some("last_crawled") => HostOrder::LastCrawled,
        Some(_) => {
            let problem = "must be name, pages, errors or last_crawled";
            return Err(ApiError::field("sort", problem));
        }
    };
    let filter = HostFilter {
        whose: identity.sees(),
        name: None,
        suspended: query.suspended,
        order,
        after: query.cursor.as_deref().map(cursor).transpose()?,
        limit: page_size(query.limit)?,
    };
    let listed = app.store.hosts(filter).await?;
    let now = now();
    let domains = listed
        .items
        .into_iter()
        .map(|host| DomainView::of(host, now));
    Ok(Json(DomainList {
        domains: domains.collect(),
        has_more: listed.next.is_some(),
        cursor: listed.next.map(|at| format!("{}.{}", at.figure, at.name)),
    }))
}

fn cursor(text: &str) -> Result<HostCursor, ApiError> {
    let wrong = || ApiError::field("cursor", "must be one that an answer gave");
    let (figure, name) = text.split_once('.').ok_or_else(wrong)?;
    Ok(HostCursor {
        figure: figure.parse().map_err(|_| wrong())?,
        name: name.to_owned(),
    })
}

async fn find(app: &Shared, identity: &Identity, text: &str) -> Result<HostOverview, ApiError> {
    let filter = HostFilter {
        whose: identity.sees(),
        name: Some(host_name(text)?),
        suspended: None,
        order: HostOrder::Name,
        after: None,
        limit: 1,
    };
    let mut listed = app.store.hosts(filter).await?;
    let found = listed.items.pop();
    found.ok_or_else(|| ApiError::not_found("no crawl of yours knows this domain"))
}

/// One host.
#[utoipa::path(get, path = "/domains/{domain}", tag = "domains", params(("domain" = String, Path)), responses(
    (status = 200, body = DomainView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(super) async fn get(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(domain): input::Path<String>,
) -> Result<Json<DomainView>, ApiError> {
    let host = find(&app, &identity, &domain).await?;
    Ok(Json(DomainView::of(host, now())))
}

/// A rule of robots.txt.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RobotsLine {
    line: u32,
    #[schema(example = "Disallow: /private/")]
    rule: String,
}

/// robots.txt of one scheme of a host, as it was read.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Robots {
    /// http or https.
    scheme: &'static str,
    /// HTTP status; 0 where no answer came.
    status: u16,
    fetched_at: String,
    /// It is read again after this.
    expires_at: String,
    /// What it means: rules (those below hold), allow_all or disallow_all.
    meaning: &'static str,
    /// The rules that hold for this crawler, by line.
    rules: Vec<RobotsLine>,
    crawl_delay_seconds: Option<f64>,
    sitemaps: Vec<String>,
    /// The file, as far as it was read.
    content: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DomainRobots {
    domain: String,
    /// The name that rules were looked up by.
    user_agent: String,
    /// Empty if it was not read yet.
    robots: Vec<Robots>,
}

/// What was read of a host's robots.txt, and what it means for this crawler.
#[utoipa::path(get, path = "/domains/{domain}/robots", tag = "domains", params(("domain" = String, Path)), responses(
    (status = 200, body = DomainRobots), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(super) async fn robots(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(domain): input::Path<String>,
) -> Result<Json<DomainRobots>, ApiError> {
    let host = find(&app, &identity, &domain).await?;
    let agent = app.settings.fetch.user_agent.robots_name().to_owned();
    // What is asked for is no crawl's alone.
    let stored = app.store.host_by_name(CrawlId(0), &host.name).await?;
    let robots = stored.map(|stored| stored.robots).unwrap_or_default();
    Ok(Json(DomainRobots {
        domain: host.name,
        robots: robots.iter().map(|file| read(file, &agent)).collect(),
        user_agent: agent,
    }))
}

fn read(stored: &StoredRobots, agent: &str) -> Robots {
    const DAY_MS: i64 = 24 * 3_600_000;
    let means = robots_for_status(stored.status, RobotsPolicy::Strict);
    let (meaning, rules) = match means {
        RobotsFromStatus::Parse => ("rules", RobotsRules::parse(&stored.body, agent)),
        RobotsFromStatus::DisallowAll => ("disallow_all", RobotsRules::allow_all()),
        RobotsFromStatus::AllowAll | RobotsFromStatus::Redirect => {
            ("allow_all", RobotsRules::allow_all())
        }
    };
    let lines = rules.lines().into_iter();
    // Without an answer, the body says what went wrong.
    let body = if stored.is_failure() {
        &[]
    } else {
        &stored.body[..stored.body.len().min(SHOWN_BYTES)]
    };
    Robots {
        scheme: stored.scheme.as_str(),
        status: stored.status,
        fetched_at: stored.fetched_at.iso(),
        expires_at: UnixMillis(stored.fetched_at.0 + DAY_MS).iso(),
        meaning,
        rules: lines
            .map(|(line, rule)| RobotsLine { line, rule })
            .collect(),
        crawl_delay_seconds: rules.crawl_delay().map(|delay| delay.as_secs_f64()),
        sitemaps: rules.sitemaps().to_vec(),
        content: String::from_utf8_lossy(body).into_owned(),
    }
}
