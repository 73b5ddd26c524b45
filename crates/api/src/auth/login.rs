//! A name and a password become a session. The answer to a bad login is the same, and takes as long,
//! whatever was wrong with it.

use std::time::Duration;

use trawl_store::{
    SqliteAccounts, StoreError,
    contract::accounts::{AccountStore, SessionRow, UserRow},
};
use trawl_types::UnixMillis;

use super::{
    client::Client,
    password::{Busy, check_choice},
    session,
    throttle::{BY_ADDRESS, BY_USER, FORGIVEN_AFTER, address_subject, user_subject},
};
use crate::{
    app::{App, Shared},
    error::{ApiError, Code},
    jobs::now,
};

const EVERY_HOUR: Duration = Duration::from_hours(1);

impl App {
    /// Begins a session; gives its token.
    pub(crate) async fn log_in(
        &self,
        client: &Client,
        name: &str,
        password: String,
    ) -> Result<(String, SessionRow), ApiError> {
        let name = name.trim().to_lowercase();
        let user = self.check_password(client, &name, password).await?;
        let (token, row) = session::make(user, &self.settings.access.sessions, now());
        let kept = row.clone();
        if !self.accounts(move |a| a.add_session(&kept)).await? {
            return Err(refused());
        }
        tracing::info!(user = row.user.name, address = %client.address, "logged in");
        Ok((token, row))
    }

    /// The user whose password this is. Counts as a bad login until it turns out to be none.
    async fn check_password(
        &self,
        client: &Client,
        name: &str,
        password: String,
    ) -> Result<UserRow, ApiError> {
        let subjects = (user_subject(name), address_subject(client.address));
        let (by_user, by_address) = subjects.clone();
        let at = now();
        let admitted = self
            .accounts(move |accounts| {
                let throttles = [BY_USER, BY_ADDRESS];
                accounts.charge(
                    &[by_user.as_str(), by_address.as_str()],
                    at,
                    |place, failures| throttles[place].admit(failures, at),
                )
            })
            .await?;
        if let Err(seconds) = admitted {
            tracing::warn!(address = %client.address, seconds, "logins have to wait");
            let message = format!("too many bad logins: wait {seconds} s");
            return Err(ApiError::new(Code::RateLimited, message).with_retry_after(seconds));
        }
        let user = self.store.user_by_name(name).await?;
        let kept = user.as_ref().map(|user| user.password.clone());
        let same = self.passwords.verify(password, kept).await.map_err(busy)?;
        match user {
            Some(user) if same && user.disabled_at.is_none() => {
                let (by_user, by_address) = subjects;
                self.accounts(move |a| a.discharge(&by_user, &by_address))
                    .await?;
                Ok(user)
            }
            _ => {
                tracing::warn!(address = %client.address, "a login was refused");
                Err(refused())
            }
        }
    }

    /// Changes one's own password, which ends all one's sessions.
    pub(crate) async fn change_password(
        &self,
        client: &Client,
        user: &UserRow,
        current: String,
        new: String,
    ) -> Result<(), ApiError> {
        check_choice(&user.name, &new).map_err(|why| ApiError::field("new_password", why))?;
        self.check_password(client, &user.name, current).await?;
        let hashed = self.passwords.hash(new).await.map_err(busy)?;
        let hashed = hashed.map_err(|why| ApiError::field("new_password", why))?;
        let name = user.name.clone();
        let changed = self
            .accounts(move |accounts| accounts.set_password(&name, &hashed, now()))
            .await?;
        if !changed {
            return Err(refused());
        }
        tracing::info!(user = user.name, "a password was changed");
        Ok(())
    }

    pub(crate) async fn log_out(&self, hash: Vec<u8>) -> Result<(), ApiError> {
        self.accounts(move |a| a.end_session(&hash)).await?;
        Ok(())
    }

    async fn accounts<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteAccounts) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let path = self.database.clone();
        let done = tokio::task::spawn_blocking(move || work(&mut SqliteAccounts::open(&path)?));
        match done.await {
            Ok(done) => Ok(done?),
            Err(_) => Err(StoreError::Stopped.into()),
        }
    }
}

fn refused() -> ApiError {
    ApiError::new(Code::AuthRequired, "user name or password is wrong")
}

fn busy(_: Busy) -> ApiError {
    ApiError::new(Code::Unavailable, "too many logins at once: try again").with_retry_after(5)
}

/// Removes sessions that are over and bad logins of long ago, at the start and every hour.
pub(crate) async fn remove_old(app: Shared) {
    loop {
        let at = now().0;
        let idle = at - app.settings.access.sessions.idle.as_millis() as i64;
        let removed = app
            .accounts(move |accounts| {
                let forgiven = UnixMillis(at - FORGIVEN_AFTER);
                accounts.remove_old(UnixMillis(at), UnixMillis(idle), forgiven)
            })
            .await;
        if let Err(error) = removed {
            tracing::warn!(?error, "old sessions could not be removed");
        }
        tokio::time::sleep(EVERY_HOUR).await;
    }
}
