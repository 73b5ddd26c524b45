//! Accounts of one file, written by a connection of their own for each change, on threads where waiting is
//! allowed. Works while a server has the file open.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use trawl_types::UnixMillis;

use super::{SqliteAccounts, SqliteKeys};
use crate::contract::{
    StoreError,
    accounts::{AccountWriter, Judge, SessionRow, UserRow},
    jobs::KeyRow,
};

/// Keys, users and sessions of a database, to be changed.
#[derive(Debug, Clone)]
pub struct SqliteAccountWriter {
    path: PathBuf,
}

impl SqliteAccountWriter {
    /// The database must be there when something is asked; one of an older format is brought up.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.path.clone();
        let done = tokio::task::spawn_blocking(move || work(&path)).await;
        done.unwrap_or(Err(StoreError::Stopped))
    }

    async fn accounts<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteAccounts) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.work(|path| work(&mut SqliteAccounts::open(path)?))
            .await
    }
}

#[async_trait]
impl AccountWriter for SqliteAccountWriter {
    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        self.work(|path| SqliteKeys::open(path)?.all()).await
    }

    async fn add_key(&self, key: &KeyRow) -> Result<(), StoreError> {
        let key = key.clone();
        self.work(move |path| SqliteKeys::open(path)?.add(&key))
            .await
    }

    async fn add_first_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let key = key.clone();
        self.work(move |path| SqliteKeys::open(path)?.add_first(&key))
            .await
    }

    async fn revoke_key(&self, id: &str, now: UnixMillis) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.work(move |path| SqliteKeys::open(path)?.revoke(&id, now))
            .await
    }

    async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        self.accounts(|accounts| accounts.users()).await
    }

    async fn add_user(&self, user: &UserRow) -> Result<bool, StoreError> {
        let user = user.clone();
        self.accounts(move |accounts| accounts.add_user(&user))
            .await
    }

    async fn set_password(
        &self,
        name: &str,
        password: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let (name, password) = (name.to_owned(), password.to_owned());
        self.accounts(move |accounts| accounts.set_password(&name, &password, now))
            .await
    }

    async fn set_disabled(
        &self,
        name: &str,
        disabled_at: Option<UnixMillis>,
    ) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.accounts(move |accounts| accounts.set_disabled(&name, disabled_at))
            .await
    }

    async fn delete_user(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.accounts(move |accounts| accounts.delete_user(&name))
            .await
    }

    async fn add_session(&self, session: &SessionRow) -> Result<bool, StoreError> {
        let session = session.clone();
        self.accounts(move |accounts| accounts.add_session(&session))
            .await
    }

    async fn touch_session(&self, hash: &[u8], now: UnixMillis) -> Result<(), StoreError> {
        let hash = hash.to_vec();
        self.accounts(move |accounts| accounts.touch_session(&hash, now))
            .await
    }

    async fn end_session(&self, hash: &[u8]) -> Result<bool, StoreError> {
        let hash = hash.to_vec();
        self.accounts(move |accounts| accounts.end_session(&hash))
            .await
    }

    async fn remove_old(
        &self,
        sessions_expired_by: UnixMillis,
        idle_since: UnixMillis,
        failures_before: UnixMillis,
    ) -> Result<(), StoreError> {
        self.accounts(move |accounts| {
            accounts.remove_old(sessions_expired_by, idle_since, failures_before)
        })
        .await
    }

    async fn charge(
        &self,
        subjects: &[&str],
        now: UnixMillis,
        judge: Judge,
    ) -> Result<Result<(), u64>, StoreError> {
        let subjects: Vec<String> = subjects.iter().map(|&subject| subject.to_owned()).collect();
        self.accounts(move |accounts| {
            let names: Vec<&str> = subjects.iter().map(String::as_str).collect();
            accounts.charge(&names, now, |place, failures| judge(place, failures))
        })
        .await
    }

    async fn discharge(&self, forgiven: &str, refunded: &str) -> Result<(), StoreError> {
        let (forgiven, refunded) = (forgiven.to_owned(), refunded.to_owned());
        self.accounts(move |accounts| accounts.discharge(&forgiven, &refunded))
            .await
    }
}
