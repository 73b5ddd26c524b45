//! The index as one SQLite file: documents, chunks, posting lists and vectors change together, in
//! one transaction, with the cursor of the log they came from. A crash leaves all of a document or
//! nothing.
//!
//! One process writes it, others may read. `schema` opens, `write` changes (`put`, `put_chunks` and `put_labels` one document), `merge` tidies,
//! `edit` and `upkeep` are what else there is to do, `memory` is what searches hold in memory,
//! `mirror` is what vector databases elsewhere are told,
//! `postings` gives lists to the keyword search, `read`, `list` and `versions` give documents and
//! chunks to people.

mod edit;
mod list;
mod memory;
mod merge;
mod mirror;
mod postings;
mod put;
mod put_chunks;
mod put_labels;
mod read;
mod schema;
mod upkeep;
mod versions;
mod write;

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    analysis::Analyser,
    document::Filter,
    error::SearchError,
    lexical::{Bm25, Ranked, Scored, rank},
    query::Query,
};
use memory::{Memory, Wanted};
use postings::FilePostings;

pub use edit::Label;
pub use list::{DocumentFilter, DocumentList};
pub use mirror::{MirrorPoint, Queued};
pub use read::{ChunkRow, DocumentRow, IndexCounts, Known};
pub use upkeep::{Missing, Unembedded};
pub use versions::VersionRow;
pub use write::{Changes, Place, Report, Seen};

/// Connections that are kept for the next search.
const SPARE_READERS: usize = 8;

/// The model whose vectors an index holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    pub name: String,
    pub dimension: usize,
}

/// An index file, open.
#[derive(Debug)]
pub struct IndexFile {
    path: PathBuf,
    analyser: Analyser,
    writer: Option<Writer>,
    readers: Mutex<Vec<Connection>>,
    memory: RwLock<Memory>,
    /// Changes with every write, by whatever process.
    seen: Mutex<(Connection, i64)>,
    /// Grows whenever what searches find may have changed, after it has.
    generation: AtomicU64,
    weights: Bm25,
}

/// What only the process that writes has.
#[derive(Debug)]
struct Writer {
    connection: Mutex<Connection>,
    _lock: std::fs::File,
}

impl IndexFile {
    /// Opens an index to write to; makes it if there is none.
    pub fn open(path: &Path) -> Result<Self, SearchError> {
        let lock = schema::lock(path)?;
        let writer = Writer {
            connection: Mutex::new(schema::writer(path)?),
            _lock: lock,
        };
        Self::with(path, Some(writer))
    }

    /// Opens an index that is only read, also while another process writes to it.
    pub fn open_to_read(path: &Path) -> Result<Self, SearchError> {
        Self::with(path, None)
    }

    fn with(path: &Path, writer: Option<Writer>) -> Result<Self, SearchError> {
        let watcher = schema::reader(path)?;
        let version = data_version(&watcher)?;
        let reader = schema::reader(path)?;
        let memory = Memory::load(&reader, current_model(&reader)?)?;
        Ok(Self {
            path: path.to_owned(),
            analyser: Analyser::default(),
            writer,
            readers: Mutex::new(vec![reader]),
            memory: RwLock::new(memory),
            seen: Mutex::new((watcher, version)),
            generation: AtomicU64::new(0),
            weights: Bm25::default(),
        })
    }

    /// Scores with other weights than the usual ones.
    #[must_use]
    pub fn with_weights(mut self, weights: Bm25) -> Self {
        self.weights = weights;
        self
    }

    pub fn analyser(&self) -> &Analyser {
        &self.analyser
    }

    /// Another number than before means that searches may find something else. What is gone is no
    /// longer found under the number that follows.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    pub fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    /// Makes the writes of other processes visible; says whether there were any.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let mut seen = lock(&self.seen);
        let version = data_version(&seen.0)?;
        if version == seen.1 {
            return Ok(false);
        }
        seen.1 = version;
        if self.writer.is_some() {
            // Writes of this process are in memory already, and no other may write.
            return Ok(false);
        }
        let memory = self.reading(|reader| Memory::load(reader, current_model(reader)?))?;
        *self.memory.write().unwrap_or_else(PoisonError::into_inner) = memory;
        self.changed();
        Ok(true)
    }

    /// The best chunks by their words.
    pub fn by_keywords(
        &self,
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Ranked, SearchError> {
        self.reading(|reader| {
            let wanted = Wanted::of(reader, filter)?;
            let memory = self.memory();
            let documents = memory.allowed(&wanted, query);
            let allowed = |chunk: u32| is_allowed(&memory, documents.as_deref(), chunk);
            let source = FilePostings(reader);
            Ok(rank(
                query,
                &source,
                &memory.lengths,
                self.weights,
                &allowed,
                limit,
            )?)
        })
    }

    /// The nearest chunks by their meaning.
    pub fn by_vector(
        &self,
        vector: &[f32],
        query: &Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Scored>, SearchError> {
        let wanted = self.reading(|reader| Wanted::of(reader, filter))?;
        let memory = self.memory();
        let documents = memory.allowed(&wanted, query);
        let allowed = |chunk: u32| is_allowed(&memory, documents.as_deref(), chunk);
        Ok(memory.vectors.nearest(vector, limit, &allowed))
    }

    /// The model whose vectors are searched.
    pub fn model(&self) -> Result<Option<ModelRow>, SearchError> {
        self.reading(|reader| {
            let sql = "SELECT name, dimension FROM models WHERE id = \
                       (SELECT value FROM meta WHERE key = 'model')";
            let row = reader.query_row(sql, [], |row| {
                Ok(ModelRow {
                    name: row.get(0)?,
                    dimension: row.get::<_, i64>(1)? as usize,
                })
            });
            Ok(row.optional()?)
        })
    }

    fn memory(&self) -> std::sync::RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs with a connection of the pool.
    fn reading<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        let spare = lock(&self.readers).pop();
        let reader = match spare {
            Some(reader) => reader,
            None => schema::reader(&self.path)?,
        };
        let result = work(&reader);
        let mut readers = lock(&self.readers);
        if readers.len() < SPARE_READERS {
            readers.push(reader);
        }
        result
    }

    fn writer(&self) -> Result<MutexGuard<'_, Connection>, SearchError> {
        let writer = self.writer.as_ref();
        let writer = writer.ok_or_else(|| SearchError::Locked(self.path.display().to_string()))?;
        Ok(lock(&writer.connection))
    }
}

fn is_allowed(memory: &Memory, documents: Option<&[bool]>, chunk: u32) -> bool {
    let Some(document) = memory.lengths.document(chunk) else {
        return false;
    };
    documents.is_none_or(|list| list.get(document as usize).copied().unwrap_or(false))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn data_version(connection: &Connection) -> Result<i64, SearchError> {
    Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Number and dimension of the model in use.
fn current_model(connection: &Connection) -> Result<Option<(i64, usize)>, SearchError> {
    let sql = "SELECT id, dimension FROM models WHERE id = \
               (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'model')";
    let row = connection.query_row(sql, params![], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)? as usize))
    });
    Ok(row.optional()?)
}
