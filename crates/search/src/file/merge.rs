//! Small segments become larger ones, and lists of what is gone are dropped.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::lexical::{Lengths, PostingList, each_place};

/// So many neighbours of about one size are made into one.
const WIDTH: usize = 8;
/// Segments with more chunks are left alone.
const LARGEST: u32 = 65_536;

struct Segment {
    id: u32,
    last: u32,
    chunks: u32,
}

/// Merges one run of neighbours if there is one; says whether there was.
pub(super) fn merge_once(
    connection: &mut Connection,
    lengths: &Lengths,
) -> Result<bool, rusqlite::Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let segments = read(&transaction)?;
    let Some(run) = choose(&segments) else {
        return Ok(false);
    };
    merge(&transaction, run, lengths)?;
    transaction.commit()?;
    Ok(true)
}

fn read(transaction: &Transaction<'_>) -> Result<Vec<Segment>, rusqlite::Error> {
    let mut statement =
        transaction.prepare_cached("SELECT id, last_chunk, chunks FROM segments ORDER BY id")?;
    let rows = statement.query_map([], |row| {
        Ok(Segment {
            id: row.get(0)?,
            last: row.get(1)?,
            chunks: row.get(2)?,
        })
    })?;
    rows.collect()
}

/// The first run of neighbours in which each has at most as many chunks as all others together
/// would make worthwhile: eight of one size class.
fn choose(segments: &[Segment]) -> Option<&[Segment]> {
    let class = |segment: &Segment| segment.chunks.max(1).ilog2() / 3;
    segments.windows(WIDTH).rev().find(|run| {
        let largest = run.iter().map(class).max().unwrap_or_default();
        let small = run
            .iter()
            .filter(|segment| class(segment) == largest)
            .count();
        let all_small = run.iter().all(|segment| segment.chunks <= LARGEST / 8);
        all_small && small * 2 >= WIDTH
    })
}

fn merge(
    transaction: &Transaction<'_>,
    run: &[Segment],
    lengths: &Lengths,
) -> Result<(), rusqlite::Error> {
    let (Some(oldest), Some(newest)) = (run.first(), run.last()) else {
        return Ok(());
    };
    let mut select = transaction.prepare_cached(
        "SELECT field, term, chunks, places FROM postings WHERE segment BETWEEN ? AND ? \
         ORDER BY field, term, segment",
    )?;
    // Lists are written after all are read: the new segment has the number of the first old one.
    let mut lists: Vec<(u8, String, PostingList)> = Vec::new();
    let mut rows = select.query(params![oldest.id, newest.id])?;
    while let Some(row) = rows.next()? {
        let field: u8 = row.get(0)?;
        let term = row.get_ref(1)?.as_str().unwrap_or_default();
        if lists
            .last()
            .is_none_or(|(f, t, _)| *f != field || t != term)
        {
            lists.push((field, term.to_owned(), PostingList::default()));
        }
        let Some((_, _, list)) = lists.last_mut() else {
            continue;
        };
        let chunks = row.get_ref(2)?.as_blob().unwrap_or_default();
        let places = row.get_ref(3)?.as_blob().unwrap_or_default();
        each_place(chunks, places, |chunk, places| {
            if lengths.lives(chunk) {
                list.push(chunk, places);
            }
        });
    }
    drop(rows);
    transaction.execute(
        "DELETE FROM postings WHERE segment BETWEEN ? AND ?",
        params![oldest.id, newest.id],
    )?;
    transaction.execute(
        "DELETE FROM segments WHERE id BETWEEN ? AND ?",
        params![oldest.id, newest.id],
    )?;
    write(transaction, oldest.id, newest.last, run, lists, lengths)
}

fn write(
    transaction: &Transaction<'_>,
    id: u32,
    last: u32,
    run: &[Segment],
    merged: Vec<(u8, String, PostingList)>,
    lengths: &Lengths,
) -> Result<(), rusqlite::Error> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO postings (field, term, segment, chunks, places) VALUES (?, ?, ?, ?, ?)",
    )?;
    for (field, term, list) in merged {
        if list.count > 0 {
            insert.execute(params![field, term, id, list.chunks, list.places])?;
        }
    }
    let live = (id..=last).filter(|chunk| lengths.lives(*chunk)).count() as u32;
    // What counts for the choice of runs is how much there was to read.
    let before: u32 = run.iter().map(|segment| segment.chunks).sum();
    transaction.execute(
        "INSERT INTO segments (id, first_chunk, last_chunk, chunks) VALUES (?1, ?1, ?2, ?3)",
        params![id, last, live.min(before)],
    )?;
    Ok(())
}
