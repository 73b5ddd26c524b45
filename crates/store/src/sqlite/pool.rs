//! A few connections that only read, used on the runtime's blocking threads.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{BUSY_TIMEOUT, fault::Fault, lock::beside};
use crate::contract::StoreError;

/// Questions that are asked at once; others wait. Each takes a thread and a connection with a cache,
/// and a thousand readers who wake together would take a thousand of both.
const AT_ONCE: usize = 8;
/// Connections kept for the next question.
const KEPT: usize = 3;

#[derive(Debug, Clone)]
pub(crate) struct ReadPool {
    path: Arc<Path>,
    idle: Arc<Mutex<Option<Vec<Connection>>>>,
    turns: Arc<Semaphore>,
}

impl ReadPool {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            idle: Arc::new(Mutex::new(Some(Vec::new()))),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Asks one question in one read transaction, so that its parts agree with each other.
    pub(crate) async fn ask<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let pool = self.clone();
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let asked = tokio::task::spawn_blocking(move || {
            // Until the answer is there, also if nobody waits for it any more.
            let _turn = turn;
            let answer = pool.ask_now(question);
            answer.map_err(|fault| fault.at(&pool.path))
        });
        asked.await.unwrap_or(Err(StoreError::Stopped))
    }

    fn ask_now<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let idle = match &mut *self.lock() {
            Some(idle) => idle.pop(),
            None => return Err(StoreError::Stopped.into()),
        };
        let conn = match idle {
            Some(conn) => conn,
            None => open(&self.path)?,
        };
        let tx = conn.unchecked_transaction()?;
        let answer = question(&conn);
        tx.finish()?;
        if let Some(idle) = &mut *self.lock()
            && idle.len() < KEPT
        {
            idle.push(conn);
        }
        answer
    }

    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that cannot write.
pub(crate) fn open(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match Connection::open_with_flags(path, flags).and_then(set_up) {
        Ok(conn) => Ok(conn),
        // In a folder that cannot be written SQLite cannot set up what readers of a log share;
        // without a log there is nothing to share.
        Err(_) if no_log(path) => open_unshared(path),
        Err(error) => Err(error.into()),
    }
}

/// Fails where the file cannot be read.
fn set_up(conn: Connection) -> rusqlite::Result<Connection> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.execute_batch("PRAGMA cache_size = -2048; PRAGMA temp_store = MEMORY")?;
    conn.query_row("PRAGMA user_version", [], |_| Ok(()))?;
    Ok(conn)
}

fn no_log(path: &Path) -> bool {
    std::fs::metadata(beside(path, "-wal")).map_or(true, |meta| meta.len() == 0)
}

fn open_unshared(path: &Path) -> Result<Connection, Fault> {
    let escaped = path
        .display()
        .to_string()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    Ok(set_up(conn)?)
}
