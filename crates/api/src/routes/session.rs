//! Logging in and out with a user name and a password, and who one is.

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use trawl_store::contract::accounts::SessionRow;
use trawl_types::UnixMillis;
use utoipa::ToSchema;

use super::input;
use crate::{
    app::Shared,
    auth::{
        Anybody, Identity, Who,
        client::{Client, Sender},
        key::Scope,
        session,
    },
    error::{ApiError, Code, ErrorBody},
};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "username": "ada", "password": "correct horse battery staple" }))]
pub(super) struct Login {
    username: String,
    #[schema(format = Password)]
    password: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "current_password": "correct horse", "new_password": "battery staple" }))]
pub(super) struct NewPassword {
    #[schema(format = Password)]
    current_password: String,
    /// 8 characters or more.
    #[schema(format = Password)]
    new_password: String,
}

/// Who asks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "kind": "user", "id": "user_5f0c2d038260", "name": "ada", "role": "user", "scope": "write",
    "per_minute": 100, "expires_at": "2026-11-17T05:36:46.535Z"
}))]
pub(super) struct Me {
    /// `user`, `key`, or `everybody` where authentication is switched off.
    kind: &'static str,
    /// Whom jobs belong to.
    id: String,
    name: String,
    /// `user` or `admin`.
    role: &'static str,
    /// `read`, `write` or `admin`.
    scope: &'static str,
    /// Requests a minute.
    per_minute: u32,
    /// When the session or the key ends.
    expires_at: Option<String>,
}

impl Me {
    fn of(app: &Shared, identity: &Identity, scope: Scope) -> Self {
        let (kind, name, expires_at) = match &identity.who {
            Who::Key(key) => ("key", key.name.clone(), key.expires_at),
            Who::Session(session) => {
                let name = session.user.name.clone();
                ("user", name, Some(session.expires_at))
            }
            Who::Everybody | Who::Nobody => ("everybody", "everybody".into(), None),
        };
        let is_admin = scope == Scope::Admin;
        Self {
            kind,
            id: identity.owner.clone(),
            name,
            role: if is_admin { "admin" } else { "user" },
            scope: scope.as_str(),
            per_minute: identity.allowance(&app.settings.access.rates),
            expires_at: expires_at.map(UnixMillis::iso),
        }
    }
}

/// Logs in with a user name and a password. The session is a cookie that scripts cannot read.
#[utoipa::path(post, path = "/auth/login", tag = "auth", security(()), request_body = Login, responses(
    (status = 200, description = "Logged in; Set-Cookie carries the session", body = Me),
    (status = 400, body = ErrorBody), (status = 401, description = "Name or password is wrong", body = ErrorBody),
    (status = 403, description = "Sent by a page of another site", body = ErrorBody),
    (status = 409, description = "Authentication is switched off", body = ErrorBody),
    (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
    (status = 429, description = "Too many bad logins; Retry-After says how long to wait", body = ErrorBody)))]
pub(super) async fn login(
    State(app): State<Shared>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    input::Json(body): input::Json<Login>,
) -> Result<Response, ApiError> {
    if app.settings.no_auth {
        let message = "authentication is switched off: there is nothing to log in to";
        return Err(ApiError::new(Code::Conflict, message));
    }
    if client.sender(&headers) == Sender::OtherPage {
        let message = "logging in is only possible from a page of this server";
        return Err(ApiError::new(Code::Forbidden, message));
    }
    let (token, row) = app.log_in(&client, &body.username, body.password).await?;
    // The session before this one ends: nobody knows of it any more.
    if let Some(before) = session::sent(&headers, client.secure) {
        app.log_out(session::hash(&before)).await?;
    }
    answer(&app, &client, &token, row)
}

fn answer(
    app: &Shared,
    client: &Client,
    token: &str,
    row: SessionRow,
) -> Result<Response, ApiError> {
    let identity = Identity::of_session(row);
    let me = Me::of(app, &identity, known(&identity)?);
    let seconds = app.settings.access.sessions.lifetime.as_secs();
    Ok(with_cookie(client, Some(token), seconds, Json(me)))
}

fn with_cookie(
    client: &Client,
    token: Option<&str>,
    seconds: u64,
    answer: impl IntoResponse,
) -> Response {
    let mut response = answer.into_response();
    let headers = response.headers_mut();
    if let Some(cookie) = session::cookie(token, seconds, client.secure) {
        headers.insert(header::SET_COOKIE, cookie);
    }
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    response
}

fn known(identity: &Identity) -> Result<Scope, ApiError> {
    let message = "send a key (Authorization: Bearer <key>) or log in (POST /auth/login)";
    identity
        .scope
        .ok_or_else(|| ApiError::new(Code::AuthRequired, message))
}

fn own_session(identity: &Identity) -> Result<&SessionRow, ApiError> {
    known(identity)?;
    match &identity.who {
        Who::Session(session) => Ok(session),
        Who::Key(_) | Who::Everybody | Who::Nobody => Err(ApiError::new(
            Code::Conflict,
            "this is for users who have logged in; keys are ended with DELETE /api-keys/{id}",
        )),
    }
}

/// Ends the session.
#[utoipa::path(post, path = "/auth/logout", tag = "auth", security(("session" = [])), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 409, description = "Not a session but a key", body = ErrorBody)))]
pub(super) async fn logout(
    State(app): State<Shared>,
    Extension(client): Extension<Client>,
    Anybody(identity): Anybody,
) -> Result<Response, ApiError> {
    let session = own_session(&identity)?;
    app.log_out(session.hash.clone()).await?;
    Ok(with_cookie(&client, None, 0, StatusCode::NO_CONTENT))
}

/// Changes one's own password, which ends all one's sessions.
#[utoipa::path(post, path = "/auth/password", tag = "auth", security(("session" = [])), request_body = NewPassword, responses(
    (status = 204), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, description = "Not a session but a key", body = ErrorBody),
    (status = 415, body = ErrorBody), (status = 422, body = ErrorBody), (status = 429, body = ErrorBody)))]
pub(super) async fn password(
    State(app): State<Shared>,
    Extension(client): Extension<Client>,
    Anybody(identity): Anybody,
    body: Result<input::Json<NewPassword>, ApiError>,
) -> Result<Response, ApiError> {
    let session = own_session(&identity)?;
    let input::Json(body) = body?;
    let user = &session.user;
    app.change_password(&client, user, body.current_password, body.new_password)
        .await?;
    Ok(with_cookie(&client, None, 0, StatusCode::NO_CONTENT))
}

/// Who asks, by key or by session.
#[utoipa::path(get, path = "/auth/me", tag = "auth", responses(
    (status = 200, body = Me), (status = 401, body = ErrorBody)))]
pub(super) async fn me(
    State(app): State<Shared>,
    Anybody(identity): Anybody,
) -> Result<Json<Me>, ApiError> {
    let scope = known(&identity)?;
    Ok(Json(Me::of(&app, &identity, scope)))
}
