//! Jobs and keys: what a server keeps besides crawls.

use async_trait::async_trait;
use trawl_types::{CrawlState, UnixMillis};

use super::{
    StoreError,
    read::{CrawlCounts, CrawlRow},
};

/// A job to be recorded together with its crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    pub id: String,
    /// Id of the key that asked for it.
    pub owner: String,
    pub kind: String,
    /// JSON, as it was asked for.
    pub request: String,
    /// The same text from the same owner is the same job.
    pub idempotency: Option<String>,
}

/// A job with its crawl.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    pub id: String,
    pub owner: String,
    pub kind: String,
    pub request: String,
    pub created_at: UnixMillis,
    pub crawl: CrawlRow,
    pub counts: CrawlCounts,
}

/// Which jobs are wanted; newest first.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// Only those of one owner.
    pub owner: Option<String>,
    /// Only those in one of these states; empty for all.
    pub states: Vec<CrawlState>,
    /// Only those that ended before this.
    pub ended_before: Option<UnixMillis>,
    pub offset: u32,
    pub limit: u32,
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    pub id: String,
    pub name: String,
    /// SHA-256 of the secret.
    pub hash: Vec<u8>,
    pub scope: String,
    pub per_minute: Option<u32>,
    pub created_at: UnixMillis,
    pub expires_at: Option<UnixMillis>,
    pub revoked_at: Option<UnixMillis>,
}

/// What a server asks of a store besides crawls.
#[async_trait]
pub trait JobStore: Send + Sync + std::fmt::Debug {
    async fn job(&self, id: &str) -> Result<Option<JobRow>, StoreError>;
    /// The job that an owner has asked for under this text before.
    async fn job_by_idempotency(
        &self,
        owner: &str,
        idempotency: &str,
    ) -> Result<Option<JobRow>, StoreError>;
    /// One page of a list, and how many there are in all.
    async fn jobs(&self, filter: JobFilter) -> Result<(Vec<JobRow>, u64), StoreError>;
    /// Removes a job with everything that only its crawl knew. The crawl must have ended.
    async fn delete_job(&self, id: &str) -> Result<bool, StoreError>;

    async fn key(&self, id: &str) -> Result<Option<KeyRow>, StoreError>;
    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError>;
}
