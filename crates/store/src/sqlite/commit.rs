//! One transaction: settled visits, their links, host updates, counters. Runs on the writer's
//! thread inside `BEGIN IMMEDIATE`; whoever calls it commits or rolls back.

use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;
use trawl_types::{
    CrawlId, HostId, PageId, PageState, Reason, Sequence, UnixMillis, terrain::TerrainState,
};

use super::{
    cache::Memory,
    counters::Counters,
    duplicates::compared,
    fault::Fault,
    link_text::LinkText,
    originals::Originals,
    reader,
    results::{self, Finished},
    row::Row,
    statements::Statements,
    terrain::TerrainMemory,
};
use crate::{
    contract::write::{
        CommitBatch, CommitReport, HostUpdate, Settlement, Visit, VisitEnd, WriteRules,
    },
    segment::{
        BodyRef,
        append::Appender,
        packing::{Kept, Packed, Spot},
    },
};

/// Milliseconds.
pub(super) const MINUTE: i64 = 60_000;

/// What a commit adds to the figures of a host.
#[derive(Debug, Clone, Copy, Default)]
struct HostEnds {
    pages: i64,
    errors: i64,
    bytes: i64,
    last: i64,
}

/// A crawl that is being written.
#[derive(Debug)]
pub(crate) struct OpenCrawl {
    pub(crate) rules: WriteRules,
    pub(crate) counters: Counters,
    /// Earlier crawls may have seen the same pages.
    pub(crate) has_elders: bool,
    /// Loaded when they are first needed.
    pub(crate) originals: Option<Originals>,
    /// As [`super::duplicates::keeps`] has it.
    pub(crate) keeps: u8,
    /// No page of this crawl can have a list of links before it is done: there is no other crawl,
    /// and no visit that was to be repeated has left links.
    pub(crate) first_lists: bool,
    /// What is known of a map's hosts.
    pub(crate) terrain: TerrainMemory,
}

/// A commit under way.
#[derive(Debug)]
pub(crate) struct Commit<'c> {
    pub(super) sql: Statements<'c>,
    pub(super) crawl: CrawlId,
    pub(super) now: UnixMillis,
    pub(super) open: &'c mut OpenCrawl,
    pub(super) memory: &'c mut Memory,
    pub(super) bodies: &'c mut Appender,
    /// Where the frames of this commit begin, as far as they are appended.
    places: Vec<Option<BodyRef>>,
    pub(super) report: CommitReport,
    /// Hosts that the report must introduce.
    pub(super) new_hosts: Vec<HostId>,
    /// Pending pages whose depth and rank changed under way.
    pub(super) moved: FxHashMap<PageId, (u32, i64)>,
    /// The links of the page at hand.
    pub(super) text: LinkText,
    /// What this commit adds to the figures of hosts and minutes.
    ends: FxHashMap<HostId, HostEnds>,
    activity: FxHashMap<(i64, u8), (i64, i64)>,
}

/// Where lies what a visit keeps.
#[derive(Debug, Clone, Copy)]
struct KeptAt {
    body: Option<BodyRef>,
    content: Option<BodyRef>,
}

/// The page whose links are being taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) page: PageId,
    pub(super) depth: u32,
    /// It was visited: if there are no links, it has none.
    pub(super) has_ended: bool,
}

impl<'c> Commit<'c> {
    pub(crate) fn new(
        conn: &'c Connection,
        crawl: CrawlId,
        now: UnixMillis,
        open: &'c mut OpenCrawl,
        memory: &'c mut Memory,
        bodies: &'c mut Appender,
    ) -> Result<Self, Fault> {
        Ok(Self {
            sql: Statements::prepare(conn)?,
            crawl,
            now,
            open,
            memory,
            bodies,
            places: Vec::new(),
            report: CommitReport::default(),
            new_hosts: Vec::new(),
            moved: FxHashMap::default(),
            text: LinkText::default(),
            ends: FxHashMap::default(),
            activity: FxHashMap::default(),
        })
    }

    /// Writes a whole batch.
    pub(crate) fn run(
        mut self,
        batch: &mut CommitBatch,
        packed: &Packed,
    ) -> Result<CommitReport, Fault> {
        let before = self.open.counters;
        let bodies_before = self.bodies.end();
        self.places = vec![None; packed.frames.len()];
        for (number, settlement) in batch.settlements.iter_mut().enumerate() {
            self.settle(settlement, packed, packed.kept(number))?;
        }
        for update in &batch.hosts {
            self.update_host(update)?;
        }
        self.take_seeds(&mut batch.seeds)?;
        self.write_originals()?;
        if self.bodies.end() != bodies_before {
            self.note_segment()?;
        }
        self.finish(&before)
    }

    /// Counters, and what the report says of hosts and moved pages.
    pub(super) fn finish(mut self, before: &Counters) -> Result<CommitReport, Fault> {
        let conn = self.sql.conn;
        self.write_figures()?;
        self.open.counters.save(before, conn, self.crawl)?;
        for url in &mut self.report.admitted {
            if let Some((depth, rank)) = self.moved.get(&url.page) {
                (url.depth, url.rank) = (*depth, *rank);
            }
        }
        for host in &self.new_hosts {
            self.report
                .hosts
                .extend(reader::host(conn, self.crawl, *host)?);
        }
        self.report.memory = Some(self.memory.number);
        self.report.counts = self.open.counters.counts();
        let last = self.open.counters.last_seq;
        self.report.last_seq = (last > 0).then_some(Sequence(last));
        Ok(self.report)
    }

    fn write_figures(&self) -> Result<(), Fault> {
        let conn = self.sql.conn;
        for (host, ends) in &self.ends {
            conn.prepare_cached(
                "UPDATE crawl_hosts SET pages_done = pages_done + ?3, errors = errors + ?4,
                 bytes = bytes + ?5, last_crawled = max(last_crawled, ?6)
                 WHERE crawl = ?1 AND host = ?2",
            )?
            .execute([
                self.crawl.0,
                host.0,
                ends.pages,
                ends.errors,
                ends.bytes,
                ends.last,
            ])?;
        }
        for ((minute, outcome), (visits, bytes)) in &self.activity {
            conn.prepare_cached(
                "INSERT INTO activity (crawl, minute, outcome, visits, bytes)
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE
                 SET visits = visits + excluded.visits, bytes = bytes + excluded.bytes",
            )?
            .execute([self.crawl.0, *minute, i64::from(*outcome), *visits, *bytes])?;
        }
        Ok(())
    }

    /// A page that is not pending was settled before, perhaps by a lease that a crash repeated:
    /// the first end stands.
    fn settle(
        &mut self,
        settlement: &mut Settlement,
        packed: &Packed,
        kept: Kept,
    ) -> Result<(), Fault> {
        let page = settlement.page;
        let row = Row::find(&mut self.sql.find_row, self.crawl, page)?;
        let Some(row) = row.filter(|row| row.state == PageState::Pending) else {
            return Ok(());
        };
        match &settlement.end {
            VisitEnd::Final(visit) => {
                let end = (PageState::Done, None, Some(visit.outcome.kind));
                self.watch_transition(page, TerrainState::Fetching, end);
                let kept = self.append(packed, kept)?;
                self.end_visit(page, row.host, visit, kept)?;
            }
            VisitEnd::Retry {
                attempts,
                not_before,
                outcome,
            } => {
                let update = "UPDATE crawl_pages SET attempts = ?3, not_before = ?4, outcome = ?5
                              WHERE crawl = ?1 AND page = ?2";
                self.sql.conn.prepare_cached(update)?.execute(params![
                    self.crawl.0,
                    page.0,
                    attempts,
                    not_before.0,
                    outcome.kind as u8
                ])?;
            }
            VisitEnd::Refused(reason) => {
                let end = (PageState::Refused, Some(reason.code), None);
                self.watch_transition(page, TerrainState::Queued, end);
                self.refuse_pending(page, reason)?;
            }
        }
        let has_links = !settlement.links.is_empty() || !settlement.known.is_empty();
        if !matches!(settlement.end, VisitEnd::Final(_)) && has_links {
            self.open.first_lists = false;
        }
        let source = Source {
            page,
            depth: row.depth,
            has_ended: matches!(settlement.end, VisitEnd::Final(_)),
        };
        self.take_links(source, &mut settlement.links, &settlement.known)
    }

    /// Where what a visit keeps lies from now on. A frame is appended with the first of its records.
    fn append(&mut self, packed: &Packed, kept: Kept) -> Result<KeptAt, Fault> {
        let mut place = |spot: Option<Spot>| -> Result<Option<BodyRef>, Fault> {
            let Some(Spot { frame, within }) = spot else {
                return Ok(None);
            };
            let place = match self.places[frame] {
                Some(place) => place,
                None => self.bodies.append(&packed.frames[frame], self.now)?,
            };
            self.places[frame] = Some(place);
            Ok(Some(BodyRef { within, ..place }))
        };
        Ok(KeptAt {
            body: place(kept.body)?,
            content: place(kept.content)?,
        })
    }

    fn end_visit(
        &mut self,
        page: PageId,
        host: HostId,
        visit: &Visit,
        kept: KeptAt,
    ) -> Result<(), Fault> {
        let seq = self.open.counters.finish(visit.outcome.kind);
        let duplicate_of = self.original(page, compared(visit))?;
        let finished = Finished {
            crawl: self.crawl,
            seq: Sequence(seq),
            page,
            visit,
            body: kept.body,
            duplicate_of,
        };
        let elder = results::write(&mut self.sql, &finished, self.open.has_elders)?;
        let copied = match elder {
            Some(elder) => self.inherit_content(page, Sequence(seq), elder)?,
            None => duplicate_of,
        };
        if let Some(digest) = &visit.digest {
            self.take_digest(Sequence(seq), digest, kept.content, copied.is_some())?;
        }
        self.sql.finish_row.execute(params![
            self.crawl.0,
            page.0,
            visit.attempts,
            visit.outcome.kind as u8,
            seq
        ])?;
        self.count_visit(host, visit);
        Ok(())
    }

    fn count_visit(&mut self, host: HostId, visit: &Visit) {
        let (kind, at) = (visit.outcome.kind, visit.crawled_at.0);
        let bytes = visit.content_length.unwrap_or(0).min(i64::MAX as u64) as i64;
        let ends = self.ends.entry(host).or_default();
        ends.pages += i64::from(kind.is_page());
        ends.errors += i64::from(kind.is_error());
        ends.bytes += bytes;
        ends.last = ends.last.max(at);
        self.open.counters.bytes += bytes as u64;
        let (visits, total) = self
            .activity
            .entry((at.div_euclid(MINUTE), kind as u8))
            .or_default();
        *visits += 1;
        *total += bytes;
    }

    fn refuse_pending(&mut self, page: PageId, reason: &Reason) -> Result<(), Fault> {
        self.sql
            .conn
            .prepare_cached(
                "UPDATE crawl_pages SET state = 1, reason = ?3, reason_detail = ?4
                 WHERE crawl = ?1 AND page = ?2",
            )?
            .execute(params![
                self.crawl.0,
                page.0,
                reason.code as u8,
                detail(reason)
            ])?;
        self.open.counters.no_longer_pending();
        self.open.counters.refuse(reason.code);
        Ok(())
    }

    fn update_host(&mut self, update: &HostUpdate) -> Result<(), Fault> {
        let Some(host) = update.host else {
            return Ok(());
        };
        let conn = self.sql.conn;
        conn.prepare_cached(
            "UPDATE hosts SET next_allowed = coalesce(?2, next_allowed),
             delay_ms = coalesce(?3, delay_ms), failures = coalesce(?4, failures) WHERE id = ?1",
        )?
        .execute(params![
            host.0,
            update.next_allowed.map(|at| at.0),
            update.delay_ms.map(|ms| ms as i64),
            update.failures
        ])?;
        if let Some(suspended) = update.suspended {
            conn.prepare_cached(
                "UPDATE crawl_hosts SET suspended = ?3 WHERE crawl = ?1 AND host = ?2",
            )?
            .execute(params![self.crawl.0, host.0, suspended as u8])?;
        }
        if update.requests > 0 {
            conn.prepare_cached(
                "INSERT INTO crawl_hosts (crawl, host, requests) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET requests = requests + excluded.requests",
            )?
            .execute(params![self.crawl.0, host.0, update.requests])?;
        }
        if let Some(robots) = &update.robots {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO robots (host, scheme, status, body, fetched_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                host.0,
                robots.scheme.as_str(),
                robots.status,
                robots.body,
                robots.fetched_at.0
            ])?;
        }
        Ok(())
    }

    /// How much of the newest segment file is referred to from now on.
    fn note_segment(&mut self) -> Result<(), Fault> {
        let end = self.bodies.end();
        self.sql
            .conn
            .prepare_cached("INSERT OR REPLACE INTO segments (number, bytes) VALUES (?1, ?2)")?
            .execute([i64::from(end.segment), end.offset as i64])?;
        Ok(())
    }
}

/// What is stored of a reason besides its code.
pub(super) fn detail(reason: &Reason) -> Option<&str> {
    (!reason.detail.is_empty()).then_some(reason.detail.as_str())
}
