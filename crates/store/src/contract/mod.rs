//! The port: what the engine tells a store and asks of it. A back end is done when the conformance
//! suite passes on it.
//!
//! * [`write`](mod@write): settled visits in, admitted URLs out; one commit is one transaction
//! * [`jobs`]: jobs and keys of a server
//! * [`accounts`]: people who may use it
//! * [`server`]: all that a server needs of one store
//! * [`known`]: links that the store need not look at
//! * [`loans`], [`workers`]: hosts that several processes share, and those processes
//! * [`queue`]: the queue of a crawl as people see and change it
//! * [`overview`]: questions across crawls, and cleaning up
//! * [`duties`]: what servers do by themselves, one of them at a time
//! * [`upkeep`]: what grows old, what is stored, and figures counted anew
//! * [`read`](mod@read): questions about crawls, pages, hosts and the result log

pub mod accounts;
pub mod duties;
pub mod jobs;
pub mod known;
pub mod loans;
pub mod overview;
pub mod queue;
pub mod read;
pub mod server;
pub mod target;
pub mod upkeep;
pub mod workers;
pub mod write;

use async_trait::async_trait;
use trawl_types::{CrawlId, CrawlSpec, CrawlState, HostId, PageId, Sequence, UnixMillis, UrlKey};

use jobs::NewJob;
use loans::HostLoans;
use queue::{Changed, QueueChange};
use read::{CrawlCounts, CrawlRow, PendingUrl, StoredHost, StoredLink, StoredPrint};
use trawl_types::record::{PageRecord, PageStanding};
use workers::WorkerRegistry;
use write::{CommitBatch, CommitReport, NewLink, Prepared, WriteRules};

/// A failure of ours: the store cannot go on. A page that failed is not one of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path} is in use by {holder}: stop that process first or use another database")]
    Locked { path: String, holder: String },
    #[error(
        "{path} was written by a newer trawl (format {found}, this one knows {known}): update trawl"
    )]
    Newer {
        path: String,
        found: i64,
        known: i64,
    },
    #[error("{path} is not a trawl database: {why}")]
    Foreign { path: String, why: String },
    #[error(
        "no space is left for {path}: free some and run `trawl resume`; nothing committed is lost"
    )]
    Full { path: String },
    #[error("there is no database at {path}")]
    Missing { path: String },
    #[error("{path} cannot be written: {why}")]
    ReadOnly { path: String, why: String },
    #[error("{path} is damaged: {why}")]
    Damaged { path: String, why: String },
    #[error("there is no crawl {0} in the database")]
    NoCrawl(CrawlId),
    #[error("database: {0}")]
    Database(String),
    #[error("body segments: {0}")]
    Segment(String),
    /// It may come back; nothing that was promised is lost.
    #[error("the database cannot be reached: {0}")]
    Unavailable(String),
    #[error("the store has stopped")]
    Stopped,
}

/// Everything the engine needs of a store.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// The secret under which all URL keys of this store are hashed.
    fn key_secret(&self) -> trawl_types::KeySecret;

    /// Whether other processes work on the crawls of this store. Their states are then said to all
    /// of them by `set_state`, and a crawl goes on whoever asked for it.
    fn is_shared(&self) -> bool {
        false
    }

    /// How hosts are shared with other processes; nothing if this one does not crawl, or alone.
    fn loans(&self) -> Option<&dyn HostLoans> {
        None
    }

    /// The processes that crawl from this store, where there may be several.
    fn registry(&self) -> Option<&dyn WorkerRegistry> {
        None
    }

    /// Records a new crawl with its seeds (depth 0) in one transaction. Seeds that scope refuses
    /// arrive as refused links and are recorded with their reason. A job is recorded with it.
    async fn create_crawl(
        &self,
        spec: &CrawlSpec,
        name: &str,
        seeds: Vec<NewLink>,
        rules: WriteRules,
        job: Option<NewJob>,
        now: UnixMillis,
    ) -> Result<CrawlId, StoreError>;
    /// Makes an existing crawl writable again, after a restart.
    async fn reopen_crawl(&self, crawl: CrawlId, rules: WriteRules) -> Result<(), StoreError>;
    async fn set_state(
        &self,
        crawl: CrawlId,
        state: CrawlState,
        why: &str,
        now: UnixMillis,
    ) -> Result<(), StoreError>;

    /// Does what a batch needs before it can be written, such as compressing what it keeps. May go on
    /// while another batch is written.
    async fn prepare(&self, batch: CommitBatch) -> Result<Prepared, StoreError>;

    /// One transaction: pages, edges, new candidates, settled leases, host updates, result log.
    async fn commit_prepared(&self, batch: Prepared) -> Result<CommitReport, StoreError>;

    async fn commit(&self, batch: CommitBatch) -> Result<CommitReport, StoreError> {
        self.commit_prepared(self.prepare(batch).await?).await
    }

    /// Changes a crawl's queue in one transaction; the crawl need not be open.
    async fn change_queue(
        &self,
        crawl: CrawlId,
        change: QueueChange,
    ) -> Result<Changed, StoreError>;

    /// Why questions fail at once for now, in words for everybody: the database is known to be away, and
    /// is looked for. Nothing while they are asked.
    fn away(&self) -> Option<&'static str> {
        None
    }

    /// Whether questions are answered at all. Costs next to nothing, however much there is.
    async fn answers(&self) -> Result<(), StoreError>;
    async fn crawls(&self) -> Result<Vec<CrawlRow>, StoreError>;
    async fn crawl(&self, crawl: CrawlId) -> Result<CrawlRow, StoreError>;
    async fn counts(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError>;

    /// Hosts of a crawl that have pending URLs, in order of id, after the given one.
    async fn pending_hosts(
        &self,
        crawl: CrawlId,
        after: HostId,
        limit: u32,
    ) -> Result<Vec<StoredHost>, StoreError>;
    /// The first pending URLs of a host by rank.
    async fn pending(
        &self,
        crawl: CrawlId,
        host: HostId,
        limit: u32,
    ) -> Result<Vec<PendingUrl>, StoreError>;
    /// The host of that name, made known to the store if it is not: a redirect may lead to it.
    async fn ensure_host(&self, crawl: CrawlId, name: &str) -> Result<StoredHost, StoreError>;
    /// A host as one crawl sees it.
    async fn host_by_name(
        &self,
        crawl: CrawlId,
        name: &str,
    ) -> Result<Option<StoredHost>, StoreError>;

    /// The result log after a cursor (0 = from the start).
    async fn results(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<PageRecord>, StoreError>;
    /// The links that a crawl saw on a page, in document order.
    async fn links_of(&self, crawl: CrawlId, page: PageId) -> Result<Vec<StoredLink>, StoreError>;
    /// The links of a page as an earlier crawl saw it: those it has if it has not changed.
    async fn earlier_links(
        &self,
        crawl: CrawlId,
        page: PageId,
    ) -> Result<Vec<StoredLink>, StoreError>;
    async fn standing(
        &self,
        crawl: CrawlId,
        key: UrlKey,
    ) -> Result<Option<PageStanding>, StoreError>;
    /// The stored answer of a visit: the WARC record's payload (decoded body bytes).
    async fn body(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError>;
    /// What was made of a body and kept: the JSON that `segment::encode_content` was given.
    async fn content(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError>;
    /// Fingerprints of a crawl in the order of its result log, after a cursor.
    async fn near_prints(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<StoredPrint>, StoreError>;
    /// The fingerprint of a page as an earlier crawl saw it: what it is if it has not changed.
    async fn earlier_print(&self, crawl: CrawlId, page: PageId) -> Result<Option<u64>, StoreError>;

    /// Writes everything back and gives the file up. Further calls fail with `Stopped`.
    async fn close(&self) -> Result<(), StoreError>;
}
