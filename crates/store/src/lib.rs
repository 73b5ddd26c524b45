//! What is remembered. A crate of its own because it is a contract with several implementations.
//!
//! Knows nothing of HTTP, politeness or scheduling: it is told what happened and answers questions.
//! Modules in reading order:
//!
//! * [`contract`]: the port every back end implements, and what goes in and out of it
//! * [`sqlite`]: the embedded back end, one file
//! * [`postgres`]: the back end that many processes share
//! * [`segment`]: bodies in append-only files beside it
//! * [`backup`]: a whole store as a folder of files, and back
//! * [`copy`]: a whole store moved from a file to PostgreSQL
//! * `conformance` (feature): the suite every back end must pass

pub mod backup;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod contract;
pub mod copy;
pub mod postgres;
pub mod segment;
mod shared;
pub mod sqlite;

pub use contract::{Store, StoreError};
pub use postgres::{LoanOptions, PostgresOptions, PostgresStore};
pub use sqlite::{
    BusyDomain, OpenOptions, SqliteAccountWriter, SqliteAccounts, SqliteKeys, SqliteStore,
    TerrainRows, is_written,
};
