//! Copies, and what is known of the content of a result.

use rusqlite::{OptionalExtension, params};
use trawl_types::{CrawlId, PageId, Sequence};

use super::{commit::Commit, fault::Fault, originals::Originals, reader, results};
use crate::{
    contract::{
        read::StoredPrint,
        write::{Digest, Visit},
    },
    segment::BodyRef,
    shared::codes::FINGERPRINTS,
};

pub(crate) use crate::shared::codes::keeps;

impl Commit<'_> {
    /// The earlier page with the content of this one; if there is none, this one is remembered.
    pub(super) fn original(
        &mut self,
        page: PageId,
        hash: Option<&[u8]>,
    ) -> Result<Option<PageId>, Fault> {
        let Some(hash) = hash else { return Ok(None) };
        let (conn, crawl) = (self.sql.conn, self.crawl);
        let originals = match &mut self.open.originals {
            Some(originals) => originals,
            // Forgotten when a transaction failed, or not yet needed since the start.
            none => none.insert(Originals::load(conn, crawl)?),
        };
        let first = originals.find_or_add(conn, crawl, page, hash)?;
        let first = first.filter(|first| *first != page);
        self.open.counters.duplicates += u64::from(first.is_some());
        Ok(first)
    }

    /// Originals that no longer fit into memory go to their table.
    pub(super) fn write_originals(&mut self) -> Result<(), Fault> {
        let (conn, crawl) = (self.sql.conn, self.crawl);
        let seq = self.open.counters.last_seq;
        match &mut self.open.originals {
            Some(originals) => originals.make_room(conn, crawl, seq),
            None => Ok(()),
        }
    }

    /// Writes what was made of a body. Of content that was inherited only the page that it nearly
    /// repeats is news.
    pub(super) fn take_digest(
        &mut self,
        seq: Sequence,
        digest: &Digest,
        content: Option<BodyRef>,
        is_copy: bool,
    ) -> Result<(), Fault> {
        let kept = match content {
            Some(_) => self.open.keeps,
            None => FINGERPRINTS,
        };
        if digest.near_duplicate_of.is_some() && !is_copy {
            self.open.counters.near_duplicates += 1;
        }
        self.sql
            .conn
            .prepare_cached(
                "INSERT INTO contents (crawl, seq, text_hash, near, near_duplicate_of, kept,
                 segment, offset, length, crc, within)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT DO UPDATE SET near_duplicate_of = excluded.near_duplicate_of",
            )?
            .execute(params![
                self.crawl.0,
                seq.0,
                digest.text_hash,
                digest.near.map(u64::cast_signed),
                digest.near_duplicate_of.map(|page| page.0),
                kept,
                content.map(|at| at.segment),
                content.map(|at| at.offset as i64),
                content.map(|at| at.length as i64),
                content.map(|at| at.crc),
                content.map_or(0, |at| at.within),
            ])?;
        Ok(())
    }

    /// A result that has taken over what an earlier crawl saw has its content as well. Gives the
    /// page of this crawl that it is a copy of.
    pub(super) fn inherit_content(
        &mut self,
        page: PageId,
        seq: Sequence,
        elder: (i64, i64),
    ) -> Result<Option<PageId>, Fault> {
        let conn = self.sql.conn;
        conn.prepare_cached(
            "INSERT INTO contents (crawl, seq, text_hash, near, kept, segment, offset, length, crc,
             within)
             SELECT ?1, ?2, text_hash, near, kept, segment, offset, length, crc, within
             FROM contents WHERE crawl = ?3 AND seq = ?4",
        )?
        .execute([self.crawl.0, seq.0, elder.0, elder.1])?;
        let hash: Option<Vec<u8>> = conn
            .prepare_cached(
                "SELECT coalesce(c.text_hash, r.content_hash) FROM results r
                 LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
                 WHERE r.crawl = ?1 AND r.seq = ?2",
            )?
            .query_row([self.crawl.0, seq.0], |row| row.get(0))?;
        let first = self.original(page, hash.as_deref())?;
        if let Some(first) = first {
            conn.prepare_cached(
                "UPDATE results SET duplicate_of = ?3 WHERE crawl = ?1 AND seq = ?2",
            )?
            .execute([self.crawl.0, seq.0, first.0])?;
        }
        Ok(first)
    }
}

/// What copies of a page share.
pub(super) fn compared(visit: &Visit) -> Option<&[u8]> {
    let text = visit.digest.as_ref().and_then(|d| d.text_hash.as_ref());
    text.or(visit.content_hash.as_ref())
        .map(<[u8; 32]>::as_slice)
}

pub(crate) fn content_ref(
    conn: &rusqlite::Connection,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<BodyRef>, Fault> {
    let sql = "SELECT segment, offset, length, crc, within FROM contents
               WHERE crawl = ?1 AND seq = ?2 AND segment IS NOT NULL";
    reader::segment_ref(conn, sql, crawl, seq)
}

pub(crate) fn earlier_print(
    conn: &rusqlite::Connection,
    crawl: CrawlId,
    page: PageId,
) -> Result<Option<u64>, Fault> {
    let Some((elder, seq)) = results::earlier(conn, crawl, page)? else {
        return Ok(None);
    };
    let near: Option<Option<i64>> = conn
        .prepare_cached("SELECT near FROM contents WHERE crawl = ?1 AND seq = ?2")?
        .query_row([elder, seq], |row| row.get(0))
        .optional()?;
    Ok(near.flatten().map(i64::cast_unsigned))
}

pub(crate) fn near_prints(
    conn: &rusqlite::Connection,
    crawl: CrawlId,
    after: Sequence,
    limit: u32,
) -> Result<Vec<StoredPrint>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT c.seq, r.page, c.near, c.near_duplicate_of FROM contents c
         JOIN results r ON r.crawl = c.crawl AND r.seq = c.seq
         WHERE c.crawl = ?1 AND c.seq > ?2 AND c.near IS NOT NULL ORDER BY c.seq LIMIT ?3",
    )?;
    let prints = statement.query_map(params![crawl.0, after.0, limit], |row| {
        Ok(StoredPrint {
            seq: Sequence(row.get(0)?),
            page: PageId(row.get(1)?),
            near: row.get::<_, i64>(2)?.cast_unsigned(),
            near_duplicate_of: row.get::<_, Option<i64>>(3)?.map(PageId),
        })
    })?;
    Ok(prints.collect::<Result<_, _>>()?)
}
