//! One process at a time writes a database. The lock is the operating system's, so it ends with
//! its process however that ends; the file's text is only for people.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use super::fault::Fault;
use crate::contract::StoreError;

/// Held as long as the store writes.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// The database's path with something added to its name.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(suffix);
    PathBuf::from(name)
}

impl Lock {
    pub(crate) fn take(database: &Path, command: &str) -> Result<Self, Fault> {
        let path = beside(database, ".lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| cannot_write(database, &path, &error))?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked {
                    path: database.display().to_string(),
                    holder: holder(&mut file),
                }
                .into());
            }
            Err(TryLockError::Error(error)) => {
                return Err(cannot_write(database, &path, &error).into());
            }
        }
        // The text helps people and is not worth failing for, say on a full disk.
        if let Err(error) = write_holder(&mut file, command) {
            tracing::debug!(%error, "the lock's holder could not be noted");
        }
        Ok(Self { _file: file })
    }
}

/// Whether a process writes the database just now.
pub fn is_written(database: &Path) -> bool {
    let Ok(file) = File::open(beside(database, ".lock")) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Somebody may only be asking whether it is held.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..3 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
    file.try_lock()
}

fn cannot_write(database: &Path, lock: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind;
    let path = database.display().to_string();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full { path },
        ErrorKind::NotFound => StoreError::Database(format!(
            "{path}: the folder for the database does not exist"
        )),
        _ => StoreError::ReadOnly {
            path,
            why: format!("{}: {error}", lock.display()),
        },
    }
}

fn write_holder(file: &mut File, command: &str) -> std::io::Result<()> {
    let since = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    file.set_len(0)?;
    file.rewind()?;
    write!(
        file,
        "process {} (`{command}`), since {since}",
        std::process::id()
    )
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(1024).read_to_string(&mut text);
    match read {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}
