//! The format of an index file and how older ones become it.

use std::{
    fs::{File, TryLockError},
    path::Path,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use crate::error::SearchError;

const MIGRATIONS: [&str; 3] = [
    include_str!("../../../../migrations/search/0001_search.sql"),
    include_str!("../../../../migrations/search/0002_serving.sql"),
    include_str!("../../../../migrations/search/0003_mirror.sql"),
];

/// The right to write an index: one process at a time, until it ends, however that happens.
pub(super) fn lock(path: &Path) -> Result<File, SearchError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let cannot = |error: &std::io::Error| {
        SearchError::Invalid(format!("cannot write {}: {error}", path.display()))
    };
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(name)
        .map_err(|error| cannot(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SearchError::Locked(path.display().to_string())),
        Err(TryLockError::Error(error)) => Err(cannot(&error)),
    }
}

/// Opens a connection that may write; makes the file if there is none.
pub(super) fn writer(path: &Path) -> Result<Connection, SearchError> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A crash of the process loses nothing; a power cut at most the last commits.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -65_536)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

/// Opens a connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, SearchError> {
    if !path.exists() {
        return Err(SearchError::Missing(path.display().to_string()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 32)?;
    connection.pragma_update(None, "cache_size", -16_384)?;
    connection.set_prepared_statement_cache_capacity(64);
    let found = format_of(&connection)?;
    check(found, path)?;
    if found < MIGRATIONS.len() as i64 {
        return Err(SearchError::Older(path.display().to_string()));
    }
    Ok(connection)
}

fn format_of(connection: &Connection) -> Result<i64, SearchError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn check(found: i64, path: &Path) -> Result<(), SearchError> {
    let known = MIGRATIONS.len() as i64;
    if found > known {
        let path = path.display().to_string();
        return Err(SearchError::Newer { path, found, known });
    }
    Ok(())
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), SearchError> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = format_of(&transaction)?;
    check(found, path)?;
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    transaction.commit()?;
    Ok(())
}
