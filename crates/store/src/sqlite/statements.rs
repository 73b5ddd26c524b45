//! The statements of a commit, prepared once for each transaction: at forty links a page even
//! looking a statement up by its text would be felt.

use rusqlite::{CachedStatement, Connection};

use super::{edges::LinkLists, results};

pub(crate) struct Statements<'c> {
    pub(crate) conn: &'c Connection,
    pub(crate) find_page: CachedStatement<'c>,
    pub(crate) add_page: CachedStatement<'c>,
    pub(crate) find_row: CachedStatement<'c>,
    pub(crate) add_row: CachedStatement<'c>,
    pub(crate) edges: LinkLists<'c>,
    pub(crate) find_host: CachedStatement<'c>,
    pub(crate) add_host: CachedStatement<'c>,
    pub(crate) add_crawl_host: CachedStatement<'c>,
    pub(crate) add_result: CachedStatement<'c>,
    pub(crate) finish_row: CachedStatement<'c>,
}

impl std::fmt::Debug for Statements<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statements").finish_non_exhaustive()
    }
}

/// Columns in the order of [`super::row::Row::read`].
pub(crate) const FIND_ROW: &str =
    "SELECT state, depth, host, score, reason FROM crawl_pages WHERE crawl = ?1 AND page = ?2";

impl<'c> Statements<'c> {
    pub(crate) fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            conn,
            find_page: conn.prepare_cached(
                "SELECT id, host_id FROM urls WHERE key_host = ?1 AND key_url = ?2",
            )?,
            add_page: conn.prepare_cached(
                "INSERT INTO urls (key_host, key_url, host_id, url) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?,
            find_row: conn.prepare_cached(FIND_ROW)?,
            add_row: conn.prepare_cached(
                "INSERT INTO crawl_pages (crawl, page, state, host, rank, depth, score, parent,
                 discovered_at, reason, reason_detail, chain)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            edges: LinkLists::prepare(conn)?,
            find_host: conn.prepare_cached("SELECT id FROM hosts WHERE name = ?1")?,
            add_host: conn.prepare_cached("INSERT INTO hosts (name) VALUES (?1)")?,
            add_crawl_host: conn.prepare_cached(
                "INSERT OR IGNORE INTO crawl_hosts (crawl, host) VALUES (?1, ?2)",
            )?,
            add_result: conn.prepare_cached(results::INSERT)?,
            finish_row: conn.prepare_cached(
                "UPDATE crawl_pages SET state = 2, attempts = ?3, outcome = ?4, seq = ?5
                 WHERE crawl = ?1 AND page = ?2",
            )?,
        })
    }
}
