//! Crawls that have ended and may still be written.

/// A crawl that has ended may be written for a while: answers were under way.
const STRAGGLING: i64 = 3_600_000;

/// Crawls that ended after this, in milliseconds since 1970, count as running.
pub(crate) fn straggling_since() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_millis() as i64) - STRAGGLING
}
