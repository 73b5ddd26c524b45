//! The SQLite back end against the contract.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use trawl_store::{OpenOptions, SqliteStore};

fn fresh() -> (SqliteStore, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("t.db"), &OpenOptions::default()).unwrap();
    (store, folder)
}

trawl_store::conformance_suite!(fresh());
