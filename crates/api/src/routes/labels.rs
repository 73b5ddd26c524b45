//! Collections and tags: how people sort documents (001 §7.6).

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use trawl_search::file::{IndexFile, Label};
use utoipa::ToSchema;
use uuid::Uuid;

use super::input;
use crate::{
    app::Shared,
    auth::{Reader, Writer},
    error::{ApiError, ErrorBody},
    jobs::now,
    search::Search,
};

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "0b6c9f5e-7a0e-4f36-9d7c-5d6f2f6b8c11", "name": "manuals", "description": null,
    "created_at": "2025-01-15T10:30:00.000Z", "documents_count": 42
}))]
pub(super) struct CollectionView {
    id: Uuid,
    name: String,
    description: Option<String>,
    created_at: String,
    documents_count: u64,
}

/// A tag.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TagView {
    id: Uuid,
    /// In lower case.
    name: String,
    created_at: String,
    documents_count: u64,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "manuals", "description": "What comes with the machines" }))]
pub(super) struct CollectionBody {
    /// One line of 1 to 200 characters that no other collection has.
    name: String,
    description: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "manual" }))]
pub(super) struct TagBody {
    /// One line of 1 to 200 characters.
    name: String,
}

impl From<Label> for CollectionView {
    fn from(label: Label) -> Self {
        Self {
            id: label.uuid,
            name: label.name,
            description: label.description,
            created_at: label.created_at.iso(),
            documents_count: label.documents,
        }
    }
}

impl From<Label> for TagView {
    fn from(label: Label) -> Self {
        Self {
            id: label.uuid,
            name: label.name,
            created_at: label.created_at.iso(),
            documents_count: label.documents,
        }
    }
}

async fn collection(search: &Search, uuid: Uuid) -> Result<CollectionView, ApiError> {
    let found = search.read(move |index| index.collection(uuid)).await?;
    let missing = || ApiError::not_found(format!("there is no collection {uuid}"));
    found.map(Into::into).ok_or_else(missing)
}

fn id(text: &str) -> Result<Uuid, ApiError> {
    let missing = |_| ApiError::not_found(format!("there is no collection {text:?}"));
    Uuid::parse_str(text).map_err(missing)
}

/// All collections, by name.
#[utoipa::path(get, path = "/collections", tag = "collections", responses(
    (status = 200, body = Vec<CollectionView>), (status = 401, body = ErrorBody)))]
pub(super) async fn collections(
    State(app): State<Shared>,
    _: Reader,
) -> Result<Json<Vec<CollectionView>>, ApiError> {
    let found = app.search()?.read(IndexFile::collections).await?;
    Ok(Json(found.into_iter().map(Into::into).collect()))
}

/// Makes a collection.
#[utoipa::path(post, path = "/collections", tag = "collections", request_body = CollectionBody, responses(
    (status = 201, body = CollectionView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 409, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(super) async fn create_collection(
    State(app): State<Shared>,
    _: Writer,
    input::Json(body): input::Json<CollectionBody>,
) -> Result<(StatusCode, Json<CollectionView>), ApiError> {
    let search = app.search()?;
    let made = search
        .read(move |index| index.create_collection(&body.name, body.description.as_deref(), now()));
    let made = made.await?;
    Ok((StatusCode::CREATED, Json(collection(search, made).await?)))
}

/// One collection.
#[utoipa::path(get, path = "/collections/{id}", tag = "collections", params(("id" = String, Path)), responses(
    (status = 200, body = CollectionView), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn get_collection(
    State(app): State<Shared>,
    _: Reader,
    input::Path(text): input::Path<String>,
) -> Result<Json<CollectionView>, ApiError> {
    Ok(Json(collection(app.search()?, id(&text)?).await?))
}

/// Changes name and description of a collection.
#[utoipa::path(put, path = "/collections/{id}", tag = "collections", params(("id" = String, Path)),
    request_body = CollectionBody, responses(
    (status = 200, body = CollectionView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
    (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn change_collection(
    State(app): State<Shared>,
    _: Writer,
    input::Path(text): input::Path<String>,
    input::Json(body): input::Json<CollectionBody>,
) -> Result<Json<CollectionView>, ApiError> {
    let (search, uuid) = (app.search()?, id(&text)?);
    search
        .read(move |index| index.update_collection(uuid, &body.name, body.description.as_deref()))
        .await?;
    Ok(Json(collection(search, uuid).await?))
}

/// Removes a collection. Its documents stay and belong to none.
#[utoipa::path(delete, path = "/collections/{id}", tag = "collections", params(("id" = String, Path)), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn delete_collection(
    State(app): State<Shared>,
    _: Writer,
    input::Path(text): input::Path<String>,
) -> Result<StatusCode, ApiError> {
    let uuid = id(&text)?;
    let removed = app
        .search()?
        .read(move |index| index.delete_collection(uuid));
    if !removed.await? {
        return Err(ApiError::not_found(format!(
            "there is no collection {uuid}"
        )));
    }
    Ok(StatusCode::NO_CONTENT)
}

/// All tags, by name.
#[utoipa::path(get, path = "/tags", tag = "collections", responses(
    (status = 200, body = Vec<TagView>), (status = 401, body = ErrorBody)))]
pub(super) async fn tags(
    State(app): State<Shared>,
    _: Reader,
) -> Result<Json<Vec<TagView>>, ApiError> {
    let found = app.search()?.read(IndexFile::tags).await?;
    Ok(Json(found.into_iter().map(Into::into).collect()))
}

/// Makes a tag, or finds the one that is there.
#[utoipa::path(post, path = "/tags", tag = "collections", request_body = TagBody, responses(
    (status = 201, body = TagView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn create_tag(
    State(app): State<Shared>,
    _: Writer,
    input::Json(body): input::Json<TagBody>,
) -> Result<(StatusCode, Json<TagView>), ApiError> {
    let search = app.search()?;
    let tag = search.read(move |index| {
        let made = index.create_tag(&body.name, now())?;
        let mut all = index.tags()?;
        all.retain(|tag| tag.uuid == made);
        Ok(all.pop())
    });
    let missing = || ApiError::not_found("the tag is gone");
    let tag = tag.await?.ok_or_else(missing)?;
    Ok((StatusCode::CREATED, Json(tag.into())))
}
