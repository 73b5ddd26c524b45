//! Documents and chunks out, for people and for results.

use rusqlite::{Connection, OptionalExtension, Row, params};
use rustc_hash::FxHashMap;
use trawl_types::UnixMillis;
use uuid::Uuid;

use super::{IndexFile, write::Place};
use crate::{
    document::{ChunkKind, DocSource},
    error::SearchError,
    vector::from_stored,
};

/// A chunk with what a result says of its document.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkRow {
    pub id: u32,
    pub uuid: Uuid,
    pub document: i64,
    pub document_uuid: Uuid,
    pub url: String,
    pub title: Option<String>,
    pub position: u32,
    /// Markdown.
    pub content: String,
    /// Where it begins in its document, in bytes.
    pub start: usize,
    pub stop: usize,
    pub tokens: u32,
    pub header: Option<String>,
    pub kind: ChunkKind,
    pub crawled_at: UnixMillis,
}

/// A document as it is listed.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRow {
    pub id: i64,
    pub uuid: Uuid,
    pub url: String,
    pub domain: String,
    pub parent_url: Option<String>,
    pub title: Option<String>,
    pub content: String,
    pub content_hash: Vec<u8>,
    pub language: Option<String>,
    pub source: DocSource,
    pub collection: Option<Uuid>,
    pub tags: Vec<String>,
    pub metadata: serde_json::Value,
    pub version: i64,
    pub crawled_at: UnixMillis,
    pub changed_at: UnixMillis,
    pub deleted_at: Option<UnixMillis>,
    pub last_crawl: Option<i64>,
    pub chunks: u32,
    /// Who may find it.
    pub owners: Vec<String>,
}

/// What has to be known of a document before it is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub content_hash: Vec<u8>,
    pub deleted: bool,
    /// Somebody removed it, or uploaded it: crawls leave it alone.
    pub not_for_crawls: bool,
}

/// An index in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexCounts {
    pub documents: u64,
    pub chunks: u64,
    pub embedded: u64,
}

impl IndexFile {
    /// Whether there is something that no crawl brings back: uploads, collections, tags, deletions.
    pub fn holds_work_of_people(&self) -> Result<bool, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT EXISTS (SELECT 1 FROM documents WHERE source <> 0 OR withdrawn)
                       OR EXISTS (SELECT 1 FROM collections)
                       OR EXISTS (SELECT 1 FROM document_tags)";
            Ok(reader.query_row(sql, [], |row| row.get(0))?)
        })
    }

    pub fn counts(&self) -> IndexCounts {
        let memory = self.memory();
        IndexCounts {
            documents: memory.document_count() as u64,
            chunks: memory.lengths.live(),
            embedded: memory.vectors.len() as u64,
        }
    }

    /// Chunks in the order they are asked for; what is gone meanwhile is left out.
    pub fn chunks(&self, ids: &[u32]) -> Result<Vec<ChunkRow>, SearchError> {
        self.reading(|reader| {
            let mut rows = Vec::with_capacity(ids.len());
            for id in ids {
                rows.extend(chunk(reader, "c.id = ?1", params![id])?);
            }
            Ok(rows)
        })
    }

    /// The chunk of a document at a place.
    pub fn chunk_at(&self, document: i64, position: u32) -> Result<Option<ChunkRow>, SearchError> {
        self.reading(|reader| {
            chunk(
                reader,
                "c.document = ?1 AND c.position = ?2",
                params![document, position],
            )
        })
    }

    /// Which of the chunks of a document the model in use has embedded.
    pub fn embedded(&self, chunks: &[u32]) -> Vec<bool> {
        let memory = self.memory();
        chunks
            .iter()
            .map(|chunk| memory.vectors.has(*chunk))
            .collect()
    }

    /// All chunks of a document.
    pub fn chunks_of(&self, document: i64) -> Result<Vec<ChunkRow>, SearchError> {
        self.reading(|reader| {
            let sql = format!("{CHUNK} c.document = ? ORDER BY c.position");
            let mut statement = reader.prepare_cached(&sql)?;
            let rows = statement.query_map(params![document], read_chunk)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Hash and state of the document with this URL.
    pub fn known(&self, url: &str) -> Result<Option<Known>, SearchError> {
        self.reading(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT content_hash, deleted_at IS NOT NULL, \
                 withdrawn OR (source <> 0 AND deleted_at IS NULL) FROM documents WHERE url = ?",
            )?;
            let row = statement.query_row(params![url], |row| {
                Ok(Known {
                    content_hash: row.get(0)?,
                    deleted: row.get(1)?,
                    not_for_crawls: row.get(2)?,
                })
            });
            Ok(row.optional()?)
        })
    }

    pub fn document(&self, uuid: Uuid) -> Result<Option<DocumentRow>, SearchError> {
        self.reading(|reader| {
            let sql = format!("{} WHERE d.uuid = ?", document_sql(true));
            let row = reader
                .prepare_cached(&sql)?
                .query_row(params![uuid.as_bytes().as_slice()], read_document)
                .optional()?;
            Ok(row)
        })
    }

    /// Vectors of a model for texts that were embedded before.
    pub fn vectors_for(
        &self,
        model: &str,
        hashes: &[[u8; 16]],
    ) -> Result<FxHashMap<[u8; 16], Vec<f32>>, SearchError> {
        self.reading(|reader| {
            let mut found = FxHashMap::default();
            let mut statement = reader.prepare_cached(
                "SELECT v.vector FROM chunks c JOIN models m ON m.name = ?1 \
                 JOIN vectors v ON v.id = (m.id << 32 | c.id) WHERE c.embed_hash = ?2 LIMIT 1",
            )?;
            for hash in hashes {
                let row = statement.query_row(params![model, hash.as_slice()], |row| {
                    Ok(from_stored(row.get_ref(0)?.as_blob().unwrap_or_default()))
                });
                if let Some(vector) = row.optional()? {
                    found.insert(*hash, vector);
                }
            }
            Ok(found)
        })
    }

    /// How far the logs of crawls have been read, by the numbers of the crawls.
    pub fn places(&self) -> Result<FxHashMap<i64, Place>, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT crawl, started_at, seq, judged FROM cursors";
            let mut statement = reader.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(Place {
                    crawl: row.get(0)?,
                    started_at: row.get(1)?,
                    seq: row.get(2)?,
                    judged: row.get(3)?,
                })
            })?;
            let place = |row: Result<Place, _>| row.map(|place| (place.crawl, place));
            Ok(rows.map(place).collect::<Result<_, _>>()?)
        })
    }

    /// URLs of documents of a host that this crawl has not seen.
    pub fn unseen(&self, crawl: i64, domain: &str) -> Result<Vec<String>, SearchError> {
        self.reading(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT url FROM documents WHERE domain = ? AND source = 0 \
                 AND deleted_at IS NULL AND last_crawl < ?",
            )?;
            let rows = statement.query_map(params![domain, crawl], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

const CHUNK: &str = "SELECT c.id, c.uuid, c.document, d.uuid, d.url, d.title, c.position, \
    substr(CAST(d.content AS BLOB), c.start + 1, c.stop - c.start), c.start, c.stop, c.tokens, \
    c.header, c.kind, d.crawled_at FROM chunks c JOIN documents d ON d.id = c.document \
    WHERE d.deleted_at IS NULL AND";

fn chunk(
    reader: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Option<ChunkRow>, SearchError> {
    let mut statement = reader.prepare_cached(&format!("{CHUNK} {condition}"))?;
    Ok(statement.query_row(values, read_chunk).optional()?)
}

fn read_chunk(row: &Row<'_>) -> rusqlite::Result<ChunkRow> {
    let content: Vec<u8> = row.get(7)?;
    Ok(ChunkRow {
        id: row.get(0)?,
        uuid: uuid(row, 1)?,
        document: row.get(2)?,
        document_uuid: uuid(row, 3)?,
        url: row.get(4)?,
        title: row.get(5)?,
        position: row.get(6)?,
        content: String::from_utf8(content).unwrap_or_default(),
        start: row.get::<_, i64>(8)? as usize,
        stop: row.get::<_, i64>(9)? as usize,
        tokens: row.get(10)?,
        header: row.get(11)?,
        kind: ChunkKind::from_stored(row.get(12)?),
        crawled_at: UnixMillis(row.get(13)?),
    })
}

/// What is asked of a document, before and after its content.
const DOCUMENT: [&str; 2] = [
    "SELECT d.id, d.uuid, d.url, d.domain, d.parent_url, d.title, ",
    ", d.content_hash, d.language, d.source, l.uuid, d.metadata, d.version, d.crawled_at, \
     d.deleted_at, (SELECT group_concat(t.name, char(10)) FROM document_tags x \
     JOIN tags t ON t.id = x.tag WHERE x.document = d.id), d.changed_at, d.last_crawl, \
     (SELECT count(*) FROM chunks c WHERE c.document = d.id), \
     (SELECT group_concat(o.owner, char(10)) FROM owners o WHERE o.document = d.id) \
     FROM documents d LEFT JOIN collections l ON l.id = d.collection",
];

/// A query for documents, with their contents or empty ones.
pub(super) fn document_sql(contents: bool) -> String {
    DOCUMENT.join(if contents { "d.content" } else { "''" })
}

pub(super) fn read_document(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    let collection: Option<Vec<u8>> = row.get(10)?;
    let metadata: String = row.get(11)?;
    Ok(DocumentRow {
        id: row.get(0)?,
        uuid: uuid(row, 1)?,
        url: row.get(2)?,
        domain: row.get(3)?,
        parent_url: row.get(4)?,
        title: row.get(5)?,
        content: row.get(6)?,
        content_hash: row.get(7)?,
        language: row.get(8)?,
        source: DocSource::from_stored(row.get(9)?).unwrap_or(DocSource::Crawl),
        collection: collection.and_then(|bytes| Uuid::from_slice(&bytes).ok()),
        tags: lines(row, 15)?,
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
        version: row.get(12)?,
        crawled_at: UnixMillis(row.get(13)?),
        changed_at: UnixMillis(row.get(16)?),
        deleted_at: row.get::<_, Option<i64>>(14)?.map(UnixMillis),
        last_crawl: row.get(17)?,
        chunks: row.get(18)?,
        owners: lines(row, 19)?,
    })
}

fn lines(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let text: Option<String> = row.get(column)?;
    Ok(text
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect())
}

fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    let bytes = row.get_ref(column)?.as_blob().unwrap_or_default();
    Ok(Uuid::from_slice(bytes).unwrap_or_default())
}
