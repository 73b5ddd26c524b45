//! A whole store as a folder of files that can be moved, checked and turned into a store again. It is
//! made while crawls run. Knows nothing of schedules, nor of what lies in a search index.
//!
//! * [`manifest`]: what a backup says of itself
//! * [`error`]: what can go wrong, in words for whoever makes backups
//! * [`files`]: files with checksums, and folders that appear all at once
//! * [`sqlite`]: a database file with its bodies
//! * [`postgres`], [`tools`]: a database, by PostgreSQL's own programs
//! * [`verify`](mod@verify): a backup looked through, without a store
//! * [`dump`]: the rows of a dump, one at a time

mod dump;
mod error;
mod files;
mod manifest;
mod postgres;
mod sqlite;
mod tools;
mod verify;

pub use error::BackupError;
pub use manifest::{FileFacts, Kind, Manifest, TableFacts};
pub use postgres::{backup_postgres, restore_postgres};
pub use sqlite::{backup_sqlite, restore_sqlite};
pub use verify::{Verified, verify};

use std::path::Path;

/// Where a backup goes.
#[derive(Debug, Clone, Copy)]
pub struct Output<'p> {
    pub folder: &'p Path,
    /// Replace a backup that is there.
    pub force: bool,
}
