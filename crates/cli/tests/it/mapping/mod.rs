//! `trawl map` on the test web: the map is the true one, in one go and after kills; every rule of
//! the document shows in the states of pages.
//!
//! * `truth`: what a map of the test web must say, by a plain search
//! * `graph`: the whole map against the truth
//! * `rules`: redirects, limits, robots.txt, 429 and the states they lead to
//! * `commands`: what else the command does, and how it fails
//! * `example`: the example that people are told to begin with

mod commands;
mod example;
mod graph;
mod rules;
mod truth;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::harness::{Trawl, Web};

/// A configuration under way, in a folder of its own.
#[derive(Debug)]
pub(crate) struct MapFile {
    folder: tempfile::TempDir,
    max_depth: u32,
    max_requests: u32,
    lists: String,
    network: String,
}

impl MapFile {
    pub(crate) fn new(web: &Web) -> Self {
        let ports = [web.addr().port(), web.tls_addr().port()];
        Self {
            folder: tempfile::tempdir().unwrap(),
            max_depth: 2,
            max_requests: 5_000,
            lists: String::new(),
            network: format!(
                "upgrade-https = false\nallow-networks = [\"127.0.0.0/8\"]\n\
                 allow-ports = {ports:?}\nresolve = [\"*.test=127.0.0.1\"]\n"
            ),
        }
    }

    pub(crate) fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    pub(crate) fn max_requests(mut self, requests: u32) -> Self {
        self.max_requests = requests;
        self
    }

    pub(crate) fn quality(mut self, domain: &str, seeds: &[String]) -> Self {
        let _ = write!(
            self.lists,
            "\n[[quality]]\ndomain = \"{domain}\"\nseeds = {seeds:?}\n"
        );
        self
    }

    pub(crate) fn blacklist(mut self, domain: &str) -> Self {
        let _ = write!(self.lists, "\n[[blacklist]]\ndomain = \"{domain}\"\n");
        self
    }

    pub(crate) fn stub(mut self, domain: &str) -> Self {
        let _ = write!(self.lists, "\n[[stub]]\ndomain = \"{domain}\"\n");
        self
    }

    /// Writes the file anew and gives its path.
    pub(crate) fn write(&self) -> PathBuf {
        let text = format!(
            "[crawler]\nmax-depth = {}\nmax-concurrent-pages-open = 20\n\
             minimum-time-on-page = 100\nmax-domain-requests = {}\n\n\
             [network]\n{}\n[output]\ndatabase-path = \"{}\"\nsummary-path = \"{}\"\n{}",
            self.max_depth,
            self.max_requests,
            self.network,
            self.database().display(),
            self.summary().display(),
            self.lists
        );
        let path = self.folder.path().join("map.toml");
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("map.db")
    }

    pub(crate) fn summary(&self) -> PathBuf {
        self.folder.path().join("summary.md")
    }

    /// `trawl map` with this configuration.
    pub(crate) fn map(&self) -> Trawl {
        Trawl::new("map").arg(self.write())
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Reads a finished map through its documented tables.
#[derive(Debug)]
pub(crate) struct MapData(Connection);

impl MapData {
    pub(crate) fn open(database: &Path) -> Self {
        Self(Connection::open(database).unwrap())
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.0
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// State and error of a page.
    #[track_caller]
    pub(crate) fn state(&self, url: &str) -> (String, String) {
        let sql = "SELECT state, coalesce(error_message, '') FROM pages WHERE url = ?1";
        self.0
            .query_row(sql, [url], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    /// URL and state of every page.
    pub(crate) fn states(&self) -> BTreeMap<String, String> {
        self.pairs("SELECT url, state FROM pages")
            .into_iter()
            .collect()
    }

    pub(crate) fn edges(&self) -> BTreeSet<(String, String)> {
        let sql = "SELECT a.url, b.url FROM links l JOIN pages a ON a.id = l.from_page_id
                   JOIN pages b ON b.id = l.to_page_id";
        self.pairs(sql).into_iter().collect()
    }

    /// Depth by URL and origin.
    pub(crate) fn depths(&self) -> BTreeMap<(String, String), u32> {
        let sql = "SELECT p.url, d.quality_origin, d.depth FROM page_depths d
                   JOIN pages p ON p.id = d.page_id";
        let mut statement = self.0.prepare(sql).unwrap();
        let rows = statement
            .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Reference counts of one of the two views of what is not visited.
    pub(crate) fn references(&self, view: &str) -> BTreeMap<String, u32> {
        let mut statement = self
            .0
            .prepare(&format!("SELECT url, reference_count FROM {view}"))
            .unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    pub(crate) fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        let mut statement = self.0.prepare(sql).unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }
}
