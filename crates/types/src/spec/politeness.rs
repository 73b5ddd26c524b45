//! How a host is treated: delays, retries, robots.txt, the circuit breaker.

use serde::{Deserialize, Serialize};

use super::{SpecError, within};

/// What to do where robots.txt cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsPolicy {
    /// RFC 9309: a 4xx answer allows everything; 5xx and network errors disallow everything.
    #[default]
    Strict,
    /// Whatever goes wrong, everything is allowed (`robots-unreachable = "allow"`).
    UnreachableAllows,
    /// robots.txt is not asked for. For sites of one's own.
    Ignore,
}

/// What to do on 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitPolicy {
    /// Wait for Retry-After, else back off exponentially.
    #[default]
    Backoff,
    /// Ask the host nothing more in this run.
    SuspendHost,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Politeness {
    /// Least time from one answer of a host to the next request to it.
    pub delay_ms: u64,
    /// Requests to one host at once. With a delay they only overlap while bodies arrive.
    pub per_host: u32,
    /// Requests at once in all.
    pub concurrency: u32,
    pub robots: RobotsPolicy,
    /// A longer Crawl-delay is cut to this; a host that asks for a longer wait by Retry-After is
    /// given up for the run.
    pub max_wait_ms: u64,
    pub on_rate_limit: RateLimitPolicy,
    pub retry: RetrySpec,
    pub breaker: BreakerSpec,
}

impl Default for Politeness {
    fn default() -> Self {
        Self {
            delay_ms: 1000,
            per_host: 1,
            concurrency: 64,
            robots: RobotsPolicy::default(),
            max_wait_ms: 3_600_000,
            on_rate_limit: RateLimitPolicy::default(),
            retry: RetrySpec::default(),
            breaker: BreakerSpec::default(),
        }
    }
}

impl Politeness {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        within("politeness.delay_ms", self.delay_ms, 0, 86_400_000)?;
        within("politeness.per_host", u64::from(self.per_host), 1, 1024)?;
        within(
            "politeness.concurrency",
            u64::from(self.concurrency),
            1,
            10_000,
        )?;
        within(
            "politeness.max_wait_ms",
            self.max_wait_ms,
            1_000,
            7 * 86_400_000,
        )?;
        within(
            "politeness.retry.attempts",
            u64::from(self.retry.attempts),
            1,
            100,
        )?;
        within(
            "politeness.breaker.failures",
            u64::from(self.breaker.failures),
            1,
            1_000_000,
        )?;
        within(
            "politeness.breaker.successes",
            u64::from(self.breaker.successes),
            1,
            1_000,
        )
    }
}

/// How often and after what pause a failed fetch is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrySpec {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// Pause after the first failure; doubles each time, with jitter.
    pub base_ms: u64,
    pub max_ms: u64,
}

impl Default for RetrySpec {
    fn default() -> Self {
        Self {
            attempts: 3,
            base_ms: 1_000,
            max_ms: 60_000,
        }
    }
}

/// When a host is left alone for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerSpec {
    /// Failures in a row that open it.
    pub failures: u32,
    /// How long it stays open before one request is let through.
    pub reset_ms: u64,
    /// Successes in a row that close it again.
    pub successes: u32,
    /// Openings in a row after which the host is given up for the run.
    pub give_up_after: u32,
}

impl Default for BreakerSpec {
    fn default() -> Self {
        Self {
            failures: 5,
            reset_ms: 60_000,
            successes: 2,
            give_up_after: 5,
        }
    }
}
