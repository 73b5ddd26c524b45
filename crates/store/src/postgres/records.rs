//! The result log, bodies and content, and what a later crawl may reuse of an earlier one.

use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use trawl_types::{CrawlId, OutcomeKind, PageId, PageRecord, Sequence, UnixMillis};

use super::{
    fault::Fault,
    pool::Conn,
    text::{Heard, heard},
};
use crate::{
    contract::{
        StoreError,
        read::{PendingUrl, StoredPrint},
    },
    segment::{frame, warc},
};

/// Columns of a record, in the order of [`record`]; a condition follows.
macro_rules! records {
    ($condition:expr) => {
        records!("results", $condition)
    };
    ($results:expr, $condition:expr) => {
        concat!(
            "SELECT r.seq, r.page, p.url, r.final_url, r.redirect_to, r.canonical_url, c.depth,
             parent.url, r.outcome, r.status, r.error, r.title, r.description, r.content_type,
             r.charset, r.language, r.content_length, r.content_hash, r.truncated, r.etag,
             r.last_modified, r.robots, r.links_total, r.attempts, r.fetch_time_ms, r.crawled_at,
             r.body_seq IS NOT NULL, original.url, near.url, content.record_seq IS NOT NULL, r.crawl
             FROM ",
            $results,
            " r
             JOIN urls p ON p.page = r.page
             JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page
             LEFT JOIN urls parent ON parent.page = c.parent
             LEFT JOIN urls original ON original.page = r.duplicate_of
             LEFT JOIN contents content ON content.crawl = r.crawl AND content.seq = r.seq
             LEFT JOIN urls near ON near.page = content.near_duplicate_of ",
            $condition
        )
    };
}

pub(super) use records;

pub(super) async fn list(
    conn: &Conn,
    crawl: CrawlId,
    after: Sequence,
    limit: u32,
) -> Result<Vec<PageRecord>, Fault> {
    // Visits may have been purged, so that a range says less than a limit.
    let sql = records!(
        "(SELECT * FROM results WHERE crawl = $1 AND seq > $2 ORDER BY seq LIMIT $3)",
        ""
    );
    let rows = conn
        .query(sql, &[&crawl.0, &after.0, &i64::from(limit)])
        .await?;
    let mut found: Vec<PageRecord> = rows.iter().map(record).collect();
    found.sort_unstable_by_key(|record| record.seq);
    Ok(found)
}

pub(super) async fn one(
    conn: &Conn,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<PageRecord>, Fault> {
    let sql = records!("WHERE r.crawl = $1 AND r.seq = $2");
    let row = conn.query_opt(sql, &[&crawl.0, &seq.0]).await?;
    Ok(row.as_ref().map(record))
}

pub(super) fn record(row: &Row) -> PageRecord {
    let text = |at: usize| heard(row.get(at));
    PageRecord {
        seq: Sequence(row.get(0)),
        page_id: PageId(row.get(1)),
        url: row.get::<_, Heard>(2).0,
        final_url: text(3),
        redirect_to: text(4),
        canonical_url: text(5),
        depth: row.get::<_, i32>(6) as u32,
        parent: text(7),
        outcome: OutcomeKind::from_stored(row.get::<_, i16>(8) as u8)
            .unwrap_or(OutcomeKind::ProtocolError),
        status_code: row.get::<_, Option<i32>>(9).map(|status| status as u16),
        error: text(10),
        title: text(11),
        description: text(12),
        content_type: text(13),
        charset: text(14),
        language: text(15),
        content_length: row.get::<_, Option<i64>>(16).map(|length| length as u64),
        content_hash: row.get::<_, Option<&[u8]>>(17).map(hex),
        truncated: row.get(18),
        etag: text(19),
        last_modified: text(20),
        robots: text(21),
        links_total: row.get::<_, i32>(22) as u32,
        attempts: row.get::<_, i32>(23) as u32,
        fetch_time_ms: row.get::<_, i64>(24) as u64,
        crawled_at: UnixMillis(row.get(25)),
        has_body: row.get(26),
        duplicate_of: text(27),
        near_duplicate_of: text(28),
        has_content: row.get(29),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The newest usable result of pages in earlier crawls: crawl and number by page.
pub(super) async fn earlier(
    conn: &Conn,
    crawl: CrawlId,
    pages: &[i64],
) -> Result<FxHashMap<i64, (i64, i64)>, Fault> {
    let sql = "SELECT r.page, r.crawl, r.seq FROM unnest($2::int8[]) n(page)
        CROSS JOIN LATERAL (SELECT page, crawl, seq FROM results
          WHERE page = n.page AND crawl < $1 AND outcome IN (1, 2, 3)
          ORDER BY crawl DESC, seq DESC LIMIT 1) r";
    let rows = conn.query(sql, &[&crawl.0, &pages]).await?;
    let entry = |row: &Row| (row.get(0), (row.get(1), row.get(2)));
    Ok(rows.iter().map(entry).collect())
}

/// What makes requests conditional. Nothing where the earlier visit has not left all that this crawl
/// keeps, where its body was cut or not read, and where this crawl reads other documents: an answer
/// without a body would be of no use. Only HTML has a charset, and is read by every crawl.
pub(super) async fn offer_validators(
    conn: &Conn,
    crawl: CrawlId,
    urls: &mut [PendingUrl],
) -> Result<(), Fault> {
    let pages: Vec<i64> = urls.iter().map(|url| url.page.0).collect();
    let sql = "SELECT r.page, r.etag, r.last_modified FROM unnest($2::int8[]) n(page)
        CROSS JOIN LATERAL (SELECT * FROM results
          WHERE page = n.page AND crawl < $1 AND outcome IN (1, 2, 3)
          ORDER BY crawl DESC, seq DESC LIMIT 1) r
        JOIN crawls here ON here.id = $1
        JOIN crawls there ON there.id = r.crawl
        LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
        WHERE ((here.keeps & 1::int2) = 0 OR r.body_seq IS NOT NULL)
        AND (here.keeps & 14::int2 & ~coalesce(c.kept, 0::int2)) = 0
        AND NOT r.truncated AND (r.outcome <> 1 OR r.content_hash IS NOT NULL)
        AND (r.charset IS NOT NULL OR (here.keeps & 48::int2) = (there.keeps & 48::int2))";
    let rows = conn.query(sql, &[&crawl.0, &pages]).await?;
    let mut found: FxHashMap<i64, (Option<String>, Option<String>)> = rows
        .iter()
        .map(|row| (row.get(0), (heard(row.get(1)), heard(row.get(2)))))
        .collect();
    for url in urls {
        if let Some(validators) = found.remove(&url.page.0) {
            (url.etag, url.last_modified) = validators;
        }
    }
    Ok(())
}

/// The record that a statement finds, decoded.
async fn decoded(
    conn: &Conn,
    sql: &'static str,
    crawl: CrawlId,
    seq: Sequence,
    part: fn(&[u8]) -> std::io::Result<&[u8]>,
) -> Result<Option<Vec<u8>>, Fault> {
    let row = conn.query_opt(sql, &[&crawl.0, &seq.0]).await?;
    let decode = |row: Row| {
        let record = frame::expand(row.get(0))?;
        part(&record).map(<[u8]>::to_vec)
    };
    let decoded = row.map(decode).transpose();
    Ok(decoded.map_err(|error| StoreError::Segment(error.to_string()))?)
}

const BODY: &str = "SELECT b.record FROM results r
    JOIN records b ON b.crawl = r.body_crawl AND b.seq = r.body_seq AND b.kind = 0
    WHERE r.crawl = $1 AND r.seq = $2";

pub(super) async fn body(
    conn: &Conn,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<Vec<u8>>, Fault> {
    decoded(conn, BODY, crawl, seq, warc::body).await
}

/// With its head.
pub(super) async fn answer(
    conn: &Conn,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<Vec<u8>>, Fault> {
    decoded(conn, BODY, crawl, seq, warc::content).await
}

pub(super) async fn content(
    conn: &Conn,
    crawl: CrawlId,
    seq: Sequence,
) -> Result<Option<Vec<u8>>, Fault> {
    let sql = "SELECT b.record FROM contents c
        JOIN records b ON b.crawl = c.record_crawl AND b.seq = c.record_seq AND b.kind = 1
        WHERE c.crawl = $1 AND c.seq = $2";
    decoded(conn, sql, crawl, seq, warc::content).await
}

pub(super) async fn near_prints(
    conn: &Conn,
    crawl: CrawlId,
    after: Sequence,
    limit: u32,
) -> Result<Vec<StoredPrint>, Fault> {
    let sql = "SELECT c.seq, r.page, c.near, c.near_duplicate_of FROM contents c
        JOIN results r ON r.crawl = c.crawl AND r.seq = c.seq
        WHERE c.crawl = $1 AND c.seq > $2 AND c.near IS NOT NULL ORDER BY c.seq LIMIT $3";
    let rows = conn
        .query(sql, &[&crawl.0, &after.0, &i64::from(limit)])
        .await?;
    let print = |row: &Row| StoredPrint {
        seq: Sequence(row.get(0)),
        page: PageId(row.get(1)),
        near: row.get::<_, i64>(2).cast_unsigned(),
        near_duplicate_of: row.get::<_, Option<i64>>(3).map(PageId),
    };
    Ok(rows.iter().map(print).collect())
}

pub(super) async fn earlier_print(
    conn: &Conn,
    crawl: CrawlId,
    page: PageId,
) -> Result<Option<u64>, Fault> {
    let earlier = earlier(conn, crawl, &[page.0]).await?;
    let Some((elder, seq)) = earlier.get(&page.0) else {
        return Ok(None);
    };
    let sql = "SELECT near FROM contents WHERE crawl = $1 AND seq = $2";
    let row = conn.query_opt(sql, &[elder, seq]).await?;
    let near: Option<i64> = row.and_then(|row| row.get(0));
    Ok(near.map(i64::cast_unsigned))
}
