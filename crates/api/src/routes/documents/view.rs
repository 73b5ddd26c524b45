//! Documents and chunks as they are sent.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use trawl_search::{
    SearchError,
    document::DocSource,
    file::{DocumentRow, IndexFile},
};
use trawl_types::UnixMillis;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::search::kind;

/// A document without its content.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "7d0c6bd4-5c49-8f4e-9d2c-0a6fd37c9a11", "url": "https://example.org/limits", "domain": "example.org",
    "parent_url": "https://example.org/", "title": "Limits", "language": "en", "source": "crawl",
    "collection_id": null, "tags": ["manual"], "metadata": {}, "content_hash": "9f86…", "version": 2,
    "chunks_count": 3, "crawled_at": "2025-01-15T10:30:00.000Z", "changed_at": "2025-01-15T10:30:02.000Z",
    "deleted_at": null
}))]
pub(crate) struct DocumentView {
    /// The same in every index: it follows from the URL.
    id: Uuid,
    url: String,
    domain: String,
    /// Where it was found.
    parent_url: Option<String>,
    title: Option<String>,
    language: Option<String>,
    /// crawl, upload or api.
    source: &'static str,
    collection_id: Option<Uuid>,
    tags: Vec<String>,
    #[schema(value_type = Object)]
    metadata: Value,
    /// SHA-256 of title and content.
    content_hash: String,
    /// Grows when title or content change.
    version: i64,
    chunks_count: u32,
    crawled_at: String,
    /// When it was last written.
    changed_at: String,
    deleted_at: Option<String>,
}

/// A document with everything.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FullDocument {
    #[serde(flatten)]
    pub(super) document: DocumentView,
    /// Markdown.
    pub(super) content: String,
    pub(super) chunks: Vec<ChunkView>,
}

/// A piece of a document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChunkView {
    id: Uuid,
    document_id: Uuid,
    /// Markdown.
    content: String,
    chunk_index: u32,
    /// Where it begins in the document's content, in characters.
    start_char: usize,
    end_char: usize,
    token_count: u32,
    /// The model that has embedded it; nothing if none has.
    embedding_model: Option<String>,
    /// The nearest heading above.
    section_header: Option<String>,
    /// prose, code, table or list.
    content_type: &'static str,
}

impl From<DocumentRow> for DocumentView {
    fn from(row: DocumentRow) -> Self {
        Self {
            id: row.uuid,
            url: row.url,
            domain: row.domain,
            parent_url: row.parent_url,
            title: row.title,
            language: row.language,
            source: match row.source {
                DocSource::Crawl => "crawl",
                DocSource::Upload => "upload",
                DocSource::Api => "api",
            },
            collection_id: row.collection,
            tags: row.tags,
            metadata: row.metadata,
            content_hash: hex(&row.content_hash),
            version: row.version,
            chunks_count: row.chunks,
            crawled_at: row.crawled_at.iso(),
            changed_at: row.changed_at.iso(),
            deleted_at: row.deleted_at.map(UnixMillis::iso),
        }
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The chunks of a document with this content.
pub(super) fn chunks(
    index: &IndexFile,
    document: i64,
    content: &str,
) -> Result<Vec<ChunkView>, SearchError> {
    let rows = index.chunks_of(document)?;
    let model = index.model()?.map(|model| model.name);
    let numbers: Vec<u32> = rows.iter().map(|row| row.id).collect();
    let embedded = index.embedded(&numbers);
    let characters = |until: usize| content.get(..until).map_or(0, |text| text.chars().count());
    let view = |(row, embedded): (trawl_search::file::ChunkRow, bool)| ChunkView {
        id: row.uuid,
        document_id: row.document_uuid,
        chunk_index: row.position,
        start_char: characters(row.start),
        end_char: characters(row.stop),
        token_count: row.tokens,
        embedding_model: model.clone().filter(|_| embedded),
        section_header: row.header,
        content_type: kind(row.kind),
        content: row.content,
    };
    Ok(rows.into_iter().zip(embedded).map(view).collect())
}
