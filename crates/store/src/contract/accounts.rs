//! People who may use a server, and how they log in.

use std::sync::Arc;

use async_trait::async_trait;
use trawl_types::UnixMillis;

use super::{StoreError, jobs::KeyRow};

/// A person as they are kept.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRow {
    pub id: String,
    /// Lower case, known once.
    pub name: String,
    /// A PHC string; never shown.
    pub password: String,
    pub role: String,
    pub created_at: UnixMillis,
    pub password_changed_at: UnixMillis,
    pub disabled_at: Option<UnixMillis>,
}

impl std::fmt::Debug for UserRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRow")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("role", &self.role)
            .field("disabled_at", &self.disabled_at)
            .finish_non_exhaustive()
    }
}

/// A login that has not been ended; whether it is still good depends on the time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// SHA-256 of the token.
    pub hash: Vec<u8>,
    pub user: UserRow,
    pub created_at: UnixMillis,
    pub last_seen_at: UnixMillis,
    pub expires_at: UnixMillis,
}

/// How often somebody failed to log in, and when last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    pub count: u32,
    pub last_at: UnixMillis,
}

impl Failures {
    pub const NONE: Self = Self {
        count: 0,
        last_at: UnixMillis(0),
    };
}

/// What a server asks about people at every request.
#[async_trait]
pub trait AccountStore: Send + Sync + std::fmt::Debug {
    async fn users(&self) -> Result<Vec<UserRow>, StoreError>;
    async fn user_by_name(&self, name: &str) -> Result<Option<UserRow>, StoreError>;
    async fn session(&self, hash: &[u8]) -> Result<Option<SessionRow>, StoreError>;
}

/// What becomes of the bad logins of a subject (by its place among those who are charged) if there is one
/// more: how many to keep, or how many seconds to wait.
pub type Judge = Arc<dyn Fn(usize, Failures) -> Result<Failures, u64> + Send + Sync>;

/// Keys, users and sessions are changed by it, also while servers run: by servers themselves and by
/// whoever administers them. Every change is one transaction.
#[async_trait]
pub trait AccountWriter: Send + Sync + std::fmt::Debug {
    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError>;
    async fn add_key(&self, key: &KeyRow) -> Result<(), StoreError>;
    /// Adds a key unless there is a key or a user: of several who try at once, one does.
    async fn add_first_key(&self, key: &KeyRow) -> Result<bool, StoreError>;
    /// False if there is no such key, or it was revoked before.
    async fn revoke_key(&self, id: &str, now: UnixMillis) -> Result<bool, StoreError>;

    async fn users(&self) -> Result<Vec<UserRow>, StoreError>;
    /// False if the name is taken.
    async fn add_user(&self, user: &UserRow) -> Result<bool, StoreError>;
    /// Changes a password and ends all sessions of the user. False if there is no such user.
    async fn set_password(
        &self,
        name: &str,
        password: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError>;
    /// Locks a user out (or in again) and ends all their sessions. False if there is none.
    async fn set_disabled(
        &self,
        name: &str,
        disabled_at: Option<UnixMillis>,
    ) -> Result<bool, StoreError>;
    /// Forgets a user; their jobs stay. False if there is no such user.
    async fn delete_user(&self, name: &str) -> Result<bool, StoreError>;

    /// Records a session. Fails to, and says so, where the user is gone, disabled or has another
    /// password than the one the session was begun with.
    async fn add_session(&self, session: &SessionRow) -> Result<bool, StoreError>;
    async fn touch_session(&self, hash: &[u8], now: UnixMillis) -> Result<(), StoreError>;
    async fn end_session(&self, hash: &[u8]) -> Result<bool, StoreError>;
    /// Removes what no longer means anything: sessions that are over, bad logins of long ago.
    async fn remove_old(
        &self,
        sessions_expired_by: UnixMillis,
        idle_since: UnixMillis,
        failures_before: UnixMillis,
    ) -> Result<(), StoreError>;

    /// Counts a login as failed before its password is looked at, so that many at once count as
    /// many, unless `judge` says that one of the subjects has to wait: for how many seconds.
    async fn charge(
        &self,
        subjects: &[&str],
        now: UnixMillis,
        judge: Judge,
    ) -> Result<Result<(), u64>, StoreError>;
    /// A login was good after all: `forgiven` begins anew, `refunded` gets its one attempt back.
    async fn discharge(&self, forgiven: &str, refunded: &str) -> Result<(), StoreError>;
}
