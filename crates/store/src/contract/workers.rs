//! The processes that crawl from one store, as far as others may want to know of them.

use async_trait::async_trait;
use trawl_types::UnixMillis;

use super::StoreError;

/// A process that crawls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Unique, made anew with each start.
    pub id: String,
    /// The machine it runs on.
    pub host: String,
    pub version: String,
    pub started_at: UnixMillis,
    pub heartbeat_at: UnixMillis,
    /// What it does, as JSON.
    pub doing: String,
}

/// What was put right about hosts on loan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Loans that were over and whose borrowers have not been heard of since.
    pub loans: u64,
    /// Hosts that rested although something waits there.
    pub woken: u64,
}

/// Who crawls. A store that one process has to itself needs none.
#[async_trait]
pub trait WorkerRegistry: Send + Sync + std::fmt::Debug {
    /// Makes a worker known, or replaces what is known of it.
    async fn register_worker(&self, worker: WorkerRow) -> Result<(), StoreError>;
    /// A sign of life. False if the worker is not known (any more): it should register again.
    async fn beat(&self, id: &str, doing: &str, now: UnixMillis) -> Result<bool, StoreError>;
    /// In order of their start.
    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError>;
    /// Forgets a worker. Its loans end by themselves.
    async fn remove_worker(&self, id: &str) -> Result<bool, StoreError>;
    /// Takes note of loans that are over, and wakes hosts that rest by mistake: a process may have died
    /// before it could. No loan is ended before its time, because its borrower may be alive and only
    /// not be heard.
    async fn recover_loans(&self) -> Result<Recovered, StoreError>;
}
