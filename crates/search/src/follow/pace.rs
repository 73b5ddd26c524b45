//! Not in the way of crawls: while some run, the follower works a tenth of the time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// So many times as long as it worked it rests, while crawls run.
const REST: u32 = 9;
/// It looks this often whether they still do.
const LOOK: Duration = Duration::from_millis(100);
/// No rest is longer.
const LONGEST: Duration = Duration::from_secs(30);

/// Says whether something more important is going on.
pub trait Busy: Send + Sync + std::fmt::Debug {
    fn is_busy(&self) -> bool;
    /// Another number than before means that logs of this process have grown.
    fn written(&self) -> u64;
}

/// How hard the follower works; as hard as it can, unless somebody is to be spared.
#[derive(Debug, Clone, Default)]
pub struct Pace(Option<Arc<dyn Busy>>);

impl Pace {
    pub fn sparing(busy: Arc<dyn Busy>) -> Self {
        Self(Some(busy))
    }

    /// Batches that are embedded at once: on every core, unless somebody is to be spared.
    pub(super) fn at_once(&self) -> usize {
        match self.0 {
            Some(_) => 1,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.0.as_ref().is_some_and(|busy| busy.is_busy())
    }

    pub(super) fn written(&self) -> u64 {
        self.0.as_ref().map_or(0, |busy| busy.written())
    }

    /// Rests after work that began then, for as long as others are busy.
    pub(super) async fn rest(&self, began: Instant) {
        let rest = (began.elapsed() * REST).min(LONGEST);
        let until = Instant::now() + rest;
        while self.is_busy() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LOOK)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Always;

    impl Busy for Always {
        fn is_busy(&self) -> bool {
            true
        }

        fn written(&self) -> u64 {
            0
        }
    }

    #[tokio::test]
    async fn it_rests_nine_times_as_long_as_it_worked_while_others_are_busy() {
        let began = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        Pace::sparing(Arc::new(Always)).rest(began).await;
        assert!(began.elapsed() >= Duration::from_millis(200));
    }

    #[tokio::test]
    async fn it_does_not_rest_when_nobody_is() {
        let an_hour_ago = Instant::now().checked_sub(Duration::from_hours(1));
        let pace = Pace::default();
        let rest = pace.rest(an_hour_ago.unwrap_or_else(Instant::now));
        let rested = tokio::time::timeout(Duration::from_secs(5), rest).await;
        assert!(rested.is_ok());
    }
}
