//! The circuit breaker of one host: open after failures in a row, half-open after a time, closed
//! after successes (004 §19), given up after too many openings in a row.

use trawl_types::spec::BreakerSpec;

use crate::Moment;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Closed,
    /// Nobody is let through before this instant; then one at a time.
    OpenUntil(Moment),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Breaker {
    state: State,
    failures: u32,
    successes: u32,
    openings: u32,
}

impl Breaker {
    pub(crate) fn with_failures(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// When the host may be asked, as far as the breaker is concerned.
    pub(crate) fn open_until(&self) -> Moment {
        match self.state {
            State::Closed => Moment::START,
            State::OpenUntil(moment) => moment,
        }
    }

    /// Half-open (or open): only one request at a time may probe the host.
    pub(crate) fn is_probing(&self) -> bool {
        self.state != State::Closed
    }

    /// Counts the good end of a request that was sent at `sent`.
    pub(crate) fn succeeded(&mut self, spec: &BreakerSpec, sent: Moment) {
        if self.is_stray(sent) {
            return;
        }
        self.failures = 0;
        if self.is_probing() {
            self.successes += 1;
            if self.successes >= spec.successes {
                *self = Self::default();
            }
        }
    }

    /// Requests that were out when it opened say nothing new: they are neither further openings nor
    /// probes.
    fn is_stray(&self, sent: Moment) -> bool {
        sent < self.open_until()
    }

    /// Counts the failure of a request that was sent at `sent`; true if the host should be given up.
    pub(crate) fn failed(&mut self, spec: &BreakerSpec, sent: Moment, now: Moment) -> bool {
        if self.is_stray(sent) {
            return false;
        }
        self.failures += 1;
        self.successes = 0;
        if self.is_probing() || self.failures >= spec.failures {
            self.openings += 1;
            self.state = State::OpenUntil(now.after(spec.reset_ms));
        }
        self.openings >= spec.give_up_after.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: BreakerSpec = BreakerSpec {
        failures: 5,
        reset_ms: 60_000,
        successes: 2,
        give_up_after: 3,
    };

    fn opened(now: Moment) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..5 {
            breaker.failed(&SPEC, now, now);
        }
        breaker
    }

    #[test]
    fn it_opens_after_five_failures_in_a_row_and_not_before() {
        let now = Moment::from_millis(7);
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker.failed(&SPEC, now, now);
        }
        breaker.succeeded(&SPEC, now);
        for _ in 0..4 {
            breaker.failed(&SPEC, now, now);
        }
        assert!(!breaker.is_probing());
        breaker.failed(&SPEC, now, now);
        assert_eq!(breaker.open_until(), now.after(60_000));
    }

    #[test]
    fn two_successes_close_it_and_one_failure_opens_it_again() {
        let at = Moment::from_millis;
        let mut breaker = opened(Moment::START);
        breaker.succeeded(&SPEC, at(60_000));
        assert!(breaker.is_probing());
        breaker.failed(&SPEC, at(69_000), at(70_000));
        assert_eq!(breaker.open_until(), at(130_000));
        breaker.succeeded(&SPEC, at(130_000));
        breaker.succeeded(&SPEC, at(130_001));
        assert!(!breaker.is_probing());
        assert_eq!(breaker.failures(), 0);
    }

    #[test]
    fn a_host_that_never_recovers_is_given_up() {
        let mut breaker = opened(Moment::START);
        let (first, second) = (Moment::from_millis(60_000), Moment::from_millis(120_000));
        assert!(!breaker.failed(&SPEC, first, first));
        assert!(breaker.failed(&SPEC, second, second));
    }

    #[test]
    fn requests_that_were_out_when_it_opened_neither_give_the_host_up_nor_close_it() {
        let mut breaker = opened(Moment::from_millis(10));
        let (sent, late) = (Moment::from_millis(9), Moment::from_millis(90_000));
        for _ in 0..9 {
            assert!(!breaker.failed(&SPEC, sent, Moment::from_millis(11)));
            assert!(!breaker.failed(&SPEC, sent, late));
        }
        assert_eq!(breaker.open_until(), Moment::from_millis(60_010));
        for _ in 0..9 {
            breaker.succeeded(&SPEC, sent);
        }
        assert!(breaker.is_probing());
    }
}
