//! What a crawl may do, as the numbers the schedule needs.

use trawl_types::{
    CrawlSpec,
    spec::{BreakerSpec, RobotsPolicy},
};

#[derive(Debug, Clone)]
pub struct CrawlLimits {
    pub delay_ms: u64,
    pub per_host: u32,
    pub concurrency: u32,
    pub max_pages: Option<u64>,
    pub max_pages_per_host: Option<u64>,
    pub max_requests_per_host: Option<u64>,
    pub needs_robots: bool,
    pub breaker: BreakerSpec,
    /// URLs of one host held in memory; the rest waits in the store.
    pub lane_capacity: usize,
    /// Requests for each one of a crawl with weight 1, where both could go on.
    pub weight: u32,
}

impl CrawlLimits {
    pub fn of(spec: &CrawlSpec) -> Self {
        let politeness = &spec.politeness;
        Self {
            delay_ms: politeness.delay_ms,
            per_host: politeness.per_host,
            concurrency: politeness.concurrency,
            max_pages: spec.scope.max_pages,
            max_pages_per_host: spec.scope.max_pages_per_host,
            max_requests_per_host: spec.scope.max_requests_per_host,
            needs_robots: politeness.robots != RobotsPolicy::Ignore,
            breaker: politeness.breaker.clone(),
            lane_capacity: lane_capacity(politeness.per_host),
            weight: spec.priority.weight(),
        }
    }
}

/// Enough to keep a host busy while a commit brings more or more is fetched from the store, no more. A
/// host that is asked for a page or two at a time needs few, and there are thousands of such hosts; one
/// that gives thousands of pages a second needs many.
fn lane_capacity(per_host: u32) -> usize {
    (2 * per_host as usize * per_host as usize).clamp(64, 2048)
}
