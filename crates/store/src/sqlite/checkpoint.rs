//! Writes the log back into the file from a thread and a connection of its own, so that no commit
//! waits for it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rusqlite::{Connection, hooks::Wal};
use tokio::sync::mpsc::WeakSender;

use super::{lock::beside, open::connect, writer::Command};
use crate::segment::append::Unsynced;

const INTERVAL: Duration = Duration::from_secs(1);
/// So many new pages in the log are written back at once: most are of tables that only grow, and
/// what is written beside the crawl does not keep it waiting at its end.
const MANY_PAGES: i32 = 512;
/// A log of more pages than this is written from its front again, for which the writer must stand
/// still for a moment. Its space is kept: to overwrite a file is cheaper than to let it grow.
const LONG_LOG: i64 = 2048;
/// For every moment of writing back as many of rest: a slow disk is left to others, too.
const REST: u32 = 1;

#[derive(Debug)]
pub(crate) struct Checkpointer {
    pub(crate) path: PathBuf,
    pub(crate) unsynced: Unsynced,
    /// Weak: the checkpointer alone does not keep the writer alive.
    pub(crate) writer: WeakSender<Command>,
}

impl Checkpointer {
    /// Works until nobody is left to call: now and then, and when it is told that there is much.
    pub(crate) fn run(self, calls: &Receiver<()>) {
        // Here and not before: whoever opens a store does not wait for it.
        let conn = match connect(&self.path) {
            Ok(conn) => conn,
            Err(fault) => {
                tracing::warn!(
                    ?fault,
                    "the write-ahead log is written back at the end alone"
                );
                return;
            }
        };
        let log = beside(&self.path, "-wal");
        while calls.recv_timeout(INTERVAL) != Err(RecvTimeoutError::Disconnected) {
            if length(&log) == 0 {
                continue;
            }
            let began = Instant::now();
            if self.write_back(&conn) > LONG_LOG
                && let Some(writer) = self.writer.upgrade()
            {
                // A full queue means a busy writer; the next round asks again.
                let _ = writer.try_send(Command::RestartLog);
            }
            rest(calls, Instant::now() + began.elapsed() * REST);
        }
    }

    /// Bodies first: a row that survives a power cut should find what it refers to. A commit
    /// between the two steps may still lose its bodies; their checksums tell. Returns how many
    /// pages the log holds.
    fn write_back(&self, conn: &Connection) -> i64 {
        if let Err(error) = self.unsynced.sync() {
            tracing::warn!(%error, "bodies could not be made durable");
            return 0;
        }
        let done = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1));
        done.unwrap_or_else(|error| {
            tracing::warn!(%error, "the write-ahead log could not be written back");
            0
        })
    }
}

/// Calls that come in the meantime are answered by the next round, whenever that is.
fn rest(calls: &Receiver<()>, until: Instant) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || calls.recv_timeout(left) != Ok(()) {
            return;
        }
    }
}

/// The checkpointer as the writer knows it. Only one connection at a time can write the log back:
/// the writer does it for the last time when the other has ended.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    call: Sender<()>,
    thread: JoinHandle<()>,
}

type Hook = Box<dyn FnMut(&mut Wal, i32) -> rusqlite::Result<()> + Send>;

impl Checkpoints {
    pub(crate) fn start(checkpointer: Checkpointer) -> io::Result<Self> {
        let (call, calls) = mpsc::channel();
        let thread = thread::Builder::new().name("trawl-checkpoint".into());
        let thread = thread.spawn(move || checkpointer.run(&calls))?;
        Ok(Self { call, thread })
    }

    /// Has the log written back whenever a commit has left much in it.
    pub(crate) fn follow(&self, conn: &mut Connection) -> rusqlite::Result<()> {
        let call = self.call.clone();
        let mut last = 0;
        let hook: Hook = Box::new(move |_, pages| {
            if pages < last {
                // The log has begun anew.
                last = 0;
            }
            if pages - last >= MANY_PAGES {
                last = pages;
                let _ = call.send(());
            }
            Ok(())
        });
        conn.wal_hook(Some(hook))
    }

    /// Returns when nobody else writes the log back.
    pub(crate) fn stop(self, conn: &mut Connection) -> rusqlite::Result<()> {
        conn.wal_hook(None::<Hook>)?;
        drop(self.call);
        if self.thread.join().is_err() {
            tracing::warn!("the checkpointer had failed");
        }
        Ok(())
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}
