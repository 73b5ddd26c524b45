//! Entries of the result log.

use trawl_types::{OutcomeKind, PageId, Sequence};

use super::{content, ends::Ends, work::Work};
use crate::{
    contract::write::{Visit, VisitEnd},
    postgres::{
        fault::Fault,
        pool::{Conn, Param},
        records,
        text::{Said, said},
    },
};

/// A visit that ended, with its place in the log.
#[derive(Debug)]
pub(super) struct Entry {
    /// Which settlement.
    pub(super) at: usize,
    pub(super) seq: Sequence,
    pub(super) duplicate_of: Option<PageId>,
    /// The result of an earlier crawl that still holds: its crawl and number.
    pub(super) elder: Option<(i64, i64)>,
}

impl Entry {
    pub(super) fn new(at: usize, seq: Sequence) -> Self {
        Self {
            at,
            seq,
            duplicate_of: None,
            elder: None,
        }
    }

    pub(super) fn page(&self, work: &Work) -> PageId {
        work.batch.settlements[self.at].page
    }
}

/// The entries of a batch with their visits, in the order of the log.
pub(super) fn visits<'w>(
    work: &'w Work,
    ends: &'w Ends,
) -> impl Iterator<Item = (&'w Entry, &'w Visit)> {
    ends.finals
        .iter()
        .filter_map(|entry| match &work.batch.settlements[entry.at].end {
            VisitEnd::Final(visit) => Some((entry, &**visit)),
            _ => None,
        })
}

/// Writes the entries and what goes with them. Gives how many nearly repeat another page.
pub(super) async fn write(conn: &Conn, work: &Work, ends: &Ends) -> Result<usize, Fault> {
    if ends.finals.is_empty() {
        return Ok(0);
    }
    add(conn, work, ends).await?;
    inherit(conn, work, ends).await?;
    content::write(conn, work, ends).await
}

/// An answer "not modified" says that what an earlier crawl saw still holds.
pub(super) async fn find_elders(conn: &Conn, work: &Work, ends: &mut Ends) -> Result<(), Fault> {
    let unchanged = visits(work, ends)
        .filter(|(_, visit)| visit.outcome.kind == OutcomeKind::NotModified)
        .map(|(entry, _)| entry.page(work).0);
    let pages: Vec<i64> = unchanged.collect();
    if pages.is_empty() || !work.open.has_elders {
        return Ok(());
    }
    let mut elders = records::earlier(conn, work.batch.crawl, &pages).await?;
    for entry in &mut ends.finals {
        entry.elder = elders.remove(&entry.page(work).0);
    }
    Ok(())
}

#[derive(Default)]
struct Columns<'v> {
    seq: Vec<i64>,
    page: Vec<i64>,
    crawled_at: Vec<i64>,
    fetch_time_ms: Vec<i64>,
    content_length: Vec<Option<i64>>,
    duplicate_of: Vec<Option<i64>>,
    has_body: Vec<bool>,
    attempts: Vec<i32>,
    links_total: Vec<i32>,
    status: Vec<Option<i32>>,
    outcome: Vec<i16>,
    truncated: Vec<bool>,
    content_hash: Vec<Option<&'v [u8]>>,
    texts: [Vec<Option<Said<'v>>>; 12],
}

impl<'v> Columns<'v> {
    fn push(&mut self, entry: &Entry, page: PageId, visit: &'v Visit) {
        self.seq.push(entry.seq.0);
        self.page.push(page.0);
        self.crawled_at.push(visit.crawled_at.0);
        self.fetch_time_ms.push(visit.fetch_time_ms as i64);
        self.content_length
            .push(visit.content_length.map(|length| length as i64));
        self.duplicate_of
            .push(entry.duplicate_of.map(|page| page.0));
        self.has_body.push(visit.body.is_some());
        self.attempts.push(visit.attempts as i32);
        self.links_total.push(visit.links_total as i32);
        self.status.push(visit.outcome.status.map(i32::from));
        self.outcome.push(visit.outcome.kind as i16);
        self.truncated.push(visit.truncated);
        self.content_hash
            .push(visit.content_hash.as_ref().map(|hash| &hash[..]));
        let error = Some(&visit.outcome.detail).filter(|detail| !detail.is_empty());
        let texts = [
            error,
            visit.content_type.as_ref(),
            visit.charset.as_ref(),
            visit.language.as_ref(),
            visit.etag.as_ref(),
            visit.last_modified.as_ref(),
            visit.robots.as_ref(),
            visit.final_url.as_ref(),
            visit.redirect_to.as_ref(),
            visit.canonical_url.as_ref(),
            visit.title.as_ref(),
            visit.description.as_ref(),
        ];
        for (column, text) in self.texts.iter_mut().zip(texts) {
            column.push(said(text));
        }
    }
}

async fn add(conn: &Conn, work: &Work, ends: &Ends) -> Result<(), Fault> {
    let mut columns = Columns::default();
    for (entry, visit) in visits(work, ends) {
        columns.push(entry, entry.page(work), visit);
    }
    let sql = "INSERT INTO results (crawl, seq, page, crawled_at, fetch_time_ms, content_length,
          duplicate_of, body_crawl, body_seq, attempts, links_total, status, outcome, truncated,
          content_hash, error, content_type, charset, language, etag, last_modified, robots,
          final_url, redirect_to, canonical_url, title, description)
        SELECT $1::int8, n.seq, n.page, n.crawled_at, n.fetch_time_ms, n.content_length, n.duplicate_of,
          CASE WHEN n.has_body THEN $1::int8 END, CASE WHEN n.has_body THEN n.seq END, n.attempts,
          n.links_total, n.status, n.outcome, n.truncated, n.content_hash, n.error, n.content_type,
          n.charset, n.language, n.etag, n.last_modified, n.robots, n.final_url, n.redirect_to,
          n.canonical_url, n.title, n.description
        FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[],
          $8::bool[], $9::int4[], $10::int4[], $11::int4[], $12::int2[], $13::bool[], $14::bytea[],
          $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
          $22::text[], $23::text[], $24::text[], $25::text[], $26::text[])
          n(seq, page, crawled_at, fetch_time_ms, content_length, duplicate_of, has_body, attempts,
          links_total, status, outcome, truncated, content_hash, error, content_type, charset,
          language, etag, last_modified, robots, final_url, redirect_to, canonical_url, title,
          description)";
    let crawl = work.batch.crawl.0;
    let mut values: Vec<Param<'_>> = vec![
        &crawl,
        &columns.seq,
        &columns.page,
        &columns.crawled_at,
        &columns.fetch_time_ms,
        &columns.content_length,
        &columns.duplicate_of,
        &columns.has_body,
        &columns.attempts,
        &columns.links_total,
        &columns.status,
        &columns.outcome,
        &columns.truncated,
        &columns.content_hash,
    ];
    values.extend(columns.texts.iter().map(|texts| texts as Param<'_>));
    conn.execute(sql, &values).await?;
    Ok(())
}

/// Fills what results lack from the last usable ones of earlier crawls.
async fn inherit(conn: &Conn, work: &Work, ends: &Ends) -> Result<(), Fault> {
    let heirs = ends.finals.iter().filter_map(|entry| {
        let (crawl, seq) = entry.elder?;
        Some((entry.seq.0, (crawl, seq)))
    });
    let (seqs, elders): (Vec<i64>, Vec<(i64, i64)>) = heirs.unzip();
    if seqs.is_empty() {
        return Ok(());
    }
    let (crawls, numbers): (Vec<i64>, Vec<i64>) = elders.into_iter().unzip();
    let sql = "UPDATE results AS new SET
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
          links_total = greatest(new.links_total, old.links_total),
          truncated = new.truncated OR old.truncated,
          body_crawl = old.body_crawl, body_seq = old.body_seq
        FROM unnest($2::int8[], $3::int8[], $4::int8[]) n(seq, elder, number)
        JOIN results old ON old.crawl = n.elder AND old.seq = n.number
        WHERE new.crawl = $1 AND new.seq = n.seq";
    let crawl = work.batch.crawl.0;
    conn.execute(sql, &[&crawl, &seqs, &crawls, &numbers])
        .await?;
    Ok(())
}
