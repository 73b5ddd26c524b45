//! The result log: entries in, records out, and what a later crawl may reuse of an earlier one.

use rusqlite::{Connection, OptionalExtension, Row, params};
use trawl_types::{CrawlId, OutcomeKind, PageId, PageRecord, Sequence, UnixMillis};

use super::{fault::Fault, statements::Statements};
use crate::{contract::write::Visit, segment::BodyRef};

/// A visit that ended, with its place in the log.
#[derive(Debug)]
pub(crate) struct Finished<'v> {
    pub(crate) crawl: CrawlId,
    pub(crate) seq: Sequence,
    pub(crate) page: PageId,
    pub(crate) visit: &'v Visit,
    pub(crate) body: Option<BodyRef>,
    pub(crate) duplicate_of: Option<PageId>,
}

/// Adds an entry; values in the order of [`write`].
pub(crate) const INSERT: &str =
    "INSERT INTO results (crawl, seq, page, outcome, status, error, attempts, crawled_at,
     fetch_time_ms, links_total, truncated, content_length, content_hash, content_type,
     charset, language, etag, last_modified, robots, final_url, redirect_to, canonical_url,
     title, description, body_segment, body_offset, body_length, body_crc, body_within,
     duplicate_of)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
     ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";

/// Writes one entry. An answer "not modified" says that what an earlier crawl saw still holds, so
/// what it left out is taken from there; gives that entry's crawl and number.
pub(crate) fn write(
    sql: &mut Statements<'_>,
    finished: &Finished<'_>,
    has_elders: bool,
) -> Result<Option<(i64, i64)>, Fault> {
    let visit = finished.visit;
    sql.add_result.execute(params![
        finished.crawl.0,
        finished.seq.0,
        finished.page.0,
        visit.outcome.kind as u8,
        visit.outcome.status,
        Some(&visit.outcome.detail).filter(|detail| !detail.is_empty()),
        visit.attempts,
        visit.crawled_at.0,
        visit.fetch_time_ms as i64,
        visit.links_total,
        visit.truncated,
        visit.content_length.map(|length| length as i64),
        visit.content_hash,
        visit.content_type,
        visit.charset,
        visit.language,
        visit.etag,
        visit.last_modified,
        visit.robots,
        visit.final_url,
        visit.redirect_to,
        visit.canonical_url,
        visit.title,
        visit.description,
        finished.body.map(|body| body.segment),
        finished.body.map(|body| body.offset as i64),
        finished.body.map(|body| body.length as i64),
        finished.body.map(|body| body.crc),
        finished.body.map_or(0, |body| body.within),
        finished.duplicate_of.map(|page| page.0),
    ])?;
    if visit.outcome.kind == OutcomeKind::NotModified && has_elders {
        return inherit(sql.conn, finished);
    }
    Ok(None)
}

/// Fills what a result lacks from the last usable one of an earlier crawl.
fn inherit(conn: &Connection, finished: &Finished<'_>) -> Result<Option<(i64, i64)>, Fault> {
    let Some((crawl, seq)) = earlier(conn, finished.crawl, finished.page)? else {
        return Ok(None);
    };
    conn.prepare_cached(
        "UPDATE results AS new SET
           content_length = coalesce(new.content_length, old.content_length),
           content_hash = coalesce(new.content_hash, old.content_hash),
           content_type = coalesce(new.content_type, old.content_type),
           charset = coalesce(new.charset, old.charset),
           language = coalesce(new.language, old.language),
           etag = coalesce(new.etag, old.etag),
           last_modified = coalesce(new.last_modified, old.last_modified),
           robots = coalesce(new.robots, old.robots),
           canonical_url = coalesce(new.canonical_url, old.canonical_url),
           title = coalesce(new.title, old.title),
           description = coalesce(new.description, old.description),
           links_total = max(new.links_total, old.links_total),
           truncated = max(new.truncated, old.truncated),
           body_segment = old.body_segment, body_offset = old.body_offset,
           body_length = old.body_length, body_crc = old.body_crc,
           body_within = old.body_within
         FROM results AS old
         WHERE new.crawl = ?1 AND new.seq = ?2 AND old.crawl = ?3 AND old.seq = ?4",
    )?
    .execute([finished.crawl.0, finished.seq.0, crawl, seq])?;
    Ok(Some((crawl, seq)))
}

/// The newest usable result of a page in an earlier crawl.
pub(super) fn earlier(
    conn: &Connection,
    crawl: CrawlId,
    page: PageId,
) -> Result<Option<(i64, i64)>, Fault> {
    let found = conn
        .prepare_cached(
            "SELECT crawl, seq FROM results INDEXED BY results_page
             WHERE page = ?1 AND crawl < ?2 AND outcome IN (1, 2, 3)
             ORDER BY crawl DESC LIMIT 1",
        )?
        .query_row([page.0, crawl.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

/// What makes a request conditional.
#[derive(Debug, Default)]
pub(crate) struct Validators {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

/// None where the earlier visit has not left all that this crawl keeps, where its body was cut or not
/// read, and where this crawl reads other documents: an answer without a body would be of no use. Only
/// HTML has a charset, and is read by every crawl.
pub(crate) fn validators(
    conn: &Connection,
    crawl: CrawlId,
    page: PageId,
) -> Result<Validators, Fault> {
    let Some((elder, seq)) = earlier(conn, crawl, page)? else {
        return Ok(Validators::default());
    };
    let found = conn
        .prepare_cached(
            "SELECT r.etag, r.last_modified FROM results r
             JOIN crawls here ON here.id = ?3
             JOIN crawls there ON there.id = r.crawl
             LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
             WHERE r.crawl = ?1 AND r.seq = ?2
             AND ((here.keeps & 1) = 0 OR r.body_segment IS NOT NULL)
             AND (here.keeps & 14 & ~coalesce(c.kept, 0)) = 0
             AND NOT r.truncated AND (r.outcome <> 1 OR r.content_hash IS NOT NULL)
             AND (r.charset IS NOT NULL OR (here.keeps & 48) = (there.keeps & 48))",
        )?
        .query_row([elder, seq, crawl.0], |row| {
            Ok(Validators {
                etag: row.get(0)?,
                last_modified: row.get(1)?,
            })
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Columns of a record, in the order of [`record`]; a `WHERE` follows.
pub(crate) const RECORD: &str = "SELECT r.seq, r.page, p.url, r.final_url, r.redirect_to,
    r.canonical_url, c.depth, parent.url, r.outcome, r.status, r.error, r.title, r.description,
    r.content_type, r.charset, r.language, r.content_length, r.content_hash, r.truncated, r.etag,
    r.last_modified, r.robots, r.links_total, r.attempts, r.fetch_time_ms, r.crawled_at,
    r.body_segment IS NOT NULL, original.url, near.url, content.segment IS NOT NULL
    FROM results r
    JOIN urls p ON p.id = r.page
    JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page
    LEFT JOIN urls parent ON parent.id = c.parent
    LEFT JOIN urls original ON original.id = r.duplicate_of
    LEFT JOIN contents content ON content.crawl = r.crawl AND content.seq = r.seq
    LEFT JOIN urls near ON near.id = content.near_duplicate_of ";

pub(crate) fn record(row: &Row<'_>) -> rusqlite::Result<PageRecord> {
    let hash: Option<Vec<u8>> = row.get(17)?;
    Ok(PageRecord {
        seq: Sequence(row.get(0)?),
        page_id: PageId(row.get(1)?),
        url: row.get(2)?,
        final_url: row.get(3)?,
        redirect_to: row.get(4)?,
        canonical_url: row.get(5)?,
        depth: row.get(6)?,
        parent: row.get(7)?,
        outcome: OutcomeKind::from_stored(row.get(8)?).unwrap_or(OutcomeKind::ProtocolError),
        status_code: row.get(9)?,
        error: row.get(10)?,
        title: row.get(11)?,
        description: row.get(12)?,
        content_type: row.get(13)?,
        charset: row.get(14)?,
        language: row.get(15)?,
        content_length: row.get::<_, Option<i64>>(16)?.map(|length| length as u64),
        content_hash: hash.map(|bytes| hex(&bytes)),
        truncated: row.get(18)?,
        etag: row.get(19)?,
        last_modified: row.get(20)?,
        robots: row.get(21)?,
        links_total: row.get(22)?,
        attempts: row.get(23)?,
        fetch_time_ms: row.get::<_, i64>(24)? as u64,
        crawled_at: UnixMillis(row.get(25)?),
        has_body: row.get(26)?,
        duplicate_of: row.get(27)?,
        near_duplicate_of: row.get(28)?,
        has_content: row.get(29)?,
    })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
