//! A crawl's beginning, return and end, as far as the file is concerned.

use rusqlite::params;
use trawl_types::{CrawlId, CrawlState, UnixMillis};

use super::{
    commit::{Commit, OpenCrawl},
    counters::Counters,
    duplicates::keeps,
    fault::Fault,
    jobs,
    links::Found,
    reader,
    terrain::TerrainMemory,
    writer::{NewCrawl, Writer},
};
use crate::contract::{
    StoreError,
    queue::Planted,
    write::{CommitReport, NewLink, WriteRules},
};

const REMEMBER_NEWEST: &str = "INSERT INTO meta (key, value)
    VALUES ('newest_crawl', CAST(CAST(?1 AS TEXT) AS BLOB))
    ON CONFLICT DO UPDATE SET value = excluded.value";

impl Writer {
    /// The crawl and its seeds land in one transaction: there is no crawl without seeds.
    pub(super) fn create_crawl(&mut self, new: NewCrawl) -> Result<CrawlId, Fault> {
        let spec = serde_json::to_string(&new.spec)
            .map_err(|error| StoreError::Database(format!("the specification: {error}")))?;
        let crawl = self.next_crawl()?;
        let open = OpenCrawl {
            rules: new.rules,
            counters: Counters::default(),
            has_elders: reader::has_elders(&self.conn, crawl)?,
            originals: None,
            keeps: keeps(&new.spec),
            first_lists: crawl == CrawlId(1),
            terrain: TerrainMemory::default(),
        };
        let keeps = open.keeps;
        for other in self.open.values_mut() {
            other.first_lists = false;
        }
        self.has_crawled = true;
        self.open.insert(crawl, open);
        let (name, seeds, now, job) = (new.name, new.seeds, new.now, new.job);
        let config_hash = new.spec.terrain.map(|terrain| terrain.config_hash);
        let done = self.transaction(crawl, now, |commit| {
            let row = "INSERT INTO crawls (id, name, spec, state, started_at, keeps)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let state = CrawlState::Running.as_str();
            let conn = commit.sql.conn;
            conn.execute(row, params![crawl.0, name, spec, state, now.0, keeps])?;
            conn.execute(REMEMBER_NEWEST, [crawl.0])?;
            if let Some(job) = &job {
                jobs::add(commit.sql.conn, crawl, job, now)?;
            }
            if let Some(hash) = config_hash {
                commit.begin_map(&hash)?;
            }
            commit.plant(seeds)
        });
        if let Err(fault) = done {
            self.open.remove(&crawl);
            return Err(fault);
        }
        Ok(crawl)
    }

    /// The number of a crawl that was deleted is not given again: cursors, search indexes and lists of
    /// links may still speak of it.
    fn next_crawl(&self) -> Result<CrawlId, Fault> {
        let sql = "SELECT max(
                     (SELECT coalesce(max(id), 0) FROM crawls),
                     coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER)
                               FROM meta WHERE key = 'newest_crawl'), 0)
                   ) + 1";
        Ok(CrawlId(self.conn.query_row(sql, [], |row| row.get(0))?))
    }

    fn keeps(&self, crawl: CrawlId) -> Result<u8, Fault> {
        let sql = "SELECT keeps FROM crawls WHERE id = ?1";
        Ok(self.conn.query_row(sql, [crawl.0], |row| row.get(0))?)
    }

    pub(super) fn reopen_crawl(&mut self, crawl: CrawlId, rules: WriteRules) -> Result<(), Fault> {
        let open = OpenCrawl {
            rules,
            counters: Counters::load(&self.conn, crawl)?,
            has_elders: reader::has_elders(&self.conn, crawl)?,
            originals: None,
            keeps: self.keeps(crawl)?,
            first_lists: false,
            terrain: TerrainMemory::default(),
        };
        self.has_crawled = true;
        self.open.insert(crawl, open);
        Ok(())
    }

    /// A crawl that has ended needs no memory; one that goes on is reopened.
    pub(super) fn set_state(
        &mut self,
        crawl: CrawlId,
        state: CrawlState,
        why: &str,
        now: UnixMillis,
    ) -> Result<(), Fault> {
        let finished = match state {
            CrawlState::Running | CrawlState::Paused => None,
            CrawlState::Completed | CrawlState::Cancelled | CrawlState::Failed => Some(now.0),
        };
        let changed = self
            .conn
            .prepare_cached(
                "UPDATE crawls SET state = ?2, why = ?3, finished_at = ?4 WHERE id = ?1",
            )?
            .execute(params![crawl.0, state.as_str(), why, finished])?;
        if changed == 0 {
            return Err(StoreError::NoCrawl(crawl).into());
        }
        if finished.is_some() {
            self.open.remove(&crawl);
        }
        Ok(())
    }
}

impl Commit<'_> {
    fn plant(mut self, mut seeds: Vec<NewLink>) -> Result<CommitReport, Fault> {
        let before = self.open.counters;
        self.take_seeds(&mut seeds)?;
        self.finish(&before)
    }

    /// URLs at depth 0 that no page led to. One that is known stays as it is.
    pub(super) fn take_seeds(&mut self, seeds: &mut [NewLink]) -> Result<(), Fault> {
        for seed in seeds {
            let found = Found {
                parent: None,
                depth: 0,
            };
            let (known, admitted) = (self.report.discovered, self.report.admitted.len());
            self.take_url(found, seed)?;
            self.report
                .planted
                .push(if self.report.admitted.len() > admitted {
                    Planted::Admitted
                } else if self.report.discovered > known {
                    Planted::Refused
                } else {
                    Planted::Known
                });
        }
        Ok(())
    }
}
