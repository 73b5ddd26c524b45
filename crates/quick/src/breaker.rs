//! After some failures in a row nobody asks any more, until somebody whose business it is has found that
//! asking helps again. Pure.

/// Failures in a row after which it opens (004 §19).
const MOST_FAILURES: u32 = 5;

#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    /// Why nobody asks.
    open: Option<String>,
}

impl Breaker {
    /// Nothing while questions are worth asking.
    pub(crate) fn why_open(&self) -> Option<&str> {
        self.open.as_deref()
    }

    /// True if that was once too often.
    pub(crate) fn failed(&mut self, why: &str) -> bool {
        self.failures = self.failures.saturating_add(1);
        let opens = self.failures >= MOST_FAILURES && self.open.is_none();
        if opens {
            self.open = Some(why.to_owned());
        }
        opens
    }

    /// Whoever is not asked anyway has no say in it.
    pub(crate) fn worked(&mut self) {
        if self.open.is_none() {
            self.failures = 0;
        }
    }

    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_five_failures_in_a_row_and_says_why() {
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            assert!(!breaker.failed("gone"));
        }
        breaker.worked();
        for _ in 0..4 {
            assert!(!breaker.failed("gone"));
        }
        assert_eq!(breaker.why_open(), None);
        assert!(breaker.failed("refused"));
        assert_eq!(breaker.why_open(), Some("refused"));
        assert!(!breaker.failed("refused"), "it opens once");
    }

    #[test]
    fn a_late_answer_does_not_close_it() {
        let mut breaker = Breaker::default();
        for _ in 0..5 {
            breaker.failed("gone");
        }
        breaker.worked();
        assert!(breaker.why_open().is_some());
        breaker.close();
        assert!(breaker.why_open().is_none());
    }
}
