//! Which page of a crawl had some content first. The newest ones are held in memory and written
//! to their table many at a time, in its order: one by one they would take a third of a commit's
//! time. What a crash leaves unwritten stands in the result log.

use rusqlite::{Connection, OptionalExtension, params};
use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, PageId};

use super::fault::Fault;

/// Held in memory, about a megabyte and a half of them.
const MOST_RECENT: usize = 1 << 15;
/// Bytes of a hash that are compared: as hard to forge as any hash of 128 bits.
const COMPARED: usize = 16;

type Compared = [u8; COMPARED];

/// The first pages of a crawl by their content.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    recent: FxHashMap<Compared, PageId>,
    /// The table holds something.
    written: bool,
}

impl Originals {
    /// What the table does not hold is read from the result log.
    pub(crate) fn load(conn: &Connection, crawl: CrawlId) -> Result<Self, Fault> {
        let reaches: i64 = conn
            .prepare_cached("SELECT originals_seq FROM crawls WHERE id = ?1")?
            .query_row([crawl.0], |row| row.get(0))?;
        let mut originals = Self {
            recent: FxHashMap::default(),
            written: reaches > 0,
        };
        let mut statement = conn.prepare_cached(
            "SELECT r.page, coalesce(c.text_hash, r.content_hash) FROM results r
             LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
             WHERE r.crawl = ?1 AND r.seq > ?2 AND r.duplicate_of IS NULL ORDER BY r.seq",
        )?;
        let mut rows = statement.query([crawl.0, reaches])?;
        while let Some(row) = rows.next()? {
            let hash: Option<Vec<u8>> = row.get(1)?;
            if let Some(key) = hash.as_deref().and_then(compared) {
                originals.recent.entry(key).or_insert(PageId(row.get(0)?));
            }
        }
        Ok(originals)
    }

    /// The earlier page with this content; if there is none, this one is remembered.
    pub(crate) fn find_or_add(
        &mut self,
        conn: &Connection,
        crawl: CrawlId,
        page: PageId,
        hash: &[u8],
    ) -> Result<Option<PageId>, Fault> {
        let Some(key) = compared(hash) else {
            return Ok(None);
        };
        if let Some(first) = self.recent.get(&key) {
            return Ok(Some(*first));
        }
        if self.written {
            let first: Option<i64> = conn
                .prepare_cached("SELECT page FROM originals WHERE crawl = ?1 AND hash = ?2")?
                .query_row(params![crawl.0, key], |row| row.get(0))
                .optional()?;
            if let Some(first) = first {
                return Ok(Some(PageId(first)));
            }
        }
        self.recent.insert(key, page);
        Ok(None)
    }

    /// Makes room where it is needed. `seq` is the last result that was remembered.
    pub(crate) fn make_room(
        &mut self,
        conn: &Connection,
        crawl: CrawlId,
        seq: i64,
    ) -> Result<(), Fault> {
        if self.recent.len() < MOST_RECENT {
            return Ok(());
        }
        let mut sorted: Vec<(Compared, PageId)> = self.recent.drain().collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        let mut add = conn.prepare_cached(
            "INSERT INTO originals (crawl, hash, page) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
        )?;
        for (key, page) in sorted {
            add.execute(params![crawl.0, key, page.0])?;
        }
        conn.prepare_cached("UPDATE crawls SET originals_seq = ?2 WHERE id = ?1")?
            .execute([crawl.0, seq])?;
        self.written = true;
        Ok(())
    }
}

fn compared(hash: &[u8]) -> Option<Compared> {
    hash.get(..COMPARED)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sqlite::schema;

    fn hash(number: u64) -> [u8; 32] {
        let mut hash = [0; 32];
        let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash[..8].copy_from_slice(&scattered.to_be_bytes());
        hash
    }

    #[test]
    fn what_has_left_memory_is_found_in_the_table_and_after_a_restart() {
        let mut conn = Connection::open_in_memory().unwrap();
        schema::prepare(&mut conn, Path::new("a")).unwrap();
        let row = "INSERT INTO crawls (id, name, spec, state, started_at)
                   VALUES (1, '', '', '', 0)";
        conn.execute(row, []).unwrap();
        let (crawl, count) = (CrawlId(1), MOST_RECENT as u64 + 10);
        let mut originals = Originals::default();
        for number in 0..count {
            let page = PageId(number as i64);
            let first = originals.find_or_add(&conn, crawl, page, &hash(number));
            assert_eq!(first.unwrap(), None);
            originals
                .make_room(&conn, crawl, number as i64 + 1)
                .unwrap();
        }
        assert_eq!(originals.recent.len(), 10);
        let mut again = Originals::load(&conn, crawl).unwrap();
        for number in [0, 7, MOST_RECENT as u64 - 1] {
            let other = PageId(-1);
            let first = again.find_or_add(&conn, crawl, other, &hash(number));
            assert_eq!(first.unwrap(), Some(PageId(number as i64)));
        }
    }
}
