//! Copies, and what was made of the bodies of results.

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::PageId;

use super::{
    ends::Ends,
    log::{Entry, visits},
    work::Work,
};
use crate::{
    contract::write::Visit,
    postgres::{fault::Fault, pool::Conn},
    shared::codes::FINGERPRINTS,
};

/// Bytes of a hash that are compared: as hard to forge as any hash of 128 bits.
const COMPARED: usize = 16;

/// What copies of a page share.
fn compared(visit: &Visit) -> Option<&[u8]> {
    let text = visit.digest.as_ref().and_then(|d| d.text_hash.as_ref());
    text.or(visit.content_hash.as_ref()).map(|hash| &hash[..])
}

/// What each result of a batch is compared by.
pub(super) type Hashes = FxHashMap<i64, Vec<u8>>;
/// The first page of the crawl with some content.
pub(super) type Firsts = FxHashMap<Vec<u8>, i64>;

pub(super) async fn hashes(conn: &Conn, work: &Work, ends: &Ends) -> Result<Hashes, Fault> {
    let inherited = inherited_hashes(conn, ends).await?;
    let hash = |(entry, visit): (&Entry, &Visit)| {
        let old = inherited.get(&entry.seq.0);
        let hash = old.map(Vec::as_slice).or_else(|| compared(visit))?;
        Some((entry.seq.0, hash.get(..COMPARED)?.to_vec()))
    };
    Ok(visits(work, ends).filter_map(hash).collect())
}

/// Says of each result which page had its content first.
pub(super) fn mark_copies(work: &Work, ends: &mut Ends, hashes: &Hashes, firsts: &Firsts) {
    for entry in &mut ends.finals {
        let page = work.batch.settlements[entry.at].page.0;
        let first = hashes.get(&entry.seq.0).and_then(|hash| firsts.get(hash));
        if let Some(first) = first.filter(|first| **first != page) {
            entry.duplicate_of = Some(PageId(*first));
            ends.changes.duplicate();
        }
    }
}

/// The first page with each content, which those of this batch become where nobody was first. Most are
/// new, so that they are written before anything is asked. Under the lock of the crawl, so that among
/// copies the one with the smallest number is the original.
pub(super) async fn originals(
    conn: &Conn,
    work: &Work,
    ends: &Ends,
    hashes: &Hashes,
) -> Result<Firsts, Fault> {
    if hashes.is_empty() {
        return Ok(Firsts::default());
    }
    let mut firsts = Firsts::default();
    for entry in &ends.finals {
        if let Some(hash) = hashes.get(&entry.seq.0) {
            let page = work.batch.settlements[entry.at].page.0;
            firsts.entry(hash.clone()).or_insert(page);
        }
    }
    let mut sorted: Vec<(&Vec<u8>, i64)> = firsts.iter().map(|(h, page)| (h, *page)).collect();
    sorted.sort_unstable();
    let (keys, pages): (Vec<&Vec<u8>>, Vec<i64>) = sorted.into_iter().unzip();
    let crawl = work.batch.crawl.0;
    let sql = "INSERT INTO originals (crawl, hash, page)
        SELECT $1::int8, * FROM unnest($2::bytea[], $3::int8[])
        ON CONFLICT DO NOTHING RETURNING hash";
    let written = conn.query(sql, &[&crawl, &keys, &pages]).await?;
    let written: FxHashSet<&[u8]> = written.iter().map(|row| row.get(0)).collect();
    let old: Vec<Vec<u8>> = firsts
        .keys()
        .filter(|hash| !written.contains(hash.as_slice()))
        .cloned()
        .collect();
    if !old.is_empty() {
        let sql = "SELECT o.hash, o.page FROM unnest($2::bytea[]) n(hash)
            CROSS JOIN LATERAL (SELECT hash, page FROM originals
              WHERE crawl = $1 AND hash = n.hash OFFSET 0) o";
        let rows = conn.query(sql, &[&crawl, &old]).await?;
        firsts.extend(rows.iter().map(|row| (row.get(0), row.get(1))));
    }
    Ok(firsts)
}

/// What results that inherit from earlier crawls are compared by.
async fn inherited_hashes(conn: &Conn, ends: &Ends) -> Result<FxHashMap<i64, Vec<u8>>, Fault> {
    let heirs = ends.finals.iter().filter(|entry| entry.elder.is_some());
    let (mut seqs, mut crawls, mut numbers) = (vec![], vec![], vec![]);
    for entry in heirs {
        let (crawl, number) = entry.elder.unwrap_or_default();
        seqs.push(entry.seq.0);
        crawls.push(crawl);
        numbers.push(number);
    }
    if seqs.is_empty() {
        return Ok(FxHashMap::default());
    }
    let sql = "SELECT n.seq, coalesce(c.text_hash, r.content_hash)
        FROM unnest($1::int8[], $2::int8[], $3::int8[]) n(seq, elder, number)
        JOIN results r ON r.crawl = n.elder AND r.seq = n.number
        LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq";
    let rows = conn.query(sql, &[&seqs, &crawls, &numbers]).await?;
    let hash = |row: &tokio_postgres::Row| Some((row.get(0), row.get::<_, Option<Vec<u8>>>(1)?));
    Ok(rows.iter().filter_map(hash).collect())
}

/// Bodies, inherited content, and what was made of bodies. Gives how many nearly repeat another page.
pub(super) async fn write(conn: &Conn, work: &Work, ends: &Ends) -> Result<usize, Fault> {
    add_records(conn, work, ends).await?;
    inherit(conn, work, ends).await?;
    add_digests(conn, work, ends).await
}

async fn add_records(conn: &Conn, work: &Work, ends: &Ends) -> Result<(), Fault> {
    let (mut seqs, mut kinds, mut bytes) = (vec![], vec![], vec![]);
    for (entry, visit) in visits(work, ends) {
        let content = visit.digest.as_ref().and_then(|d| d.content.as_ref());
        for (kind, record) in [(0i16, visit.body.as_ref()), (1, content)] {
            if let Some(record) = record {
                seqs.push(entry.seq.0);
                kinds.push(kind);
                bytes.push(record.bytes());
            }
        }
    }
    if seqs.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO records (crawl, seq, kind, record)
        SELECT $1::int8, * FROM unnest($2::int8[], $3::int2[], $4::bytea[])";
    let bytes: Vec<&[u8]> = bytes.iter().map(AsRef::as_ref).collect();
    conn.execute(sql, &[&work.batch.crawl.0, &seqs, &kinds, &bytes])
        .await?;
    Ok(())
}

/// A result that has taken over what an earlier crawl saw has its content as well.
async fn inherit(conn: &Conn, work: &Work, ends: &Ends) -> Result<(), Fault> {
    for entry in &ends.finals {
        let Some((elder, number)) = entry.elder else {
            continue;
        };
        let sql =
            "INSERT INTO contents (crawl, seq, near, record_crawl, record_seq, kept, text_hash)
            SELECT $1, $2, near, record_crawl, record_seq, kept, text_hash
            FROM contents WHERE crawl = $3 AND seq = $4";
        let (crawl, seq) = (work.batch.crawl.0, entry.seq.0);
        conn.execute(sql, &[&crawl, &seq, &elder, &number]).await?;
    }
    Ok(())
}

/// Of content that was inherited only the page that it nearly repeats is news.
async fn add_digests(conn: &Conn, work: &Work, ends: &Ends) -> Result<usize, Fault> {
    let (mut seqs, mut nears, mut firsts) = (vec![], vec![], vec![]);
    let (mut records, mut kept, mut hashes) = (vec![], vec![], vec![]);
    let mut near_duplicates = 0;
    for (entry, visit) in visits(work, ends) {
        let Some(digest) = &visit.digest else {
            continue;
        };
        let record = digest.content.as_ref().map(|_| entry.seq.0);
        let is_copy = entry.duplicate_of.is_some();
        near_duplicates += usize::from(digest.near_duplicate_of.is_some() && !is_copy);
        seqs.push(entry.seq.0);
        nears.push(digest.near.map(u64::cast_signed));
        firsts.push(digest.near_duplicate_of.map(|page| page.0));
        kept.push(match record {
            Some(_) => work.open.keeps,
            None => i16::from(FINGERPRINTS),
        });
        records.push(record);
        hashes.push(digest.text_hash.as_ref().map(|hash| &hash[..]));
    }
    if seqs.is_empty() {
        return Ok(0);
    }
    let sql = "INSERT INTO contents (crawl, seq, near, near_duplicate_of, record_crawl, record_seq,
          kept, text_hash)
        SELECT $1::int8, n.seq, n.near, n.first, CASE WHEN n.record IS NOT NULL THEN $1::int8 END, n.record,
          n.kept, n.hash
        FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int2[], $7::bytea[])
          n(seq, near, first, record, kept, hash)
        ON CONFLICT (crawl, seq) DO UPDATE SET near_duplicate_of = excluded.near_duplicate_of";
    let crawl = work.batch.crawl.0;
    conn.execute(
        sql,
        &[&crawl, &seqs, &nears, &firsts, &records, &kept, &hashes],
    )
    .await?;
    Ok(near_duplicates)
}
