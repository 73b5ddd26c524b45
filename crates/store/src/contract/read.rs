//! What comes out: rows as the engine and the views of a crawl need them.

use std::collections::BTreeMap;

use serde::Serialize;
use trawl_types::{
    CrawlId, CrawlSpec, CrawlState, HostId, LinkKind, LinkRel, OutcomeKind, PageId, Place,
    ReasonCode, Sequence, UnixMillis,
};

use super::write::{StoredRobots, Suspended};

/// A URL that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingUrl {
    pub page: PageId,
    pub host: HostId,
    pub address: String,
    pub rank: i64,
    pub depth: u32,
    pub score: u8,
    pub attempts: u32,
    pub not_before: UnixMillis,
    /// Keys of the addresses a redirect chain came through.
    pub chain: Vec<u64>,
    /// Validators of an earlier visit of the same page, for a conditional request.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

/// A host and what politeness must remember of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHost {
    pub id: HostId,
    pub name: String,
    pub next_allowed: UnixMillis,
    pub delay_ms: u64,
    pub failures: u32,
    /// Why the crawl asks it nothing more.
    pub suspended: Option<Suspended>,
    pub robots: Vec<StoredRobots>,
    /// Pages of this crawl that were fetched from it, for per-host budgets.
    pub pages_done: u64,
    /// Requests of this crawl to it, as far as they are counted.
    pub requests: u64,
}

/// One crawl as listed by `trawl status`.
#[derive(Debug, Clone, PartialEq)]
pub struct CrawlRow {
    pub id: CrawlId,
    pub name: String,
    pub spec: CrawlSpec,
    pub state: CrawlState,
    pub why: String,
    pub started_at: UnixMillis,
    pub finished_at: Option<UnixMillis>,
    pub last_seq: Sequence,
}

/// A crawl in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CrawlCounts {
    pub discovered: u64,
    pub pending: u64,
    pub done: u64,
    pub refused: u64,
    pub hosts: u64,
    pub edges: u64,
    /// Pages by the budget's measure (`OutcomeKind::is_page`).
    pub pages: u64,
    pub outcomes: BTreeMap<OutcomeKind, u64>,
    pub reasons: BTreeMap<ReasonCode, u64>,
    /// Results whose content an earlier page of the crawl has, to the letter.
    pub duplicates: u64,
    /// Results whose content is nearly that of an earlier page, and not to the letter.
    pub near_duplicates: u64,
}

/// The fingerprint of a page that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredPrint {
    pub seq: Sequence,
    pub page: PageId,
    pub near: u64,
    pub near_duplicate_of: Option<PageId>,
}

/// An edge with its evidence, as seen from its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredLink {
    pub to: PageId,
    pub url: String,
    pub kind: LinkKind,
    pub rel: LinkRel,
    pub place: Place,
    pub anchor: String,
    pub first_crawl: CrawlId,
    pub last_crawl: CrawlId,
}
