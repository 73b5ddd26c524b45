//! Patience with a database that is away: what only the engine asks is asked again until there is an
//! answer, what a server asks fails soon, and at once when it is known to be away.

use std::{
    future::Future,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use super::{
    PostgresStore, breaker,
    fault::Fault,
    pool::{Purpose, Taken},
};
use crate::contract::StoreError;

const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);
/// One attempt to get a connection, where there will be others.
const PATIENT: Duration = Duration::from_secs(10);

/// At most one line a second about a database that is away, however many wait for it.
#[derive(Debug)]
pub(super) struct Complaints {
    born: Instant,
    /// Milliseconds after that.
    last: AtomicU64,
}

impl Complaints {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    fn about(&self, place: &str, fault: &Fault) {
        let now = self.born.elapsed().as_millis() as u64 + 1000;
        let last = self.last.load(Ordering::Relaxed);
        let is_first = now >= last + 1000
            && self
                .last
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_first {
            tracing::warn!(database = place, why = %fault, "waiting for the database");
        }
    }
}

/// How long to wait before the next attempt. Jitter keeps those who failed together apart.
pub(super) fn pause(attempt: u32) -> Duration {
    let longest = SHORTEST
        .saturating_mul(1 << attempt.min(10))
        .min(LONGEST)
        .as_millis() as u64;
    Duration::from_millis(rand::random_range(longest / 2..=longest))
}

/// What came of one attempt.
pub(super) enum Attempt<T> {
    Over(Result<T, StoreError>),
    Again,
}

impl PostgresStore {
    /// A connection for something that will be tried again.
    pub(super) async fn patiently(&self) -> Result<Taken, Fault> {
        self.pool.take(PATIENT).await
    }

    /// The same, for what commits write and read.
    pub(super) async fn for_commits(&self) -> Result<Taken, Fault> {
        self.pool.take_for(Purpose::Commits, PATIENT).await
    }

    /// The same, for hosts that are borrowed.
    pub(super) async fn for_loans(&self) -> Result<Taken, Fault> {
        self.pool.take_for(Purpose::Loans, PATIENT).await
    }

    /// A connection for somebody who waits for an answer.
    pub(super) async fn soon(&self) -> Result<Taken, Fault> {
        self.pool.take(self.options.patience).await
    }

    /// Does something until it works, it is clear that it never will, or the store is closed. It must
    /// be safe to be done again after it was done and only the answer was lost.
    pub(super) async fn insist<T, F>(&self, mut work: impl FnMut() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        for number in 0.. {
            let done = if self.pool.is_closed() {
                Err(StoreError::Stopped.into())
            } else {
                work().await
            };
            if let Attempt::Over(done) = self.judge(number, done).await {
                return done;
            }
        }
        Err(StoreError::Stopped)
    }

    /// Whether an attempt was the last one; waits where it was not.
    pub(super) async fn judge<T>(&self, number: u32, done: Result<T, Fault>) -> Attempt<T> {
        breaker::learn(&self.pool, &done);
        match done {
            Err(Fault::Overtaken) => Attempt::Again,
            Err(fault) if fault.is_transient() && !self.pool.is_closed() => {
                self.complaints.about(self.pool.place(), &fault);
                tokio::select! {
                    () = tokio::time::sleep(pause(number)) => {}
                    () = self.closing.notified() => {}
                }
                Attempt::Again
            }
            Err(_) if self.pool.is_closed() => Attempt::Over(Err(StoreError::Stopped)),
            done => Attempt::Over(done.map_err(|fault| fault.at(self.pool.place()))),
        }
    }

    /// Does something once, for somebody who waits for an answer.
    pub(super) async fn ask<T>(
        &self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, StoreError> {
        self.ask_within(self.options.patience, work).await
    }

    /// The same for what may take longer.
    pub(super) async fn ask_within<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, StoreError> {
        if self.pool.is_closed() {
            return Err(StoreError::Stopped);
        }
        if let Some(why) = self.pool.breaker.why_open() {
            let place = self.pool.place();
            let why = format!("{place}: {why}; it is not asked until it is back");
            return Err(StoreError::Unavailable(why));
        }
        let done = tokio::time::timeout(patience, work).await;
        let done = done.unwrap_or_else(|_| Err(Fault::Unreachable("no answer in time".into())));
        breaker::learn(&self.pool, &done);
        done.map_err(|fault| fault.at(self.pool.place()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_within_two_seconds() {
        for attempt in 0..40 {
            let pause = pause(attempt);
            assert!(pause >= SHORTEST / 2 && pause <= LONGEST, "{attempt}");
        }
        assert!(pause(9) >= LONGEST / 2);
    }
}
