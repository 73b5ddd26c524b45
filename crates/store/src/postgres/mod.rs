//! The store that many processes share: PostgreSQL, with hosts on loan. Nothing outside of this folder
//! sees its SQL.
//!
//! Modules in reading order:
//!
//! * [`options`], [`address`], [`tls`]: how a database is reached
//! * [`pool`], [`retry`], [`breaker`], [`fault`]: connections, patience, its end, and what went wrong
//! * [`schema`]: the format and its migrations
//! * [`text`], [`identity`]: texts from strangers, and numbers made of hashes
//! * [`crawls`], [`opened`]: a crawl's beginning, return and end, and those that are written here
//! * [`commit`]: settled visits in two transactions
//! * [`tallies`]: a crawl in numbers
//! * [`loans`], [`borrowing`], [`recovery`]: hosts on loan
//! * [`clocks`]: those of processes, machines and the database do not agree
//! * [`rehearsal`]: statements are planned before they are needed
//! * [`reader`], [`records`], [`edges`], [`explain`]: questions
//! * [`queue`], [`queue_rows`]: a crawl's queue, changed and looked at
//! * [`overview`], [`pages`], [`purge`]: questions across crawls, and cleaning up
//! * [`upkeep`], [`unused`], [`storage`], [`revise`]: what grows old, what nothing refers to, what there
//!   is, what is said anew
//! * [`duties`]: what servers do by themselves
//! * [`jobs`], [`accounts`], [`workers`]: what servers and workers keep besides
//! * [`backstage`], [`intake`], [`intake_rows`]: whole tables, for backups and copies

mod accounts;
mod address;
mod backstage;
mod borrowing;
mod breaker;
mod clocks;
mod commit;
mod crawls;
mod duties;
mod edges;
mod explain;
mod fault;
pub(crate) mod identity;
mod intake;
mod intake_rows;
mod jobs;
mod loans;
mod opened;
mod options;
mod overview;
mod pages;
mod pool;
mod purge;
mod queue;
mod queue_rows;
mod reader;
mod records;
mod recovery;
mod rehearsal;
mod retry;
mod revise;
mod schema;
mod storage;
mod tallies;
mod text;
mod tls;
mod unused;
mod upkeep;
mod workers;

pub(crate) use backstage::Backstage;
pub(crate) use intake::{Intake, Standing};
pub use options::{LoanOptions, PostgresOptions};

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Notify, Semaphore};
use trawl_types::{
    CrawlId, CrawlSpec, CrawlState, HostId, KeySecret, PageId, PageRecord, Sequence, UnixMillis,
    UrlKey, record::PageStanding,
};

use self::{
    address::Address, commit::Memory, loans::Loans, opened::Opened, pool::Pool, retry::Complaints,
};
use crate::contract::{
    Store, StoreError,
    jobs::NewJob,
    loans::HostLoans,
    queue::{Changed, QueueChange},
    read::{CrawlCounts, CrawlRow, PendingUrl, StoredHost, StoredLink, StoredPrint},
    workers::WorkerRegistry,
    write::{CommitBatch, CommitReport, NewLink, Prepared, WriteRules},
};

/// Hosts are borrowed, filled up and given back by so many at once. Each of these is short; a connection
/// of its own for each, with its own plans for tables of many partitions, costs the server more than it
/// gains.
const LOOKUPS: usize = 2;

/// A store in a PostgreSQL database, shared with other processes.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Arc<Pool>,
    options: PostgresOptions,
    secret: KeySecret,
    open: Mutex<Opened>,
    memory: Mutex<Memory>,
    loans: Option<Arc<Loans>>,
    complaints: Complaints,
    closing: Notify,
    lookups: Semaphore,
}

impl PostgresStore {
    /// Connects, and makes sure that the database has the newest format.
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::new(Address::parse(url)?, options.connections)?);
        let prepared = async {
            let conn = pool.take(options.patience).await?;
            schema::prepare(&conn, pool.place(), options.create).await
        };
        let secret = prepared
            .await
            .map_err(|fault| fault.at_first(pool.place()))?;
        let loans = options
            .loans
            .clone()
            .map(|options| Loans::start(options, Arc::clone(&pool)));
        Ok(Self {
            pool,
            options,
            secret,
            open: Mutex::default(),
            memory: Mutex::new(Memory::new()),
            loans,
            complaints: Complaints::new(),
            closing: Notify::new(),
            lookups: Semaphore::new(LOOKUPS),
        })
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, Opened> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.pool.close();
        if let Some(loans) = &self.loans {
            loans.stop();
        }
    }
}

impl PostgresStore {
    /// Under what name hosts are borrowed, where they are.
    pub fn worker_id(&self) -> Option<&str> {
        let loans = self.options.loans.as_ref();
        loans.map(|loans| loans.worker.as_str())
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn key_secret(&self) -> KeySecret {
        self.secret
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn registry(&self) -> Option<&dyn WorkerRegistry> {
        Some(self)
    }

    fn loans(&self) -> Option<&dyn HostLoans> {
        self.loans.is_some().then_some(self as &dyn HostLoans)
    }

    async fn create_crawl(
        &self,
        spec: &CrawlSpec,
        name: &str,
        seeds: Vec<NewLink>,
        rules: WriteRules,
        job: Option<NewJob>,
        now: UnixMillis,
    ) -> Result<CrawlId, StoreError> {
        Box::pin(self.begin_crawl(spec, name, seeds, rules, job, now)).await
    }

    async fn reopen_crawl(&self, crawl: CrawlId, rules: WriteRules) -> Result<(), StoreError> {
        self.open_again(crawl, rules).await
    }

    async fn set_state(
        &self,
        crawl: CrawlId,
        state: CrawlState,
        why: &str,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        self.move_to(crawl, state, why, now).await
    }

    async fn prepare(&self, mut batch: CommitBatch) -> Result<Prepared, StoreError> {
        commit::compress_kept(&mut batch).await?;
        Ok(Prepared::as_it_is(batch))
    }

    async fn commit_prepared(&self, batch: Prepared) -> Result<CommitReport, StoreError> {
        Box::pin(self.settle(batch.batch)).await
    }

    async fn change_queue(
        &self,
        crawl: CrawlId,
        change: QueueChange,
    ) -> Result<Changed, StoreError> {
        self.change(crawl, change).await
    }

    fn away(&self) -> Option<&'static str> {
        self.pool.breaker.why_open()
    }

    async fn answers(&self) -> Result<(), StoreError> {
        self.ask(async { self.soon().await?.run("SELECT 1").await })
            .await
    }

    async fn crawls(&self) -> Result<Vec<CrawlRow>, StoreError> {
        self.ask(async { reader::crawls(&*self.soon().await?).await })
            .await
    }

    async fn crawl(&self, crawl: CrawlId) -> Result<CrawlRow, StoreError> {
        self.ask(async { reader::crawl(&*self.soon().await?, crawl).await })
            .await
    }

    async fn counts(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError> {
        self.ask(async { tallies::counts(&*self.soon().await?, crawl).await })
            .await
    }

    async fn pending_hosts(
        &self,
        crawl: CrawlId,
        after: HostId,
        limit: u32,
    ) -> Result<Vec<StoredHost>, StoreError> {
        self.insist(|| async {
            let conn = self.patiently().await?;
            reader::pending_hosts(&conn, crawl, after, limit).await
        })
        .await
    }

    async fn pending(
        &self,
        crawl: CrawlId,
        host: HostId,
        limit: u32,
    ) -> Result<Vec<PendingUrl>, StoreError> {
        let _turn = self.lookups.acquire().await;
        let open = self.opened().get(crawl);
        self.insist(|| async {
            let conn = self.for_loans().await?;
            let has_elders = match &open {
                Some(open) => open.has_elders(),
                None => reader::has_elders(&conn, crawl).await?,
            };
            reader::pending(&conn, crawl, host, limit, has_elders).await
        })
        .await
    }

    async fn ensure_host(&self, crawl: CrawlId, name: &str) -> Result<StoredHost, StoreError> {
        let id = identity::host_id(self.secret, name);
        self.insist(|| async {
            let conn = self.patiently().await?;
            reader::ensure_host(&conn, crawl, id, name).await
        })
        .await
    }

    async fn host_by_name(
        &self,
        crawl: CrawlId,
        name: &str,
    ) -> Result<Option<StoredHost>, StoreError> {
        let id = identity::host_id(self.secret, name);
        self.ask(async {
            let conn = self.soon().await?;
            let hosts = reader::hosts(&conn, crawl, &[id]).await?;
            Ok(hosts.into_iter().next())
        })
        .await
    }

    async fn results(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<PageRecord>, StoreError> {
        self.ask(async { records::list(&*self.soon().await?, crawl, after, limit).await })
            .await
    }

    async fn links_of(&self, crawl: CrawlId, page: PageId) -> Result<Vec<StoredLink>, StoreError> {
        self.insist(|| async { edges::links_of(&*self.patiently().await?, crawl, page).await })
            .await
    }

    async fn earlier_links(
        &self,
        crawl: CrawlId,
        page: PageId,
    ) -> Result<Vec<StoredLink>, StoreError> {
        self.insist(|| async { edges::earlier_links(&*self.patiently().await?, crawl, page).await })
            .await
    }

    async fn standing(
        &self,
        crawl: CrawlId,
        key: UrlKey,
    ) -> Result<Option<PageStanding>, StoreError> {
        self.ask(async { explain::standing(&*self.soon().await?, crawl, key).await })
            .await
    }

    async fn body(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        self.ask(async { records::body(&*self.soon().await?, crawl, seq).await })
            .await
    }

    async fn content(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        self.ask(async { records::content(&*self.soon().await?, crawl, seq).await })
            .await
    }

    async fn near_prints(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<StoredPrint>, StoreError> {
        self.insist(|| async {
            let conn = self.patiently().await?;
            records::near_prints(&conn, crawl, after, limit).await
        })
        .await
    }

    async fn earlier_print(&self, crawl: CrawlId, page: PageId) -> Result<Option<u64>, StoreError> {
        self.insist(|| async {
            let conn = self.patiently().await?;
            records::earlier_print(&conn, crawl, page).await
        })
        .await
    }

    async fn close(&self) -> Result<(), StoreError> {
        if let Some(loans) = &self.loans {
            loans.stop();
        }
        self.pool.close();
        self.closing.notify_waiters();
        Ok(())
    }
}
