//! What can be done to a document: deleting, restoring, indexing anew, sorting.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use trawl_search::file::DocumentRow;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{super::input, super::labels::TagView, view::DocumentView};
use crate::{
    app::Shared,
    auth::{Identity, Writer},
    error::{ApiError, Code, ErrorBody},
    jobs::now,
    search::Search,
};

/// A document that the asker may change.
async fn mine(search: &Search, identity: &Identity, id: &str) -> Result<DocumentRow, ApiError> {
    let row = search.document(identity, id).await?;
    Search::check_change(identity, &row)?;
    Ok(row)
}

/// Deletes a document from every index. It can be restored; crawls do not bring it back.
#[utoipa::path(delete, path = "/documents/{id}", tag = "documents", params(("id" = String, Path)), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn delete(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<StatusCode, ApiError> {
    let search = app.search()?;
    let row = mine(search, &identity, &id).await?;
    search.desk.remove(&row, now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A document and, where its vectors are missing for now, why.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    #[serde(flatten)]
    document: DocumentView,
    /// Why it is found by its words alone for now.
    message: Option<String>,
}

/// Brings a deleted document back.
#[utoipa::path(post, path = "/documents/{id}/restore", tag = "documents", params(("id" = String, Path)), responses(
    (status = 200, body = Changed), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn restore(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Json<Changed>, ApiError> {
    let search = app.search()?;
    let row = search.any_document(&identity, &id).await?;
    Search::check_change(&identity, &row)?;
    if row.deleted_at.is_none() {
        let message = "the document has not been deleted";
        return Err(ApiError::new(Code::Conflict, message));
    }
    let message = search.desk.restore(row, now()).await?;
    let row = search.document(&identity, &id).await?;
    Ok(Json(Changed {
        document: row.into(),
        message,
    }))
}

/// Cuts a document anew and embeds it with the current model.
#[utoipa::path(post, path = "/documents/{id}/reindex", tag = "documents", params(("id" = String, Path)), responses(
    (status = 200, body = Changed), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(crate) async fn reindex(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
) -> Result<Json<Changed>, ApiError> {
    let search = app.search()?;
    let row = mine(search, &identity, &id).await?;
    let (_, message) = search.desk.reindex(row, now()).await?;
    let row = search.document(&identity, &id).await?;
    Ok(Json(Changed {
        document: row.into(),
        message,
    }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "collection_id": "0b6c9f5e-7a0e-4f36-9d7c-5d6f2f6b8c11" }))]
pub(crate) struct SortBody {
    /// null takes it out of the one it is in.
    #[serde(deserialize_with = "Option::deserialize")]
    collection_id: Option<Uuid>,
}

/// Puts a document into a collection, or takes it out.
#[utoipa::path(put, path = "/documents/{id}/collection", tag = "documents", params(("id" = String, Path)),
    request_body = SortBody, responses(
    (status = 200, body = DocumentView), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody),
    (status = 404, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(crate) async fn sort(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
    input::Json(body): input::Json<SortBody>,
) -> Result<Json<DocumentView>, ApiError> {
    let search = app.search()?;
    let document = mine(search, &identity, &id).await?.uuid;
    search
        .read(move |index| index.sort_into(document, body.collection_id))
        .await?;
    Ok(Json(search.document(&identity, &id).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "tags": ["manual", "2025"] }))]
pub(crate) struct TagsBody {
    /// Names, 1 to 50; those that are not there are made.
    tags: Vec<String>,
}

/// Gives a document tags; answers with all that it has.
#[utoipa::path(post, path = "/documents/{id}/tags", tag = "documents", params(("id" = String, Path)),
    request_body = TagsBody, responses(
    (status = 200, body = Vec<TagView>), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 403, body = ErrorBody), (status = 404, body = ErrorBody), (status = 415, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
pub(crate) async fn add_tags(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path(id): input::Path<String>,
    input::Json(body): input::Json<TagsBody>,
) -> Result<Json<Vec<TagView>>, ApiError> {
    if !(1..=50).contains(&body.tags.len()) {
        return Err(ApiError::field("tags", "1 to 50 names can be given"));
    }
    let search = app.search()?;
    let row = mine(search, &identity, &id).await?;
    let tags = search.read(move |index| {
        for name in &body.tags {
            index.tag(row.uuid, name, now())?;
        }
        index.tags_of(row.id)
    });
    Ok(Json(tags.await?.into_iter().map(Into::into).collect()))
}

/// Takes a tag from a document.
#[utoipa::path(delete, path = "/documents/{id}/tags/{tag_id}", tag = "documents",
    params(("id" = String, Path), ("tag_id" = String, Path)), responses(
    (status = 204), (status = 401, body = ErrorBody), (status = 403, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn remove_tag(
    State(app): State<Shared>,
    Writer(identity): Writer,
    input::Path((id, tag)): input::Path<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let search = app.search()?;
    let document = mine(search, &identity, &id).await?.uuid;
    let missing = || ApiError::not_found(format!("the document has no tag {tag:?}"));
    let tag = Uuid::parse_str(&tag).map_err(|_| missing())?;
    let removed = search.read(move |index| index.untag(document, tag)).await?;
    if !removed {
        return Err(missing());
    }
    Ok(StatusCode::NO_CONTENT)
}
