//! What documents were before, and what changed.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use trawl_search::{
    diff::{Op, diff},
    file::VersionRow,
};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{super::input, view::hex};
use crate::{
    app::Shared,
    auth::Reader,
    error::{ApiError, ErrorBody},
    search::Search,
};

/// A version of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionView {
    version: i64,
    title: Option<String>,
    /// SHA-256 of title and content.
    content_hash: String,
    /// Characters of the content.
    length: u64,
    crawled_at: String,
    /// It is the document as it is.
    current: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionList {
    document_id: Uuid,
    /// Newest first; the ten before the current one are kept.
    versions: Vec<VersionView>,
}

/// The versions of a document that are kept.
#[utoipa::path(get, path = "/documents/{id}/versions", tag = "documents", params(("id" = String, Path)), responses(
    (status = 200, body = VersionList), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
) -> Result<Json<VersionList>, ApiError> {
    let search = app.search()?;
    let document = search.document(&identity, &id).await?;
    let number = document.id;
    let rows = search.read(move |index| index.versions(number)).await?;
    let view = |row: VersionRow| VersionView {
        current: row.version == document.version,
        version: row.version,
        title: row.title,
        content_hash: hex(&row.content_hash),
        length: row.length,
        crawled_at: row.crawled_at.iso(),
    };
    Ok(Json(VersionList {
        document_id: document.uuid,
        versions: rows.into_iter().map(view).collect(),
    }))
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffQuery {
    /// The older version; the one before `to` if left out.
    from: Option<i64>,
    /// The newer version; the current one if left out.
    to: Option<i64>,
}

/// A line of either version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DiffLine {
    /// same, removed or added.
    op: &'static str,
    text: String,
}

/// Lines that changed, with those around them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DiffHunk {
    /// The first line in the older version, from 1.
    from_line: usize,
    to_line: usize,
    lines: Vec<DiffLine>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DocumentDiff {
    document_id: Uuid,
    from: i64,
    to: i64,
    from_title: Option<String>,
    to_title: Option<String>,
    added: usize,
    removed: usize,
    hunks: Vec<DiffHunk>,
}

/// What changed between two versions of a document.
#[utoipa::path(get, path = "/documents/{id}/diff", tag = "documents", params(("id" = String, Path), DiffQuery), responses(
    (status = 200, body = DocumentDiff), (status = 400, body = ErrorBody), (status = 401, body = ErrorBody),
    (status = 404, body = ErrorBody)))]
pub(crate) async fn between(
    State(app): State<Shared>,
    Reader(identity): Reader,
    input::Path(id): input::Path<String>,
    input::Query(query): input::Query<DiffQuery>,
) -> Result<Json<DocumentDiff>, ApiError> {
    let search = app.search()?;
    let document = search.document(&identity, &id).await?;
    let to = query.to.unwrap_or(document.version);
    let from = query.from.unwrap_or(to.saturating_sub(1));
    let old = version(search, document.id, from).await?;
    let new = version(search, document.id, to).await?;
    let work = tokio::task::spawn_blocking(move || compared(document.uuid, &old, &new));
    let failed = |_| ApiError::field("from", "the versions cannot be compared");
    Ok(Json(work.await.map_err(failed)?))
}

async fn version(search: &Search, document: i64, number: i64) -> Result<VersionRow, ApiError> {
    let found = search
        .read(move |index| index.version(document, number))
        .await?;
    let missing = || ApiError::not_found(format!("version {number} is not kept"));
    found.ok_or_else(missing)
}

fn compared(document_id: Uuid, old: &VersionRow, new: &VersionRow) -> DocumentDiff {
    let hunks = diff(&old.content, &new.content);
    let count = |wanted: Op| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(|(op, _)| *op == wanted).count()
    };
    let line = |(op, text): &(Op, &str)| DiffLine {
        op: match op {
            Op::Same => "same",
            Op::Removed => "removed",
            Op::Added => "added",
        },
        text: (*text).to_owned(),
    };
    DocumentDiff {
        document_id,
        from: old.version,
        to: new.version,
        from_title: old.title.clone(),
        to_title: new.title.clone(),
        added: count(Op::Added),
        removed: count(Op::Removed),
        hunks: hunks
            .iter()
            .map(|hunk| DiffHunk {
                from_line: hunk.old_start,
                to_line: hunk.new_start,
                lines: hunk.lines.iter().map(line).collect(),
            })
            .collect(),
    }
}
