//! The embedded store: one SQLite file in WAL mode, one thread that writes it, a few connections
//! that read, bodies in segment files beside it. Nothing outside of this folder sees SQL.
//!
//! Modules in reading order:
//!
//! * [`open`]: a path becomes a store, with its lock and its threads
//! * [`schema`]: the file's format and its migrations
//! * [`lock`]: one writing process at a time
//! * [`writer`]: the thread that writes, command by command
//! * [`crawls`]: a crawl's beginning, return and end
//! * [`commit`]: one transaction of settled visits
//! * [`links`]: links into pages and rows of the crawl; [`known`]: those whose pages it had recognised
//! * [`edges`]: the links of a page as one row
//! * [`depth`]: shortest distances, kept true
//! * [`terrain`]: what a map records besides: classes, depths by origin, edges
//! * [`results`]: the result log
//! * [`originals`], [`duplicates`]: which page had some content first, and content made of pages
//! * [`cache`], [`counters`], [`row`], [`statements`]: what the writer keeps at hand
//! * [`reader`], [`explain`], [`pool`]: questions and the connections they are asked on
//! * [`terrain_rows`]: the rows of a map, one at a time
//! * [`queue`], [`queue_rows`]: the queue of a crawl changed and looked at
//! * [`pages`], [`overview`]: questions across crawls
//! * [`purge`], [`sweep`]: what is forgotten, and the files that nothing refers to
//! * [`upkeep`], [`chores`], [`unused`], [`storage`], [`revise`]: what grows old, what nothing refers to,
//!   what there is, what is said anew
//! * [`duties`]: what servers do by themselves
//! * [`jobs`], [`keys`], [`accounts`]: what a server keeps besides
//! * [`account_writer`]: keys and accounts, written from anywhere
//! * [`side`]: small changes by another connection than the writer's
//! * [`checkpoint`]: the log written back, out of everyone's way
//! * [`fault`]: what went wrong, in the words of the contract

mod account_writer;
mod accounts;
mod cache;
mod checkpoint;
mod chores;
mod commit;
mod counters;
mod crawls;
mod depth;
mod duplicates;
mod duties;
mod edges;
mod explain;
mod fault;
mod jobs;
mod keys;
mod known;
mod links;
mod lock;
mod open;
mod originals;
mod overview;
mod pages;
mod pool;
mod purge;
mod queue;
mod queue_rows;
mod reader;
mod results;
mod revise;
mod row;
mod schema;
mod side;
mod statements;
mod storage;
mod sweep;
mod terrain;
mod terrain_rows;
mod unused;
mod upkeep;
mod writer;

pub use account_writer::SqliteAccountWriter;
pub use accounts::SqliteAccounts;
pub(crate) use fault::Fault;
pub use keys::SqliteKeys;
pub use lock::is_written;
pub(crate) use lock::{Lock, beside};
pub use open::OpenOptions;
pub(crate) use pool::open as open_to_read;
pub(crate) use schema::key_secret;
pub(crate) use sweep::used as used_segments;
pub use terrain_rows::{BusyDomain, TerrainRows};

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use trawl_types::{
    CrawlId, CrawlSpec, CrawlState, HostId, KeySecret, PageId, PageRecord, Sequence, UnixMillis,
    UrlKey, record::PageStanding,
};

use self::{
    counters::Counters,
    pool::ReadPool,
    writer::{Command, NewCrawl},
};
use crate::{
    contract::{
        Store, StoreError,
        jobs::NewJob,
        queue::{Changed, QueueChange},
        read::{CrawlCounts, CrawlRow, PendingUrl, StoredHost, StoredLink, StoredPrint},
        write::{CommitBatch, CommitReport, NewLink, Prepared, WriteRules},
    },
    segment::{fetch::Records, packing::packed},
    shared::link_text,
};

/// The right to write a file, for whoever replaces it.
pub(crate) fn take_lock(database: &std::path::Path, command: &str) -> Result<Lock, StoreError> {
    Lock::take(database, command).map_err(|fault| fault.at(database))
}

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A store in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    secret: KeySecret,
    pool: ReadPool,
    records: Arc<Records>,
    /// `None` where the file was opened only to be read.
    threads: Option<Threads>,
}

/// The threads behind a store that writes. When it is dropped, the file has been given up.
#[derive(Debug)]
struct Threads {
    commands: Mutex<Option<mpsc::Sender<Command>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Threads {
    fn commands(&self) -> Option<mpsc::Sender<Command>> {
        let commands = self.commands.lock();
        commands
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }

    /// No further commands; what is queued is still done.
    fn stop(&self) {
        let commands = self.commands.lock();
        *commands.unwrap_or_else(std::sync::PoisonError::into_inner) = None;
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.stop();
        let writer = self.writer.get_mut();
        let writer = writer.unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(thread) = writer.take() {
            let _ = thread.join();
        }
    }
}

impl SqliteStore {
    /// Sends a command to the writer and waits for its reply.
    async fn tell<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Command,
    ) -> Result<T, StoreError> {
        let Some(threads) = &self.threads else {
            return Err(StoreError::ReadOnly {
                path: self.path.display().to_string(),
                why: "it was opened only to be read".into(),
            });
        };
        let commands = threads.commands().ok_or(StoreError::Stopped)?;
        let (reply, answer) = oneshot::channel();
        let sent = commands.send(command(reply)).await;
        sent.map_err(|_| StoreError::Stopped)?;
        answer.await.unwrap_or(Err(StoreError::Stopped))
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn key_secret(&self) -> KeySecret {
        self.secret
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
        let new = Box::new(NewCrawl {
            spec: spec.clone(),
            name: name.to_owned(),
            seeds,
            rules,
            job,
            now,
        });
        self.tell(|reply| Command::Create(new, reply)).await
    }

    async fn reopen_crawl(&self, crawl: CrawlId, rules: WriteRules) -> Result<(), StoreError> {
        self.tell(|reply| Command::Reopen(crawl, rules, reply))
            .await
    }

    async fn set_state(
        &self,
        crawl: CrawlId,
        state: CrawlState,
        why: &str,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        let why = why.to_owned();
        self.tell(|reply| Command::SetState(crawl, state, why, now, reply))
            .await
    }

    async fn prepare(&self, mut batch: CommitBatch) -> Result<Prepared, StoreError> {
        let packed = packed(&mut batch).await?;
        Ok(Prepared { batch, packed })
    }

    async fn commit_prepared(&self, batch: Prepared) -> Result<CommitReport, StoreError> {
        let Prepared { batch, packed } = batch;
        let commit = |reply| Command::Commit(batch, packed, reply);
        let told = self.tell(commit).await;
        told.map(|(report, _)| report)
    }

    async fn change_queue(
        &self,
        crawl: CrawlId,
        change: QueueChange,
    ) -> Result<Changed, StoreError> {
        self.tell(|reply| Command::ChangeQueue(crawl, change, reply))
            .await
    }

    async fn answers(&self) -> Result<(), StoreError> {
        let ask = |conn: &rusqlite::Connection| Ok(conn.query_row("SELECT 1", [], |_| Ok(()))?);
        self.pool.ask(ask).await
    }

    async fn crawls(&self) -> Result<Vec<CrawlRow>, StoreError> {
        self.pool.ask(reader::crawls).await
    }

    async fn crawl(&self, crawl: CrawlId) -> Result<CrawlRow, StoreError> {
        self.pool.ask(move |conn| reader::crawl(conn, crawl)).await
    }

    async fn counts(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError> {
        let counters = move |conn: &rusqlite::Connection| Counters::load(conn, crawl);
        Ok(self.pool.ask(counters).await?.counts())
    }

    async fn pending_hosts(
        &self,
        crawl: CrawlId,
        after: HostId,
        limit: u32,
    ) -> Result<Vec<StoredHost>, StoreError> {
        self.pool
            .ask(move |conn| reader::pending_hosts(conn, crawl, after, limit))
            .await
    }

    async fn pending(
        &self,
        crawl: CrawlId,
        host: HostId,
        limit: u32,
    ) -> Result<Vec<PendingUrl>, StoreError> {
        self.pool
            .ask(move |conn| reader::pending(conn, crawl, host, limit))
            .await
    }

    async fn ensure_host(&self, crawl: CrawlId, name: &str) -> Result<StoredHost, StoreError> {
        let name = name.to_owned();
        self.tell(|reply| Command::EnsureHost(crawl, name, reply))
            .await
    }

    async fn host_by_name(
        &self,
        crawl: CrawlId,
        name: &str,
    ) -> Result<Option<StoredHost>, StoreError> {
        let name = name.to_owned();
        self.pool
            .ask(move |conn| reader::host_by_name(conn, crawl, &name))
            .await
    }

    async fn results(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<PageRecord>, StoreError> {
        self.pool
            .ask(move |conn| reader::results(conn, crawl, after, limit))
            .await
    }

    async fn links_of(&self, crawl: CrawlId, page: PageId) -> Result<Vec<StoredLink>, StoreError> {
        self.pool
            .ask(move |conn| edges::links_of(conn, crawl, page))
            .await
    }

    async fn earlier_links(
        &self,
        crawl: CrawlId,
        page: PageId,
    ) -> Result<Vec<StoredLink>, StoreError> {
        self.pool
            .ask(move |conn| edges::earlier_links(conn, crawl, page))
            .await
    }

    async fn standing(
        &self,
        crawl: CrawlId,
        key: UrlKey,
    ) -> Result<Option<PageStanding>, StoreError> {
        self.pool
            .ask(move |conn| explain::standing(conn, crawl, key))
            .await
    }

    async fn body(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        let records = Arc::clone(&self.records);
        self.pool
            .ask(move |conn| match reader::body_ref(conn, crawl, seq)? {
                Some(reference) => Ok(records.body(reference)?),
                None => Ok(None),
            })
            .await
    }

    async fn content(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        let records = Arc::clone(&self.records);
        self.pool
            .ask(
                move |conn| match duplicates::content_ref(conn, crawl, seq)? {
                    Some(reference) => Ok(records.content(reference)?),
                    None => Ok(None),
                },
            )
            .await
    }

    async fn near_prints(
        &self,
        crawl: CrawlId,
        after: Sequence,
        limit: u32,
    ) -> Result<Vec<StoredPrint>, StoreError> {
        self.pool
            .ask(move |conn| duplicates::near_prints(conn, crawl, after, limit))
            .await
    }

    async fn earlier_print(&self, crawl: CrawlId, page: PageId) -> Result<Option<u64>, StoreError> {
        self.pool
            .ask(move |conn| duplicates::earlier_print(conn, crawl, page))
            .await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.pool.close();
        if self.threads.is_none() {
            return Ok(());
        }
        let closed = self.tell(Command::Close).await;
        if let Some(threads) = &self.threads {
            threads.stop();
        }
        closed
    }
}
