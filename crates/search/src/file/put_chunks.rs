//! The chunks of one document in a transaction: what is new is written, what is gone removed, and
//! what is as it was only moves.

use rusqlite::params;
use rustc_hash::FxHashMap;

use super::{put::Writing, write::vector_id};
use crate::{
    error::SearchError,
    prepare::{Prepared, PreparedChunk, mask},
    vector::to_stored,
};

impl Writing<'_> {
    /// Writes what is new of a document's chunks and removes what is gone.
    pub(super) fn chunks(
        &mut self,
        document: i64,
        prepared: Prepared,
        keeps: bool,
    ) -> Result<(), SearchError> {
        let mut old = self.old_chunks(document)?;
        let mut fresh = Vec::new();
        for chunk in prepared.chunks {
            let key = (chunk.uuid.as_bytes().to_vec(), chunk.headings.clone());
            match old.get(&key).copied().filter(|_| keeps) {
                Some(id) => {
                    old.remove(&key);
                    self.move_chunk(id, &chunk)?;
                }
                None => fresh.push(chunk),
            }
        }
        for id in old.into_values() {
            self.drop_chunk(id)?;
        }
        for chunk in fresh {
            let content = prepared.document.content.get(chunk.start..chunk.stop);
            self.new_chunk(document, &chunk, content.unwrap_or_default())?;
        }
        Ok(())
    }

    pub(super) fn old_chunks(
        &self,
        document: i64,
    ) -> Result<FxHashMap<(Vec<u8>, String), i64>, SearchError> {
        let mut statement = self
            .transaction
            .prepare_cached("SELECT uuid, headings, id FROM chunks WHERE document = ?")?;
        let rows = statement.query_map(params![document], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A chunk that is as it was, perhaps in another place.
    fn move_chunk(&mut self, id: i64, chunk: &PreparedChunk) -> Result<(), SearchError> {
        self.transaction
            .prepare_cached("UPDATE chunks SET position = ?, start = ?, stop = ? WHERE id = ?")?
            .execute(params![
                chunk.position,
                chunk.start as i64,
                chunk.stop as i64,
                id
            ])?;
        self.vector(id, chunk)?;
        self.report.chunks_kept += 1;
        Ok(())
    }

    fn new_chunk(
        &mut self,
        document: i64,
        chunk: &PreparedChunk,
        content: &str,
    ) -> Result<(), SearchError> {
        let body = self.analyser.terms(&mask(content));
        let title = self.analyser.terms(&chunk.headings);
        self.transaction
            .prepare_cached(
                "INSERT INTO chunks (uuid, document, position, start, stop, tokens, header, \
                 headings, kind, embed_hash, body_length, title_length) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                chunk.uuid.as_bytes().as_slice(),
                document,
                chunk.position,
                chunk.start as i64,
                chunk.stop as i64,
                chunk.tokens,
                chunk.header,
                chunk.headings,
                chunk.kind as u8,
                chunk.embed_hash.as_slice(),
                body.length,
                title.length,
            ])?;
        let id = self.transaction.last_insert_rowid();
        self.followed
            .added
            .push((id as u32, document as u32, body.length, title.length));
        self.segment.add(id as u32, body, title);
        self.vector(id, chunk)?;
        self.report.chunks_written += 1;
        Ok(())
    }

    fn vector(&mut self, id: i64, chunk: &PreparedChunk) -> Result<(), SearchError> {
        if let (Some(model), Some(vector)) = (self.model, &chunk.vector) {
            let stored = to_stored(vector);
            self.transaction
                .prepare_cached("INSERT OR REPLACE INTO vectors (id, vector) VALUES (?, ?)")?
                .execute(params![vector_id(model, id), stored])?;
            if self.current == Some(model) {
                self.followed.vectors.push((id as u32, stored));
            }
        }
        Ok(())
    }

    fn drop_chunk(&mut self, id: i64) -> Result<(), SearchError> {
        let sqls = [
            "DELETE FROM vectors WHERE id IN (SELECT id << 32 | ?1 FROM models)",
            "DELETE FROM chunks WHERE id = ?1",
        ];
        for sql in sqls {
            self.transaction.prepare_cached(sql)?.execute(params![id])?;
        }
        self.followed.removed.push(id as u32);
        Ok(())
    }
}
