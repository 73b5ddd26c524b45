//! The summary of a run (003 §9.3) as one value, and as Markdown and JSON. The figures add up: every
//! total is the sum of the rows it stands above.

mod gather;
mod markdown;
#[cfg(test)]
mod tests;

pub(crate) use gather::read as read_with_atlas;
pub(crate) use markdown::depth_span;
use serde::Serialize;
use trawl_types::{
    CrawlId, UnixMillis,
    terrain::{RunStatus, TerrainState},
};

use crate::source::{TerrainSource, ViewError};

/// How many URLs the tables of blacklisted and stubbed URLs show.
pub const TOP_URLS: usize = 20;

/// Everything that the summary of a run says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub run: RunFacts,
    pub overall: Overall,
    /// One row for each depth from 0 to the greatest.
    pub depths: Vec<DepthRow>,
    /// Pages by their state; states without pages are left out.
    pub states: Vec<StateRow>,
    /// Most pages first.
    pub quality_domains: Vec<DomainRow>,
    /// Discovered domains, most pages first.
    pub other_domains: Vec<DomainRow>,
    pub blacklisted: TopUrls,
    pub stubbed: TopUrls,
    pub errors: Vec<ErrorRow>,
    pub rate_limited: Vec<RateLimitedRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunFacts {
    pub id: CrawlId,
    pub started_at: UnixMillis,
    pub finished_at: Option<UnixMillis>,
    /// Until the end or, for a run without one, until its last visit.
    pub duration_ms: i64,
    pub status: RunStatus,
    pub config_hash: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Overall {
    /// In state `Processed`.
    pub pages_crawled: u64,
    /// Quality and discovered domains: all that are in no list of what to leave alone.
    pub domains: u64,
    pub links: u64,
    pub blacklisted_urls: u64,
    pub stubbed_urls: u64,
    pub errors: u64,
    /// In whatever state.
    pub pages_known: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DepthRow {
    pub depth: u32,
    pub pages: u64,
    /// Domains with no page nearer than this.
    pub new_domains: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateRow {
    pub state: TerrainState,
    pub pages: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DomainRow {
    pub domain: String,
    pub pages: u64,
    pub pages_known: u64,
    pub least_depth: u32,
    pub greatest_depth: u32,
    pub requests: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TopUrls {
    pub total: u64,
    pub top: Vec<UrlRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UrlRow {
    pub url: String,
    pub references: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorRow {
    pub error: ErrorKind,
    pub count: u64,
}

/// The rows of the error table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    DeadLink,
    RateLimited,
    ConnectionRefused,
    Timeout,
    RobotsDenied,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RateLimitedRow {
    pub domain: String,
    /// The request that was answered with 429.
    pub request: u64,
}

impl ErrorKind {
    pub(crate) const ALL: [Self; 6] = [
        Self::DeadLink,
        Self::RateLimited,
        Self::ConnectionRefused,
        Self::Timeout,
        Self::RobotsDenied,
        Self::Other,
    ];

    /// Its name in the document.
    pub fn title(self) -> &'static str {
        match self {
            Self::DeadLink => "Dead Links (404)",
            Self::RateLimited => "Rate Limited (429)",
            Self::ConnectionRefused => "Connection Refused",
            Self::Timeout => "Timeout",
            Self::RobotsDenied => "Robots Denied",
            Self::Other => "Other",
        }
    }
}

impl Summary {
    /// Reads pages and edges of a run once.
    pub fn read<S: TerrainSource>(source: &S, run: CrawlId) -> Result<Self, ViewError<S::Error>> {
        gather::read(source, run, |_, _| {}).map(|(summary, _)| summary)
    }

    /// As 003 §9.3 shows it.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    /// Everything, also what Markdown leaves out.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// The status of a run as a title.
pub(crate) fn status_title(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "Running",
        RunStatus::Completed => "Completed",
        RunStatus::Interrupted => "Interrupted",
    }
}
