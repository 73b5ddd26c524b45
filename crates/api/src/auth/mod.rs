//! Who may do what. A key is shown once and kept as a hash; its scope says what it may do. Where
//! authentication is switched off, everybody is an administrator.
//!
//! * [`key`]: how keys are made, written and compared
//! * `rate`: how many requests a minute

pub mod key;
pub(crate) mod rate;

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use trawl_store::contract::jobs::JobStore;
use trawl_types::UnixMillis;

use crate::{
    app::Shared,
    error::{ApiError, Code},
};
use key::Scope;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) std::net::IpAddr);

/// Whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Id of the key; jobs belong to it.
    pub(crate) owner: String,
    pub(crate) scope: Option<Scope>,
    per_minute: Option<u32>,
}

impl Identity {
    fn anonymous(address: &str) -> Self {
        Self {
            owner: format!("anonymous {address}"),
            scope: None,
            per_minute: None,
        }
    }

    fn everybody() -> Self {
        Self {
            owner: "everybody".into(),
            scope: Some(Scope::Admin),
            per_minute: None,
        }
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.scope == Some(Scope::Admin)
    }

    /// Requests a minute (004 §17), unless the key has its own limit.
    fn allowance(&self) -> u32 {
        self.per_minute.unwrap_or(match self.scope {
            None => 10,
            Some(Scope::Read | Scope::Write) => 100,
            Some(Scope::Admin) => 500,
        })
    }

    fn must_have(&self, needed: Scope) -> Result<(), ApiError> {
        match self.scope {
            Some(scope) if scope >= needed => Ok(()),
            Some(scope) => Err(ApiError::new(
                Code::Forbidden,
                format!(
                    "this needs the scope {}; the key has {}",
                    needed.as_str(),
                    scope.as_str()
                ),
            )),
            None => Err(ApiError::new(
                Code::AuthRequired,
                "send a key: Authorization: Bearer <key> (trawl keys create makes one)",
            )),
        }
    }
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident = $scope:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) Identity);

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = ApiError;

            async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
                let identity = parts.extensions.get::<Identity>().cloned();
                let identity = identity.unwrap_or_else(|| Identity::anonymous(""));
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

/// Finds out who asks and whether they ask too often.
pub(crate) async fn identify(
    State(app): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    if app.settings.no_auth {
        request.extensions_mut().insert(Identity::everybody());
        return next.run(request).await;
    }
    let now = UnixMillis(chrono::Utc::now().timestamp_millis());
    let peer = request.extensions().get::<Peer>().copied();
    let identity = match who(&app, request.headers(), peer, now).await {
        Ok(identity) => identity,
        Err(error) => return error.into_response(),
    };
    if is_a_probe(request.uri().path()) {
        request.extensions_mut().insert(identity);
        return next.run(request).await;
    }
    let allowance = identity.allowance();
    let rate = app
        .rates
        .take(&identity.owner, allowance, app.started.elapsed());
    request.extensions_mut().insert(identity);
    let mut response = match rate.wait_seconds {
        None => next.run(request).await,
        Some(seconds) => ApiError::new(
            Code::RateLimited,
            format!("more than {allowance} requests a minute: wait {seconds} s"),
        )
        .with_retry_after(seconds)
        .into_response(),
    };
    let headers = response.headers_mut();
    headers.insert("x-ratelimit-limit", HeaderValue::from(allowance));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(rate.left));
    headers.insert("x-ratelimit-reset", HeaderValue::from(rate.reset_seconds));
    response
}

/// Health is asked for by machines, often.
fn is_a_probe(path: &str) -> bool {
    path.ends_with("/health") || path.ends_with("/health/ready")
}

async fn who(
    app: &Shared,
    headers: &HeaderMap,
    peer: Option<Peer>,
    now: UnixMillis,
) -> Result<Identity, ApiError> {
    let Some(text) = sent_key(headers) else {
        let address = peer.map(|peer| peer.0.to_string()).unwrap_or_default();
        return Ok(Identity::anonymous(&address));
    };
    let wrong = || ApiError::new(Code::AuthRequired, "the key is unknown, revoked or expired");
    let (id, secret) = key::parse(text).ok_or_else(wrong)?;
    let row = app.store.key(id).await?.ok_or_else(wrong)?;
    let ended = row.revoked_at.is_some() || row.expires_at.is_some_and(|at| at <= now);
    if ended || !key::matches(secret, &row.hash) {
        return Err(wrong());
    }
    Ok(Identity {
        owner: row.id,
        scope: Scope::from_stored(&row.scope),
        per_minute: row.per_minute,
    })
}

fn sent_key(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    bearer.or_else(|| headers.get("x-api-key")?.to_str().ok())
}
