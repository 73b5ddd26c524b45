//! What a terrain map records besides: classes of hosts, pages under their normalised URLs, edges
//! one by one, and how far a page is from each quality domain. All of it lands in the transaction
//! of the page that brought it. Does nothing in other crawls.

use std::{cmp::Reverse, collections::BinaryHeap};

use rusqlite::{OptionalExtension, params};
use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{
    HostId, LinkKind, OutcomeKind, PageId, PageState, ReasonCode,
    terrain::{DomainClass, TerrainState},
};

use super::{commit::Commit, fault::Fault};
use crate::contract::write::{NewLink, TerrainHost};

/// What the writer knows of a map without asking the file. Forgotten when a commit fails.
#[derive(Debug, Default)]
pub(crate) struct TerrainMemory {
    classes: FxHashMap<Box<str>, DomainClass>,
    /// Hosts that have their row.
    written: FxHashSet<HostId>,
    /// How many links of the page at hand have been taken.
    position: u32,
    /// How far the page at hand is from each origin, once it was asked for.
    source: Option<(PageId, Vec<(u16, u32)>)>,
}

impl TerrainMemory {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Commit<'_> {
    /// The run's row becomes that of a map.
    pub(super) fn begin_map(&self, config_hash: &str) -> Result<(), Fault> {
        let Some(terrain) = &self.open.rules.terrain else {
            return Ok(());
        };
        let conn = self.sql.conn;
        conn.prepare_cached("UPDATE crawls SET config_hash = ?2 WHERE id = ?1")?
            .execute(params![self.crawl.0, config_hash])?;
        let mut add = conn.prepare_cached(
            "INSERT INTO map_origins (crawl, origin, domain) VALUES (?1, ?2, ?3)",
        )?;
        for (origin, domain) in terrain.origins().iter().enumerate() {
            add.execute(params![self.crawl.0, origin as i64, domain])?;
        }
        Ok(())
    }

    /// How far a link leads. All pages of quality domains are where a map begins.
    pub(super) fn depth_by(&mut self, from: u32, link: &NewLink) -> u32 {
        match self.class_of(link.target.host()) {
            Some(DomainClass::Quality) => 0,
            _ => from.saturating_add(link.depth_step()),
        }
    }

    /// Nothing in crawls that are no maps.
    fn class_of(&mut self, host: &str) -> Option<DomainClass> {
        let terrain = self.open.rules.terrain.as_ref()?;
        let classes = &mut self.open.terrain.classes;
        if let Some(class) = classes.get(host) {
            return Some(*class);
        }
        let class = terrain.of_host(host).class;
        classes.insert(host.into(), class);
        Some(class)
    }

    /// A page that is new in this run.
    pub(super) fn map_page(
        &mut self,
        page: PageId,
        host: HostId,
        link: &NewLink,
    ) -> Result<(), Fault> {
        let Some(terrain) = &self.open.rules.terrain else {
            return Ok(());
        };
        let url = terrain.identity(link.target.address());
        self.sql
            .conn
            .prepare_cached(
                "INSERT INTO map_pages (page, url, first_crawl, last_crawl) VALUES (?1, ?2, ?3, ?3)
                 ON CONFLICT DO UPDATE SET last_crawl = max(last_crawl, excluded.last_crawl)",
            )?
            .execute(params![page.0, url, self.crawl.0])?;
        let known = terrain.of_host(link.target.host());
        self.map_host(host, &known)?;
        if let Some(origin) = known.origin {
            self.come_nearer(page, origin, 0)?;
        }
        Ok(())
    }

    fn map_host(&mut self, host: HostId, known: &TerrainHost) -> Result<(), Fault> {
        if !self.open.terrain.written.insert(host) {
            return Ok(());
        }
        self.sql
            .conn
            .prepare_cached(
                "INSERT INTO map_hosts (crawl, host, domain, class, origin)
                 VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                self.crawl.0,
                host.0,
                known.domain,
                known.class as u8,
                known.origin
            ])?;
        Ok(())
    }

    /// An edge with its evidence, and what it means for distances.
    pub(super) fn map_link(
        &mut self,
        from: PageId,
        to: PageId,
        link: &NewLink,
    ) -> Result<(), Fault> {
        if self.open.rules.terrain.is_none() {
            return Ok(());
        }
        let position = self.open.terrain.position;
        self.open.terrain.position += 1;
        self.sql
            .conn
            .prepare_cached(
                "INSERT INTO map_links (src, dst, kind, rel, place, position, anchor, first_crawl,
                 last_crawl) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
                 ON CONFLICT DO UPDATE SET kind = excluded.kind, rel = excluded.rel,
                 place = excluded.place, position = excluded.position, anchor = excluded.anchor,
                 last_crawl = max(last_crawl, excluded.last_crawl)",
            )?
            .execute(params![
                from.0,
                to.0,
                link.kind as u8,
                link.rel.0,
                link.place as u8,
                position,
                link.anchor.as_str(),
                self.crawl.0
            ])?;
        for (origin, depth) in self.distances_of_source(from)? {
            self.carry_distance(to, origin, depth.saturating_add(link.depth_step()))?;
        }
        Ok(())
    }

    /// The page at hand has no further links.
    pub(super) fn end_of_links(&mut self) {
        self.open.terrain.position = 0;
        self.open.terrain.source = None;
    }

    fn distances_of_source(&mut self, page: PageId) -> Result<Vec<(u16, u32)>, Fault> {
        if let Some((known, distances)) = &self.open.terrain.source
            && *known == page
        {
            return Ok(distances.clone());
        }
        let distances = self.distances(page)?;
        self.open.terrain.source = Some((page, distances.clone()));
        Ok(distances)
    }

    fn distances(&self, page: PageId) -> Result<Vec<(u16, u32)>, Fault> {
        let mut statement = self.sql.conn.prepare_cached(
            "SELECT origin, depth FROM map_depths WHERE crawl = ?1 AND page = ?2",
        )?;
        let rows =
            statement.query_map([self.crawl.0, page.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Notes a distance if it is shorter than the one known, and carries it on along the edges of
    /// this run, nearest pages first: every page is touched once.
    fn carry_distance(&mut self, page: PageId, origin: u16, depth: u32) -> Result<(), Fault> {
        let mut nearest = BinaryHeap::from([Reverse((depth, page))]);
        while let Some(Reverse((depth, page))) = nearest.pop() {
            if !self.come_nearer(page, origin, depth)? {
                continue;
            }
            for (to, kind) in self.sql.edges.targets(self.crawl, page)? {
                let step = u32::from(kind != LinkKind::Redirect);
                nearest.push(Reverse((depth.saturating_add(step), to)));
            }
        }
        Ok(())
    }

    /// True if the page was further away, or had no distance yet.
    fn come_nearer(&mut self, page: PageId, origin: u16, depth: u32) -> Result<bool, Fault> {
        let changed = self
            .sql
            .conn
            .prepare_cached(
                "INSERT INTO map_depths (crawl, page, origin, depth) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET depth = excluded.depth
                 WHERE excluded.depth < map_depths.depth RETURNING depth",
            )?
            .query_row(params![self.crawl.0, page.0, origin, depth], |_| Ok(()))
            .optional()?;
        Ok(changed.is_some())
    }

    /// The states of a map's pages change in known ways alone. Anything else is our mistake.
    pub(super) fn watch_transition(
        &self,
        page: PageId,
        from: TerrainState,
        (state, reason, outcome): (PageState, Option<ReasonCode>, Option<OutcomeKind>),
    ) {
        if self.open.rules.terrain.is_none() {
            return;
        }
        let to = TerrainState::of(state, reason, outcome);
        if !from.may_become(to) {
            tracing::error!(
                page = page.0,
                ?from,
                ?to,
                "illegal change of a page's state"
            );
            debug_assert!(false, "page {} went from {from:?} to {to:?}", page.0);
        }
    }
}
