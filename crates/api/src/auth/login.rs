//! A name and a password become a session. The answer to a bad login is the same, and takes as long,
//! whatever was wrong with it.

use std::{sync::Arc, time::Duration};

use trawl_store::contract::accounts::{SessionRow, UserRow};
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
        if !self.accounts.add_session(&row).await? {
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
        let (by_user, by_address) = (user_subject(name), address_subject(client.address));
        let at = now();
        let throttles = [BY_USER, BY_ADDRESS];
        let judge = Arc::new(move |place: usize, failures| throttles[place].admit(failures, at));
        let subjects = [by_user.as_str(), by_address.as_str()];
        if let Err(seconds) = self.accounts.charge(&subjects, at, judge).await? {
            tracing::warn!(address = %client.address, seconds, "logins have to wait");
            let message = format!("too many bad logins: wait {seconds} s");
            return Err(ApiError::new(Code::RateLimited, message).with_retry_after(seconds));
        }
        let user = self.store.user_by_name(name).await?;
        let kept = user.as_ref().map(|user| user.password.clone());
        let same = self.passwords.verify(password, kept).await.map_err(busy)?;
        match user {
            Some(user) if same && user.disabled_at.is_none() => {
                self.accounts.discharge(&by_user, &by_address).await?;
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
        if !self
            .accounts
            .set_password(&user.name, &hashed, now())
            .await?
        {
            return Err(refused());
        }
        tracing::info!(user = user.name, "a password was changed");
        Ok(())
    }

    pub(crate) async fn log_out(&self, hash: Vec<u8>) -> Result<(), ApiError> {
        self.accounts.end_session(&hash).await?;
        Ok(())
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
        let forgiven = UnixMillis(at - FORGIVEN_AFTER);
        let removed = app
            .accounts
            .remove_old(UnixMillis(at), UnixMillis(idle), forgiven)
            .await;
        if let Err(error) = removed {
            tracing::warn!(%error, "old sessions could not be removed");
        }
        tokio::time::sleep(EVERY_HOUR).await;
    }
}
