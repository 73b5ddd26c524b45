//! Which URL next, and when. A crate of its own because it is pure: time is an argument, nothing
//! here sleeps, does I/O or rolls dice, so every rule of politeness can be tested by stepping.
//!
//! One [`Frontier`] serves all crawls of a process and holds the one politeness ledger. It hands
//! out [`Lease`]s: the right to contact a host once, now. Modules in reading order:
//!
//! * [`moment`](Moment): time as the frontier sees it
//! * `limits`: what a crawl may do, as numbers
//! * `lane`: the waiting URLs of one crawl on one host; bounded, the rest stays in the store
//! * `breaker`: leaves a host alone that keeps failing
//! * `backoff`: how long to wait after a failure
//! * `host`: politeness of one host, shared by all crawls
//! * `frontier`: the whole, with its schedule

mod backoff;
mod breaker;
mod frontier;
mod host;
mod lane;
mod lease;
mod limits;
mod moment;

pub use backoff::backoff_ms;
pub use frontier::{Frontier, Offered, RefillWanted, Rest};
pub use host::{HostEntry, HostState};
pub use lane::{Queued, Used};
pub use lease::{Health, Lease, LeaseId, Report, Suspend, Work};
pub use limits::CrawlLimits;
pub use moment::Moment;
