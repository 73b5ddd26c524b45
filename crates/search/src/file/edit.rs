//! Tags and collections: how people sort documents.

use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior, params};
use trawl_types::UnixMillis;
use uuid::Uuid;

use super::IndexFile;
use crate::error::SearchError;

/// Names are at most so long.
const LONGEST_NAME: usize = 200;
/// Descriptions are at most so long.
const LONGEST_DESCRIPTION: usize = 2000;

/// A collection or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub uuid: Uuid,
    pub name: String,
    pub description: Option<String>,
    pub created_at: UnixMillis,
    pub documents: u64,
}

impl IndexFile {
    /// Makes a collection.
    pub fn create_collection(
        &self,
        name: &str,
        description: Option<&str>,
        now: UnixMillis,
    ) -> Result<Uuid, SearchError> {
        let name = checked(name)?;
        check_description(description)?;
        let uuid = Uuid::new_v4();
        let writer = self.writer()?;
        let added = writer.execute(
            "INSERT OR IGNORE INTO collections (uuid, name, description, created_at) \
             VALUES (?, ?, ?, ?)",
            params![uuid.as_bytes().as_slice(), name, description, now.0],
        )?;
        if added == 0 {
            return Err(taken(name));
        }
        Ok(uuid)
    }

    pub fn collections(&self) -> Result<Vec<Label>, SearchError> {
        self.labels(&format!("{COLLECTION} ORDER BY name"), params![])
    }

    pub fn collection(&self, uuid: Uuid) -> Result<Option<Label>, SearchError> {
        let bytes = uuid.as_bytes().as_slice();
        let found = self.labels(&format!("{COLLECTION} WHERE uuid = ?"), params![bytes])?;
        Ok(found.into_iter().next())
    }

    pub fn tags(&self) -> Result<Vec<Label>, SearchError> {
        self.labels(&format!("{TAG} ORDER BY name"), params![])
    }

    /// The ids of tags by their names; one that nobody knows is an error.
    pub fn tag_ids(&self, names: &[String]) -> Result<Vec<Uuid>, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT uuid FROM tags WHERE name = ?";
            let mut statement = reader.prepare_cached(sql)?;
            let mut ids = Vec::with_capacity(names.len());
            for name in names {
                let lower = name.trim().to_lowercase();
                let found = statement.query_row(params![lower], |row| row.get::<_, Vec<u8>>(0));
                let unknown = || SearchError::Unknown {
                    kind: "tag",
                    name: name.clone(),
                };
                let bytes = found.optional()?.ok_or_else(unknown)?;
                ids.push(Uuid::from_slice(&bytes).unwrap_or_default());
            }
            Ok(ids)
        })
    }

    /// The tags of a document.
    pub fn tags_of(&self, document: i64) -> Result<Vec<Label>, SearchError> {
        let sql = format!(
            "{TAG} WHERE l.id IN (SELECT tag FROM document_tags WHERE document = ?) ORDER BY name"
        );
        self.labels(&sql, params![document])
    }

    /// Changes name and description of a collection.
    pub fn update_collection(
        &self,
        uuid: Uuid,
        name: &str,
        description: Option<&str>,
    ) -> Result<bool, SearchError> {
        let name = checked(name)?;
        check_description(description)?;
        let changed = self.writer()?.execute(
            "UPDATE OR IGNORE collections SET name = ?, description = ? WHERE uuid = ?",
            params![name, description, uuid.as_bytes().as_slice()],
        )?;
        if changed == 0 && self.collection(uuid)?.is_some() {
            return Err(taken(name));
        }
        Ok(changed > 0)
    }

    /// Puts a document into a collection, or takes it out of the one it is in.
    pub fn sort_into(&self, document: Uuid, into: Option<Uuid>) -> Result<bool, SearchError> {
        let writer = self.writer()?;
        let Some(document) = document_number(&writer, document)? else {
            return Ok(false);
        };
        let sql = "SELECT id FROM collections WHERE uuid = ?";
        let collection = match into {
            Some(uuid) => {
                Some(
                    number(&writer, sql, uuid)?.ok_or_else(|| SearchError::Unknown {
                        kind: "collection",
                        name: uuid.to_string(),
                    })?,
                )
            }
            None => None,
        };
        let sql = "UPDATE documents SET collection = ? WHERE id = ?";
        writer.execute(sql, params![collection, document])?;
        self.facts(&[document as u32], |facts| {
            facts.collection = collection.unwrap_or_default();
        });
        Ok(true)
    }

    /// Removes a collection; its documents stay and belong to none.
    pub fn delete_collection(&self, uuid: Uuid) -> Result<bool, SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some(id) = number(
            &transaction,
            "SELECT id FROM collections WHERE uuid = ?",
            uuid,
        )?
        else {
            return Ok(false);
        };
        let documents = {
            let mut statement =
                transaction.prepare("SELECT id FROM documents WHERE collection = ?")?;
            let rows = statement.query_map(params![id], |row| row.get::<_, u32>(0))?;
            rows.collect::<Result<Vec<u32>, _>>()?
        };
        transaction.execute(
            "UPDATE documents SET collection = NULL WHERE collection = ?",
            params![id],
        )?;
        transaction.execute("DELETE FROM collections WHERE id = ?", params![id])?;
        transaction.commit()?;
        self.facts(&documents, |facts| facts.collection = 0);
        Ok(true)
    }

    /// Makes a tag, or finds it.
    pub fn create_tag(&self, name: &str, now: UnixMillis) -> Result<Uuid, SearchError> {
        let writer = self.writer()?;
        let id = ensure_tag(&writer, name, now.0)?;
        let sql = "SELECT uuid FROM tags WHERE id = ?";
        let bytes: Vec<u8> = writer.query_row(sql, params![id], |row| row.get(0))?;
        Ok(Uuid::from_slice(&bytes).unwrap_or_default())
    }

    /// Gives a document a tag.
    pub fn tag(&self, document: Uuid, name: &str, now: UnixMillis) -> Result<bool, SearchError> {
        let writer = self.writer()?;
        let Some(document) = document_number(&writer, document)? else {
            return Ok(false);
        };
        let tag = ensure_tag(&writer, name, now.0)?;
        writer.execute(
            "INSERT OR IGNORE INTO document_tags (document, tag) VALUES (?, ?)",
            params![document, tag],
        )?;
        self.facts(&[document as u32], |facts| {
            if !facts.tags.contains(&tag) {
                facts.tags.push(tag);
            }
        });
        Ok(true)
    }

    /// Takes a tag from a document.
    pub fn untag(&self, document: Uuid, tag: Uuid) -> Result<bool, SearchError> {
        let writer = self.writer()?;
        let document = document_number(&writer, document)?;
        let tag = number(&writer, "SELECT id FROM tags WHERE uuid = ?", tag)?;
        let (Some(document), Some(tag)) = (document, tag) else {
            return Ok(false);
        };
        let removed = writer.execute(
            "DELETE FROM document_tags WHERE document = ? AND tag = ?",
            params![document, tag],
        )?;
        self.facts(&[document as u32], |facts| {
            facts.tags.retain(|has| *has != tag);
        });
        Ok(removed > 0)
    }

    fn labels(&self, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Label>, SearchError> {
        self.reading(|reader| {
            let mut statement = reader.prepare_cached(sql)?;
            let rows = statement.query_map(values, |row| {
                let bytes: Vec<u8> = row.get(0)?;
                Ok(Label {
                    uuid: Uuid::from_slice(&bytes).unwrap_or_default(),
                    name: row.get(1)?,
                    description: row.get(2)?,
                    created_at: UnixMillis(row.get(3)?),
                    documents: row.get::<_, i64>(4)? as u64,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn facts(&self, documents: &[u32], change: impl Fn(&mut super::memory::Facts)) {
        let mut memory = self
            .memory
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for document in documents {
            if let Some(facts) = memory.document_mut(*document) {
                change(facts);
            }
        }
        drop(memory);
        self.changed();
    }
}

const COLLECTION: &str = "SELECT uuid, name, description, created_at, (SELECT count(*) \
    FROM documents d WHERE d.collection = l.id AND d.deleted_at IS NULL) FROM collections l";

const TAG: &str = "SELECT uuid, name, NULL, created_at, (SELECT count(*) FROM document_tags x \
    JOIN documents d ON d.id = x.document AND d.deleted_at IS NULL WHERE x.tag = l.id) FROM tags l";

fn taken(name: &str) -> SearchError {
    SearchError::Conflict(format!("there is a collection named {name:?} already"))
}

fn document_number(connection: &Connection, uuid: Uuid) -> Result<Option<i64>, SearchError> {
    number(connection, "SELECT id FROM documents WHERE uuid = ?", uuid)
}

fn number(connection: &Connection, sql: &str, uuid: Uuid) -> Result<Option<i64>, SearchError> {
    let row = connection.query_row(sql, params![uuid.as_bytes().as_slice()], |row| row.get(0));
    Ok(row.optional()?)
}

/// The number of the tag with this name, in lower case.
pub(super) fn ensure_tag(
    connection: &Connection,
    name: &str,
    now: i64,
) -> Result<i64, SearchError> {
    let name = checked(name)?.to_lowercase();
    connection
        .prepare_cached("INSERT OR IGNORE INTO tags (uuid, name, created_at) VALUES (?, ?, ?)")?
        .execute(params![Uuid::new_v4().as_bytes().as_slice(), name, now])?;
    Ok(connection
        .prepare_cached("SELECT id FROM tags WHERE name = ?")?
        .query_row(params![name], |row| row.get(0))?)
}

fn check_description(text: Option<&str>) -> Result<(), SearchError> {
    if text.is_some_and(|text| text.chars().count() > LONGEST_DESCRIPTION) {
        let problem = format!("a description has at most {LONGEST_DESCRIPTION} characters");
        return Err(SearchError::Invalid(problem));
    }
    Ok(())
}

fn checked(name: &str) -> Result<&str, SearchError> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.contains(char::is_control) {
        let problem = format!("{name:?} is no name: one line of 1 to {LONGEST_NAME} characters is");
        return Err(SearchError::Invalid(problem));
    }
    Ok(name)
}
