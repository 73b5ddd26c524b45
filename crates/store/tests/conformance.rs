//! The SQLite back end against the contract.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use trawl_store::{OpenOptions, SqliteAccountWriter, SqliteStore};

fn fresh() -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("t.db"), &OpenOptions::default()).unwrap();
    (store, folder)
}

trawl_store::conformance_suite!(fresh());

/// Written beside a store that has the file open, as `trawl users` does.
fn with_accounts() -> (SqliteStore, SqliteAccountWriter, tempfile::TempDir) {
    let (store, folder) = fresh();
    let writer = SqliteAccountWriter::new(folder.path().join("t.db"));
    (store, writer, folder)
}

trawl_store::accounts_suite!(with_accounts());
