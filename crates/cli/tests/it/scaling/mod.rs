//! One crawl by several processes on PostgreSQL.
//!
//! * `fleet`: a server and its workers
//! * `faults`: whatever dies, stops or restarts, the crawl ends as if nothing had happened
//! * `roads`: workers whose way to the database is bad
//! * `endings`: a crawl that is cancelled, deleted or refused is the end of nothing else
//! * `sharing`: workers join, leave, and share the hosts

mod endings;
mod faults;
pub(crate) mod fleet;
mod roads;
mod sharing;
