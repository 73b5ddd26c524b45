//! One crawl by several processes on PostgreSQL.
//!
//! * `fleet`: a server and its workers
//! * `faults`: whatever dies, stops or restarts, the crawl ends as if nothing had happened
//! * `sharing`: workers join, leave, and share the hosts

mod faults;
pub(crate) mod fleet;
mod sharing;
