//! What a search asks of every chunk, held in memory: lengths, documents, vectors.

use rusqlite::{Connection, params};
use rustc_hash::{FxHashMap, FxHashSet};
use uuid::Uuid;

use crate::{
    document::{EVERYBODY, Filter, is_within},
    error::SearchError,
    lexical::Lengths,
    query::Query,
    vector::Vectors,
};

/// A document as filters see it.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) domain: u32,
    pub(super) language: u32,
    pub(super) source: u8,
    pub(super) collection: i64,
    pub(super) crawled_at: i64,
    pub(super) tags: Vec<i64>,
    pub(super) owners: Vec<u32>,
}

/// Strings as small numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Which of all names fit.
    fn which(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        self.names.iter().map(|name| fits(name)).collect()
    }
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) lengths: Lengths,
    /// By number of the document; nothing where it is deleted.
    documents: Vec<Option<Facts>>,
    pub(super) domains: Names,
    pub(super) languages: Names,
    pub(super) owners: Names,
    pub(super) vectors: Vectors,
    /// The model whose vectors are held.
    pub(super) model: Option<i64>,
}

impl Memory {
    pub(super) fn load(
        connection: &Connection,
        model: Option<(i64, usize)>,
    ) -> Result<Self, SearchError> {
        let mut memory = Self {
            model: model.map(|(id, _)| id),
            vectors: Vectors::new(model.map_or(0, |(_, dimension)| dimension)),
            ..Self::default()
        };
        memory.load_documents(connection)?;
        let mut statement = connection.prepare(
            "SELECT c.id, c.document, c.body_length, c.title_length FROM chunks c \
             JOIN documents d ON d.id = c.document WHERE d.deleted_at IS NULL ORDER BY c.id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            memory
                .lengths
                .set(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        }
        if let Some((model, _)) = model {
            memory.load_vectors(connection, model)?;
        }
        Ok(memory)
    }

    fn load_documents(&mut self, connection: &Connection) -> Result<(), SearchError> {
        let mut tags: FxHashMap<i64, Vec<i64>> = FxHashMap::default();
        let mut statement = connection.prepare("SELECT document, tag FROM document_tags")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            tags.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        let mut owners: FxHashMap<i64, Vec<u32>> = FxHashMap::default();
        let mut statement = connection.prepare("SELECT document, owner FROM owners")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let owner = self
                .owners
                .number(row.get_ref(1)?.as_str().unwrap_or_default());
            owners.entry(row.get(0)?).or_default().push(owner);
        }
        let mut statement = connection.prepare(
            "SELECT id, domain, coalesce(language, ''), source, coalesce(collection, 0), \
             crawled_at FROM documents WHERE deleted_at IS NULL",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let facts = Facts {
                domain: self
                    .domains
                    .number(row.get_ref(1)?.as_str().unwrap_or_default()),
                language: self
                    .languages
                    .number(row.get_ref(2)?.as_str().unwrap_or_default()),
                source: row.get(3)?,
                collection: row.get(4)?,
                crawled_at: row.get(5)?,
                tags: tags.remove(&id).unwrap_or_default(),
                owners: owners.remove(&id).unwrap_or_default(),
            };
            self.set_document(id as u32, Some(facts));
        }
        Ok(())
    }

    fn load_vectors(&mut self, connection: &Connection, model: i64) -> Result<(), SearchError> {
        let mut statement = connection
            .prepare("SELECT id, vector FROM vectors WHERE id >= ? AND id < ? ORDER BY id")?;
        let mut rows = statement.query(params![model << 32, (model + 1) << 32])?;
        while let Some(row) = rows.next()? {
            let chunk = row.get::<_, i64>(0)? as u32;
            if self.lengths.lives(chunk) {
                let bytes = row.get_ref(1)?.as_blob().unwrap_or_default();
                self.vectors.set_stored(chunk, bytes);
            }
        }
        Ok(())
    }

    pub(super) fn set_document(&mut self, document: u32, facts: Option<Facts>) {
        let at = document as usize;
        if at >= self.documents.len() {
            self.documents.resize(at + 1, None);
        }
        self.documents[at] = facts;
    }

    pub(super) fn document_mut(&mut self, document: u32) -> Option<&mut Facts> {
        self.documents.get_mut(document as usize)?.as_mut()
    }

    pub(super) fn remove_chunk(&mut self, chunk: u32) {
        self.lengths.remove(chunk);
        self.vectors.remove(chunk);
    }

    pub(super) fn document_count(&self) -> usize {
        self.documents.iter().flatten().count()
    }

    /// Which documents a filter and a query leave in; nothing where that is all of them.
    pub(super) fn allowed(&self, filter: &Wanted, query: &Query) -> Option<Vec<bool>> {
        if filter.is_all() && query.sites.is_empty() && query.not_sites.is_empty() {
            return None;
        }
        let within = |host: &str, list: &[String]| list.iter().any(|site| is_within(host, site));
        let domains = self.domains.which(|host| {
            (filter.domains.is_empty() || within(host, &filter.domains))
                && (query.sites.is_empty() || within(host, &query.sites))
                && !within(host, &query.not_sites)
        });
        let languages = self.languages.which(|name| {
            filter.languages.is_empty() || filter.languages.iter().any(|wanted| wanted == name)
        });
        let owners = filter.owners.as_ref().map(|wanted| {
            self.owners
                .which(|name| name == EVERYBODY || wanted.iter().any(|owner| owner == name))
        });
        let belongs = |facts: &Facts| {
            owners
                .as_ref()
                .is_none_or(|owners| facts.owners.iter().any(|owner| owners[*owner as usize]))
        };
        let fits = |facts: &Facts| {
            domains[facts.domain as usize]
                && languages[facts.language as usize]
                && belongs(facts)
                && filter.fits(facts)
        };
        let documents = self.documents.iter();
        Some(
            documents
                .map(|facts| facts.as_ref().is_some_and(fits))
                .collect(),
        )
    }
}

/// A filter with the numbers of its collections and tags.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    collections: Option<FxHashSet<i64>>,
    tags: Option<FxHashSet<i64>>,
    domains: Vec<String>,
    languages: Vec<String>,
    sources: Vec<u8>,
    from: Option<i64>,
    to: Option<i64>,
    owners: Option<Vec<String>>,
}

impl Wanted {
    /// Collections and tags that nobody knows are an error, not an empty answer.
    pub(super) fn of(connection: &Connection, filter: &Filter) -> Result<Self, SearchError> {
        let lower = |list: &[String]| list.iter().map(|name| name.to_ascii_lowercase()).collect();
        Ok(Self {
            collections: numbers(connection, "collection", &filter.collections)?,
            tags: numbers(connection, "tag", &filter.tags)?,
            domains: lower(&filter.domains),
            languages: lower(&filter.languages),
            sources: filter.sources.iter().map(|source| *source as u8).collect(),
            from: filter.date_from.map(|time| time.0),
            to: filter.date_to.map(|time| time.0),
            owners: filter.owners.clone(),
        })
    }

    fn is_all(&self) -> bool {
        self.collections.is_none()
            && self.tags.is_none()
            && self.domains.is_empty()
            && self.languages.is_empty()
            && self.sources.is_empty()
            && self.from.is_none()
            && self.to.is_none()
            && self.owners.is_none()
    }

    fn fits(&self, facts: &Facts) -> bool {
        self.collections
            .as_ref()
            .is_none_or(|set| set.contains(&facts.collection))
            && self
                .tags
                .as_ref()
                .is_none_or(|set| facts.tags.iter().any(|tag| set.contains(tag)))
            && (self.sources.is_empty() || self.sources.contains(&facts.source))
            && self.from.is_none_or(|from| facts.crawled_at >= from)
            && self.to.is_none_or(|to| facts.crawled_at <= to)
    }
}

fn numbers(
    connection: &Connection,
    kind: &'static str,
    wanted: &[Uuid],
) -> Result<Option<FxHashSet<i64>>, SearchError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let sql = if kind == "tag" {
        "SELECT id FROM tags WHERE uuid = ?"
    } else {
        "SELECT id FROM collections WHERE uuid = ?"
    };
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = FxHashSet::default();
    for uuid in wanted {
        let mut rows = statement.query(params![uuid.as_bytes().as_slice()])?;
        let Some(row) = rows.next()? else {
            return Err(SearchError::Unknown {
                kind,
                name: uuid.to_string(),
            });
        };
        found.insert(row.get(0)?);
    }
    Ok(Some(found))
}
