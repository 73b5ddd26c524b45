//! Whoever waits for an answer does not wait for a database that is known to be away. After three
//! questions in a row that it did not answer, one that costs nothing is asked on a connection of its own.
//! If that fails, too, nobody waits any more until it works: so slow questions alone keep nobody out.
//! Knows no SQL.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use super::{fault::Fault, pool::Pool, retry::pause};

/// Questions in a row without an answer, after which the database is doubted (004 §19).
const MOST_FAILURES: u32 = 3;
/// Time limit of one look.
const LOOKING: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Somebody is looking for the database.
    looking: bool,
    /// Why nobody asks.
    open: Option<&'static str>,
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing while questions are worth asking.
    pub(super) fn why_open(&self) -> Option<&'static str> {
        self.state().open
    }

    /// A question was not answered. True if that was once too often, and somebody has to look.
    fn failed(&self) -> bool {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        let looks = state.failures >= MOST_FAILURES && !state.looking;
        state.looking |= looks;
        looks
    }

    /// Any answer says that the database is there. True if it was thought to be away.
    fn worked(&self) -> bool {
        let mut state = self.state();
        state.failures = 0;
        state.open.take().is_some()
    }

    /// A look found nothing. True if that is news.
    fn missed(&self, why: &'static str) -> bool {
        self.state().open.replace(why).is_none()
    }

    /// Whether to look once more: not if somebody had an answer meanwhile.
    fn goes_on(&self) -> bool {
        let mut state = self.state();
        state.looking = state.open.is_some();
        state.looking
    }
}

/// Takes note of what came of a question; looks for the database where that is due.
pub(super) fn learn<T>(pool: &Arc<Pool>, answer: &Result<T, Fault>) {
    let absent = answer.as_ref().err().is_some_and(Fault::is_absence);
    if !absent {
        found(pool);
    } else if pool.breaker.failed() {
        tokio::spawn(look(Arc::downgrade(pool)));
    }
}

fn found(pool: &Pool) {
    if pool.breaker.worked() {
        tracing::info!(database = pool.place(), "the database is back");
    }
}

async fn look(pool: Weak<Pool>) {
    for attempt in 0.. {
        let Some(pool) = pool.upgrade().filter(|pool| !pool.is_closed()) else {
            return;
        };
        let seen = tokio::time::timeout(LOOKING, pool.look()).await;
        let seen = seen.unwrap_or_else(|_| Err(Fault::Unreachable("no answer in time".into())));
        match seen {
            Ok(()) => found(&pool),
            Err(fault) if pool.breaker.missed(fault.in_brief()) => {
                let place = pool.place();
                tracing::warn!(database = place, why = %fault, "the database is away; whoever asks is told at once");
            }
            Err(_) => {}
        }
        if !pool.breaker.goes_on() {
            return;
        }
        drop(pool);
        tokio::time::sleep(pause(attempt)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_make_somebody_look_and_a_look_opens_it() {
        let breaker = Breaker::default();
        assert!(!breaker.failed() && !breaker.failed());
        breaker.worked();
        assert!(!breaker.failed() && !breaker.failed());
        assert!(breaker.failed(), "once too often");
        assert!(!breaker.failed(), "one looks");
        assert_eq!(breaker.why_open(), None, "slow questions open nothing");
        assert!(breaker.missed("refused"));
        assert!(!breaker.missed("no answer in time"), "it is known");
        assert_eq!(breaker.why_open(), Some("no answer in time"));
        assert!(breaker.goes_on());
    }

    #[test]
    fn any_answer_closes_it() {
        let breaker = Breaker::default();
        for _ in 0..3 {
            breaker.failed();
        }
        breaker.missed("refused");
        assert!(breaker.worked());
        assert_eq!(breaker.why_open(), None);
        assert!(!breaker.goes_on(), "nobody needs to look any more");
        assert!(!breaker.failed() && !breaker.failed() && breaker.failed());
    }
}
