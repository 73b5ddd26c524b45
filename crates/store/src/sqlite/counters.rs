//! A crawl in numbers, kept by the writer and written in the transaction that changes them, so
//! that nobody has to count rows.

use rusqlite::{Connection, params};
use trawl_types::{CrawlId, OutcomeKind, ReasonCode};

use super::fault::Fault;
use crate::contract::{StoreError, read::CrawlCounts};

/// Codes of outcomes and reasons are below this.
const CODES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) last_seq: i64,
    pub(crate) discovered: u64,
    pub(crate) pending: u64,
    pub(crate) done: u64,
    pub(crate) refused: u64,
    pub(crate) hosts: u64,
    pub(crate) pages: u64,
    pub(crate) edges: u64,
    pub(crate) duplicates: u64,
    pub(crate) near_duplicates: u64,
    pub(crate) bytes: u64,
    outcomes: [u64; CODES],
    reasons: [u64; CODES],
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            last_seq: 0,
            discovered: 0,
            pending: 0,
            done: 0,
            refused: 0,
            hosts: 0,
            pages: 0,
            edges: 0,
            duplicates: 0,
            near_duplicates: 0,
            bytes: 0,
            outcomes: [0; CODES],
            reasons: [0; CODES],
        }
    }
}

impl Counters {
    pub(crate) fn admit(&mut self) {
        self.pending += 1;
    }

    pub(crate) fn no_longer_pending(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    pub(crate) fn refuse(&mut self, reason: ReasonCode) {
        self.refused += 1;
        self.reasons[reason as usize % CODES] += 1;
    }

    pub(crate) fn lift_refusal(&mut self, reason: ReasonCode) {
        self.refused = self.refused.saturating_sub(1);
        let total = &mut self.reasons[reason as usize % CODES];
        *total = total.saturating_sub(1);
    }

    /// A pending page is done; returns its number in the result log.
    pub(crate) fn finish(&mut self, outcome: OutcomeKind) -> i64 {
        self.no_longer_pending();
        self.done += 1;
        self.pages += u64::from(outcome.is_page());
        self.outcomes[outcome as usize % CODES] += 1;
        self.last_seq += 1;
        self.last_seq
    }

    /// A visit is forgotten, and its page with it if `page` says so.
    pub(crate) fn forget(&mut self, outcome: OutcomeKind, page: bool, duplicate: bool) {
        let less = |total: &mut u64, by: bool| *total = total.saturating_sub(u64::from(by));
        less(&mut self.done, page);
        less(&mut self.discovered, page);
        less(&mut self.pages, outcome.is_page());
        less(&mut self.duplicates, duplicate);
        less(&mut self.outcomes[outcome as usize % CODES], true);
    }

    /// Everything that can be counted anew is nothing.
    pub(crate) fn forget_countable(&mut self) {
        *self = Self {
            last_seq: self.last_seq,
            edges: self.edges,
            near_duplicates: self.near_duplicates,
            bytes: self.bytes,
            ..Self::default()
        };
    }

    /// Pages of a crawl that stand alike.
    pub(crate) fn count_pages(&mut self, state: i64, reason: Option<ReasonCode>, count: u64) {
        self.discovered += count;
        match state {
            0 => self.pending += count,
            1 => {
                self.refused += count;
                if let Some(reason) = reason {
                    self.reasons[reason as usize % CODES] += count;
                }
            }
            _ => self.done += count,
        }
    }

    /// Results that ended alike.
    pub(crate) fn count_results(&mut self, outcome: OutcomeKind, copies: bool, count: u64) {
        self.outcomes[outcome as usize % CODES] += count;
        if outcome.is_page() {
            self.pages += count;
        }
        if copies {
            self.duplicates += count;
        }
    }

    /// A visit is in the log once more; gives its number.
    pub(crate) fn repeat(&mut self, outcome: OutcomeKind, copy: bool) -> i64 {
        self.count_results(outcome, copy, 1);
        self.last_seq += 1;
        self.last_seq
    }

    /// URLs that a crawl never visited are forgotten.
    pub(crate) fn unqueue(&mut self, reason: Option<ReasonCode>) {
        self.discovered = self.discovered.saturating_sub(1);
        match reason {
            Some(reason) => self.lift_refusal(reason),
            None => self.no_longer_pending(),
        }
    }

    pub(crate) fn load(conn: &Connection, crawl: CrawlId) -> Result<Self, Fault> {
        let mut counters = Self::default();
        let found = conn
            .prepare_cached(
                "SELECT last_seq, discovered, pending, done, refused, hosts, pages, edges,
                 duplicates, near_duplicates, bytes FROM crawls WHERE id = ?1",
            )?
            .query_row([crawl.0], |row| {
                counters.last_seq = row.get(0)?;
                counters.discovered = row.get::<_, i64>(1)? as u64;
                counters.pending = row.get::<_, i64>(2)? as u64;
                counters.done = row.get::<_, i64>(3)? as u64;
                counters.refused = row.get::<_, i64>(4)? as u64;
                counters.hosts = row.get::<_, i64>(5)? as u64;
                counters.pages = row.get::<_, i64>(6)? as u64;
                counters.edges = row.get::<_, i64>(7)? as u64;
                counters.duplicates = row.get::<_, i64>(8)? as u64;
                counters.near_duplicates = row.get::<_, i64>(9)? as u64;
                counters.bytes = row.get::<_, i64>(10)? as u64;
                Ok(())
            });
        match found {
            Err(rusqlite::Error::QueryReturnedNoRows) => {
                return Err(StoreError::NoCrawl(crawl).into());
            }
            other => other?,
        }
        let mut tallies =
            conn.prepare_cached("SELECT kind, code, total FROM tallies WHERE crawl = ?1")?;
        let mut rows = tallies.query([crawl.0])?;
        while let Some(row) = rows.next()? {
            let table = match row.get_ref(0)?.as_str() {
                Ok("outcome") => &mut counters.outcomes,
                _ => &mut counters.reasons,
            };
            table[row.get::<_, i64>(1)? as usize % CODES] = row.get::<_, i64>(2)? as u64;
        }
        Ok(counters)
    }

    /// Writes what differs from `before`.
    pub(crate) fn save(
        &self,
        before: &Self,
        conn: &Connection,
        crawl: CrawlId,
    ) -> Result<(), Fault> {
        if self == before {
            return Ok(());
        }
        conn.prepare_cached(
            "UPDATE crawls SET last_seq = ?2, discovered = ?3, pending = ?4, done = ?5,
             refused = ?6, hosts = ?7, pages = ?8, edges = ?9, duplicates = ?10,
             near_duplicates = ?11, bytes = ?12 WHERE id = ?1",
        )?
        .execute(params![
            crawl.0,
            self.last_seq,
            self.discovered as i64,
            self.pending as i64,
            self.done as i64,
            self.refused as i64,
            self.hosts as i64,
            self.pages as i64,
            self.edges as i64,
            self.duplicates as i64,
            self.near_duplicates as i64,
            self.bytes as i64,
        ])?;
        let mut tally = conn.prepare_cached(
            "INSERT INTO tallies (crawl, kind, code, name, total) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET total = excluded.total",
        )?;
        for kind in OutcomeKind::ALL {
            let (code, name) = (*kind as usize % CODES, kind.as_str());
            if self.outcomes[code] != before.outcomes[code] {
                let total = self.outcomes[code] as i64;
                tally.execute(params![crawl.0, "outcome", code as i64, name, total])?;
            }
        }
        for reason in ReasonCode::ALL {
            let (code, name) = (*reason as usize % CODES, reason.as_str());
            if self.reasons[code] != before.reasons[code] {
                let total = self.reasons[code] as i64;
                tally.execute(params![crawl.0, "reason", code as i64, name, total])?;
            }
        }
        Ok(())
    }

    pub(crate) fn counts(&self) -> CrawlCounts {
        let outcomes = OutcomeKind::ALL.iter().copied();
        let reasons = ReasonCode::ALL.iter().copied();
        CrawlCounts {
            discovered: self.discovered,
            pending: self.pending,
            done: self.done,
            refused: self.refused,
            hosts: self.hosts,
            edges: self.edges,
            pages: self.pages,
            duplicates: self.duplicates,
            near_duplicates: self.near_duplicates,
            outcomes: outcomes
                .map(|kind| (kind, self.outcomes[kind as usize % CODES]))
                .filter(|(_, total)| *total > 0)
                .collect(),
            reasons: reasons
                .map(|code| (code, self.reasons[code as usize % CODES]))
                .filter(|(_, total)| *total > 0)
                .collect(),
        }
    }
}
