//! What a vector database elsewhere has to be told of this file: a queue that changes fill in their
//! own transaction, and chunks as such a database wants them. Knows none of its protocols.

use rusqlite::{Connection, OptionalExtension, params};
use trawl_types::UnixMillis;
use uuid::Uuid;

use super::{IndexFile, current_model, is_allowed, memory::Wanted};
use crate::{
    document::{ChunkKind, DocSource, Filter},
    error::SearchError,
    query::Query,
    vector::from_stored,
};

/// Everything that makes a chunk another one for those who search. `{chunks}` selects UUIDs.
const TRIGGERS: [(&str, &str, &str); 9] = [
    ("mirror_vector", "INSERT ON vectors", BY_VECTOR),
    ("mirror_vector_again", "UPDATE ON vectors", BY_VECTOR),
    ("mirror_moved", "UPDATE ON chunks", "SELECT NEW.uuid"),
    ("mirror_dropped", "DELETE ON chunks", "SELECT OLD.uuid"),
    (
        "mirror_document",
        "UPDATE OF url, domain, title, language, source, collection, crawled_at, deleted_at \
         ON documents",
        "SELECT uuid FROM chunks WHERE document = NEW.id",
    ),
    ("mirror_tagged", "INSERT ON document_tags", BY_DOCUMENT),
    (
        "mirror_untagged",
        "DELETE ON document_tags",
        BY_OLD_DOCUMENT,
    ),
    ("mirror_owned", "INSERT ON owners", BY_DOCUMENT),
    ("mirror_disowned", "DELETE ON owners", BY_OLD_DOCUMENT),
];
const BY_VECTOR: &str = "SELECT uuid FROM chunks WHERE id = NEW.id & 4294967295";
const BY_DOCUMENT: &str = "SELECT uuid FROM chunks WHERE document = NEW.document";
const BY_OLD_DOCUMENT: &str = "SELECT uuid FROM chunks WHERE document = OLD.document";

/// A chunk as others want it.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorPoint {
    pub chunk: Uuid,
    pub document: Uuid,
    pub position: u32,
    pub url: String,
    pub domain: String,
    pub title: Option<String>,
    pub header: Option<String>,
    pub language: Option<String>,
    pub source: DocSource,
    pub kind: ChunkKind,
    pub collection: Option<Uuid>,
    pub tags: Vec<Uuid>,
    pub owners: Vec<String>,
    pub crawled_at: UnixMillis,
    pub model: String,
    pub vector: Vec<f32>,
}

/// An entry of the queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    pub chunk: Uuid,
    pub turn: i64,
    /// What it is now; nothing if it is to be forgotten.
    pub point: Option<MirrorPoint>,
}

impl IndexFile {
    /// From now on changes are queued for `target`. All there is goes into the queue if that is another
    /// one than before. Gives the name under which this index is known there.
    pub fn mirror_to(&self, target: &str) -> Result<Uuid, SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        for (name, event, chunks) in TRIGGERS {
            transaction.execute_batch(&format!(
                "CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} BEGIN
                   INSERT INTO mirror_queue (chunk, turn) SELECT uuid, 1 FROM ({chunks})
                   WHERE true ON CONFLICT (chunk) DO UPDATE SET turn = turn + 1;
                 END;"
            ))?;
        }
        let name = match meta(&transaction, "mirror_name")? {
            Some(name) => name,
            None => Uuid::new_v4().to_string(),
        };
        if meta(&transaction, "mirror")?.as_deref() != Some(target) {
            transaction.execute("DELETE FROM mirror_queue", [])?;
            transaction.execute("INSERT INTO mirror_queue SELECT uuid, 1 FROM chunks", [])?;
        }
        let sql =
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('mirror', ?), ('mirror_name', ?)";
        transaction.execute(sql, params![target, name])?;
        transaction.commit()?;
        Ok(Uuid::parse_str(&name).unwrap_or_default())
    }

    /// Nothing is queued any more.
    pub fn mirror_nowhere(&self) -> Result<(), SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        if meta(&transaction, "mirror")?.is_some() {
            for (name, ..) in TRIGGERS {
                transaction.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?;
            }
            transaction.execute("DELETE FROM mirror_queue", [])?;
            transaction.execute("DELETE FROM meta WHERE key = 'mirror'", [])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// The name under which this index is known elsewhere.
    pub fn mirror_name(&self) -> Result<Option<Uuid>, SearchError> {
        let name = self.reading(|reader| meta(reader, "mirror_name"))?;
        Ok(name.and_then(|name| Uuid::parse_str(&name).ok()))
    }

    /// Chunks that others have to be told of.
    pub fn mirror_waiting(&self) -> Result<u64, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT count(*) FROM mirror_queue";
            Ok(reader.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
        })
    }

    /// Some of them.
    pub fn mirror_batch(&self, most: usize) -> Result<Vec<Queued>, SearchError> {
        self.reading(|reader| {
            let mut statement =
                reader.prepare_cached("SELECT chunk, turn FROM mirror_queue LIMIT ?")?;
            let rows = statement.query_map(params![most as i64], |row| {
                Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?))
            })?;
            let mut queued = Vec::new();
            for row in rows {
                let (bytes, turn) = row?;
                let chunk = Uuid::from_slice(&bytes).unwrap_or_default();
                let point = point(reader, chunk)?;
                queued.push(Queued { chunk, turn, point });
            }
            Ok(queued)
        })
    }

    /// Others know these as they were; what has changed since stays in the queue.
    pub fn mirror_told(&self, told: &[Queued]) -> Result<(), SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        let sql = "DELETE FROM mirror_queue WHERE chunk = ? AND turn = ?";
        for entry in told {
            transaction
                .prepare_cached(sql)?
                .execute(params![entry.chunk.as_bytes().as_slice(), entry.turn])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Others have to be told of these again.
    pub fn mirror_again(&self, chunks: &[Uuid]) -> Result<(), SearchError> {
        let mut writer = self.writer()?;
        let transaction = writer.transaction()?;
        let sql = "INSERT INTO mirror_queue (chunk, turn) VALUES (?, 1)
                   ON CONFLICT (chunk) DO UPDATE SET turn = turn + 1";
        for chunk in chunks {
            transaction
                .prepare_cached(sql)?
                .execute(params![chunk.as_bytes().as_slice()])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Points in the order of their chunks' numbers, after one of them; with the number of the last.
    pub fn mirror_points(
        &self,
        after: i64,
        most: usize,
    ) -> Result<(Vec<MirrorPoint>, Option<i64>), SearchError> {
        self.reading(|reader| {
            let sql = "SELECT id, uuid FROM chunks WHERE id > ? ORDER BY id LIMIT ?";
            let mut statement = reader.prepare_cached(sql)?;
            let rows = statement.query_map(params![after, most as i64], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
            })?;
            let (mut points, mut last) = (Vec::new(), None);
            for row in rows {
                let (id, bytes) = row?;
                last = Some(id);
                points.extend(point(reader, Uuid::from_slice(&bytes).unwrap_or_default())?);
            }
            Ok((points, last))
        })
    }

    /// The numbers of chunks that are here and that a filter and a query leave in.
    pub fn allowed_chunks(
        &self,
        chunks: &[Uuid],
        query: &Query,
        filter: &Filter,
    ) -> Result<Vec<Option<u32>>, SearchError> {
        self.reading(|reader| {
            let wanted = Wanted::of(reader, filter)?;
            let memory = self.memory();
            let documents = memory.allowed(&wanted, query);
            let mut statement = reader.prepare_cached("SELECT id FROM chunks WHERE uuid = ?")?;
            let mut found = Vec::with_capacity(chunks.len());
            for chunk in chunks {
                let key = params![chunk.as_bytes().as_slice()];
                let number = statement.query_row(key, |row| row.get::<_, i64>(0));
                let number = number.optional()?.map(|number| number as u32);
                found.push(number.filter(|n| is_allowed(&memory, documents.as_deref(), *n)));
            }
            Ok(found)
        })
    }
}

fn meta(connection: &Connection, key: &str) -> Result<Option<String>, SearchError> {
    let sql = "SELECT value FROM meta WHERE key = ?";
    let value = connection.query_row(sql, params![key], |row| row.get(0));
    Ok(value.optional()?)
}

/// A chunk that can be found, with the vector that is searched.
fn point(connection: &Connection, chunk: Uuid) -> Result<Option<MirrorPoint>, SearchError> {
    let Some((model, _)) = current_model(connection)? else {
        return Ok(None);
    };
    let sql = "SELECT d.id, d.uuid, c.position, d.url, d.domain, d.title, c.header, d.language,
          d.source, c.kind, l.uuid, d.crawled_at, m.name, v.vector
        FROM chunks c JOIN documents d ON d.id = c.document
        JOIN models m ON m.id = ?2 JOIN vectors v ON v.id = (?2 << 32) | c.id
        LEFT JOIN collections l ON l.id = d.collection
        WHERE c.uuid = ?1 AND d.deleted_at IS NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let uuid = |bytes: Vec<u8>| Uuid::from_slice(&bytes).unwrap_or_default();
    let found = statement.query_row(params![chunk.as_bytes().as_slice(), model], |row| {
        let source = DocSource::from_stored(row.get(8)?);
        let point = MirrorPoint {
            chunk,
            document: uuid(row.get(1)?),
            position: row.get(2)?,
            url: row.get(3)?,
            domain: row.get(4)?,
            title: row.get(5)?,
            header: row.get(6)?,
            language: row.get(7)?,
            source: source.unwrap_or(DocSource::Crawl),
            kind: ChunkKind::from_stored(row.get(9)?),
            collection: row.get::<_, Option<Vec<u8>>>(10)?.map(uuid),
            tags: Vec::new(),
            owners: Vec::new(),
            crawled_at: UnixMillis(row.get(11)?),
            model: row.get(12)?,
            vector: from_stored(row.get_ref(13)?.as_blob().unwrap_or_default()),
        };
        Ok((row.get::<_, i64>(0)?, point))
    });
    let Some((document, mut point)) = found.optional()? else {
        return Ok(None);
    };
    let sql = "SELECT t.uuid FROM document_tags d JOIN tags t ON t.id = d.tag
               WHERE d.document = ? ORDER BY t.id";
    let mut statement = connection.prepare_cached(sql)?;
    let tags = statement.query_map(params![document], |row| Ok(uuid(row.get(0)?)))?;
    point.tags = tags.collect::<Result<_, _>>()?;
    let sql = "SELECT owner FROM owners WHERE document = ? ORDER BY owner";
    let mut statement = connection.prepare_cached(sql)?;
    let owners = statement.query_map(params![document], |row| row.get(0))?;
    point.owners = owners.collect::<Result<_, _>>()?;
    Ok(Some(point))
}
