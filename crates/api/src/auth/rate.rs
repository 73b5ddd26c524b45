//! How many requests a minute: a sliding window of two counters for each owner, bounded in memory.
//! Time is an argument.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

const WINDOW: u64 = 60;
/// Owners remembered; beyond that those whose window is over are forgotten, and if that is not
/// enough newcomers share one count.
const MOST_OWNERS: usize = 10_000;
const NEWCOMERS: &str = "newcomers";

/// Requests in this window and in the one before.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    window: u64,
    now: u32,
    before: u32,
}

#[derive(Debug, Default)]
pub(crate) struct RateLimiter(Mutex<HashMap<String, Counted>>);

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) left: u32,
    pub(crate) reset_seconds: u64,
    /// How long to wait, where there were too many.
    pub(crate) wait_seconds: Option<u64>,
}

impl RateLimiter {
    /// Counts a request unless there were too many in the last minute.
    pub(crate) fn take(&self, owner: &str, allowance: u32, now: Duration) -> Rate {
        let (window, into) = (now.as_secs() / WINDOW, now.as_secs() % WINDOW);
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.len() >= MOST_OWNERS && !owners.contains_key(owner) {
            owners.retain(|_, counted| counted.window + 1 >= window);
        }
        let full = owners.len() >= MOST_OWNERS && !owners.contains_key(owner);
        let owner = if full { NEWCOMERS } else { owner };
        let counted = owners.entry(owner.to_owned()).or_default();
        if counted.window != window {
            let before = if counted.window + 1 == window {
                counted.now
            } else {
                0
            };
            *counted = Counted {
                window,
                now: 0,
                before,
            };
        }
        // The part of the last window that still lies within the last minute.
        let carried = u64::from(counted.before) * (WINDOW - into) / WINDOW;
        let used = carried + u64::from(counted.now);
        let reset_seconds = WINDOW - into;
        if used >= u64::from(allowance) {
            return Rate {
                left: 0,
                reset_seconds,
                wait_seconds: Some(reset_seconds.min(WINDOW)),
            };
        }
        counted.now += 1;
        let left = u64::from(allowance) - used - 1;
        Rate {
            left: left as u32,
            reset_seconds,
            wait_seconds: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn requests_beyond_the_allowance_wait_for_the_window_to_pass() {
        let rates = RateLimiter::default();
        for left in (0..3).rev() {
            assert_eq!(rates.take("a", 3, at(0)).left, left);
        }
        assert_eq!(rates.take("a", 3, at(10)).wait_seconds, Some(50));
        assert_eq!(rates.take("b", 3, at(10)).wait_seconds, None);
        assert_eq!(rates.take("a", 3, at(130)).wait_seconds, None);
    }

    #[test]
    fn memory_is_bounded_however_many_ask() {
        let rates = RateLimiter::default();
        for number in 0..MOST_OWNERS + 100 {
            rates.take(&number.to_string(), 10, at(0));
        }
        assert_eq!(rates.0.lock().unwrap().len(), MOST_OWNERS + 1);
        assert!(rates.take("one more", 10, at(1)).wait_seconds.is_some());
        assert!(rates.take("one more", 10, at(130)).wait_seconds.is_none());
    }

    #[test]
    fn a_burst_at_the_end_of_a_window_counts_at_the_beginning_of_the_next() {
        let rates = RateLimiter::default();
        for _ in 0..10 {
            rates.take("a", 10, at(59));
        }
        assert!(rates.take("a", 10, at(60)).wait_seconds.is_some());
        assert!(rates.take("a", 10, at(90)).wait_seconds.is_none());
    }
}
