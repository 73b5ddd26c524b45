//! One document in a transaction: its row and its version before.

use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    postings::NewSegment,
    write::{Followed, NewFacts, Report, Seen},
};
use crate::{
    analysis::Analyser,
    document::{DocSource, domain_of},
    error::SearchError,
    prepare::Prepared,
};

/// Old versions of a document that are kept.
const VERSIONS: i64 = 10;

/// A transaction under way.
pub(super) struct Writing<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) analyser: &'t Analyser,
    pub(super) segment: NewSegment,
    pub(super) model: Option<i64>,
    /// The model that is searched.
    pub(super) current: Option<i64>,
    pub(super) now: i64,
    pub(super) report: &'t mut Report,
    pub(super) followed: &'t mut Followed,
}

/// A document as it was.
struct Old {
    id: i64,
    title: Option<String>,
    deleted: bool,
    version: i64,
    hash: Vec<u8>,
    source: u8,
    withdrawn: bool,
}

impl Writing<'_> {
    pub(super) fn see(&mut self, seen: &Seen) -> Result<(), SearchError> {
        self.found(&seen.url)?;
        let sql = "UPDATE documents SET last_crawl = ? WHERE url = ? AND source = 0 RETURNING id";
        let id: Option<i64> = self
            .transaction
            .prepare_cached(sql)?
            .query_row(params![seen.crawl, seen.url], |row| row.get(0))
            .optional()?;
        if let (Some(id), Some(owner)) = (id, &seen.owner)
            && self.add_owner(id, owner)?
        {
            self.followed.owners.push((id as u32, owner.clone()));
        }
        Ok(())
    }

    /// A page that is there is not to be removed.
    fn found(&self, url: &str) -> Result<(), SearchError> {
        let sql = "DELETE FROM removals WHERE url = ?";
        self.transaction
            .prepare_cached(sql)?
            .execute(params![url])?;
        Ok(())
    }

    pub(super) fn miss(&self, url: &str, crawl: i64) -> Result<(), SearchError> {
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO removals (url, crawl) SELECT url, ? FROM documents \
                 WHERE url = ? AND source = 0 AND deleted_at IS NULL",
            )?
            .execute(params![crawl, url])?;
        Ok(())
    }

    pub(super) fn put(&mut self, prepared: Prepared) -> Result<(), SearchError> {
        self.found(&prepared.document.url)?;
        let old = self.old(&prepared.document.url)?;
        if let Some(old) = &old
            && !may_replace(old, &prepared)?
        {
            self.report.left_alone += 1;
            return Ok(());
        }
        let id = match &old {
            Some(old) => self.change(old, &prepared)?,
            None => self.insert(&prepared)?,
        };
        let tags = self.tags(id, &prepared.document.tags)?;
        let same = old
            .as_ref()
            .is_some_and(|old| old.hash == prepared.content_hash);
        let owners = self.owners(id, prepared.document.owner.as_deref(), same)?;
        let document = &prepared.document;
        let facts = NewFacts {
            domain: domain_of(&document.url),
            language: document.language.clone().unwrap_or_default(),
            source: document.source as u8,
            collection: self.collection_of(id)?,
            crawled_at: document.crawled_at.0,
            tags,
            owners,
        };
        self.followed.documents.push((id as u32, Some(facts)));
        // Titles are part of the lists of every chunk.
        let keeps = old.is_some_and(|old| !old.deleted && old.title == document.title);
        self.chunks(id, prepared, keeps)
    }

    fn old(&self, url: &str) -> Result<Option<Old>, SearchError> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT id, title, deleted_at IS NOT NULL, version, content_hash, source, withdrawn \
             FROM documents WHERE url = ?",
        )?;
        let row = statement.query_row(params![url], |row| {
            Ok(Old {
                id: row.get(0)?,
                title: row.get(1)?,
                deleted: row.get(2)?,
                version: row.get(3)?,
                hash: row.get(4)?,
                source: row.get(5)?,
                withdrawn: row.get(6)?,
            })
        });
        Ok(row.optional()?)
    }

    fn insert(&mut self, prepared: &Prepared) -> Result<i64, SearchError> {
        let document = &prepared.document;
        self.transaction
            .prepare_cached(
                "INSERT INTO documents (uuid, url, domain, parent_url, title, content, \
                 content_hash, language, source, collection, metadata, version, crawled_at, \
                 changed_at, last_crawl) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)",
            )?
            .execute(params![
                prepared.uuid.as_bytes().as_slice(),
                document.url,
                domain_of(&document.url),
                document.parent_url,
                document.title,
                document.content,
                prepared.content_hash.as_slice(),
                document.language,
                document.source as u8,
                self.collection(prepared)?,
                document.metadata.to_string(),
                document.crawled_at.0,
                self.now,
                document.crawl,
            ])?;
        self.report.added += 1;
        Ok(self.transaction.last_insert_rowid())
    }

    fn change(&mut self, old: &Old, prepared: &Prepared) -> Result<i64, SearchError> {
        let document = &prepared.document;
        let changed = old.hash != prepared.content_hash;
        if changed {
            self.keep_version(old)?;
        }
        self.transaction
            .prepare_cached(
                "UPDATE documents SET parent_url = ?, title = ?, content = ?, content_hash = ?, \
                 language = ?, source = ?, collection = coalesce(?, collection), metadata = ?, \
                 version = ?, crawled_at = ?, changed_at = ?, last_crawl = ?, \
                 deleted_at = NULL, withdrawn = 0 WHERE id = ?",
            )?
            .execute(params![
                document.parent_url,
                document.title,
                document.content,
                prepared.content_hash.as_slice(),
                document.language,
                document.source as u8,
                self.collection(prepared)?,
                document.metadata.to_string(),
                old.version + i64::from(changed),
                document.crawled_at.0,
                self.now,
                document.crawl,
                old.id,
            ])?;
        if old.deleted {
            self.report.added += 1;
        } else {
            self.report.changed += 1;
        }
        Ok(old.id)
    }

    fn keep_version(&self, old: &Old) -> Result<(), SearchError> {
        self.transaction.execute(
            "INSERT OR REPLACE INTO versions (document, version, title, content, content_hash, \
             crawled_at) SELECT id, version, title, content, content_hash, crawled_at \
             FROM documents WHERE id = ?",
            params![old.id],
        )?;
        self.transaction.execute(
            "DELETE FROM versions WHERE document = ? AND version <= ?",
            params![old.id, old.version - VERSIONS],
        )?;
        Ok(())
    }

    /// What somebody had removed may come back.
    pub(super) fn welcome(&self, url: &str) -> Result<(), SearchError> {
        let sql = "UPDATE documents SET withdrawn = 0 WHERE url = ?";
        self.transaction.execute(sql, params![url])?;
        Ok(())
    }

    /// Marks a document as deleted. Its chunks stay in the file until it is restored or replaced,
    /// so that a restoration needs no new embeddings; no search sees them.
    pub(super) fn delete(&mut self, url: &str, withdrawn: bool) -> Result<bool, SearchError> {
        self.found(url)?;
        if withdrawn {
            let sql = "UPDATE documents SET withdrawn = 1 WHERE url = ?";
            self.transaction.execute(sql, params![url])?;
        }
        let Some(old) = self.old(url)?.filter(|old| !old.deleted) else {
            return Ok(false);
        };
        self.transaction.execute(
            "UPDATE documents SET deleted_at = ? WHERE id = ?",
            params![self.now, old.id],
        )?;
        for chunk in self.old_chunks(old.id)?.into_values() {
            self.followed.removed.push(chunk as u32);
        }
        self.followed.documents.push((old.id as u32, None));
        self.report.removed += 1;
        Ok(true)
    }
}

/// Neither crawls nor uploads replace each other, and what somebody removed stays removed.
fn may_replace(old: &Old, new: &Prepared) -> Result<bool, SearchError> {
    let crawled = DocSource::Crawl as u8;
    if new.document.source == DocSource::Crawl {
        return Ok(!old.withdrawn && (old.deleted || old.source == crawled));
    }
    if old.source == crawled && !old.deleted {
        return Err(SearchError::Conflict(format!(
            "{} is the address of a page that was crawled: give the document another one",
            new.document.url
        )));
    }
    Ok(true)
}
