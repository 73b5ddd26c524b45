//! A visit that is in the log once more, with other content. The page is the same, and so is its body:
//! nothing was asked of the web.

use trawl_types::{CrawlId, OutcomeKind, Sequence};

use super::{
    fault::Fault,
    pool::Conn,
    queue::lock,
    tallies::{self, Changes},
};
use crate::{
    contract::{StoreError, write::Digest},
    shared::codes::FINGERPRINTS,
};

const COPY: &str = "INSERT INTO results (crawl, seq, page, crawled_at, fetch_time_ms,
      content_length, duplicate_of, body_crawl, body_seq, attempts, links_total, status, outcome,
      truncated, content_hash, error, content_type, charset, language, etag, last_modified, robots,
      final_url, redirect_to, canonical_url, title, description)
    SELECT crawl, $3, page, crawled_at, fetch_time_ms, content_length, duplicate_of, body_crawl,
      body_seq, attempts, links_total, status, outcome, truncated, content_hash, error,
      content_type, charset, language, etag, last_modified, robots, final_url, redirect_to,
      canonical_url, title, description
    FROM results WHERE crawl = $1 AND seq = $2";

pub(super) async fn revise(
    conn: &Conn,
    crawl: CrawlId,
    seq: Sequence,
    digest: &Digest,
) -> Result<Option<Sequence>, Fault> {
    conn.begin().await?;
    lock(conn, crawl).await?;
    let sql = "SELECT w.state IN ('running', 'paused'), w.last_seq, w.keeps, r.outcome,
          r.duplicate_of IS NOT NULL, r.page
        FROM crawls w JOIN results r ON r.crawl = w.id AND r.seq = $2
        JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page AND c.seq = r.seq
        WHERE w.id = $1 AND c.state = 2";
    let Some(row) = conn.query_opt(sql, &[&crawl.0, &seq.0]).await? else {
        conn.roll_back().await?;
        return Ok(None);
    };
    if row.get(0) {
        conn.roll_back().await?;
        return Err(StoreError::Database(format!("crawl {crawl} is under way")).into());
    }
    let (new, keeps): (i64, i16) = (row.get::<_, i64>(1) + 1, row.get(2));
    let outcome = OutcomeKind::from_stored(row.get::<_, i16>(3) as u8);
    let outcome = outcome.unwrap_or(OutcomeKind::ProtocolError);
    conn.execute(COPY, &[&crawl.0, &seq.0, &new]).await?;
    let page: i64 = row.get(5);
    let sql = "UPDATE crawl_pages SET seq = $3 WHERE crawl = $1 AND page = $2";
    conn.execute(sql, &[&crawl.0, &page, &new]).await?;
    write_content(conn, crawl, new, keeps, digest).await?;
    let mut changes = Changes::default();
    changes.repeat(outcome, row.get(4));
    tallies::write(conn, crawl, tallies::LOCKED, &changes).await?;
    let sql = "UPDATE crawls SET last_seq = $2, pages = pages + $3 WHERE id = $1";
    let counted = i64::from(outcome.is_page());
    conn.execute(sql, &[&crawl.0, &new, &counted]).await?;
    conn.commit().await?;
    Ok(Some(Sequence(new)))
}

async fn write_content(
    conn: &Conn,
    crawl: CrawlId,
    seq: i64,
    keeps: i16,
    digest: &Digest,
) -> Result<(), Fault> {
    let kept = match &digest.content {
        Some(record) => {
            let sql = "INSERT INTO records (crawl, seq, kind, record) VALUES ($1, $2, 1, $3)";
            conn.execute(sql, &[&crawl.0, &seq, &&*record.bytes()])
                .await?;
            keeps
        }
        None => i16::from(FINGERPRINTS),
    };
    let place = digest.content.as_ref().map(|_| crawl.0);
    let number = digest.content.as_ref().map(|_| seq);
    let text_hash = digest.text_hash.map(|hash| hash.to_vec());
    let sql = "INSERT INTO contents (crawl, seq, near, record_crawl, record_seq, kept, text_hash)
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let near = digest.near.map(u64::cast_signed);
    conn.execute(
        sql,
        &[&crawl.0, &seq, &near, &place, &number, &kept, &text_hash],
    )
    .await?;
    Ok(())
}
