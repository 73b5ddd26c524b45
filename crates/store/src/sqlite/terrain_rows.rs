//! The rows of a terrain map, one at a time, as one moment of the file shows them: what summaries
//! and exports are made of. Only reads, also while a crawl writes.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension, Row};
use trawl_types::{
    CrawlId, LinkKind, LinkRel, OutcomeKind, PageId, Place, ReasonCode, UnixMillis,
    terrain::{DomainClass, Run, RunStatus, TerrainDomain, TerrainEdge, TerrainPage, TerrainState},
};

use super::{fault::Fault, pool, schema};
use crate::contract::StoreError;

/// Takes one row and says whether to go on.
type Each<'a, T> = &'a mut dyn FnMut(T) -> ControlFlow<()>;

/// A domain while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusyDomain {
    pub name: String,
    pub class: DomainClass,
    pub pages: u64,
    pub errors: u64,
    pub requests: u64,
    pub suspended: bool,
    pub waiting: u64,
    pub delay_ms: u64,
}

/// The maps of one file. All that is read through one of these belongs together.
#[derive(Debug)]
pub struct TerrainRows {
    path: PathBuf,
    conn: Connection,
}

impl TerrainRows {
    /// Opens a database to look at it and holds on to how it is now.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || -> Result<Connection, Fault> {
            if !path.exists() {
                return Err(StoreError::Missing {
                    path: path.display().to_string(),
                }
                .into());
            }
            let conn = pool::open(path)?;
            schema::check(&conn, path)?;
            conn.execute_batch("BEGIN")?;
            Ok(conn)
        };
        let conn = open().map_err(|fault| fault.at(path))?;
        Ok(Self {
            path: path.to_owned(),
            conn,
        })
    }

    /// Oldest first.
    pub fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.ask(|conn| {
            let mut statement = conn.prepare(
                "SELECT id, started_at, finished_at, state, config_hash FROM crawls
                 WHERE config_hash IS NOT NULL ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(Run {
                    id: CrawlId(row.get(0)?),
                    started_at: UnixMillis(row.get(1)?),
                    finished_at: row.get::<_, Option<i64>>(2)?.map(UnixMillis),
                    status: match row.get_ref(3)?.as_str()? {
                        "running" => RunStatus::Running,
                        "completed" => RunStatus::Completed,
                        _ => RunStatus::Interrupted,
                    },
                    config_hash: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The quality domains of a run, in the order of its configuration.
    pub fn origins(&self, run: CrawlId) -> Result<Vec<String>, StoreError> {
        self.ask(|conn| {
            let mut statement =
                conn.prepare("SELECT domain FROM map_origins WHERE crawl = ?1 ORDER BY origin")?;
            let rows = statement.query_map([run.0], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Every domain of a run once, by name.
    pub fn domains(&self, run: CrawlId) -> Result<Vec<TerrainDomain>, StoreError> {
        self.ask(|conn| {
            let mut statement = conn.prepare(
                "SELECT m.domain, min(m.class), min(m.origin), coalesce(sum(c.requests), 0),
                   coalesce(max(c.suspended = 1), 0)
                 FROM map_hosts m LEFT JOIN crawl_hosts c ON c.crawl = m.crawl AND c.host = m.host
                 WHERE m.crawl = ?1 GROUP BY m.domain ORDER BY m.domain",
            )?;
            let rows = statement.query_map([run.0], |row| {
                Ok(TerrainDomain {
                    name: row.get(0)?,
                    class: DomainClass::from_stored(row.get(1)?),
                    origin: row.get(2)?,
                    requests: row.get::<_, i64>(3)? as u64,
                    rate_limited: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The pages as a run left them, in the order in which they were found.
    pub fn pages(&self, run: CrawlId, each: Each<'_, TerrainPage>) -> Result<(), StoreError> {
        let sql = "SELECT c.page_id, p.url, c.domain, c.class, c.state, c.depth, c.title,
                     c.status_code, c.content_type, c.last_modified, c.crawled_at, c.found_at,
                     p.first_crawl, p.last_crawl, c.reason, c.outcome, c.detail, c.attempts
                   FROM run_pages c JOIN map_pages p ON p.page = c.page_id
                   WHERE c.run_id = ?1 ORDER BY c.page_id";
        self.each(sql, run, page, each)
    }

    /// The edges that a run saw, those of one page together.
    pub fn edges(&self, run: CrawlId, each: Each<'_, TerrainEdge>) -> Result<(), StoreError> {
        const COLUMNS: &str = "l.src, l.dst, l.kind, l.rel, l.place, l.position, l.anchor,
                               l.first_crawl, l.last_crawl";
        // What an edge's first and last run say of one in between is not quite certain: its ends
        // must at least have been there.
        let sql = if self.is_newest(run)? {
            format!("SELECT {COLUMNS} FROM map_links l WHERE l.last_crawl = ?1 ORDER BY src, dst")
        } else {
            format!(
                "SELECT {COLUMNS} FROM map_links l
                 JOIN crawl_pages a ON a.crawl = ?1 AND a.page = l.src AND a.state = 2
                 JOIN crawl_pages b ON b.crawl = ?1 AND b.page = l.dst
                 WHERE ?1 BETWEEN l.first_crawl AND l.last_crawl ORDER BY src, dst"
            )
        };
        self.each(&sql, run, edge, each)
    }

    /// How far pages are from quality domains: page, number of the origin, depth.
    pub fn depths(
        &self,
        run: CrawlId,
        each: Each<'_, (PageId, u16, u32)>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT page, origin, depth FROM map_depths WHERE crawl = ?1
                   ORDER BY page, origin";
        let depth = |row: &Row<'_>| Ok((PageId(row.get(0)?), row.get(1)?, row.get(2)?));
        self.each(sql, run, depth, each)
    }

    /// The domains that are asked most, for those who watch a run.
    pub fn busiest(&self, run: CrawlId, most: u32) -> Result<Vec<BusyDomain>, StoreError> {
        self.ask(|conn| {
            let mut statement = conn.prepare(
                // Picked first: what waits is counted for those that are shown and for no others.
                "SELECT m.domain, m.class, c.pages_done, c.errors, c.requests, c.suspended,
                   (SELECT count(*) FROM crawl_pages p INDEXED BY crawl_pages_pending
                    WHERE p.crawl = c.crawl AND p.host = c.host AND p.state = 0), h.delay_ms
                 FROM (SELECT * FROM crawl_hosts WHERE crawl = ?1
                       ORDER BY requests DESC, host LIMIT ?2) c
                 JOIN map_hosts m ON m.crawl = c.crawl AND m.host = c.host
                 JOIN hosts h ON h.id = c.host
                 ORDER BY c.requests DESC, c.host",
            )?;
            let rows = statement.query_map([run.0, i64::from(most)], |row| {
                let count = |at| row.get::<_, i64>(at).map(|count| count as u64);
                Ok(BusyDomain {
                    name: row.get(0)?,
                    class: DomainClass::from_stored(row.get(1)?),
                    pages: count(2)?,
                    errors: count(3)?,
                    requests: count(4)?,
                    suspended: row.get(5)?,
                    waiting: count(6)?,
                    delay_ms: count(7)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn is_newest(&self, run: CrawlId) -> Result<bool, StoreError> {
        self.ask(|conn| {
            let sql = "SELECT 1 FROM crawls WHERE config_hash IS NOT NULL AND id > ?1";
            let later = conn.query_row(sql, [run.0], |_| Ok(())).optional()?;
            Ok(later.is_none())
        })
    }

    fn each<T>(
        &self,
        sql: &str,
        run: CrawlId,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        each: Each<'_, T>,
    ) -> Result<(), StoreError> {
        self.ask(|conn| {
            let mut statement = conn.prepare(sql)?;
            let mut rows = statement.query([run.0])?;
            while let Some(row) = rows.next()? {
                if each(read(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        question(&self.conn).map_err(|fault| fault.at(&self.path))
    }
}

fn page(row: &Row<'_>) -> rusqlite::Result<TerrainPage> {
    let code = |at| row.get::<_, Option<u8>>(at);
    Ok(TerrainPage {
        id: PageId(row.get(0)?),
        url: row.get(1)?,
        domain: row.get(2)?,
        class: DomainClass::from_stored(row.get(3)?),
        state: TerrainState::from_stored(row.get_ref(4)?.as_str()?).unwrap_or(TerrainState::Failed),
        depth: row.get(5)?,
        title: row.get(6)?,
        status_code: row.get(7)?,
        content_type: row.get(8)?,
        last_modified: row.get(9)?,
        visited_at: row.get::<_, Option<i64>>(10)?.map(UnixMillis),
        discovered_at: UnixMillis(row.get(11)?),
        first_run: CrawlId(row.get(12)?),
        last_run: CrawlId(row.get(13)?),
        reason: code(14)?.and_then(ReasonCode::from_stored),
        outcome: code(15)?.and_then(OutcomeKind::from_stored),
        error: row.get(16)?,
        retry_count: row.get::<_, u32>(17)?.saturating_sub(1),
    })
}

fn edge(row: &Row<'_>) -> rusqlite::Result<TerrainEdge> {
    Ok(TerrainEdge {
        from: PageId(row.get(0)?),
        to: PageId(row.get(1)?),
        kind: LinkKind::from_stored(row.get(2)?),
        rel: LinkRel(row.get(3)?),
        place: Place::from_stored(row.get(4)?),
        position: row.get(5)?,
        anchor: row.get(6)?,
        first_run: CrawlId(row.get(7)?),
        last_run: CrawlId(row.get(8)?),
    })
}
