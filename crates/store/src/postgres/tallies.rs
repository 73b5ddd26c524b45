//! A crawl in numbers: changes are written in the transaction of the rows they count, to one of several
//! slots, so that those who write at the same time do not wait for each other.

use std::collections::BTreeMap;

use trawl_types::{CrawlId, OutcomeKind, ReasonCode};

use super::{fault::Fault, pool::Conn};
use crate::contract::{StoreError, read::CrawlCounts};

/// Slots for those who record links. Slot 0 is written under the lock of the crawl.
const SLOTS: i64 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i16)]
pub(super) enum Kind {
    Discovered = 0,
    Pending = 1,
    Done = 2,
    Refused = 3,
    Hosts = 4,
    Edges = 5,
    Pages = 6,
    Duplicates = 7,
    NearDuplicates = 8,
    Outcome = 9,
    Reason = 10,
    Bytes = 11,
}

impl Kind {
    const ALL: [Self; 12] = [
        Self::Discovered,
        Self::Pending,
        Self::Done,
        Self::Refused,
        Self::Hosts,
        Self::Edges,
        Self::Pages,
        Self::Duplicates,
        Self::NearDuplicates,
        Self::Outcome,
        Self::Reason,
        Self::Bytes,
    ];

    pub(super) fn from_stored(number: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as i16 == number)
    }
}

/// What a transaction changes.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<(Kind, i16), i64>);

impl Changes {
    fn add(&mut self, kind: Kind, code: u8, by: i64) {
        *self.0.entry((kind, i16::from(code))).or_default() += by;
    }

    pub(super) fn discover(&mut self) {
        self.add(Kind::Discovered, 0, 1);
    }

    pub(super) fn admit(&mut self) {
        self.add(Kind::Pending, 0, 1);
    }

    pub(super) fn no_longer_pending(&mut self) {
        self.add(Kind::Pending, 0, -1);
    }

    pub(super) fn refuse(&mut self, reason: ReasonCode) {
        self.add(Kind::Refused, 0, 1);
        self.add(Kind::Reason, reason as u8, 1);
    }

    pub(super) fn lift_refusal(&mut self, reason: ReasonCode) {
        self.add(Kind::Refused, 0, -1);
        self.add(Kind::Reason, reason as u8, -1);
    }

    /// A pending page is done.
    pub(super) fn finish(&mut self, outcome: OutcomeKind) {
        self.no_longer_pending();
        self.add(Kind::Done, 0, 1);
        self.add(Kind::Pages, 0, i64::from(outcome.is_page()));
        self.add(Kind::Outcome, outcome as u8, 1);
    }

    pub(super) fn bytes(&mut self, read: u64) {
        self.add(Kind::Bytes, 0, read as i64);
    }

    /// Pages that were done are pending again.
    pub(super) fn requeue(&mut self, pages: u64) {
        self.add(Kind::Done, 0, -(pages as i64));
        self.add(Kind::Pending, 0, pages as i64);
    }

    /// Pending pages are as if nobody had found them.
    pub(super) fn clear(&mut self, pages: u64) {
        self.add(Kind::Discovered, 0, -(pages as i64));
        self.add(Kind::Pending, 0, -(pages as i64));
    }

    /// A visit is forgotten, and its page if it has no later one.
    pub(super) fn forget(&mut self, outcome: OutcomeKind, page: bool, duplicate: bool) {
        self.add(Kind::Done, 0, -i64::from(page));
        self.add(Kind::Discovered, 0, -i64::from(page));
        self.add(Kind::Pages, 0, -i64::from(outcome.is_page()));
        self.add(Kind::Duplicates, 0, -i64::from(duplicate));
        self.add(Kind::Outcome, outcome as u8, -1);
    }

    /// URLs that a crawl never visited are forgotten.
    pub(super) fn unqueue(&mut self, reason: Option<ReasonCode>) {
        self.add(Kind::Discovered, 0, -1);
        match reason {
            Some(reason) => self.lift_refusal(reason),
            None => self.no_longer_pending(),
        }
    }

    /// A visit is in the log once more.
    pub(super) fn repeat(&mut self, outcome: OutcomeKind, copy: bool) {
        self.add(Kind::Pages, 0, i64::from(outcome.is_page()));
        self.add(Kind::Outcome, outcome as u8, 1);
        self.add(Kind::Duplicates, 0, i64::from(copy));
    }

    pub(super) fn hosts(&mut self, new: u64) {
        self.add(Kind::Hosts, 0, new as i64);
    }

    pub(super) fn edges(&mut self, new: u64) {
        self.add(Kind::Edges, 0, new as i64);
    }

    pub(super) fn duplicate(&mut self) {
        self.add(Kind::Duplicates, 0, 1);
    }

    pub(super) fn near_duplicates(&mut self, new: usize) {
        self.add(Kind::NearDuplicates, 0, new as i64);
    }
}

/// The slot of a commit that records links.
pub(super) fn slot_of(commit: i64) -> i16 {
    (commit.rem_euclid(SLOTS) + 1) as i16
}

/// The slot of those who hold the lock of the crawl.
pub(super) const LOCKED: i16 = 0;

pub(super) const ADD: &str = "INSERT INTO tallies AS t (crawl, kind, code, slot, total)
    SELECT $1, n.kind, n.code, $2, n.total
    FROM unnest($3::int2[], $4::int2[], $5::int8[]) n(kind, code, total)
    ORDER BY n.kind, n.code
    ON CONFLICT (crawl, kind, code, slot) DO UPDATE SET total = t.total + excluded.total";

pub(super) async fn write(
    conn: &Conn,
    crawl: CrawlId,
    slot: i16,
    changes: &Changes,
) -> Result<(), Fault> {
    let changes = changes.0.iter().filter(|(_, by)| **by != 0);
    let (mut kinds, mut codes, mut totals) = (Vec::new(), Vec::new(), Vec::new());
    for ((kind, code), by) in changes {
        kinds.push(*kind as i16);
        codes.push(*code);
        totals.push(*by);
    }
    if kinds.is_empty() {
        return Ok(());
    }
    conn.execute(ADD, &[&crawl.0, &slot, &kinds, &codes, &totals])
        .await?;
    Ok(())
}

/// Every figure becomes what was counted; those that cannot be counted stay.
pub(super) async fn replace(
    conn: &Conn,
    crawl: CrawlId,
    counted: &CrawlCounts,
) -> Result<(), Fault> {
    let mut changes = Changes::default();
    for (kind, total) in [
        (Kind::Discovered, counted.discovered),
        (Kind::Pending, counted.pending),
        (Kind::Done, counted.done),
        (Kind::Refused, counted.refused),
        (Kind::Hosts, counted.hosts),
        (Kind::Pages, counted.pages),
        (Kind::Duplicates, counted.duplicates),
    ] {
        changes.add(kind, 0, total as i64);
    }
    for (outcome, total) in &counted.outcomes {
        changes.add(Kind::Outcome, *outcome as u8, *total as i64);
    }
    for (reason, total) in &counted.reasons {
        changes.add(Kind::Reason, *reason as u8, *total as i64);
    }
    let kept: Vec<i16> = [Kind::Edges, Kind::NearDuplicates, Kind::Bytes]
        .map(|kind| kind as i16)
        .to_vec();
    let sql = "DELETE FROM tallies WHERE crawl = $1 AND NOT kind = ANY($2)";
    conn.execute(sql, &[&crawl.0, &kept]).await?;
    write(conn, crawl, LOCKED, &changes).await
}

pub(super) const COUNTS: &str = "SELECT kind, code, sum(total)::int8 FROM tallies
    WHERE crawl = $1 GROUP BY kind, code";

pub(super) async fn counts(conn: &Conn, crawl: CrawlId) -> Result<CrawlCounts, Fault> {
    let rows = conn.query(COUNTS, &[&crawl.0]).await?;
    if rows.is_empty() {
        let sql = "SELECT 1 FROM crawls WHERE id = $1";
        let known = conn.query_opt(sql, &[&crawl.0]).await?;
        known.ok_or(StoreError::NoCrawl(crawl))?;
    }
    let mut counts = CrawlCounts::default();
    for row in rows {
        let (kind, code): (i16, i16) = (row.get(0), row.get(1));
        let total = row.get::<_, i64>(2).max(0) as u64;
        let Some(kind) = Kind::from_stored(kind) else {
            continue;
        };
        match kind {
            Kind::Discovered => counts.discovered = total,
            Kind::Pending => counts.pending = total,
            Kind::Done => counts.done = total,
            Kind::Refused => counts.refused = total,
            Kind::Hosts => counts.hosts = total,
            Kind::Edges => counts.edges = total,
            Kind::Pages => counts.pages = total,
            Kind::Duplicates => counts.duplicates = total,
            Kind::NearDuplicates => counts.near_duplicates = total,
            Kind::Outcome if total > 0 => {
                let kind = OutcomeKind::from_stored(code as u8);
                counts.outcomes.extend(kind.map(|kind| (kind, total)));
            }
            Kind::Reason if total > 0 => {
                let reason = ReasonCode::from_stored(code as u8);
                counts.reasons.extend(reason.map(|reason| (reason, total)));
            }
            Kind::Outcome | Kind::Reason | Kind::Bytes => {}
        }
    }
    Ok(counts)
}
