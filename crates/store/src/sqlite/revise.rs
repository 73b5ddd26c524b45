//! A visit that is in the log once more, with other content. The page is the same, and so is its body:
//! nothing was asked of the web.

use rusqlite::{OptionalExtension, params};
use trawl_types::{CrawlId, OutcomeKind, Sequence, UnixMillis};

use super::{counters::Counters, fault::Fault, writer::Writer};
use crate::{
    contract::{StoreError, write::Digest},
    segment::append::{Appender, End},
    shared::codes::FINGERPRINTS,
};

#[derive(Debug)]
pub(crate) struct Revision {
    pub(crate) crawl: CrawlId,
    pub(crate) seq: Sequence,
    pub(crate) digest: Digest,
    /// The frame with its content.
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) now: UnixMillis,
}

const COPY: &str = "INSERT INTO results (crawl, seq, page, outcome, status, error, attempts,
     crawled_at, fetch_time_ms, links_total, truncated, content_length, content_hash,
     content_type, charset, language, etag, last_modified, robots, final_url, redirect_to,
     canonical_url, title, description, body_segment, body_offset, body_length, body_crc,
     body_within, duplicate_of)
   SELECT crawl, ?3, page, outcome, status, error, attempts, crawled_at, fetch_time_ms,
     links_total, truncated, content_length, content_hash, content_type, charset, language, etag,
     last_modified, robots, final_url, redirect_to, canonical_url, title, description,
     body_segment, body_offset, body_length, body_crc, body_within, duplicate_of
   FROM results WHERE crawl = ?1 AND seq = ?2";

impl Writer {
    pub(super) fn revise(&mut self, revision: &Revision) -> Result<Option<Sequence>, Fault> {
        let crawl = revision.crawl;
        if self.open.contains_key(&crawl) {
            return Err(StoreError::Database(format!("crawl {crawl} is under way")).into());
        }
        let end = self.bodies.end();
        let done = self.write_revision(revision);
        if done.is_err()
            && let Err(error) = self.bodies.rewind(end)
        {
            tracing::warn!(%error, "content of a failed change could not be cut off");
        }
        done
    }

    fn write_revision(&mut self, revision: &Revision) -> Result<Option<Sequence>, Fault> {
        let (crawl, seq, digest) = (revision.crawl, revision.seq, &revision.digest);
        let tx = self.conn.transaction()?;
        let found = "SELECT r.outcome, r.duplicate_of IS NOT NULL, r.page FROM results r
            JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page AND c.seq = r.seq
            WHERE r.crawl = ?1 AND r.seq = ?2 AND c.state = 2";
        let found: Option<(u8, bool, i64)> = tx
            .query_row(found, [crawl.0, seq.0], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((outcome, copy, page)) = found else {
            return Ok(None);
        };
        let outcome = OutcomeKind::from_stored(outcome).unwrap_or(OutcomeKind::ProtocolError);
        let before = Counters::load(&tx, crawl)?;
        let mut counters = before;
        let new = counters.repeat(outcome, copy);
        tx.execute(COPY, [crawl.0, seq.0, new])?;
        tx.execute(
            "UPDATE crawl_pages SET seq = ?3 WHERE crawl = ?1 AND page = ?2",
            [crawl.0, page, new],
        )?;
        let content = match &revision.content {
            Some(frame) => Some(self.bodies.append(frame, revision.now)?),
            None => None,
        };
        let keeps = "SELECT keeps FROM crawls WHERE id = ?1";
        let keeps: u8 = tx.query_row(keeps, [crawl.0], |row| row.get(0))?;
        let kept = content.map_or(FINGERPRINTS, |_| keeps);
        tx.execute(
            "INSERT INTO contents (crawl, seq, text_hash, near, kept, segment, offset, length, crc)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                crawl.0,
                new,
                digest.text_hash,
                digest.near.map(u64::cast_signed),
                kept,
                content.map(|at| at.segment),
                content.map(|at| at.offset as i64),
                content.map(|at| at.length as i64),
                content.map(|at| at.crc),
            ],
        )?;
        note_segment(&tx, &self.bodies)?;
        counters.save(&before, &tx, crawl)?;
        tx.commit()?;
        Ok(Some(Sequence(new)))
    }
}

fn note_segment(conn: &rusqlite::Connection, bodies: &Appender) -> Result<(), Fault> {
    let End { segment, offset } = bodies.end();
    if segment > 0 {
        conn.prepare_cached("INSERT OR REPLACE INTO segments (number, bytes) VALUES (?1, ?2)")?
            .execute([i64::from(segment), offset as i64])?;
    }
    Ok(())
}
