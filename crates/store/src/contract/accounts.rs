//! People who may use a server, and how they log in.

use async_trait::async_trait;
use trawl_types::UnixMillis;

use super::StoreError;

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
