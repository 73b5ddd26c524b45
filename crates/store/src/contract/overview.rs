//! Questions across crawls: pages, hosts, figures over time; and what administrators clean up.

use std::collections::BTreeMap;

use async_trait::async_trait;
use trawl_types::{CrawlId, HostId, OutcomeKind, PageRecord, Sequence, UnixMillis};

use super::{
    StoreError,
    queue::{ByScore, Listed, QueueCursor, QueueFilter, QueuedUrl},
};

/// Whose crawls are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// All, those without a job too.
    Everybody,
    /// Those of jobs of these owners.
    Owners(Vec<String>),
}

/// Which visits are wanted. Newest first; those of one host in a fixed order that is not time.
#[derive(Debug, Clone)]
pub struct PageFilter {
    pub whose: Whose,
    pub crawl: Option<CrawlId>,
    /// As `HostKey::as_str` gives it.
    pub host: Option<String>,
    /// Empty for all.
    pub outcomes: Vec<OutcomeKind>,
    pub status: Option<(u16, u16)>,
    pub depth: Option<(u32, u32)>,
    pub from: Option<UnixMillis>,
    pub to: Option<UnixMillis>,
    /// The beginning of the content type.
    pub content_type: Option<String>,
    /// Only copies, or only originals.
    pub duplicate: Option<bool>,
    /// In URL or title, in any case.
    pub text: Option<String>,
    pub after: Option<PageCursor>,
    pub limit: u32,
}

/// A place in a list of visits: of one host, `key` is the place of the page among its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCursor {
    pub key: Option<i64>,
    pub crawl: CrawlId,
    pub seq: Sequence,
}

/// A visit with the crawl it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPage {
    pub crawl: CrawlId,
    pub job: Option<String>,
    pub record: PageRecord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostOrder {
    #[default]
    Name,
    /// Most first, as all below.
    Pages,
    Errors,
    LastCrawled,
}

#[derive(Debug, Clone)]
pub struct HostFilter {
    pub whose: Whose,
    /// Only this one.
    pub name: Option<String>,
    /// Only those that a crawl under way has given up, or has not.
    pub suspended: Option<bool>,
    pub order: HostOrder,
    pub after: Option<HostCursor>,
    pub limit: u32,
}

/// The last host of a list, and the figure it was sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCursor {
    pub figure: i64,
    pub name: String,
}

/// A host over all crawls that are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOverview {
    pub id: HostId,
    pub name: String,
    pub pages: u64,
    pub errors: u64,
    pub bytes: u64,
    pub crawls: u64,
    /// The end of the last visit.
    pub last_crawled: Option<UnixMillis>,
    /// The delay in force when it was last noted.
    pub delay_ms: u64,
    /// Not to be asked before.
    pub next_allowed: UnixMillis,
    /// In a row.
    pub failures: u32,
    pub suspended: bool,
}

/// All crawls that are looked at, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    pub crawls: u64,
    pub discovered: u64,
    pub pending: u64,
    pub refused: u64,
    pub visits: u64,
    pub pages: u64,
    pub bytes: u64,
    pub duplicates: u64,
    pub hosts: u64,
    pub outcomes: BTreeMap<OutcomeKind, u64>,
}

/// A window of time, cut into equal buckets.
#[derive(Debug, Clone)]
pub struct Window {
    pub whose: Whose,
    pub crawl: Option<CrawlId>,
    pub from: UnixMillis,
    /// Not included.
    pub to: UnixMillis,
    /// Whole minutes.
    pub bucket_minutes: u32,
}

/// What happened in one bucket; buckets in which nothing did are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    pub start: UnixMillis,
    pub bytes: u64,
    pub outcomes: BTreeMap<OutcomeKind, u64>,
}

/// Visits to be forgotten. Crawls under way are left alone, but for those that never complete; so
/// are maps, whose graph is their product.
#[derive(Debug, Clone, Default)]
pub struct Purge {
    pub crawl: Option<CrawlId>,
    pub host: Option<String>,
    pub before: Option<UnixMillis>,
    /// Only visits that ended in one of these; empty for all.
    pub outcomes: Vec<OutcomeKind>,
    /// Only visits of pages that a later crawl has visited again.
    pub superseded: bool,
    /// Only visits that have been archived.
    pub archived: bool,
    /// Only count.
    pub dry_run: bool,
}

/// What was forgotten, or would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    pub visits: u64,
    pub bytes: u64,
    /// Crawls under way, which were not looked at.
    pub skipped_crawls: u64,
}

/// What was removed from disk. Where bodies lie in the database itself, nothing has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    pub segments: u64,
    pub bytes: u64,
}

/// What a server asks of a store across crawls.
#[async_trait]
pub trait Overview: Send + Sync + std::fmt::Debug {
    async fn pages(&self, filter: PageFilter) -> Result<Listed<FoundPage, PageCursor>, StoreError>;
    async fn hosts(
        &self,
        filter: HostFilter,
    ) -> Result<Listed<HostOverview, HostCursor>, StoreError>;
    async fn totals(&self, whose: Whose) -> Result<Totals, StoreError>;
    /// In the order of time.
    async fn activity(&self, window: Window) -> Result<Vec<Bucket>, StoreError>;
    async fn queue(
        &self,
        crawl: CrawlId,
        filter: QueueFilter,
    ) -> Result<Listed<QueuedUrl, QueueCursor>, StoreError>;
    /// Pending URLs with a score of at least `high`, of at least `medium`, and the others.
    async fn pending_by_score(
        &self,
        crawl: CrawlId,
        high: u8,
        medium: u8,
    ) -> Result<ByScore, StoreError>;
    /// Crawls under way that have admitted URLs of a host.
    async fn crawls_on_host(&self, host: &str) -> Result<Vec<CrawlId>, StoreError>;
    /// Forgets failures of a host and waits that came of them; gives its id, if it is known.
    async fn forgive(&self, host: &str) -> Result<Option<HostId>, StoreError>;
    /// The result log keeps its numbers: what is left is found by every cursor as before.
    async fn purge(&self, purge: Purge) -> Result<Purged, StoreError>;
    /// Removes files that no visit refers to. May be ended at any moment and done again.
    async fn sweep(&self) -> Result<Swept, StoreError>;
}
