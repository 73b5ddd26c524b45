//! How much is left to lease, as the committer wants to know it: a batch waits for company only while
//! there is enough to do without what it admits.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// A crawl with fewer URLs left than these may soon want what a batch admits, or nothing but its end.
pub(crate) const FEW_LEFT: u64 = 512;

/// While a batch waits for company, it looks this often whether there is enough of it.
const GLANCE: Duration = Duration::from_millis(4);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Appetite {
    /// There is plenty to lease.
    Sated,
    /// Little is left.
    Low,
    /// Slots are free, and nothing in memory can fill them.
    Hungry,
}

/// What the dispatcher says of it and the committer hears.
#[derive(Debug)]
pub(crate) struct Hunger {
    appetite: AtomicU8,
    felt: Notify,
}

impl Hunger {
    pub(crate) fn new() -> Self {
        Self {
            appetite: AtomicU8::new(Appetite::Hungry as u8),
            felt: Notify::new(),
        }
    }

    pub(crate) fn set(&self, appetite: Appetite) {
        let before = self.appetite.swap(appetite as u8, Ordering::Relaxed);
        if before == Appetite::Sated as u8 && appetite != Appetite::Sated {
            self.felt.notify_waiters();
        }
    }

    pub(crate) fn is_hungry(&self) -> bool {
        self.appetite.load(Ordering::Relaxed) == Appetite::Hungry as u8
    }

    /// No batch should wait.
    pub(crate) fn is_felt(&self) -> bool {
        self.appetite.load(Ordering::Relaxed) != Appetite::Sated as u8
    }

    /// Returns once it is felt, once there is enough, or after a time.
    pub(crate) async fn wait(&self, most: Duration, enough: impl Fn() -> bool) {
        let until = Instant::now() + most;
        loop {
            let felt = self.felt.notified();
            let left = until.saturating_duration_since(Instant::now());
            if self.is_felt() || left.is_zero() || enough() {
                return;
            }
            let _ = tokio::time::timeout(GLANCE.min(left), felt).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use super::*;

    /// Longer than any test may take.
    const FOR_EVER: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn who_waits_for_company_is_woken_by_hunger_and_else_by_the_clock() {
        let hunger = Arc::new(Hunger::new());
        hunger.wait(FOR_EVER, || false).await;
        hunger.set(Appetite::Sated);
        hunger.wait(Duration::from_millis(1), || false).await;
        let waits = Arc::clone(&hunger);
        let waits = tokio::spawn(async move { waits.wait(FOR_EVER, || false).await });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        hunger.set(Appetite::Low);
        waits.await.unwrap();
        assert!(hunger.is_felt() && !hunger.is_hungry());
    }

    #[tokio::test]
    async fn who_has_company_waits_no_longer() {
        let hunger = Hunger::new();
        hunger.set(Appetite::Sated);
        let here = AtomicBool::new(false);
        let comes = async {
            tokio::task::yield_now().await;
            here.store(true, Ordering::Relaxed);
        };
        let enough = || here.load(Ordering::Relaxed);
        tokio::join!(hunger.wait(FOR_EVER, enough), comes);
    }
}
