//! Chores of looking after the file, each one transaction of the writer or one question of a reader.

use rusqlite::{Connection, OptionalExtension, params};
use trawl_types::{CrawlId, ReasonCode};

use super::{counters::Counters, fault::Fault, writer::Writer};
use crate::{contract::upkeep::Cleaned, shared::codes::FINGERPRINTS};

/// Numbers of a log, or rows of a queue, that one transaction looks at.
const STEP: i64 = 5_000;

#[derive(Debug, Clone)]
pub(crate) enum Chore {
    /// Bodies and content of a part of a crawl's log.
    Shed {
        crawl: CrawlId,
        after: i64,
        /// The last number that may lose them.
        last: i64,
        before: i64,
    },
    /// URLs of a crawl that has ended which it never visited.
    Unqueue {
        crawl: CrawlId,
    },
    /// Figures before a minute become those of buckets of this many minutes.
    RollUp {
        width: i64,
        before: i64,
    },
    Robots {
        before: i64,
    },
}

/// Beginnings of the parts of a log.
pub(super) fn steps(last: i64) -> impl Iterator<Item = i64> {
    (0..last).step_by(STEP as usize)
}

/// Crawls that ended before a moment, and will not go on. Maps are left alone: they are asked about what
/// was refused.
pub(super) fn ended(conn: &Connection, before: i64) -> Result<Vec<CrawlId>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT id FROM crawls WHERE state IN ('completed', 'cancelled') AND finished_at < ?1
         AND config_hash IS NULL AND discovered > done ORDER BY id",
    )?;
    let crawls = statement.query_map([before], |row| row.get(0).map(CrawlId))?;
    Ok(crawls.collect::<Result<_, _>>()?)
}

const OLD_BODIES: &str = "crawl = ?1 AND seq > ?2 AND seq <= ?3 AND crawled_at < ?4
    AND body_segment IS NOT NULL";
const OLD_CONTENTS: &str = "crawl = ?1 AND seq > ?2 AND seq <= ?3 AND segment IS NOT NULL
    AND (SELECT r.crawled_at FROM results r
      WHERE r.crawl = contents.crawl AND r.seq = contents.seq) < ?4";
const OLD_FIGURES: &str = "minute < ?1 AND minute % ?2 <> 0";
const OLD_ROBOTS: &str = "fetched_at < ?1 AND host NOT IN (SELECT host FROM map_hosts)";

/// What a chore would do.
pub(super) fn count(conn: &Connection, chore: &Chore) -> Result<Cleaned, Fault> {
    let ask = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> Result<Cleaned, Fault> {
        Ok(conn.query_row(sql, values, |row| {
            Ok(Cleaned {
                rows: row.get::<_, i64>(0)? as u64,
                bytes: row.get::<_, i64>(1)? as u64,
            })
        })?)
    };
    match chore {
        Chore::Shed {
            crawl,
            after,
            last,
            before,
        } => {
            let to = (after + STEP).min(*last);
            let values = params![crawl.0, after, to, before];
            // Rows of either kind; frames that several of them share are counted once.
            let sql = format!(
                "WITH old(segment, offset, length) AS (
                   SELECT body_segment, body_offset, body_length FROM results WHERE {OLD_BODIES}
                   UNION ALL SELECT segment, offset, length FROM contents WHERE {OLD_CONTENTS})
                 SELECT count(*), (SELECT coalesce(sum(length), 0) FROM (SELECT DISTINCT * FROM old))
                 FROM old"
            );
            ask(&sql, values)
        }
        Chore::Unqueue { crawl } => ask(
            "SELECT count(*), 0 FROM crawl_pages WHERE crawl = ?1 AND state < 2",
            params![crawl.0],
        ),
        Chore::RollUp { width, before } => ask(
            &format!("SELECT count(*), 0 FROM activity WHERE {OLD_FIGURES}"),
            params![before, width],
        ),
        Chore::Robots { before } => ask(
            &format!(
                "SELECT count(*), coalesce(sum(length(body)), 0) FROM robots WHERE {OLD_ROBOTS}"
            ),
            params![before],
        ),
    }
}

impl Writer {
    pub(super) fn chore(&mut self, chore: &Chore) -> Result<Cleaned, Fault> {
        if let Chore::Unqueue { crawl } = chore {
            return self.unqueue(*crawl);
        }
        let tx = self.conn.transaction()?;
        let cleaned = count(&tx, chore)?;
        match chore {
            Chore::Shed {
                crawl,
                after,
                last,
                before,
            } => {
                let to = (after + STEP).min(*last);
                shed(&tx, params![crawl.0, after, to, before])?;
            }
            Chore::RollUp { width, before } => roll_up(&tx, *width, *before)?,
            Chore::Robots { before } => {
                let sql = format!("DELETE FROM robots WHERE {OLD_ROBOTS}");
                tx.execute(&sql, params![before])?;
            }
            Chore::Unqueue { .. } => {}
        }
        tx.commit()?;
        Ok(cleaned)
    }

    /// The crawl may have been taken up again since somebody looked: then it is left alone.
    fn unqueue(&mut self, crawl: CrawlId) -> Result<Cleaned, Fault> {
        let (mut rows, mut after) = (0, Some(i64::MIN));
        while let Some(page) = after {
            let tx = self.conn.transaction()?;
            let is_over = "SELECT state IN ('completed', 'cancelled') FROM crawls WHERE id = ?1";
            let is_over: Option<bool> = tx
                .query_row(is_over, [crawl.0], |row| row.get(0))
                .optional()?;
            if is_over != Some(true) || self.open.contains_key(&crawl) {
                break;
            }
            let before = Counters::load(&tx, crawl)?;
            let mut counters = before;
            let step = unqueue_some(&tx, crawl, page, &mut counters)?;
            counters.save(&before, &tx, crawl)?;
            tx.commit()?;
            rows += step.0;
            after = step.1;
        }
        self.memory.clear();
        Ok(Cleaned { rows, bytes: 0 })
    }
}

fn shed(conn: &Connection, values: &[&dyn rusqlite::ToSql]) -> Result<(), Fault> {
    let sql = format!(
        "UPDATE contents SET segment = NULL, offset = NULL, length = NULL, crc = NULL,
         kept = kept & {FINGERPRINTS} WHERE {OLD_CONTENTS}"
    );
    conn.execute(&sql, values)?;
    let sql = format!(
        "UPDATE results SET body_segment = NULL, body_offset = NULL, body_length = NULL,
         body_crc = NULL WHERE {OLD_BODIES}"
    );
    conn.execute(&sql, values)?;
    Ok(())
}

fn roll_up(conn: &Connection, width: i64, before: i64) -> Result<(), Fault> {
    let sql = format!(
        "INSERT INTO activity (crawl, minute, outcome, visits, bytes)
         SELECT crawl, minute - minute % ?2, outcome, sum(visits), sum(bytes) FROM activity
         WHERE {OLD_FIGURES} GROUP BY 1, 2, 3
         ON CONFLICT DO UPDATE SET visits = visits + excluded.visits,
         bytes = bytes + excluded.bytes"
    );
    conn.execute(&sql, params![before, width])?;
    let sql = format!("DELETE FROM activity WHERE {OLD_FIGURES}");
    conn.execute(&sql, params![before, width])?;
    Ok(())
}

/// Looks at some rows after a page; gives how many went, and the last page if there may be more.
fn unqueue_some(
    conn: &Connection,
    crawl: CrawlId,
    after: i64,
    counters: &mut Counters,
) -> Result<(u64, Option<i64>), Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT page, state, reason FROM crawl_pages WHERE crawl = ?1 AND page > ?2
         ORDER BY page LIMIT ?3",
    )?;
    let mut delete =
        conn.prepare_cached("DELETE FROM crawl_pages WHERE crawl = ?1 AND page = ?2")?;
    let rows = statement.query_map([crawl.0, after, STEP], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let rows: Vec<(i64, i64, Option<u8>)> = rows.collect::<Result<_, _>>()?;
    let mut gone = 0;
    for (page, state, reason) in &rows {
        if *state < 2 {
            delete.execute([crawl.0, *page])?;
            let reason = reason.filter(|_| *state == 1);
            counters.unqueue(reason.and_then(ReasonCode::from_stored));
            gone += 1;
        }
    }
    let more = (rows.len() as i64 == STEP).then(|| rows.last().map(|row| row.0));
    Ok((gone, more.flatten()))
}
