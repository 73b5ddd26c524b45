//! The edges of one page, several rows to a statement: starting a statement costs as much as
//! inserting a row.

use std::fmt::Write;

use rusqlite::{CachedStatement, Connection, params};
use trawl_types::{CrawlId, PageId};

use super::fault::Fault;
use crate::contract::write::NewLink;

/// Rows of the statements, largest first; the last one must be 1.
const SIZES: [usize; 3] = [16, 4, 1];

pub(crate) struct EdgeInserts<'c> {
    by_size: [CachedStatement<'c>; SIZES.len()],
    see: CachedStatement<'c>,
}

/// What became of a page's edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct EdgeCounts {
    /// Never seen before.
    pub(crate) new: u64,
    /// Seen for the first time in this crawl, the new ones among them.
    pub(crate) new_in_crawl: u64,
}

impl<'c> EdgeInserts<'c> {
    pub(crate) fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        let [large, middle, small] = SIZES.map(|rows| conn.prepare_cached(&sql(rows)));
        Ok(Self {
            by_size: [large?, middle?, small?],
            see: conn.prepare_cached(
                "UPDATE edges SET first_crawl = min(first_crawl, ?3),
                 last_crawl = max(last_crawl, ?3), kind = ?4, rel = ?5, place = ?6, anchor = ?7
                 WHERE src = ?1 AND dst = ?2 AND (last_crawl < ?3 OR first_crawl > ?3)",
            )?,
        })
    }

    /// Writes the edges from `src`; `targets` are the pages that `links` lead to.
    pub(crate) fn write(
        &mut self,
        crawl: CrawlId,
        src: PageId,
        mut targets: &[PageId],
        mut links: &[NewLink],
    ) -> Result<EdgeCounts, Fault> {
        let mut counts = EdgeCounts::default();
        for (rows, statement) in SIZES.into_iter().zip(&mut self.by_size) {
            while targets.len() >= rows && links.len() >= rows {
                let (now, later) = (targets.split_at(rows), links.split_at(rows));
                let new = insert(statement, crawl, src, now.0, later.0)?;
                counts.new += new as u64;
                counts.new_in_crawl += new as u64;
                if new < rows {
                    counts.new_in_crawl += see(&mut self.see, crawl, src, now.0, later.0)?;
                }
                (targets, links) = (now.1, later.1);
            }
        }
        Ok(counts)
    }
}

/// `INSERT` of so many rows: source and crawl are shared, five values are each row's own.
fn sql(rows: usize) -> String {
    let mut sql = String::from(
        "INSERT OR IGNORE INTO edges
         (src, dst, kind, rel, place, first_crawl, last_crawl, anchor) VALUES ",
    );
    for row in 0..rows {
        let (comma, p) = (if row > 0 { "," } else { "" }, 3 + 5 * row);
        let _ = write!(
            sql,
            "{comma}(?1,?{p},?{},?{},?{},?2,?2,?{})",
            p + 1,
            p + 2,
            p + 3,
            p + 4
        );
    }
    sql
}

/// Returns how many rows were not there before.
fn insert(
    statement: &mut CachedStatement<'_>,
    crawl: CrawlId,
    src: PageId,
    targets: &[PageId],
    links: &[NewLink],
) -> rusqlite::Result<usize> {
    statement.raw_bind_parameter(1, src.0)?;
    statement.raw_bind_parameter(2, crawl.0)?;
    let mut at = 3;
    for (dst, link) in targets.iter().zip(links) {
        statement.raw_bind_parameter(at, dst.0)?;
        statement.raw_bind_parameter(at + 1, link.kind as u8)?;
        statement.raw_bind_parameter(at + 2, link.rel.0)?;
        statement.raw_bind_parameter(at + 3, link.place as u8)?;
        statement.raw_bind_parameter(at + 4, &*link.anchor)?;
        at += 5;
    }
    statement.raw_execute()
}

/// Notes that known edges are there in this crawl too; returns for how many that is news.
fn see(
    statement: &mut CachedStatement<'_>,
    crawl: CrawlId,
    src: PageId,
    targets: &[PageId],
    links: &[NewLink],
) -> rusqlite::Result<u64> {
    let mut news = 0;
    for (dst, link) in targets.iter().zip(links) {
        let (kind, rel, place) = (link.kind as u8, link.rel.0, link.place as u8);
        news += statement.execute(params![
            src.0,
            dst.0,
            crawl.0,
            kind,
            rel,
            place,
            &*link.anchor
        ])? as u64;
    }
    Ok(news)
}
