//! What is left to do: pages that are gone, chunks without vectors, a change of the model.

use rusqlite::{OptionalExtension, params};
use rustc_hash::FxHashMap;
use trawl_types::UnixMillis;

use super::{IndexFile, memory::Memory, write::vector_id};
use crate::{error::SearchError, vector::to_stored};

/// Documents of a host that are gone, and how many it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    pub urls: Vec<String>,
    pub documents: u64,
    /// Documents whose pages were found gone, and which were removed, not long ago.
    pub removed: u64,
}

/// A chunk that a model has not embedded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unembedded {
    pub chunk: i64,
    pub url: String,
    pub title: Option<String>,
    pub content: String,
}

impl IndexFile {
    /// Documents that are to be removed, by host; with those that were since then.
    pub fn missing(&self, since: UnixMillis) -> Result<FxHashMap<String, Missing>, SearchError> {
        self.reading(|reader| {
            let mut found: FxHashMap<String, Missing> = FxHashMap::default();
            let mut statement = reader.prepare(
                "SELECT d.domain, d.url FROM removals r JOIN documents d ON d.url = r.url \
                 WHERE d.deleted_at IS NULL ORDER BY d.url",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let missing = found.entry(row.get(0)?).or_default();
                missing.urls.push(row.get(1)?);
            }
            for (domain, missing) in &mut found {
                let sql = "SELECT count(*) FROM documents WHERE domain = ? AND deleted_at IS NULL";
                let count: i64 = reader.query_row(sql, params![domain], |row| row.get(0))?;
                missing.documents = count as u64;
                let sql = "SELECT count(*) FROM documents WHERE domain = ? AND deleted_at >= ? \
                           AND withdrawn = 0";
                let values = params![domain, since.0];
                let count: i64 = reader.query_row(sql, values, |row| row.get(0))?;
                missing.removed = count as u64;
            }
            Ok(found)
        })
    }

    /// Chunks that a model has not embedded, at most so many, after a number.
    pub fn unembedded(
        &self,
        model: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Unembedded>, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT id FROM models WHERE name = ?";
            let id: Option<i64> = reader
                .query_row(sql, params![model], |row| row.get(0))
                .optional()?;
            let mut statement = reader.prepare_cached(
                "SELECT c.id, d.url, d.title, \
                 substr(CAST(d.content AS BLOB), c.start + 1, c.stop - c.start) \
                 FROM chunks c JOIN documents d ON d.id = c.document \
                 WHERE c.id > ?1 AND d.deleted_at IS NULL \
                 AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.id = (?2 << 32 | c.id)) \
                 ORDER BY c.id LIMIT ?3",
            )?;
            let rows =
                statement.query_map(params![after, id.unwrap_or_default(), limit], |row| {
                    Ok(Unembedded {
                        chunk: row.get(0)?,
                        url: row.get(1)?,
                        title: row.get(2)?,
                        content: String::from_utf8(row.get(3)?).unwrap_or_default(),
                    })
                })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Adds vectors to chunks that have none of this model. The model that is searched stays.
    pub fn add_vectors(
        &self,
        model: &str,
        dimension: usize,
        vectors: &[(i64, Vec<f32>)],
    ) -> Result<(), SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        let id = super::write::model_number(&transaction, model, dimension)?;
        for (chunk, vector) in vectors {
            // A chunk that was replaced meanwhile gets none.
            transaction
                .prepare_cached(
                    "INSERT OR REPLACE INTO vectors (id, vector) \
                     SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM chunks WHERE id = ?3)",
                )?
                .execute(params![vector_id(id, *chunk), to_stored(vector), chunk])?;
        }
        transaction.commit()?;
        let mut memory = self
            .memory
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if memory.model.is_none() {
            memory.model = Some(id);
            memory.vectors = crate::vector::Vectors::new(dimension);
        }
        if memory.model == Some(id) {
            for (chunk, vector) in vectors {
                if memory.lengths.lives(*chunk as u32) {
                    memory.vectors.set_stored(*chunk as u32, &to_stored(vector));
                }
            }
        }
        drop(memory);
        self.changed();
        Ok(())
    }

    /// Notes which database the index was made from. One that was made from another is refused:
    /// numbers of crawls would mean something else.
    pub fn belongs_to(&self, database: &str) -> Result<(), SearchError> {
        let writer = self.writer()?;
        writer.execute(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('database', ?)",
            params![database],
        )?;
        let sql = "SELECT value FROM meta WHERE key = 'database'";
        let found: String = writer.query_row(sql, [], |row| row.get(0))?;
        if found == database {
            return Ok(());
        }
        Err(SearchError::Conflict(format!(
            "{} was made from another database ({found}): name another file with --search-index",
            self.path.display()
        )))
    }

    /// Searches with another model from now on, and forgets the vectors of all others.
    pub fn switch_model(&self, model: &str) -> Result<(), SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        let sql = "SELECT id FROM models WHERE name = ?";
        let id: Option<i64> = transaction
            .query_row(sql, params![model], |row| row.get(0))
            .optional()?;
        let unknown = || SearchError::Unknown {
            kind: "model",
            name: model.to_owned(),
        };
        let id = id.ok_or_else(unknown)?;
        transaction.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('model', ?)",
            params![id.to_string()],
        )?;
        transaction.execute(
            "DELETE FROM vectors WHERE id < ? OR id >= ?",
            params![id << 32, (id + 1) << 32],
        )?;
        transaction.execute("DELETE FROM models WHERE id <> ?", params![id])?;
        transaction.commit()?;
        let memory = Memory::load(&writer, super::current_model(&writer)?)?;
        *self
            .memory
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = memory;
        self.changed();
        Ok(())
    }
}
