//! Counting in this process, bounded in memory. Time is an argument.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{
    Rate,
    window::{Counted, WINDOW},
};

/// Owners remembered; beyond that those whose window is over are forgotten, and if that is not
/// enough newcomers share one count.
const MOST_OWNERS: usize = 10_000;
const NEWCOMERS: &str = "newcomers";

#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<String, Counted>>);

impl Rates {
    /// Counts a request unless there were too many in the last minute.
    pub(super) fn take(&self, owner: &str, allowance: u32, at: u64) -> Rate {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.len() >= MOST_OWNERS && !owners.contains_key(owner) {
            owners.retain(|_, counted| !counted.is_over(at));
        }
        let full = owners.len() >= MOST_OWNERS && !owners.contains_key(owner);
        let owner = if full { NEWCOMERS } else { owner };
        let counted = owners.entry(owner.to_owned()).or_default();
        let rate = Rate::of(counted.used(at), allowance, at % WINDOW);
        if !rate.is_refused() {
            counted.add();
        }
        rate
    }

    /// A request was not let through after all.
    pub(super) fn take_back(&self, owner: &str) {
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = owners.get_mut(owner) {
            counted.take_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_beyond_the_allowance_wait_for_the_window_to_pass() {
        let rates = Rates::default();
        for left in (0..3).rev() {
            assert_eq!(rates.take("a", 3, 600).left, left);
        }
        assert_eq!(rates.take("a", 3, 610).wait_seconds, Some(50));
        assert_eq!(rates.take("b", 3, 610).wait_seconds, None);
        assert_eq!(rates.take("a", 3, 730).wait_seconds, None);
    }

    #[test]
    fn memory_is_bounded_however_many_ask() {
        let rates = Rates::default();
        for number in 0..MOST_OWNERS + 100 {
            rates.take(&number.to_string(), 10, 600);
        }
        assert_eq!(rates.0.lock().unwrap().len(), MOST_OWNERS + 1);
        assert!(rates.take("one more", 10, 601).is_refused());
        assert!(!rates.take("one more", 10, 730).is_refused());
    }

    #[test]
    fn a_burst_at_the_end_of_a_window_counts_at_the_beginning_of_the_next() {
        let rates = Rates::default();
        for _ in 0..10 {
            rates.take("a", 10, 659);
        }
        assert!(rates.take("a", 10, 660).is_refused());
        assert!(!rates.take("a", 10, 690).is_refused());
    }

    #[test]
    fn what_was_not_let_through_does_not_count() {
        let rates = Rates::default();
        assert!(!rates.take("a", 1, 600).is_refused());
        rates.take_back("a");
        assert!(!rates.take("a", 1, 600).is_refused());
        assert!(rates.take("a", 1, 600).is_refused());
    }

    #[test]
    fn a_clock_that_was_set_back_locks_nobody_out() {
        let rates = Rates::default();
        for _ in 0..3 {
            rates.take("a", 3, 6_000);
        }
        assert!(!rates.take("a", 3, 600).is_refused());
    }
}
