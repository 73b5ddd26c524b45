//! Who may do what. A key or the session of a user says who asks; scope or role say what they may do.
//! Where authentication is switched off, everybody is an administrator.
//!
//! * [`key`]: how keys are made, written and compared
//! * [`password`]: how passwords are hashed and compared
//! * `session`: tokens, cookies and when sessions end
//! * [`throttle`]: how long one waits after bad logins
//! * `login`: a name and a password become a session
//! * `client`: where a request comes from, and whether a page of another site sent it
//! * `identify`: what happens to every request

pub(crate) mod client;
pub(crate) mod identify;
pub mod key;
pub(crate) mod login;
pub mod password;
pub(crate) mod session;
pub mod throttle;

use axum::{extract::FromRequestParts, http::request::Parts};
use trawl_store::contract::{
    accounts::{SessionRow, UserRow},
    jobs::KeyRow,
};
use trawl_types::UnixMillis;

use crate::{
    app::Shared,
    error::{ApiError, Code},
    settings::{Anonymous, Rates},
};
use key::Scope;

/// What a user is. A user has jobs of their own; an administrator may do everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Admin,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Admin => "admin",
        }
    }

    pub(crate) fn from_stored(text: &str) -> Option<Self> {
        [Self::User, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == text)
    }

    fn scope(self) -> Scope {
        match self {
            Self::User => Scope::Write,
            Self::Admin => Scope::Admin,
        }
    }
}

/// How somebody is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    Nobody,
    /// Authentication is switched off.
    Everybody,
    Key(Box<KeyRow>),
    Session(Box<SessionRow>),
}

/// Whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Id of the key, or `user_` and that of the user; jobs belong to it.
    pub(crate) owner: String,
    pub(crate) scope: Option<Scope>,
    pub(crate) who: Who,
}

impl Identity {
    fn anonymous(neighbourhood: &str) -> Self {
        Self {
            owner: format!("anonymous {neighbourhood}"),
            scope: None,
            who: Who::Nobody,
        }
    }

    fn everybody() -> Self {
        Self {
            owner: "everybody".into(),
            scope: Some(Scope::Admin),
            who: Who::Everybody,
        }
    }

    fn of_key(row: KeyRow) -> Self {
        Self {
            owner: row.id.clone(),
            scope: Scope::from_stored(&row.scope),
            who: Who::Key(Box::new(row)),
        }
    }

    pub(crate) fn of_session(row: SessionRow) -> Self {
        Self {
            owner: owner_of(&row.user),
            scope: Role::from_stored(&row.user.role).map(Role::scope),
            who: Who::Session(Box::new(row)),
        }
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.scope == Some(Scope::Admin)
    }

    /// Requests a minute: those of the tier, unless the key has its own limit.
    pub(crate) fn allowance(&self, rates: &Rates) -> u32 {
        if let Who::Key(key) = &self.who
            && let Some(own) = key.per_minute
        {
            return own;
        }
        match self.scope {
            None => rates.anonymous,
            Some(Scope::Read | Scope::Write) => rates.user,
            Some(Scope::Admin) => rates.admin,
        }
    }

    fn must_have(&self, needed: Scope) -> Result<(), ApiError> {
        match self.scope {
            Some(scope) if scope >= needed => Ok(()),
            Some(scope) => Err(ApiError::new(Code::Forbidden, self.lacks(scope, needed))),
            None => Err(ApiError::new(
                Code::AuthRequired,
                "send a key (Authorization: Bearer <key>; trawl keys create makes one) or log in \
                 (POST /auth/login)",
            )),
        }
    }

    fn lacks(&self, scope: Scope, needed: Scope) -> String {
        let needed = needed.as_str();
        match &self.who {
            Who::Session(session) => {
                let role = &session.user.role;
                format!(
                    "this needs an administrator; {} is a {role}",
                    session.user.name
                )
            }
            _ => format!(
                "this needs the scope {needed}; the key has {}",
                scope.as_str()
            ),
        }
    }
}

/// A new user, to be kept.
pub fn user(name: &str, password: String, role: Role, now: UnixMillis) -> UserRow {
    UserRow {
        id: key::chance(),
        name: name.to_owned(),
        password,
        role: role.as_str().to_owned(),
        created_at: now,
        password_changed_at: now,
        disabled_at: None,
    }
}

/// Whom jobs of a user belong to. By id: a name may be given to somebody else later.
fn owner_of(user: &UserRow) -> String {
    format!("user_{}", user.id)
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident = $scope:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) Identity);

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
                let identity = asker(parts);
                identity.must_have(Scope::$scope)?;
                Ok(Self(identity))
            }
        }
    )*};
}

needs! {
    /// May look.
    Reader = Read;
    /// May start and change jobs of its own.
    Writer = Write;
    /// May do everything.
    Admin = Admin;
}

fn asker(parts: &Parts) -> Identity {
    let identity = parts.extensions.get::<Identity>().cloned();
    identity.unwrap_or_else(|| Identity::anonymous(""))
}

/// Anybody, known or not.
#[derive(Debug)]
pub(crate) struct Anybody(pub(crate) Identity);

impl<S: Send + Sync> FromRequestParts<S> for Anybody {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(asker(parts)))
    }
}

/// May see the server's figures, which an operator may open to everybody.
#[derive(Debug)]
pub(crate) struct Onlooker {
    /// Only the figures of this owner; nothing for those of all.
    pub(crate) owner: Option<String>,
}

impl FromRequestParts<Shared> for Onlooker {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, ApiError> {
        let identity = asker(parts);
        let opened = app.settings.access.anonymous == Anonymous::Stats;
        if identity.scope.is_none() && opened {
            return Ok(Self { owner: None });
        }
        identity.must_have(Scope::Read)?;
        let owner = (!identity.is_admin()).then_some(identity.owner);
        Ok(Self { owner })
    }
}
