//! The PostgreSQL back end against the contract, against other processes and against faults, on a real
//! server that the tests start and stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commits;
mod conformance;
mod foresight;
mod loans;
mod opening;
mod outages;
mod queue;
mod resting;
mod rows;
mod server;
mod tls;
mod unused;
mod upkeep;
mod web;
