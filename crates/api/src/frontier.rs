//! The open frontier: the standing crawl `default`, a job like others but for its end, which never
//! comes. It is made when it is first used; after a restart it goes on by itself, as jobs do.

use trawl_engine::CrawlControl;
use trawl_store::contract::{
    jobs::{JobRow, NewJob},
    overview::Whose,
};
use trawl_types::{
    CrawlSpec, CrawlState,
    spec::{
        ContentSpec, HostScope, KeepSpec, MAX_SCORE, Order, Politeness, Priority, ScopeSpec,
        StrategySpec,
    },
};
use uuid::Uuid;

use crate::{
    app::{App, Shared},
    auth::{Identity, Onlooker},
    error::{ApiError, Code},
    jobs::Jobs,
};

/// Whose job it is: nobody's.
const OWNER: &str = "frontier";
const NAME: &str = "default";
pub(crate) const KIND: &str = "frontier";

/// How soon a URL comes up (004 §5), as ranges of its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    High,
    Medium,
    Low,
}

/// Scores from here on are high, and from here on medium.
pub(crate) const HIGH: u8 = 192;
pub(crate) const MEDIUM: u8 = 96;

impl Urgency {
    pub(crate) fn parse(field: &str, text: &str) -> Result<Self, ApiError> {
        match text {
            "high" => Ok(Self::High),
            "medium" | "normal" => Ok(Self::Medium),
            "low" => Ok(Self::Low),
            _ => Err(ApiError::field(field, "must be high, medium or low")),
        }
    }

    pub(crate) fn of(score: u8) -> Self {
        match score {
            HIGH.. => Self::High,
            MEDIUM.. => Self::Medium,
            _ => Self::Low,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// The score of a URL that is added so.
    pub(crate) fn score(self) -> u8 {
        match self {
            Self::High => 240,
            Self::Medium => 144,
            Self::Low => 48,
        }
    }

    pub(crate) fn scores(self) -> (u8, u8) {
        match self {
            Self::High => (HIGH, MAX_SCORE),
            Self::Medium => (MEDIUM, HIGH - 1),
            Self::Low => (0, MEDIUM - 1),
        }
    }
}

impl Identity {
    /// Whose crawls somebody may look at: one's own and the open frontier.
    pub(crate) fn sees(&self) -> Whose {
        if self.is_admin() {
            return Whose::Everybody;
        }
        Whose::Owners(vec![self.owner.clone(), OWNER.into()])
    }
}

impl Onlooker {
    pub(crate) fn sees(&self) -> Whose {
        match &self.owner {
            Some(owner) => Whose::Owners(vec![owner.clone(), OWNER.into()]),
            None => Whose::Everybody,
        }
    }
}

impl App {
    pub(crate) async fn frontier_row(&self) -> Result<Option<JobRow>, ApiError> {
        Ok(self.store.job_by_idempotency(OWNER, NAME).await?)
    }

    /// The frontier, so that it can be added to: made if need be, taken up again if it failed.
    pub(crate) async fn frontier(self: &Shared) -> Result<CrawlControl, ApiError> {
        let row = match self.frontier_row().await? {
            Some(row) => row,
            None => self.make_frontier().await?,
        };
        if let Some(control) = self.jobs.control(&row.id) {
            return Ok(control);
        }
        if row.crawl.state == CrawlState::Paused {
            let message = format!(
                "the open frontier is paused: resume it with POST /jobs/{}/resume",
                row.id
            );
            return Err(ApiError::new(Code::Conflict, message));
        }
        let row = self.resume_job(&row).await?;
        let control = self.jobs.control(&row.id);
        control.ok_or_else(|| ApiError::new(Code::Unavailable, "the frontier has not started yet"))
    }

    async fn make_frontier(self: &Shared) -> Result<JobRow, ApiError> {
        let id = Uuid::new_v4().to_string();
        let job = NewJob {
            id: id.clone(),
            owner: OWNER.into(),
            kind: KIND.into(),
            request: "{}".into(),
            idempotency: Some(NAME.into()),
        };
        let made = self
            .engine
            .crawl_for(self.frontier_spec(), NAME, Some(job))
            .await;
        match made {
            Ok(handle) => {
                Jobs::adopt(self, &id, handle);
            }
            // Two first uses at once: one makes it.
            Err(error) => {
                return match self.frontier_row().await? {
                    Some(row) => Ok(row),
                    None => Err(error.into()),
                };
            }
        }
        let row = self.frontier_row().await?;
        row.ok_or_else(|| ApiError::not_found("the frontier is gone"))
    }

    fn frontier_spec(&self) -> CrawlSpec {
        let delay = self.settings.delay.as_millis() as u64;
        CrawlSpec {
            standing: true,
            priority: Priority::Low,
            scope: ScopeSpec {
                hosts: HostScope::Anywhere,
                max_depth: Some(self.settings.limits.frontier_depth),
                ..ScopeSpec::default()
            },
            strategy: StrategySpec {
                order: Order::BestFirst,
                ..StrategySpec::default()
            },
            politeness: Politeness {
                delay_ms: delay,
                concurrency: 50,
                per_host: if delay == 0 { 10 } else { 1 },
                ..Politeness::default()
            },
            fetch: self.settings.fetch.clone(),
            keep: KeepSpec {
                markdown: true,
                ..KeepSpec::default()
            },
            content: ContentSpec {
                max_content_bytes: self.settings.limits.content_bytes,
                ..ContentSpec::default()
            },
            ..CrawlSpec::default()
        }
    }
}
