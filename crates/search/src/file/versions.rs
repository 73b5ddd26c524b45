//! What documents were before they changed.

use rusqlite::{OptionalExtension, Row, params};
use trawl_types::UnixMillis;

use super::IndexFile;
use crate::error::SearchError;

/// A document as it was, or as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    pub version: i64,
    pub title: Option<String>,
    /// Empty in lists.
    pub content: String,
    pub content_hash: Vec<u8>,
    /// Characters of the content.
    pub length: u64,
    pub crawled_at: UnixMillis,
}

/// All versions of one document, that of today among them.
const ALL: &str = "SELECT version, title, content, content_hash, crawled_at FROM versions \
    WHERE document = ?1 UNION ALL \
    SELECT version, title, content, content_hash, crawled_at FROM documents WHERE id = ?1";

impl IndexFile {
    /// The versions of a document, the newest first.
    pub fn versions(&self, document: i64) -> Result<Vec<VersionRow>, SearchError> {
        self.reading(|reader| {
            let sql = format!(
                "SELECT version, title, '', content_hash, length(content), crawled_at FROM ({ALL}) \
                 ORDER BY version DESC"
            );
            let mut statement = reader.prepare_cached(&sql)?;
            let rows = statement.query_map(params![document], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// One version with its content.
    pub fn version(&self, document: i64, version: i64) -> Result<Option<VersionRow>, SearchError> {
        self.reading(|reader| {
            let sql = format!(
                "SELECT version, title, content, content_hash, length(content), crawled_at \
                 FROM ({ALL}) WHERE version = ?2"
            );
            let mut statement = reader.prepare_cached(&sql)?;
            let row = statement.query_row(params![document, version], read);
            Ok(row.optional()?)
        })
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<VersionRow> {
    Ok(VersionRow {
        version: row.get(0)?,
        title: row.get(1)?,
        content: row.get(2)?,
        content_hash: row.get(3)?,
        length: row.get::<_, i64>(4)? as u64,
        crawled_at: UnixMillis(row.get(5)?),
    })
}
