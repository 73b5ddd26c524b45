//! Documents in: one transaction for all changes of a batch and the cursor behind them.

use std::sync::PoisonError;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use trawl_types::UnixMillis;

use super::{
    IndexFile,
    memory::{Facts, Memory},
    merge,
    postings::NewSegment,
    put::Writing,
};
use crate::{error::SearchError, prepare::Prepared, vector::Vectors};

/// What is to be changed at once.
#[derive(Debug)]
pub struct Changes {
    pub put: Vec<Prepared>,
    /// Documents that somebody had removed and wants back.
    pub restore: Vec<Prepared>,
    /// URLs of documents whose pages are gone.
    pub remove: Vec<String>,
    /// URLs of documents that somebody removes: no crawl brings them back.
    pub withdraw: Vec<String>,
    /// URLs that a crawl found gone: to be removed once that is certain.
    pub gone: Vec<(String, i64)>,
    /// Documents that a crawl saw unchanged.
    pub seen: Vec<Seen>,
    /// How far a crawl's log has been read.
    pub cursor: Option<Place>,
    pub now: UnixMillis,
    /// The model whose vectors the chunks carry.
    pub model: Option<(String, usize)>,
}

impl Changes {
    /// Nothing yet.
    pub fn at(now: UnixMillis) -> Self {
        Self {
            put: Vec::new(),
            restore: Vec::new(),
            remove: Vec::new(),
            withdraw: Vec::new(),
            gone: Vec::new(),
            seen: Vec::new(),
            cursor: None,
            now,
            model: None,
        }
    }
}

/// A document that a crawl saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub url: String,
    pub crawl: i64,
    /// Who may find it from now on, too: the crawl has seen it as it is.
    pub owner: Option<String>,
}

/// A place in the log of a crawl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub crawl: i64,
    /// When the crawl began: another crawl may get its number once it is deleted.
    pub started_at: i64,
    pub seq: i64,
    /// Pages that the crawl has not met were counted as gone.
    pub judged: bool,
}

/// What changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    pub added: u64,
    pub changed: u64,
    pub removed: u64,
    pub chunks_written: u64,
    pub chunks_kept: u64,
    /// Pages whose documents somebody removed or uploaded: they were left as they are.
    pub left_alone: u64,
}

/// What a transaction did, for the memory to follow once it is committed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub(super) documents: Vec<(u32, Option<NewFacts>)>,
    pub(super) removed: Vec<u32>,
    pub(super) added: Vec<(u32, u32, u32, u32)>,
    /// As they are stored: a file that is opened again gives the same numbers.
    pub(super) vectors: Vec<(u32, Vec<u8>)>,
    /// Documents that somebody else may find as well.
    pub(super) owners: Vec<(u32, String)>,
}

#[derive(Debug)]
pub(super) struct NewFacts {
    pub(super) domain: String,
    pub(super) language: String,
    pub(super) source: u8,
    pub(super) collection: i64,
    pub(super) crawled_at: i64,
    pub(super) tags: Vec<i64>,
    pub(super) owners: Vec<String>,
}

impl IndexFile {
    /// Writes all changes, or none.
    pub fn apply(&self, changes: Changes) -> Result<Report, SearchError> {
        let mut writer = self.writer()?;
        let mut report = Report::default();
        let mut followed = Followed::default();
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let model = changes.model.as_ref();
        let model = model.map(|(name, dimension)| model_number(&transaction, name, *dimension));
        let model = model.transpose()?;
        let mut writing = Writing {
            current: super::current_model(&transaction)?.map(|(id, _)| id),
            transaction: &transaction,
            analyser: &self.analyser,
            segment: NewSegment::default(),
            model,
            now: changes.now.0,
            report: &mut report,
            followed: &mut followed,
        };
        for prepared in changes.put {
            writing.put(prepared)?;
        }
        for prepared in changes.restore {
            writing.welcome(&prepared.document.url)?;
            writing.put(prepared)?;
        }
        for url in &changes.remove {
            writing.delete(url, false)?;
        }
        for url in &changes.withdraw {
            writing.delete(url, true)?;
        }
        for seen in &changes.seen {
            writing.see(seen)?;
        }
        for (url, crawl) in &changes.gone {
            writing.miss(url, *crawl)?;
        }
        let segment = writing.segment;
        segment.write(&transaction)?;
        if let Some(place) = changes.cursor {
            transaction.execute(
                "INSERT OR REPLACE INTO cursors (crawl, seq, started_at, judged) \
                 VALUES (?, ?, ?, ?)",
                params![place.crawl, place.seq, place.started_at, place.judged],
            )?;
        }
        transaction.commit()?;
        self.follow(followed, &writer)?;
        self.tidy(&mut writer)?;
        Ok(report)
    }

    pub(super) fn follow(
        &self,
        followed: Followed,
        writer: &Connection,
    ) -> Result<(), SearchError> {
        let current = super::current_model(writer)?;
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((id, size)) = current
            && memory.model != Some(id)
        {
            memory.model = Some(id);
            memory.vectors = Vectors::new(size);
        }
        if followed.changes_nothing() {
            return Ok(());
        }
        followed.into_memory(&mut memory);
        drop(memory);
        self.changed();
        Ok(())
    }

    /// Merges segments until there are few.
    fn tidy(&self, writer: &mut Connection) -> Result<(), SearchError> {
        let memory = self.memory();
        while merge::merge_once(writer, &memory.lengths)? {}
        Ok(())
    }
}

impl Followed {
    fn changes_nothing(&self) -> bool {
        self.documents.is_empty()
            && self.removed.is_empty()
            && self.added.is_empty()
            && self.vectors.is_empty()
            && self.owners.is_empty()
    }

    fn into_memory(self, memory: &mut Memory) {
        for chunk in self.removed {
            memory.remove_chunk(chunk);
        }
        for (document, facts) in self.documents {
            let facts = facts.map(|new| Facts {
                owners: new
                    .owners
                    .iter()
                    .map(|owner| memory.owners.number(owner))
                    .collect(),
                domain: memory.domains.number(&new.domain),
                language: memory.languages.number(&new.language),
                source: new.source,
                collection: new.collection,
                crawled_at: new.crawled_at,
                tags: new.tags,
            });
            memory.set_document(document, facts);
        }
        for (chunk, document, body, title) in self.added {
            memory.lengths.set(chunk, document, body, title);
        }
        for (chunk, vector) in self.vectors {
            memory.vectors.set_stored(chunk, &vector);
        }
        for (document, owner) in self.owners {
            let owner = memory.owners.number(&owner);
            if let Some(facts) = memory.document_mut(document) {
                facts.owners.push(owner);
            }
        }
    }
}

/// Where a vector lies.
pub(super) fn vector_id(model: i64, chunk: i64) -> i64 {
    model << 32 | chunk
}

/// The number of a model, which becomes the one in use if there is none.
pub(super) fn model_number(
    transaction: &Transaction<'_>,
    name: &str,
    dimension: usize,
) -> Result<i64, SearchError> {
    transaction.execute(
        "INSERT INTO models (name, dimension) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        params![name, dimension as i64],
    )?;
    let (id, known): (i64, i64) = transaction.query_row(
        "SELECT id, dimension FROM models WHERE name = ?",
        params![name],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if known != dimension as i64 {
        let message = format!("the model {name} has {dimension} dimensions, the index has {known}");
        return Err(SearchError::Invalid(message));
    }
    transaction.execute(
        "INSERT OR IGNORE INTO meta (key, value) VALUES ('model', ?)",
        params![id.to_string()],
    )?;
    Ok(id)
}
