//! Writes the log back into the file from a thread and a connection of its own, so that no commit
//! waits for it.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::mpsc::WeakSender;

use super::{lock::beside, writer::Command};
use crate::segment::append::Unsynced;

const INTERVAL: Duration = Duration::from_secs(1);
/// A log of more pages than this is written from its front again, for which the writer must stand
/// still for a moment. Its space is kept: to overwrite a file is cheaper than to let it grow.
const LONG_LOG: i64 = 2048;

#[derive(Debug)]
pub(crate) struct Checkpointer {
    pub(crate) path: PathBuf,
    pub(crate) conn: Connection,
    pub(crate) unsynced: Unsynced,
    /// Weak: the checkpointer alone does not keep the writer alive.
    pub(crate) writer: WeakSender<Command>,
}

impl Checkpointer {
    /// Works until the other end of `stop` is gone.
    pub(crate) fn run(self, stop: &Receiver<()>) {
        let log = beside(&self.path, "-wal");
        while stop.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if length(&log) == 0 {
                continue;
            }
            if self.write_back() > LONG_LOG
                && let Some(writer) = self.writer.upgrade()
            {
                // A full queue means a busy writer; the next round asks again.
                let _ = writer.try_send(Command::RestartLog);
            }
        }
    }

    /// Bodies first: a row that survives a power cut should find what it refers to. A commit
    /// between the two steps may still lose its bodies; their checksums tell. Returns how many
    /// pages the log holds.
    fn write_back(&self) -> i64 {
        if let Err(error) = self.unsynced.sync() {
            tracing::warn!(%error, "bodies could not be made durable");
            return 0;
        }
        let done = self
            .conn
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1));
        done.unwrap_or_else(|error| {
            tracing::warn!(%error, "the write-ahead log could not be written back");
            0
        })
    }
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}
