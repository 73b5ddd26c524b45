//! Who may use the server.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use trawl_store::contract::jobs::KeyRow;
use utoipa::ToSchema;

use super::input;
use crate::{
    app::Shared,
    auth::{
        Admin,
        key::{Scope, make},
    },
    error::{ApiError, ErrorBody},
    jobs::now,
};

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct KeyView {
    id: String,
    name: String,
    scope: String,
    per_minute: Option<u32>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    /// The key itself: shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl KeyView {
    fn of(row: &KeyRow, key: Option<String>) -> Self {
        Self {
            id: row.id.clone(),
            name: row.name.clone(),
            scope: row.scope.clone(),
            per_minute: row.per_minute,
            created_at: row.created_at.iso(),
            expires_at: row.expires_at.map(trawl_types::UnixMillis::iso),
            revoked_at: row.revoked_at.map(trawl_types::UnixMillis::iso),
            key,
        }
    }
}

/// All keys.
#[utoipa::path(get, path = "/api-keys", tag = "keys", responses(
    (status = 200, body = Vec<KeyView>), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    _: Admin,
) -> Result<Json<Vec<KeyView>>, ApiError> {
    let rows = app.accounts.keys().await?;
    Ok(Json(
        rows.iter().map(|row| KeyView::of(row, None)).collect(),
    ))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "name": "reports", "scope": "read" }))]
pub(super) struct NewKey {
    name: String,
    /// read, write or admin.
    scope: String,
    /// Requests a minute.
    per_minute: Option<u32>,
    /// Days until it ends.
    expires_in_days: Option<u32>,
}

/// Makes a key, which is shown this once.
#[utoipa::path(post, path = "/api-keys", tag = "keys", request_body = NewKey, responses(
    (status = 201, body = KeyView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn create(
    State(app): State<Shared>,
    Admin(identity): Admin,
    input::Json(body): input::Json<NewKey>,
) -> Result<(StatusCode, Json<KeyView>), ApiError> {
    let scope = Scope::from_stored(&body.scope)
        .ok_or_else(|| ApiError::field("scope", "must be read, write or admin"))?;
    if body.name.trim().is_empty() || body.name.len() > 100 {
        return Err(ApiError::field("name", "must be 1 to 100 characters"));
    }
    if body.per_minute == Some(0) {
        return Err(ApiError::field(
            "per_minute",
            "0 requests a minute is no key: give 1 or more, or revoke it",
        ));
    }
    let expires = body
        .expires_in_days
        .map(|days| trawl_types::UnixMillis(now().0 + i64::from(days) * 86_400_000));
    let (text, row) = make(body.name.trim(), scope, body.per_minute, expires, now());
    app.accounts.add_key(&row).await?;
    tracing::info!(key = row.id, by = identity.owner, "a key was made");
    Ok((StatusCode::CREATED, Json(KeyView::of(&row, Some(text)))))
}

/// Ends a key at once.
#[utoipa::path(delete, path = "/api-keys/{id}", tag = "keys", params(("id" = String, Path)), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn revoke(
    State(app): State<Shared>,
    Admin(identity): Admin,
    input::Path(id): input::Path<String>,
) -> Result<StatusCode, ApiError> {
    if !app.accounts.revoke_key(&id, now()).await? {
        return Err(ApiError::not_found(format!("there is no valid key {id}")));
    }
    tracing::info!(key = id, by = identity.owner, "a key was revoked");
    Ok(StatusCode::NO_CONTENT)
}
