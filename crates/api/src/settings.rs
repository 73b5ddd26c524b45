//! What an operator decides.

use std::{net::SocketAddr, time::Duration};

use trawl_types::spec::FetchSpec;

/// Settings of a server. The defaults are those of `trawl serve`.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    pub listen: SocketAddr,
    /// Everybody may do everything: for tests and closed networks.
    pub no_auth: bool,
    /// How requests of crawls are made, unless a job says otherwise; also which networks may be
    /// contacted, which no job can change.
    pub fetch: FetchSpec,
    /// Least time between two requests to one host; jobs may ask for more, not for less.
    pub delay: Duration,
    /// A crawl whose results nobody reads any more is cancelled.
    pub stop_when_reader_leaves: bool,
    pub limits: Limits,
    /// Web pages of these origins may read answers; `*` for all.
    pub cors_origins: Vec<String>,
}

/// Limits of requests and answers (000, size limits).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Pages of one answer, unless the request says otherwise.
    pub pages_per_request: u64,
    /// Pages of one answer, whatever the request says.
    pub most_pages_per_request: u64,
    /// Bytes of content of one page.
    pub content_bytes: u64,
    pub discovered_urls: usize,
    /// Running jobs of one key.
    pub jobs_per_key: u64,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// A stream in which nothing happens gives a sign of life this often.
    pub keep_alive: Duration,
    /// Links away from what was added that the open frontier follows.
    pub frontier_depth: u32,
    /// Jobs that ended longer ago are removed.
    pub retention: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pages_per_request: 1_000,
            most_pages_per_request: 10_000,
            content_bytes: 1_000_000,
            discovered_urls: 10_000,
            jobs_per_key: 100,
            body_bytes: 10 * 1024 * 1024,
            keep_alive: Duration::from_secs(15),
            frontier_depth: 10,
            retention: Duration::from_hours(30 * 24),
        }
    }
}
