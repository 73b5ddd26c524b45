//! Depth is the shortest distance from the seeds over recorded edges, whatever the order in which
//! pages are read. A shorter path is carried on along stored edges, nearest pages first, so that
//! every page is touched once; a list of work, never recursion.

use std::{cmp::Reverse, collections::BinaryHeap};

use rusqlite::params;
use trawl_types::{HostId, PageId, PageState, ReasonCode, UnixMillis, terrain::TerrainState};

use super::{
    commit::Commit,
    fault::Fault,
    results,
    row::{Row, chain_from_blob},
};
use crate::contract::read::PendingUrl;

impl Commit<'_> {
    /// Notes a path to `page` over `parent`, if it is shorter than the one known, and carries it
    /// on.
    pub(super) fn shorten(
        &mut self,
        page: PageId,
        parent: PageId,
        depth: u32,
    ) -> Result<(), Fault> {
        let mut nearest = BinaryHeap::from([Reverse((depth, page, parent))]);
        while let Some(Reverse((depth, page, parent))) = nearest.pop() {
            let row = Row::find(&mut self.sql.find_row, self.crawl, page)?;
            let Some(row) = row.filter(|row| depth < row.depth) else {
                continue;
            };
            self.move_row(page, parent, depth, &row)?;
            if row.state == PageState::Done {
                self.beyond(page, depth, &mut nearest)?;
            }
        }
        Ok(())
    }

    fn move_row(
        &mut self,
        page: PageId,
        parent: PageId,
        depth: u32,
        row: &Row,
    ) -> Result<(), Fault> {
        let rank = self.rank(depth, row.score);
        self.sql
            .conn
            .prepare_cached(
                "UPDATE crawl_pages SET depth = ?3, parent = ?4, rank = ?5
                 WHERE crawl = ?1 AND page = ?2",
            )?
            .execute(params![self.crawl.0, page.0, depth, parent.0, rank])?;
        self.moved.insert(page, (depth, rank));
        if row.reason == Some(ReasonCode::TooDeep) && self.within(depth) {
            self.lift(page, depth, row.score, ReasonCode::TooDeep)?;
        }
        Ok(())
    }

    /// Pages that the links of this crawl lead to from here, and that this makes nearer.
    fn beyond(
        &mut self,
        page: PageId,
        depth: u32,
        nearest: &mut BinaryHeap<Reverse<(u32, PageId, PageId)>>,
    ) -> Result<(), Fault> {
        for (to, kind) in self.sql.edges.targets(self.crawl, page)? {
            let there = depth.saturating_add(kind.depth_step());
            let row = Row::find(&mut self.sql.find_row, self.crawl, to)?;
            if row.is_some_and(|row| there < row.depth) {
                nearest.push(Reverse((there, to, page)));
            }
        }
        Ok(())
    }

    /// Admits a page that was refused, and reports it.
    pub(super) fn lift(
        &mut self,
        page: PageId,
        depth: u32,
        score: u8,
        old: ReasonCode,
    ) -> Result<(), Fault> {
        let before = TerrainState::of(PageState::Refused, Some(old), None);
        self.watch_transition(page, before, (PageState::Pending, None, None));
        let rank = self.rank(depth, score);
        self.sql
            .conn
            .prepare_cached(
                "UPDATE crawl_pages SET state = 0, reason = NULL, reason_detail = NULL,
                 rank = ?3, score = ?4 WHERE crawl = ?1 AND page = ?2",
            )?
            .execute(params![self.crawl.0, page.0, rank, score])?;
        self.moved.insert(page, (depth, rank));
        self.open.counters.lift_refusal(old);
        self.open.counters.admit();
        let mut url = self
            .sql
            .conn
            .prepare_cached(
                "SELECT c.host, p.url, c.attempts, c.not_before, c.chain FROM crawl_pages c
                 JOIN urls p ON p.id = c.page WHERE c.crawl = ?1 AND c.page = ?2",
            )?
            .query_row([self.crawl.0, page.0], |row| {
                Ok(PendingUrl {
                    page,
                    host: HostId(row.get(0)?),
                    address: row.get(1)?,
                    rank,
                    depth,
                    score,
                    attempts: row.get(2)?,
                    not_before: UnixMillis(row.get(3)?),
                    chain: row
                        .get::<_, Option<Vec<u8>>>(4)?
                        .map_or_else(Vec::new, |blob| chain_from_blob(&blob)),
                    etag: None,
                    last_modified: None,
                })
            })?;
        if self.open.has_elders {
            let validators = results::validators(self.sql.conn, self.crawl, page)?;
            (url.etag, url.last_modified) = (validators.etag, validators.last_modified);
        }
        self.introduce(url.host)?;
        self.report.admitted.push(url);
        Ok(())
    }
}
