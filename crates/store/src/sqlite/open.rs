//! A path becomes a store: lock, format, segments, threads, in this order.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension, config::DbConfig};
use tokio::sync::mpsc;

use super::{
    BUSY_TIMEOUT, SqliteStore, Threads,
    checkpoint::{Checkpointer, Checkpoints},
    fault::Fault,
    lock::Lock,
    pool::{self, ReadPool},
    schema,
    writer::Writer,
};
use crate::{
    contract::StoreError,
    segment::{
        self,
        append::{Appender, End},
        fetch::Records,
    },
};

/// Commands that may wait for the writer; whoever brings more waits.
const QUEUE: usize = 64;

/// Of a new file. A row of `page_links` is about 2 KB long, so several fit; larger pages would
/// make every change of an index more to write.
const PAGE_SIZE: u32 = 8192;

/// A log that a slow reader has let grow beyond this is cut when it starts anew.
const KEPT_LOG: u32 = 64 << 20;

/// How a database is opened for writing.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Begin a new database where there is none.
    pub create: bool,
    /// Who holds the lock, for the message another process shows. Must hold no secrets.
    pub command: String,
    /// The database may not grow beyond this many bytes; then it behaves as on a full disk.
    pub max_bytes: Option<u64>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            create: true,
            command: "trawl".into(),
            max_bytes: None,
        }
    }
}

impl SqliteStore {
    /// Opens a database for writing. Blocks for as long as recovery of the last run takes.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, StoreError> {
        let path = path.as_ref();
        open_writable(path, options).map_err(|fault| fault.at(path))
    }

    /// Opens a database to look at it, also while another process writes. Takes no lock.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        open_readable(path).map_err(|fault| fault.at(path))
    }
}

fn open_readable(path: &Path) -> Result<SqliteStore, Fault> {
    must_exist(path)?;
    let mut conn = pool::open(path)?;
    if schema::is_older(&conn, path)? {
        drop(conn);
        bring_up(path)?;
        conn = pool::open(path)?;
    }
    schema::check(&conn, path)?;
    Ok(SqliteStore {
        path: path.to_owned(),
        secret: schema::key_secret(&conn, path)?,
        pool: ReadPool::new(path),
        records: Arc::new(Records::of(segment::folder(path))),
        threads: None,
    })
}

/// Brings a file of an older format to the newest one. Whoever writes it must have ended.
pub(super) fn bring_up(path: &Path) -> Result<(), Fault> {
    let _lock = Lock::take(path, "trawl, bringing up an older format")?;
    schema::prepare(&mut connect(path)?, path)
}

pub(super) fn must_exist(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    Err(StoreError::Missing {
        path: path.display().to_string(),
    })
}

fn open_writable(path: &Path, options: &OpenOptions) -> Result<SqliteStore, Fault> {
    if !options.create {
        must_exist(path)?;
    }
    let lock = Lock::take(path, &options.command)?;
    let mut conn = connect(path)?;
    schema::prepare(&mut conn, path)?;
    limit(&conn, options.max_bytes)?;
    let secret = schema::key_secret(&conn, path)?;
    let bodies = Appender::open(segment::folder(path), referenced(&conn)?)?;
    let (commands, queue) = mpsc::channel(QUEUE);
    let checkpoints = Checkpoints::start(Checkpointer {
        path: path.to_owned(),
        unsynced: bodies.unsynced(),
        writer: commands.downgrade(),
    })
    .map_err(|error| no_thread(&error))?;
    checkpoints.follow(&mut conn)?;
    let writer = Writer::new(path.to_owned(), conn, bodies, checkpoints, lock);
    let thread = thread::Builder::new().name("trawl-writer".into());
    let thread = thread
        .spawn(move || writer.run(queue))
        .map_err(|error| no_thread(&error))?;
    Ok(SqliteStore {
        path: path.to_owned(),
        secret,
        pool: ReadPool::new(path),
        records: Arc::new(Records::of(segment::folder(path))),
        threads: Some(Threads {
            commands: Mutex::new(Some(commands)),
            writer: Mutex::new(Some(thread)),
        }),
    })
}

fn no_thread(error: &std::io::Error) -> Fault {
    StoreError::Database(format!("no thread: {error}")).into()
}

pub(super) fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on values: no statement is prepared anew because of them.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.execute_batch(&format!(
        "PRAGMA page_size = {PAGE_SIZE}; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768;
         PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = {KEPT_LOG};"
    ))?;
    Ok(conn)
}

fn limit(conn: &Connection, max_bytes: Option<u64>) -> Result<(), Fault> {
    if let Some(bytes) = max_bytes {
        let size: i64 = conn.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = bytes / size.unsigned_abs().max(1);
        conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}

/// The end of the last body that a committed row refers to.
pub(super) fn referenced(conn: &Connection) -> Result<Option<End>, Fault> {
    let end = conn
        .query_row(
            "SELECT number, bytes FROM segments ORDER BY number DESC LIMIT 1",
            [],
            |row| {
                Ok(End {
                    segment: row.get(0)?,
                    offset: row.get::<_, i64>(1)? as u64,
                })
            },
        )
        .optional()?;
    Ok(end)
}
