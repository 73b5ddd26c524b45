//! What may be asked for, and the spec it means.

use serde::{Deserialize, Serialize};
use trawl_rules::Normaliser;
use trawl_types::{
    CrawlSpec,
    spec::{
        ContentSpec, FetchSpec, HostScope, KeepSpec, MAX_SCORE, Order, Politeness, Priority,
        RobotsPolicy, ScopeSpec, StrategySpec,
    },
};
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    error::{ApiError, Code},
};

/// How results are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResultMode {
    /// Figures only.
    #[default]
    Stats,
    /// Figures and the URLs that were found.
    Urls,
    /// Figures and pages, in one answer.
    Pages,
    /// Pages as they are crawled, figures last.
    Stream,
    /// A job whose results are read later.
    Store,
}

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpiderQuery {
    #[serde(default)]
    #[param(inline)]
    pub(crate) result_mode: ResultMode,
    /// Fields of a page to send, separated by commas.
    #[param(example = "title,links")]
    pub(crate) include: Option<String>,
    /// Fields of a page to leave out.
    pub(crate) exclude: Option<String>,
    /// Pages of one answer (1000 if left out, at most 10,000).
    pub(crate) max_pages: Option<u64>,
}

/// A crawl to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "seed_urls": ["https://example.org/"], "max_depth": 2, "max_pages": 100 }))]
pub(crate) struct SpiderBody {
    /// Where to start.
    pub(crate) seed_urls: Vec<String>,
    /// Links away from the start; no limit if left out.
    pub(crate) max_depth: Option<u32>,
    /// Pages in all (1000 if left out).
    pub(crate) max_pages: Option<u64>,
    /// `breadth_first`, `depth_first` or `best_first`.
    pub(crate) strategy: Option<String>,
    /// What best_first looks for; it needs at least one.
    pub(crate) keywords: Vec<String>,
    /// 0 to 1: links that score less are not followed.
    pub(crate) score_threshold: Option<f64>,
    /// high, normal (the default) or low: its share where several crawls want to go on.
    pub(crate) priority: Option<String>,
    /// Give up on a page after this long, 1 to 600.
    pub(crate) timeout_seconds: Option<u64>,
    /// Requests at once, 1 to 100.
    pub(crate) concurrency: Option<u32>,
    /// Obey robots.txt (the default). Only administrators may say no.
    pub(crate) respect_robots: Option<bool>,
    /// true: the seeds' registrable domains; false: the whole web; left out: the seeds' hosts.
    pub(crate) same_domain_only: Option<bool>,
    /// Milliseconds between two requests to one host; not less than the server's own.
    pub(crate) delay_ms: Option<u64>,
    /// Only URLs that match: globs, or `regex:` and an expression.
    pub(crate) include_patterns: Vec<String>,
    /// No URLs that match.
    pub(crate) exclude_patterns: Vec<String>,
}

/// Pages of a crawl that does not say how many.
pub(crate) const DEFAULT_PAGES: u64 = 1_000;

impl SpiderBody {
    pub(crate) fn to_spec(
        &self,
        app: &App,
        keep: KeepSpec,
        is_admin: bool,
    ) -> Result<CrawlSpec, ApiError> {
        if self.seed_urls.is_empty() {
            return Err(ApiError::field("seed_urls", "give at least one URL"));
        }
        let order = order("strategy", self.strategy.as_deref())?;
        if order == Order::BestFirst && self.keywords.is_empty() {
            let problem = "best_first needs at least one to look for";
            return Err(ApiError::field("keywords", problem));
        }
        let spec = CrawlSpec {
            seeds: self.seed_urls.clone(),
            scope: self.scope(),
            strategy: StrategySpec {
                order,
                keywords: self.keywords.clone(),
                min_score: min_score(self.score_threshold)?,
            },
            priority: priority(self.priority.as_deref())?,
            politeness: self.politeness(app, is_admin)?,
            fetch: self.fetch(app)?,
            keep,
            content: ContentSpec {
                max_content_bytes: app.settings.limits.content_bytes,
                ..ContentSpec::default()
            },
            ..CrawlSpec::default()
        };
        check_seeds(app, &spec)?;
        Ok(spec)
    }

    fn scope(&self) -> ScopeSpec {
        ScopeSpec {
            hosts: match self.same_domain_only {
                None => HostScope::SameHost,
                Some(true) => HostScope::SameSite,
                Some(false) => HostScope::Anywhere,
            },
            max_depth: self.max_depth,
            max_pages: Some(self.max_pages.unwrap_or(DEFAULT_PAGES)),
            include: self.include_patterns.clone(),
            exclude: self.exclude_patterns.clone(),
            ..ScopeSpec::default()
        }
    }

    fn politeness(&self, app: &App, is_admin: bool) -> Result<Politeness, ApiError> {
        let ignore = self.respect_robots == Some(false);
        if ignore && !is_admin {
            let message = "respect_robots: only administrators may ignore robots.txt";
            return Err(ApiError::new(Code::Forbidden, message));
        }
        let concurrency = self.concurrency.unwrap_or(10);
        if !(1..=100).contains(&concurrency) {
            return Err(ApiError::field(
                "concurrency",
                format!("{concurrency} is not between 1 and 100"),
            ));
        }
        let least = app.settings.delay.as_millis() as u64;
        let delay_ms = self.delay_ms.unwrap_or(least).max(least);
        Ok(Politeness {
            delay_ms,
            concurrency,
            per_host: if delay_ms == 0 { concurrency } else { 1 },
            robots: if ignore {
                RobotsPolicy::Ignore
            } else {
                RobotsPolicy::Strict
            },
            ..Politeness::default()
        })
    }

    fn fetch(&self, app: &App) -> Result<FetchSpec, ApiError> {
        let mut fetch = app.settings.fetch.clone();
        if let Some(seconds) = self.timeout_seconds {
            if !(1..=600).contains(&seconds) {
                return Err(ApiError::field(
                    "timeout_seconds",
                    format!("{seconds} is not between 1 and 600"),
                ));
            }
            let total = seconds * 1000;
            fetch.total_timeout_ms = total;
            fetch.connect_timeout_ms = fetch.connect_timeout_ms.min(total);
            fetch.headers_timeout_ms = fetch.headers_timeout_ms.min(total);
            fetch.idle_timeout_ms = fetch.idle_timeout_ms.min(total);
        }
        Ok(fetch)
    }
}

pub(crate) fn priority(text: Option<&str>) -> Result<Priority, ApiError> {
    match text {
        None | Some("normal") => Ok(Priority::Normal),
        Some("high") => Ok(Priority::High),
        Some("low") => Ok(Priority::Low),
        Some(_) => Err(ApiError::field("priority", "must be high, normal or low")),
    }
}

fn min_score(threshold: Option<f64>) -> Result<u8, ApiError> {
    match threshold {
        None => Ok(0),
        Some(share) if (0.0..=1.0).contains(&share) => {
            Ok((share * f64::from(MAX_SCORE)).ceil() as u8)
        }
        Some(_) => Err(ApiError::field("score_threshold", "is not between 0 and 1")),
    }
}

pub(crate) fn order(field: &str, text: Option<&str>) -> Result<Order, ApiError> {
    match text.map(str::to_lowercase).as_deref() {
        None | Some("breadth_first" | "bfs") => Ok(Order::BreadthFirst),
        Some("depth_first" | "dfs") => Ok(Order::DepthFirst),
        Some("best_first") => Ok(Order::BestFirst),
        Some(_) => Err(ApiError::field(
            field,
            "must be breadth_first (bfs), depth_first (dfs) or best_first",
        )),
    }
}

/// A seed that nobody may crawl is the asker's mistake, to be said at once.
pub(crate) fn check_seeds(app: &App, spec: &CrawlSpec) -> Result<(), ApiError> {
    let normaliser = Normaliser::new(&spec.normalise, app.store.key_secret());
    for seed in &spec.seeds {
        normaliser
            .seed(seed)
            .map_err(|reason| ApiError::refused_url(seed, &reason))?;
    }
    let plan = app.engine.plan(spec.clone())?;
    for seed in &spec.seeds {
        plan.check_seed(seed)
            .map_err(|reason| ApiError::refused_url(seed, &reason))?;
    }
    Ok(())
}
