//! What an operator decides.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use ipnet::IpNet;
use trawl_store::contract::upkeep::Keeping;
use trawl_types::{CrawlSpec, spec::FetchSpec};

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
    pub access: AccessSettings,
    pub upkeep: UpkeepSettings,
}

/// What old data goes by itself.
#[derive(Debug, Clone, Default)]
pub struct UpkeepSettings {
    /// How often it is looked for; zero for never.
    pub every: Duration,
    /// How long what is kept.
    pub keeping: Keeping,
}

impl ServerSettings {
    /// Whatever a job was started under, what the operator allows now holds.
    pub fn govern(&self, spec: &mut CrawlSpec) {
        let rules = &self.fetch;
        spec.fetch.allow_networks.clone_from(&rules.allow_networks);
        spec.fetch.allow_ports.clone_from(&rules.allow_ports);
        spec.fetch.resolve.clone_from(&rules.resolve);
        spec.fetch.extra_roots.clone_from(&rules.extra_roots);
        let least = self.delay.as_millis() as u64;
        spec.politeness.delay_ms = spec.politeness.delay_ms.max(least);
    }
}

/// Who may do what, how often, and over what kind of connection.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    pub anonymous: Anonymous,
    pub rates: Rates,
    pub sessions: SessionSettings,
    /// What these say about whom they ask for is believed (`X-Forwarded-For`, `-Proto`, `-Host`).
    pub trusted_proxies: Vec<IpNet>,
    pub tls: Option<TlsFiles>,
    /// How long browsers insist on TLS once they have seen it; 0 for not at all.
    pub hsts_seconds: u64,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self {
            anonymous: Anonymous::Nothing,
            rates: Rates::default(),
            sessions: SessionSettings::default(),
            trusted_proxies: Vec::new(),
            tls: None,
            hsts_seconds: 365 * 86_400,
        }
    }
}

/// What those may do who are not known, besides health, the contract and logging in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anonymous {
    Nothing,
    /// See the figures of the whole server.
    Stats,
}

/// Requests a minute (004 §17).
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// Of one address without a key or session.
    pub anonymous: u32,
    pub user: u32,
    pub admin: u32,
    /// Wrong keys from one address.
    pub wrong_keys: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            anonymous: 10,
            user: 100,
            admin: 500,
            wrong_keys: 20,
        }
    }
}

/// How long one stays logged in.
#[derive(Debug, Clone, Copy)]
pub struct SessionSettings {
    /// Without a request.
    pub idle: Duration,
    /// Whatever happens.
    pub lifetime: Duration,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            idle: Duration::from_hours(2),
            lifetime: Duration::from_hours(24),
        }
    }
}

/// PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificates: PathBuf,
    pub key: PathBuf,
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
    /// Where servers share a store: a crawl whose reader was on a server that has been silent for so
    /// long is ended.
    pub unread: Duration,
    /// How long the main content of single pages is kept for others; zero for not at all.
    pub page_cache: Duration,
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
            unread: Duration::from_mins(2),
            page_cache: Duration::from_hours(24),
        }
    }
}
