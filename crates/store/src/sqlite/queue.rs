//! Changes of a crawl's queue that people ask for. Rows of results are not touched: the log says
//! what happened.

use rusqlite::{Connection, OptionalExtension, params};
use trawl_types::{CrawlId, HostId, OutcomeKind};

use super::{counters::Counters, fault::Fault, writer::Writer};
use crate::contract::queue::{Changed, QueueChange, Requeue};

impl Writer {
    pub(super) fn change_queue(
        &mut self,
        crawl: CrawlId,
        change: &QueueChange,
    ) -> Result<Changed, Fault> {
        let before = match self.open.get(&crawl) {
            Some(open) => open.counters,
            None => Counters::load(&self.conn, crawl)?,
        };
        let mut counters = before;
        let tx = self.conn.transaction()?;
        let changed = match change {
            QueueChange::Requeue(wanted) => requeue(&tx, crawl, wanted, &mut counters)?,
            QueueChange::Clear { host } => clear(&tx, crawl, host.as_deref(), &mut counters)?,
        };
        counters.save(&before, &tx, crawl)?;
        tx.commit()?;
        if let Some(open) = self.open.get_mut(&crawl) {
            open.counters = counters;
            // A page may get a list of links before it is done.
            open.first_lists = false;
        }
        if changed.cleared > 0 {
            self.memory.clear();
        }
        Ok(changed)
    }
}

pub(super) fn forgive(conn: &Connection, host: &str) -> Result<Option<HostId>, Fault> {
    let found = conn
        .prepare_cached(
            "UPDATE hosts SET failures = 0, next_allowed = 0 WHERE name = ?1 RETURNING id",
        )?
        .query_row([host], |row| row.get(0).map(HostId))
        .optional()?;
    Ok(found)
}

/// One host by name, all, or none where nobody knows the name.
enum Which {
    All,
    One(HostId),
    None,
}

impl Which {
    fn find(conn: &Connection, name: Option<&str>) -> Result<Self, Fault> {
        let Some(name) = name else {
            return Ok(Self::All);
        };
        let found = conn
            .prepare_cached("SELECT id FROM hosts WHERE name = ?1")?
            .query_row([name], |row| row.get(0).map(HostId))
            .optional()?;
        Ok(found.map_or(Self::None, Self::One))
    }

    fn id(&self) -> Option<HostId> {
        match self {
            Self::One(id) => Some(*id),
            Self::All | Self::None => None,
        }
    }
}

fn requeue(
    conn: &Connection,
    crawl: CrawlId,
    wanted: &Requeue,
    counters: &mut Counters,
) -> Result<Changed, Fault> {
    let which = Which::find(conn, wanted.host.as_deref())?;
    if matches!(which, Which::None) {
        return Ok(Changed::default());
    }
    let host = which.id().map(|host| host.0);
    let mut changed = Changed {
        host: which.id(),
        ..Changed::default()
    };
    if !wanted.outcomes.is_empty() {
        changed.requeued = again(conn, crawl, wanted, host)?;
        if wanted.dry_run {
            return Ok(changed);
        }
        counters.done = counters.done.saturating_sub(changed.requeued);
        counters.pending += changed.requeued;
    }
    if wanted.delayed {
        // All of them are read in the order of the table, those of one host by their index.
        let which = match host {
            Some(_) => "INDEXED BY crawl_pages_pending",
            None => "NOT INDEXED",
        };
        let of_host = host.map_or("?2 IS NULL", |_| "host = ?2");
        changed.hurried = conn.execute(
            &format!(
                "UPDATE crawl_pages {which} SET not_before = 0
                 WHERE crawl = ?1 AND state = 0 AND not_before > 0 AND {of_host}"
            ),
            params![crawl.0, host],
        )? as u64;
    }
    if wanted.suspended {
        changed.hosts = conn.execute(
            "UPDATE crawl_hosts SET suspended = 0
             WHERE crawl = ?1 AND suspended > 0 AND host = coalesce(?2, host)",
            params![crawl.0, host],
        )? as u64;
        conn.execute(
            "UPDATE hosts SET failures = 0, next_allowed = 0 WHERE id = coalesce(?2, id)
             AND failures > 0 AND id IN (SELECT host FROM crawl_hosts WHERE crawl = ?1)",
            params![crawl.0, host],
        )?;
    }
    Ok(changed)
}

/// Visits that ended in vain become pages that were never tried.
fn again(
    conn: &Connection,
    crawl: CrawlId,
    wanted: &Requeue,
    host: Option<i64>,
) -> Result<u64, Fault> {
    let before = wanted.ended_before.map(|at| at.0);
    let since = wanted.ended_since.map(|at| at.0);
    let ended = format!(
        "crawl = ?1 AND state = 2 AND outcome IN ({}) AND host = coalesce(?2, host)
         AND ((?3 IS NULL AND ?4 IS NULL) OR (SELECT r.crawled_at < coalesce(?3, r.crawled_at + 1)
           AND r.crawled_at >= coalesce(?4, r.crawled_at) FROM results r
           WHERE r.crawl = ?1 AND r.seq = crawl_pages.seq))",
        codes(&wanted.outcomes)
    );
    let values = params![crawl.0, host, before, since];
    if wanted.dry_run {
        let count = format!("SELECT count(*) FROM crawl_pages WHERE {ended}");
        return Ok(conn.query_row(&count, values, |row| row.get::<_, i64>(0))? as u64);
    }
    let again =
        format!("UPDATE crawl_pages SET state = 0, attempts = 0, not_before = 0 WHERE {ended}");
    Ok(conn.execute(&again, values)? as u64)
}

fn clear(
    conn: &Connection,
    crawl: CrawlId,
    host: Option<&str>,
    counters: &mut Counters,
) -> Result<Changed, Fault> {
    let which = Which::find(conn, host)?;
    let cleared = match which {
        Which::None => 0,
        Which::All => conn.execute(
            "DELETE FROM crawl_pages INDEXED BY crawl_pages_pending WHERE crawl = ?1 AND state = 0",
            [crawl.0],
        )?,
        Which::One(host) => conn.execute(
            "DELETE FROM crawl_pages INDEXED BY crawl_pages_pending
             WHERE crawl = ?1 AND state = 0 AND host = ?2",
            [crawl.0, host.0],
        )?,
    } as u64;
    counters.pending = counters.pending.saturating_sub(cleared);
    counters.discovered = counters.discovered.saturating_sub(cleared);
    Ok(Changed {
        cleared,
        host: which.id(),
        ..Changed::default()
    })
}

/// Numbers of ours, for a list in SQL.
pub(super) fn codes(outcomes: &[OutcomeKind]) -> String {
    let codes = outcomes.iter().map(|kind| (*kind as u8).to_string());
    codes.collect::<Vec<_>>().join(", ")
}
