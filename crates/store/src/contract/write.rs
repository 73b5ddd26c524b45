//! What goes in: settled visits with their links, and what a commit admits in return.

use std::num::NonZeroU64;

use trawl_types::{
    AnchorText, CrawlId, HostId, LinkKind, LinkRel, Outcome, PageId, Place, Reason, Scheme,
    Sequence, UnixMillis, spec::Order, terrain::DomainClass,
};

use super::known::{KnownLinks, Recognised};
use super::queue::Planted;
use super::read::{CrawlCounts, PendingUrl, StoredHost};
use super::target::LinkTarget;
use crate::segment::{Record, packing::Packed};

/// Decides on URLs that nobody has seen before; called once for each, inside the commit. Seeds are
/// not asked about: a person named them.
pub trait Admission: Send {
    fn admit(&mut self, target: &LinkTarget) -> Result<(), Reason>;
}

/// What a map's configuration makes of hosts and URLs; asked inside the commit.
pub trait Terrain: Send {
    /// The quality domains, by their numbers as origins.
    fn origins(&self) -> &[String];
    /// What a host (as `HostKey::as_str` gives it) is to the map.
    fn of_host(&self, host: &str) -> TerrainHost;
    /// The normalised form of an address.
    fn identity(&self, address: &str) -> String;
}

/// A host in the eyes of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerrainHost {
    /// Without `www.` and port.
    pub domain: String,
    pub class: DomainClass,
    /// Which quality domain it belongs to.
    pub origin: Option<u16>,
}

/// What a commit must know of a crawl's rules.
pub struct WriteRules {
    pub order: Order,
    pub max_depth: Option<u32>,
    /// A store that several processes write to keeps no page beyond these; elsewhere the frontier
    /// sees to it.
    pub max_pages: Option<u64>,
    pub admission: Box<dyn Admission>,
    /// The crawl is a terrain map.
    pub terrain: Option<Box<dyn Terrain>>,
}

impl std::fmt::Debug for WriteRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteRules")
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

/// A link past normalisation and scope, ready to be written.
#[derive(Debug, Clone)]
pub struct NewLink {
    pub target: LinkTarget,
    pub kind: LinkKind,
    pub rel: LinkRel,
    pub place: Place,
    pub anchor: AnchorText,
    /// Keys (url half) of the addresses a redirect chain has been through; empty for other links.
    pub chain: Vec<u64>,
    /// Whoever made the link knows it again by this, and would like to hear whether the store knows its
    /// page ([`CommitReport::recognised`]).
    pub mark: Option<NonZeroU64>,
}

impl NewLink {
    pub fn depth_step(&self) -> u32 {
        self.kind.depth_step()
    }
}

/// One visit that ended, in whatever way.
#[derive(Debug)]
pub struct Settlement {
    pub page: PageId,
    pub end: VisitEnd,
    /// Distinct by key, in document order.
    pub links: Vec<NewLink>,
    /// Further links, between those, to pages that this store has recognised.
    pub known: KnownLinks,
}

#[derive(Debug)]
pub enum VisitEnd {
    /// Goes to the result log; the page is done in this crawl.
    Final(Box<Visit>),
    /// Stays pending.
    Retry {
        attempts: u32,
        not_before: UnixMillis,
        outcome: Outcome,
    },
    /// A rule that could only be asked at the last moment (robots.txt) refused it; the page is
    /// refused in this crawl. No result.
    Refused(Reason),
}

/// The facts of a finished visit. See `PageRecord` for their meaning.
#[derive(Debug, Clone)]
pub struct Visit {
    pub outcome: Outcome,
    pub attempts: u32,
    pub final_url: Option<String>,
    pub redirect_to: Option<String>,
    pub canonical_url: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub content_type: Option<String>,
    pub charset: Option<String>,
    pub language: Option<String>,
    pub content_length: Option<u64>,
    /// BLAKE3 of the decoded text.
    pub content_hash: Option<[u8; 32]>,
    pub truncated: bool,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub robots: Option<String>,
    pub links_total: u32,
    pub fetch_time_ms: u64,
    pub crawled_at: UnixMillis,
    /// The answer as a record (see `segment::encode`), to be compressed and kept.
    pub body: Option<Record>,
    /// What was made of the body, where that was asked for.
    pub digest: Option<Digest>,
}

/// What a page means, as far as a store must know.
#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// SHA-256 of the normalised text; pages of a crawl that share it are copies. Nothing for a
    /// page without text, whose `content_hash` is compared instead.
    pub text_hash: Option<[u8; 32]>,
    /// A fingerprint that nearly equal texts nearly share.
    pub near: Option<u64>,
    /// The first page of the crawl whose text is nearly the same. The store does not look for it.
    pub near_duplicate_of: Option<PageId>,
    /// Content as a record (see `segment::encode_content`), to be compressed and kept.
    pub content: Option<Record>,
}

impl Visit {
    /// A visit of which nothing but its end is known.
    pub fn new(outcome: Outcome, crawled_at: UnixMillis) -> Self {
        Self {
            outcome,
            attempts: 0,
            final_url: None,
            redirect_to: None,
            canonical_url: None,
            title: None,
            description: None,
            content_type: None,
            charset: None,
            language: None,
            content_length: None,
            content_hash: None,
            truncated: false,
            etag: None,
            last_modified: None,
            robots: None,
            links_total: 0,
            fetch_time_ms: 0,
            crawled_at,
            body: None,
            digest: None,
        }
    }
}

/// robots.txt of one origin of a host, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRobots {
    pub scheme: Scheme,
    /// HTTP status, or one of the numbers below.
    pub status: u16,
    /// The file; for a number of ours, the kind of the outcome and what happened.
    pub body: Vec<u8>,
    pub fetched_at: UnixMillis,
}

impl StoredRobots {
    /// No answer came: the host cannot be reached.
    pub const NO_ANSWER: u16 = 0;
    /// The host answers, but its robots.txt could not be read to the end.
    pub const UNREADABLE: u16 = 1;

    /// True if a server has said something that may be used for a day.
    pub fn is_answer(&self) -> bool {
        matches!(self.status, 200..=499) && self.status != 429
    }

    /// True if the body says what went wrong, and is nothing that a server sent.
    pub fn is_failure(&self) -> bool {
        matches!(self.status, Self::NO_ANSWER | Self::UNREADABLE)
    }
}

/// Why a host is asked nothing more in a run. Numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Suspended {
    /// It said that there were too many requests.
    RateLimited = 1,
    /// It failed too often.
    GivenUp = 2,
    /// It asked for a longer wait than the crawl is willing to keep.
    LongWait = 3,
}

impl Suspended {
    /// As it is stored; nothing stands for a host that is asked.
    pub(crate) fn of_code(code: i64) -> Option<Self> {
        match code {
            0 => None,
            1 => Some(Self::RateLimited),
            3 => Some(Self::LongWait),
            // Whatever else is stored, the host was closed.
            _ => Some(Self::GivenUp),
        }
    }

    /// In words.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::RateLimited => "it said that there were too many requests",
            Self::GivenUp => "it failed too often",
            Self::LongWait => "it asked for a longer wait than is granted",
        }
    }
}

/// What changed for a host. Wall-clock times, so that they hold across restarts.
#[derive(Debug, Clone, Default)]
pub struct HostUpdate {
    pub host: Option<HostId>,
    pub robots: Option<StoredRobots>,
    /// Not to be asked before.
    pub next_allowed: Option<UnixMillis>,
    /// The delay in force, for the hold-off after a restart.
    pub delay_ms: Option<u64>,
    /// Failures in a row.
    pub failures: Option<u32>,
    /// Given up for the run.
    pub suspended: Option<Suspended>,
    /// Requests made of it in this crawl since the last update, robots.txt not counted.
    pub requests: u32,
}

#[derive(Debug)]
pub struct CommitBatch {
    pub crawl: CrawlId,
    pub now: UnixMillis,
    pub settlements: Vec<Settlement>,
    pub hosts: Vec<HostUpdate>,
    /// URLs that no page links to, at depth 0: sitemaps that robots.txt names.
    pub seeds: Vec<NewLink>,
}

/// A batch that can be written at once.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) batch: CommitBatch,
    /// What it keeps, where that lies in files.
    pub(crate) packed: Packed,
}

impl Prepared {
    pub(crate) fn as_it_is(batch: CommitBatch) -> Self {
        let packed = Packed::default();
        Self { batch, packed }
    }
}

/// What a commit did.
#[derive(Debug, Default)]
pub struct CommitReport {
    /// URLs that may now be crawled: new ones, and known ones that a shorter path brought within
    /// the depth limit. Already durable.
    pub admitted: Vec<PendingUrl>,
    /// Hosts that `admitted` names for the first time in this process. Among very many hosts one
    /// may be named again: a back end need not remember all of them.
    pub hosts: Vec<StoredHost>,
    /// What became of the batch's `seeds`, in their order.
    pub planted: Vec<Planted>,
    /// The crawl in numbers after this commit.
    pub counts: CrawlCounts,
    /// Last sequence number given out in this crawl's result log.
    pub last_seq: Option<Sequence>,
    /// URLs seen for the first time in this crawl, admitted or not.
    pub discovered: u64,
    /// Edges that were not known before.
    pub edges: u64,
    /// Marked links whose pages need not be looked up again.
    pub recognised: Vec<Recognised>,
    /// Which memory that is said from, if any. Nothing holds that was said from another one.
    pub memory: Option<u64>,
}
