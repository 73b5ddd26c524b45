//! Posting lists in the file: read by term, written as segments.

use std::collections::BTreeMap;

use rusqlite::{Connection, Transaction, params};

use crate::{
    analysis::Terms,
    lexical::{Field, PostingList, PostingSource},
};

/// Posting lists as a connection sees them.
#[derive(Debug)]
pub(super) struct FilePostings<'c>(pub(super) &'c Connection);

impl PostingSource for FilePostings<'_> {
    type Error = rusqlite::Error;

    fn each_list(
        &self,
        field: Field,
        term: &str,
        places: bool,
        call: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<(), rusqlite::Error> {
        let sql = if places {
            "SELECT chunks, places FROM postings WHERE field = ? AND term = ? ORDER BY segment"
        } else {
            "SELECT chunks, x'' FROM postings WHERE field = ? AND term = ? ORDER BY segment"
        };
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![field as u8, term])?;
        while let Some(row) = rows.next()? {
            let chunks = row.get_ref(0)?.as_blob().unwrap_or_default();
            let places = row.get_ref(1)?.as_blob().unwrap_or_default();
            call(chunks, places);
        }
        Ok(())
    }

    fn expand(&self, prefix: &str, limit: usize) -> Result<Vec<String>, rusqlite::Error> {
        // The last character there is ends the range of all that begin so.
        let end = format!("{prefix}\u{10ffff}");
        let mut statement = self.0.prepare_cached(
            "SELECT DISTINCT term FROM postings WHERE field IN (0, 1) AND term >= ? AND term < ? \
             ORDER BY length(term), term LIMIT ?",
        )?;
        let rows = statement.query_map(params![prefix, end, limit as i64], |row| row.get(0))?;
        rows.collect()
    }
}

/// The lists of new chunks, before they are written as a segment.
#[derive(Debug, Default)]
pub(super) struct NewSegment {
    lists: BTreeMap<(u8, String), PostingList>,
    first: Option<u32>,
    last: u32,
    chunks: u32,
}

impl NewSegment {
    /// Adds a chunk; numbers must ascend.
    pub(super) fn add(&mut self, chunk: u32, body: Terms, title: Terms) {
        self.first.get_or_insert(chunk);
        self.last = chunk;
        self.chunks += 1;
        for (field, terms) in [(Field::Body, body), (Field::Title, title)] {
            for (term, places) in terms.places {
                let list = self.lists.entry((field as u8, term)).or_default();
                list.push(chunk, &places);
            }
        }
    }

    /// Segments are numbered by their first chunk: their order is that of their chunks.
    pub(super) fn write(self, transaction: &Transaction<'_>) -> Result<(), rusqlite::Error> {
        let Some(first) = self.first else {
            return Ok(());
        };
        transaction.execute(
            "INSERT INTO segments (id, first_chunk, last_chunk, chunks) VALUES (?1, ?1, ?2, ?3)",
            params![first, self.last, self.chunks],
        )?;
        let mut insert = transaction.prepare_cached(
            "INSERT INTO postings (field, term, segment, chunks, places) VALUES (?, ?, ?, ?, ?)",
        )?;
        for ((field, term), list) in self.lists {
            insert.execute(params![field, term, first, list.chunks, list.places])?;
        }
        Ok(())
    }
}
