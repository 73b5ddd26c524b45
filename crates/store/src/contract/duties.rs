//! Duties: what servers do by themselves every so often, such as backups. One of them at a time is at a
//! duty: it takes it up for a while, holds on to it as long as it is at work, and says how it ended. When
//! it dies, another one may take it up after that while. When a duty is due is for others to say; time is
//! an argument.

use async_trait::async_trait;
use trawl_types::UnixMillis;

use super::StoreError;

/// A duty as it was last taken up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyRow {
    pub name: String,
    /// The server that is at it, or was when it died.
    pub holder: Option<String>,
    pub held_until: UnixMillis,
    pub begun_at: UnixMillis,
    /// Of the last run that came to an end.
    pub ended_at: Option<UnixMillis>,
    pub succeeded_at: Option<UnixMillis>,
    /// Of the last run that succeeded, in words.
    pub result: Option<String>,
    /// Of the last run that came to an end, if it failed.
    pub error: Option<String>,
}

/// Who takes up which duty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taking {
    pub name: String,
    pub holder: String,
    /// When the run was begun after which the duty was found to be due; nothing if there was none. Whoever
    /// sees another one comes too late.
    pub seen: Option<UnixMillis>,
    pub now: UnixMillis,
    /// Others may take it up then.
    pub until: UnixMillis,
}

#[async_trait]
pub trait Duties: Send + Sync + std::fmt::Debug {
    /// Those that were ever taken up, by name.
    async fn duties(&self) -> Result<Vec<DutyRow>, StoreError>;
    /// False if somebody else is at it, or was since.
    async fn take_duty(&self, taking: Taking) -> Result<bool, StoreError>;
    /// False if somebody else has taken it up.
    async fn hold_duty(
        &self,
        name: &str,
        holder: &str,
        until: UnixMillis,
    ) -> Result<bool, StoreError>;
    /// How it ended: what was done, or why it was not. False if somebody else has taken it up.
    async fn end_duty(
        &self,
        name: &str,
        holder: &str,
        ended: Result<String, String>,
        now: UnixMillis,
    ) -> Result<bool, StoreError>;
}
