//! Documents: what can be found, one by one (001 §7.4).
//!
//! * [`view`]: documents and chunks as they are sent
//! * [`upload`]: documents that people bring
//! * [`change`]: deleting, restoring, indexing anew, collections and tags
//! * [`versions`]: what documents were before, and what changed

pub(super) mod change;
pub(super) mod upload;
pub(super) mod versions;
pub(super) mod view;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_search::{document::DocSource, file::DocumentFilter};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{input, jobs::page_size, pages::time};
use crate::{
    app::Shared,
    auth::Reader,
    error::{ApiError, ErrorBody},
};
use view::{ChunkView, DocumentView, FullDocument};

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DocumentsQuery {
    /// Only those of this collection.
    collection_id: Option<Uuid>,
    /// Only those with the tag of this name.
    tag: Option<String>,
    /// Only those of this host and of those below it.
    domain: Option<String>,
    /// crawl, upload or api.
    source: Option<String>,
    #[param(example = "en")]
    language: Option<String>,
    /// In URL or title.
    q: Option<String>,
    /// Crawled or uploaded at this time or later (ISO 8601, or a date).
    #[param(example = "2025-01-15")]
    from: Option<String>,
    /// Crawled or uploaded before this time.
    to: Option<String>,
    /// true: those that were deleted, instead of those that were not.
    deleted: Option<bool>,
    /// The `cursor` of the answer before, with the same filters.
    cursor: Option<String>,
    /// Documents of one answer, 1 to 1000 (100 if left out).
    limit: Option<u32>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DocumentList {
    /// Newest first, without their contents.
    documents: Vec<DocumentView>,
    /// To be sent for what comes after these.
    cursor: Option<String>,
    has_more: bool,
    /// Documents on all pages.
    total: u64,
}

/// Documents that one may find: uploads, those of one's jobs and of the open frontier; all for
/// administrators.
#[utoipa::path(get, path = "/documents", tag = "documents", params(DocumentsQuery), responses(
    (status = 200, body = DocumentList), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(super) async fn list(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Query(query): input::Query<DocumentsQuery>,
) -> Result<Json<DocumentList>, ApiError> {
    let search = app.search()?;
    let mut filter = query.filter()?;
    filter.owners = search.owners(&identity);
    let listed = search.read(move |index| index.documents(&filter)).await?;
    Ok(Json(DocumentList {
        has_more: listed.next.is_some(),
        cursor: listed.next.map(|id| id.to_string()),
        total: listed.total,
        documents: listed.documents.into_iter().map(Into::into).collect(),
    }))
}

impl DocumentsQuery {
    fn filter(self) -> Result<DocumentFilter, ApiError> {
        let wrong = |_| ApiError::field("cursor", "must be one that an answer gave");
        let after = self.cursor.as_deref().map(str::parse).transpose();
        Ok(DocumentFilter {
            collection: self.collection_id,
            tag: self.tag,
            domain: self.domain,
            source: self.source.as_deref().map(source).transpose()?,
            language: self.language,
            text: self.q,
            from: time("from", self.from.as_deref())?,
            to: time("to", self.to.as_deref())?,
            owners: None,
            deleted: self.deleted.unwrap_or_default(),
            after: after.map_err(wrong)?,
            limit: page_size(self.limit)?,
        })
    }
}

fn source(text: &str) -> Result<DocSource, ApiError> {
    match text {
        "crawl" => Ok(DocSource::Crawl),
        "upload" => Ok(DocSource::Upload),
        "api" => Ok(DocSource::Api),
        _ => Err(ApiError::field("source", "must be crawl, upload or api")),
    }
}

/// A document with its content and its chunks.
#[utoipa::path(get, path = "/documents/{id}", tag = "documents", params(("id" = String, Path)), responses(
    (status = 200, body = FullDocument), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn get(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Json<FullDocument>, ApiError> {
    let search = app.search()?;
    let mut row = search.document(&identity, &id).await?;
    let content = std::mem::take(&mut row.content);
    let number = row.id;
    let text = content.clone();
    let chunks = search
        .read(move |index| view::chunks(index, number, &text))
        .await?;
    Ok(Json(FullDocument {
        document: row.into(),
        content,
        chunks,
    }))
}

/// The chunks of a document, in their order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChunkList {
    document_id: Uuid,
    chunks: Vec<ChunkView>,
    total: usize,
}

/// The chunks that a document was cut into.
#[utoipa::path(get, path = "/documents/{id}/chunks", tag = "documents", params(("id" = String, Path)), responses(
    (status = 200, body = ChunkList), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(super) async fn chunks(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Json<ChunkList>, ApiError> {
    let search = app.search()?;
    let row = search.document(&identity, &id).await?;
    let document_id = row.uuid;
    let chunks = search
        .read(move |index| view::chunks(index, row.id, &row.content))
        .await?;
    Ok(Json(ChunkList {
        document_id,
        total: chunks.len(),
        chunks,
    }))
}
