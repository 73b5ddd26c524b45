//! Visits that are forgotten, some thousands in a transaction, so that crawls go on in between.
//! What several crawls share (addresses, hosts) stays; files are swept later.

use rusqlite::{Connection, params};
use trawl_types::{CrawlId, OutcomeKind, Sequence};

use super::{
    SqliteStore,
    counters::Counters,
    fault::Fault,
    overview::purgeable,
    queue::codes,
    writer::{Command, Writer},
};
use crate::contract::{
    StoreError,
    overview::{Purge, Purged},
};

/// Numbers of a log that one transaction looks at.
const STEP: i64 = 5_000;

/// A part of a crawl's log.
#[derive(Debug)]
pub(crate) struct PurgeStep {
    crawl: CrawlId,
    after: Sequence,
    host: Option<String>,
    before: Option<i64>,
    outcomes: Vec<OutcomeKind>,
    superseded: bool,
    archived: bool,
}

/// One visit, as far as it has to be known to be forgotten.
struct Visit {
    seq: i64,
    page: i64,
    outcome: OutcomeKind,
    duplicate: bool,
    /// The page has no later visit.
    newest: bool,
    bytes: i64,
    hash: Option<Vec<u8>>,
}

impl SqliteStore {
    pub(super) async fn purge_all(&self, purge: Purge) -> Result<Purged, StoreError> {
        let crawl = purge.crawl;
        let (crawls, skipped_crawls) = self.pool.ask(move |conn| purgeable(conn, crawl)).await?;
        let mut all = Purged {
            skipped_crawls,
            ..Purged::default()
        };
        for crawl in crawls {
            let last = super::Store::crawl(self, crawl).await?.last_seq;
            let mut after = Sequence(0);
            while after < last {
                let step = Box::new(PurgeStep {
                    crawl,
                    after,
                    host: purge.host.clone(),
                    before: purge.before.map(|at| at.0),
                    outcomes: purge.outcomes.clone(),
                    superseded: purge.superseded,
                    archived: purge.archived,
                });
                let done = if purge.dry_run {
                    self.pool.ask(move |conn| count(conn, &step)).await?
                } else {
                    self.tell(|reply| Command::Purge(step, reply)).await?
                };
                all.visits += done.visits;
                all.bytes += done.bytes;
                after = Sequence(after.0 + STEP);
            }
        }
        Ok(all)
    }
}

fn count(conn: &Connection, step: &PurgeStep) -> Result<Purged, Fault> {
    let visits = visits(conn, step)?;
    Ok(Purged {
        visits: visits.len() as u64,
        bytes: visits.iter().map(|visit| visit.bytes as u64).sum(),
        skipped_crawls: 0,
    })
}

fn visits(conn: &Connection, step: &PurgeStep) -> Result<Vec<Visit>, Fault> {
    let outcomes = match step.outcomes.as_slice() {
        [] => "1 = 1".to_owned(),
        some => format!("r.outcome IN ({})", codes(some)),
    };
    let mut statement = conn.prepare_cached(&format!(
        "SELECT r.seq, r.page, r.outcome, r.duplicate_of IS NOT NULL, c.seq IS r.seq AND c.state = 2,
         coalesce(r.content_length, 0), coalesce(t.text_hash, r.content_hash)
         FROM results r LEFT JOIN crawl_pages c ON c.crawl = r.crawl AND c.page = r.page
         LEFT JOIN contents t ON t.crawl = r.crawl AND t.seq = r.seq
         WHERE r.crawl = ?1 AND r.seq > ?2 AND r.seq <= ?3
         AND (?4 IS NULL OR c.host = (SELECT id FROM hosts WHERE name = ?4))
         AND r.crawled_at < coalesce(?5, r.crawled_at + 1) AND {outcomes}
         AND (NOT ?6 OR EXISTS (SELECT 1 FROM results n WHERE n.page = r.page AND n.crawl > r.crawl))
         AND (NOT ?7 OR r.seq <= (SELECT archived FROM crawls WHERE id = ?1))"
    ))?;
    let (from, to) = (step.after.0, step.after.0 + STEP);
    let rows = statement.query_map(
        params![
            step.crawl.0,
            from,
            to,
            step.host,
            step.before,
            step.superseded,
            step.archived
        ],
        |row| {
            Ok(Visit {
                seq: row.get(0)?,
                page: row.get(1)?,
                outcome: OutcomeKind::from_stored(row.get(2)?)
                    .unwrap_or(OutcomeKind::ProtocolError),
                duplicate: row.get(3)?,
                newest: row.get::<_, Option<bool>>(4)?.unwrap_or(false),
                bytes: row.get(5)?,
                hash: row.get(6)?,
            })
        },
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Writer {
    pub(super) fn purge(&mut self, step: &PurgeStep) -> Result<Purged, Fault> {
        let crawl = step.crawl;
        let before = match self.open.get(&crawl) {
            Some(open) => open.counters,
            None => Counters::load(&self.conn, crawl)?,
        };
        let mut counters = before;
        let mut purged = Purged::default();
        let tx = self.conn.transaction()?;
        for visit in visits(&tx, step)? {
            forget(&tx, crawl, &visit)?;
            counters.forget(visit.outcome, visit.newest, visit.duplicate);
            purged.visits += 1;
            purged.bytes += visit.bytes as u64;
        }
        counters.save(&before, &tx, crawl)?;
        tx.commit()?;
        if purged.visits > 0 {
            self.memory.clear();
            if let Some(open) = self.open.get_mut(&crawl) {
                open.counters = counters;
                open.originals = None;
            }
        }
        Ok(purged)
    }
}

/// A visit, the row of its page if it has no later one, and what only they referred to.
fn forget(conn: &Connection, crawl: CrawlId, visit: &Visit) -> Result<(), Fault> {
    for table in ["results", "contents"] {
        conn.prepare_cached(&format!(
            "DELETE FROM {table} WHERE crawl = ?1 AND seq = ?2"
        ))?
        .execute([crawl.0, visit.seq])?;
    }
    if let Some(hash) = visit.hash.as_deref().and_then(|hash| hash.get(..16)) {
        conn.prepare_cached("DELETE FROM originals WHERE crawl = ?1 AND hash = ?2 AND page = ?3")?
            .execute(params![crawl.0, hash, visit.page])?;
    }
    if !visit.newest {
        return Ok(());
    }
    conn.prepare_cached("DELETE FROM crawl_pages WHERE crawl = ?1 AND page = ?2")?
        .execute([crawl.0, visit.page])?;
    conn.prepare_cached(
        "DELETE FROM page_links WHERE page = ?2 AND first_crawl = ?1 AND last_crawl = ?1",
    )?
    .execute([crawl.0, visit.page])?;
    Ok(())
}
