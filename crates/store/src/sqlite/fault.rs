//! What can go wrong below the contract, and what it is called there.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::contract::StoreError;

/// A failure before it is known which file to name.
#[derive(Debug)]
pub(crate) enum Fault {
    Sqlite(rusqlite::Error),
    Segment(std::io::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Segment(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// The contract's error, naming the database.
    pub(crate) fn at(self, database: &Path) -> StoreError {
        let path = database.display().to_string();
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => of_sqlite(&error, path),
            Self::Segment(error) => of_io(&error, path),
        }
    }
}

fn of_sqlite(error: &rusqlite::Error, path: String) -> StoreError {
    let why = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = error else {
        return StoreError::Database(why);
    };
    match failure.code {
        ErrorCode::DiskFull => StoreError::Full { path },
        // The shared-memory file beside the database could not grow.
        _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full { path },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { path, why },
        ErrorCode::DatabaseCorrupt => StoreError::Damaged { path, why },
        ErrorCode::NotADatabase => StoreError::Foreign { path, why },
        _ => StoreError::Database(format!("{path}: {why}")),
    }
}

fn of_io(error: &std::io::Error, path: String) -> StoreError {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full { path },
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => StoreError::ReadOnly {
            path,
            why: error.to_string(),
        },
        _ => StoreError::Segment(error.to_string()),
    }
}
