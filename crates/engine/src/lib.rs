//! The one pipeline: a crawl's life from its seeds to its stored pages.
//!
//! A URL goes: seed or link, through [`plan`](CrawlPlan) (normalise, scope, score) into a commit;
//! from the commit to the frontier; from the frontier as a lease to a `visit`; from the visit as a
//! settlement into the next commit. One dispatcher owns the truth; visits own nothing but their
//! lease. Modules in that order:
//!
//! * `clock`: wall time and the frontier's time, one reading
//! * `plan`: a spec compiled into rules, and what they say of a URL
//! * `task`: what a lease carries
//! * `visit`: one lease to one settlement
//! * `clusters`: pages that nearly repeat each other
//! * `appetite`: how much is left to lease, for those who might wait
//! * `commit`: settlements to transactions, batched
//! * `dispatch`: the loop that owns frontier, budgets and the ends of crawls
//! * `progress`: a crawl in numbers while it runs
//! * `engine`: starting, resuming, pausing, cancelling
//! * `attend`: a crawl that other processes work on
//! * `worker`: taking part in whatever crawls run in a shared store
//! * `explain`: why a URL was or was not crawled, or what would happen to it

mod appetite;
mod attend;
mod clock;
mod clusters;
mod commit;
mod dispatch;
mod engine;
mod explain;
mod plan;
mod progress;
mod task;
mod visit;
mod worker;

pub use engine::{Added, CrawlControl, CrawlHandle, Engine, EngineError, EngineOptions};
pub use explain::{Explanation, RobotsSays, explain, given_up};
pub use plan::CrawlPlan;
pub use progress::{CrawlEnd, Progress};
pub use visit::redigest;
pub use worker::{Joined, work};
