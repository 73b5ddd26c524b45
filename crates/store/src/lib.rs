//! What is remembered. A crate of its own because it is a contract with several implementations.
//!
//! Knows nothing of HTTP, politeness or scheduling: it is told what happened and answers questions.
//! Modules in reading order:
//!
//! * [`contract`]: the port every back end implements, and what goes in and out of it

pub mod contract;

pub use contract::{Store, StoreError};
