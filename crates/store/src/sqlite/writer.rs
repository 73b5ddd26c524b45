//! The only thread that writes. It owns the connection, the lock, the memory and the end of the
//! segment files, and does one command after the other.

use std::path::PathBuf;

use rusqlite::Connection;
use rustc_hash::FxHashMap;
use tokio::sync::{mpsc, oneshot};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, HostId, Sequence, UnixMillis};

use super::{
    cache::Memory,
    checkpoint::Checkpoints,
    chores::Chore,
    commit::{Commit, OpenCrawl},
    duties::Note,
    fault::Fault,
    lock::Lock,
    purge::PurgeStep,
    reader,
    revise::Revision,
    statements::Statements,
    unused::{Gone, Unused},
};
use crate::{
    contract::{
        StoreError,
        jobs::NewJob,
        overview::{Purged, Swept},
        queue::{Changed, QueueChange},
        read::StoredHost,
        upkeep::Cleaned,
        write::{CommitBatch, CommitReport, NewLink, WriteRules},
    },
    segment::{
        append::{Appender, End},
        packing::Packed,
    },
};

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the writer can be told.
#[derive(Debug)]
pub(crate) enum Command {
    Create(Box<NewCrawl>, Reply<CrawlId>),
    Reopen(CrawlId, WriteRules, Reply<()>),
    SetState(CrawlId, CrawlState, String, UnixMillis, Reply<()>),
    /// The batch goes back with the report: taking apart what other threads have allocated is
    /// left to them.
    Commit(CommitBatch, Packed, Reply<(CommitReport, CommitBatch)>),
    EnsureHost(CrawlId, String, Reply<StoredHost>),
    DeleteJob(String, Reply<bool>),
    ChangeQueue(CrawlId, QueueChange, Reply<Changed>),
    Forgive(String, Reply<Option<HostId>>),
    Purge(Box<PurgeStep>, Reply<Purged>),
    Chore(Chore, Reply<Cleaned>),
    Forget(Unused, Reply<Gone>),
    RepairCounts(CrawlId, Reply<()>),
    /// False if it was not so any more.
    Note(Note, Reply<bool>),
    Revise(Box<Revision>, Reply<Option<Sequence>>),
    /// Segments that nothing referred to, and where the newest ended then.
    RemoveSegments(Vec<u32>, End, Reply<Swept>),
    /// The write-ahead log has grown long: write it from its front again.
    RestartLog,
    Close(Reply<()>),
}

#[derive(Debug)]
pub(crate) struct NewCrawl {
    pub(crate) spec: CrawlSpec,
    pub(crate) name: String,
    pub(crate) seeds: Vec<NewLink>,
    pub(crate) rules: WriteRules,
    pub(crate) job: Option<NewJob>,
    pub(crate) now: UnixMillis,
}

#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) conn: Connection,
    pub(crate) open: FxHashMap<CrawlId, OpenCrawl>,
    pub(crate) memory: Memory,
    /// Crawls were open since the file was.
    pub(crate) has_crawled: bool,
    pub(crate) bodies: Appender,
    pub(crate) checkpoints: Checkpoints,
    // Dropped last: the file is given up when nothing writes to it any more.
    pub(crate) _lock: Lock,
}

impl Writer {
    pub(crate) fn new(
        path: PathBuf,
        conn: Connection,
        bodies: Appender,
        checkpoints: Checkpoints,
        lock: Lock,
    ) -> Self {
        Self {
            path,
            conn,
            open: FxHashMap::default(),
            memory: Memory::new(),
            has_crawled: false,
            bodies,
            checkpoints,
            _lock: lock,
        }
    }

    /// Works until it is closed or nobody is left to tell it anything. A reply that nobody waits
    /// for is no failure: the work is done all the same.
    pub(crate) fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        // The first commit would have to wait for it; a failure is the first commit's to tell.
        let _ = Statements::prepare(&self.conn);
        while let Some(command) = commands.blocking_recv() {
            match command {
                Command::Create(new, reply) => {
                    let done = self.create_crawl(*new);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Reopen(crawl, rules, reply) => {
                    let done = self.reopen_crawl(crawl, rules);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::SetState(crawl, state, why, now, reply) => {
                    let done = self.set_state(crawl, state, &why, now);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Commit(mut batch, packed, reply) => {
                    let done = self.commit(&mut batch, &packed);
                    let done = done.map(|report| (report, batch));
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::EnsureHost(crawl, name, reply) => {
                    let done = self.ensure_host(crawl, &name);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::DeleteJob(id, reply) => {
                    let done = self.delete_job(&id);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::ChangeQueue(crawl, change, reply) => {
                    let done = self.change_queue(crawl, &change);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Forgive(host, reply) => {
                    let done = super::queue::forgive(&self.conn, &host);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Purge(step, reply) => {
                    let done = self.purge(&step);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Chore(chore, reply) => {
                    let done = self.chore(&chore);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Forget(unused, reply) => {
                    let done = self.forget(&unused);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::RepairCounts(crawl, reply) => {
                    let done = self.repair_counts(crawl);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Note(note, reply) => {
                    let done = super::duties::write(&self.conn, &note);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::Revise(revision, reply) => {
                    let done = self.revise(&revision);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::RemoveSegments(numbers, end, reply) => {
                    let done = self.remove_segments(&numbers, end);
                    let _ = reply.send(done.map_err(|fault| fault.at(&self.path)));
                }
                Command::RestartLog => self.restart_log(),
                Command::Close(reply) => {
                    // Whoever is still queued behind this is told that the store has stopped.
                    drop(commands);
                    let path = self.path.clone();
                    let done = self.close().map_err(|fault| fault.at(&path));
                    let _ = reply.send(done);
                    return;
                }
            }
        }
        if let Err(fault) = self.close() {
            tracing::warn!(?fault, "the database was left without a last checkpoint");
        }
    }

    fn commit(&mut self, batch: &mut CommitBatch, packed: &Packed) -> Result<CommitReport, Fault> {
        let (crawl, now) = (batch.crawl, batch.now);
        self.transaction(crawl, now, |commit| commit.run(batch, packed))
    }

    fn ensure_host(&self, crawl: CrawlId, name: &str) -> Result<StoredHost, Fault> {
        self.conn
            .prepare_cached("INSERT INTO hosts (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([name])?;
        let id = self
            .conn
            .prepare_cached("SELECT id FROM hosts WHERE name = ?1")?
            .query_row([name], |row| row.get(0).map(HostId))?;
        reader::host(&self.conn, crawl, id)?.ok_or_else(|| StoreError::Stopped.into())
    }

    /// One transaction on an open crawl. If it fails, everything is as it was before.
    pub(super) fn transaction(
        &mut self,
        crawl: CrawlId,
        now: UnixMillis,
        work: impl FnOnce(Commit<'_>) -> Result<CommitReport, Fault>,
    ) -> Result<CommitReport, Fault> {
        let Some(open) = self.open.get_mut(&crawl) else {
            return Err(StoreError::NoCrawl(crawl).into());
        };
        let counters = open.counters;
        let end = self.bodies.end();
        let done = begin(&self.conn).and_then(|()| {
            let (memory, bodies) = (&mut self.memory, &mut self.bodies);
            let report = work(Commit::new(&self.conn, crawl, now, open, memory, bodies)?)?;
            self.conn.prepare_cached("COMMIT")?.execute([])?;
            Ok(report)
        });
        if done.is_err() {
            open.counters = counters;
            open.originals = None;
            self.memory.clear();
            open.terrain.clear();
            roll_back(&self.conn);
            if let Err(error) = self.bodies.rewind(end) {
                tracing::warn!(%error, "bodies of a failed commit could not be cut off");
            }
        }
        done
    }

    /// Most of the log has been written back by the checkpointer; what is left is short. Neither
    /// readers of other processes nor the checkpointer are waited for.
    pub(super) fn restart_log(&mut self) {
        let patience = std::time::Duration::from_millis(50);
        let _ = self.conn.busy_timeout(patience);
        if let Err(error) = self.bodies.unsynced().sync() {
            tracing::warn!(%error, "bodies could not be made durable");
        }
        let done = self
            .conn
            .query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
        if let Err(error) = done {
            tracing::debug!(%error, "the write-ahead log was not restarted");
        }
        let _ = self.conn.busy_timeout(super::BUSY_TIMEOUT);
    }

    fn close(mut self) -> Result<(), Fault> {
        self.checkpoints.stop(&mut self.conn)?;
        self.bodies.unsynced().sync()?;
        self.conn
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        self.conn.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

pub(super) fn begin(conn: &Connection) -> Result<(), Fault> {
    conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    Ok(())
}

pub(super) fn roll_back(conn: &Connection) {
    // SQLite has rolled back by itself after some errors, a full disk among them.
    if !conn.is_autocommit()
        && let Err(error) = conn.execute_batch("ROLLBACK")
    {
        tracing::warn!(%error, "a failed transaction was not rolled back");
    }
}
