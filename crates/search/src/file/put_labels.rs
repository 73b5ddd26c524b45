//! What belongs to one document in a transaction besides its text: tags, collection, owners.

use rusqlite::{OptionalExtension, params};

use super::put::Writing;
use crate::{error::SearchError, prepare::Prepared};

impl Writing<'_> {
    pub(super) fn add_owner(&self, document: i64, owner: &str) -> Result<bool, SearchError> {
        let sql = "INSERT OR IGNORE INTO owners (document, owner) VALUES (?, ?)";
        let mut statement = self.transaction.prepare_cached(sql)?;
        Ok(statement.execute(params![document, owner])? > 0)
    }

    pub(super) fn collection(&self, prepared: &Prepared) -> Result<Option<i64>, SearchError> {
        let Some(uuid) = prepared.document.collection else {
            return Ok(None);
        };
        let sql = "SELECT id FROM collections WHERE uuid = ?";
        let row = self
            .transaction
            .query_row(sql, params![uuid.as_bytes().as_slice()], |row| row.get(0));
        let unknown = || SearchError::Unknown {
            kind: "collection",
            name: uuid.to_string(),
        };
        Ok(Some(row.optional()?.ok_or_else(unknown)?))
    }

    /// Sorted in by somebody, and kept when the page changes.
    pub(super) fn collection_of(&self, document: i64) -> Result<i64, SearchError> {
        let sql = "SELECT coalesce(collection, 0) FROM documents WHERE id = ?";
        let mut statement = self.transaction.prepare_cached(sql)?;
        Ok(statement.query_row(params![document], |row| row.get(0))?)
    }

    /// What changed is known only to whoever saw the change.
    pub(super) fn owners(
        &self,
        document: i64,
        owner: Option<&str>,
        same: bool,
    ) -> Result<Vec<String>, SearchError> {
        if !same {
            self.transaction
                .prepare_cached("DELETE FROM owners WHERE document = ?")?
                .execute(params![document])?;
        }
        if let Some(owner) = owner {
            self.add_owner(document, owner)?;
        }
        let mut statement = self
            .transaction
            .prepare_cached("SELECT owner FROM owners WHERE document = ?")?;
        let rows = statement.query_map(params![document], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(super) fn tags(&self, document: i64, names: &[String]) -> Result<Vec<i64>, SearchError> {
        for name in names {
            let tag = super::edit::ensure_tag(self.transaction, name, self.now)?;
            self.transaction
                .prepare_cached(
                    "INSERT OR IGNORE INTO document_tags (document, tag) VALUES (?, ?)",
                )?
                .execute(params![document, tag])?;
        }
        let mut statement = self
            .transaction
            .prepare_cached("SELECT tag FROM document_tags WHERE document = ?")?;
        let rows = statement.query_map(params![document], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
