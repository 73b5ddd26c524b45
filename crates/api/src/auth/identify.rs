//! What happens to every request: who asks, from where, may their browser have been tricked into it,
//! and do they ask too often?

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use trawl_quick::rates::Rate;
use trawl_store::contract::accounts::SessionRow;
use trawl_types::UnixMillis;

use super::{
    Identity,
    client::{Client, Peer, Sender, acts},
    key, session,
};
use crate::{
    app::Shared,
    error::{ApiError, Code},
    jobs::now,
};

/// Finds out who asks and whether they ask too often.
pub(crate) async fn identify(
    State(app): State<Shared>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.unwrap_or(Peer {
        address: std::net::Ipv4Addr::UNSPECIFIED.into(),
        tls: false,
    });
    let trusted = &app.settings.access.trusted_proxies;
    let client = Client::of(peer, request.uri(), request.headers(), trusted);
    request.extensions_mut().insert(client.clone());
    let mut response = match who(&app, &client, request.method(), request.headers()).await {
        Ok(identity) => counted(&app, identity, request, next).await,
        Err(error) => error.into_response(),
    };
    let hsts = app.settings.access.hsts_seconds;
    if client.secure
        && hsts > 0
        && let Ok(value) = HeaderValue::from_str(&format!("max-age={hsts}"))
    {
        let name = header::STRICT_TRANSPORT_SECURITY;
        response.headers_mut().insert(name, value);
    }
    response
}

async fn who(
    app: &Shared,
    client: &Client,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Identity, ApiError> {
    let sender = client.sender(headers);
    let acts = acts(method, headers);
    if app.settings.no_auth {
        if acts && sender == Sender::OtherPage && !named(app, headers) {
            return Err(cross_site());
        }
        return Ok(Identity::everybody());
    }
    if let Some(text) = sent_key(headers) {
        return match by_key(app, text, now()).await? {
            Some(identity) => Ok(identity),
            None => Err(wrong_key(app, client).await),
        };
    }
    let Some(token) = session::sent(headers, client.secure) else {
        return Ok(nobody(client));
    };
    match by_session(app, &token, now()).await? {
        // A browser sends the cookie along with whatever a page makes it send.
        Some(_) if acts && sender != Sender::OwnPage => Err(cross_site()),
        Some(row) => Ok(Identity::of_session(row)),
        // Not an error: whoever has an old cookie must be able to log in.
        None => Ok(nobody(client)),
    }
}

fn nobody(client: &Client) -> Identity {
    Identity::anonymous(&client.neighbourhood().to_string())
}

fn cross_site() -> ApiError {
    ApiError::new(
        Code::Forbidden,
        "the browser does not say that a page of this server sent this (Sec-Fetch-Site, Origin); \
         programs use a key",
    )
}

/// Whether the operator has named the origin of a page.
fn named(app: &Shared, headers: &HeaderMap) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|o| o.to_str().ok());
    let origins = &app.settings.cors_origins;
    origins
        .iter()
        .any(|allowed| allowed == "*" || Some(allowed.as_str()) == origin)
}

/// Wrong keys are counted by address. Good ones from there go on working: a neighbour with a
/// mistyped key must not lock anybody out, and 256 bits are not guessed by trying.
async fn wrong_key(app: &Shared, client: &Client) -> ApiError {
    let most = app.settings.access.rates.wrong_keys;
    let counter = format!("wrong keys {}", client.neighbourhood());
    let rate = app.quick.take(&counter, most).await;
    match rate.wait_seconds {
        None => ApiError::new(Code::AuthRequired, "the key is unknown, revoked or expired"),
        Some(seconds) => ApiError::new(
            Code::RateLimited,
            format!("more than {most} wrong keys a minute: wait {seconds} s"),
        )
        .with_retry_after(seconds),
    }
}

async fn by_key(app: &Shared, text: &str, now: UnixMillis) -> Result<Option<Identity>, ApiError> {
    let Some((id, secret)) = key::parse(text) else {
        return Ok(None);
    };
    let Some(row) = app.store.key(id).await? else {
        return Ok(None);
    };
    let ended = row.revoked_at.is_some() || row.expires_at.is_some_and(|at| at <= now);
    let good = !ended && key::matches(secret, &row.hash);
    Ok(good.then(|| Identity::of_key(row)))
}

async fn by_session(
    app: &Shared,
    token: &str,
    now: UnixMillis,
) -> Result<Option<SessionRow>, ApiError> {
    let settings = &app.settings.access.sessions;
    let found = app.store.session(&session::hash(token)).await?;
    let Some(row) = found.filter(|row| session::is_good(row, settings, now)) else {
        return Ok(None);
    };
    if session::is_stale(&row, settings, now) {
        let (accounts, hash) = (Arc::clone(&app.accounts), row.hash.clone());
        tokio::spawn(async move {
            if let Err(error) = accounts.touch_session(&hash, now).await {
                tracing::warn!(%error, "the use of a session could not be noted");
            }
        });
    }
    Ok(Some(row))
}

fn sent_key(headers: &HeaderMap) -> Option<&str> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    });
    bearer.or_else(|| headers.get("x-api-key")?.to_str().ok())
}

async fn counted(app: &Shared, identity: Identity, mut request: Request, next: Next) -> Response {
    let free = app.settings.no_auth || is_a_probe(request.uri().path());
    let allowance = identity.allowance(&app.settings.access.rates);
    let owner = identity.owner.clone();
    request.extensions_mut().insert(identity);
    if free {
        return next.run(request).await;
    }
    let rate = app.quick.take(&owner, allowance).await;
    let mut response = match rate.wait_seconds {
        None => next.run(request).await,
        Some(seconds) => ApiError::new(
            Code::RateLimited,
            format!("more than {allowance} requests a minute: wait {seconds} s"),
        )
        .with_retry_after(seconds)
        .into_response(),
    };
    tell(response.headers_mut(), allowance, rate);
    response
}

/// Both spellings that are in use.
fn tell(headers: &mut HeaderMap, allowance: u32, rate: Rate) {
    let policy = format!("{allowance};w=60");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(HeaderName::from_static("ratelimit-policy"), policy);
    }
    for (names, value) in [
        (
            ["ratelimit-limit", "x-ratelimit-limit"],
            u64::from(allowance),
        ),
        (
            ["ratelimit-remaining", "x-ratelimit-remaining"],
            u64::from(rate.left),
        ),
        (["ratelimit-reset", "x-ratelimit-reset"], rate.reset_seconds),
    ] {
        for name in names {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

/// Health is asked for by machines, often.
fn is_a_probe(path: &str) -> bool {
    path.ends_with("/health") || path.ends_with("/health/ready")
}
