//! Clocks that do not agree. That of a process stops while its machine sleeps, or is set by somebody;
//! those of two machines differ. Loans end by whichever clock of a process says so first, and moments that
//! processes tell each other are the database's.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use trawl_types::UnixMillis;

/// Below this, clocks agree: answers take their time, too.
const ALIKE_MS: i64 = 20;

/// When something was, by two clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    /// Set by nobody, but stops while the machine sleeps.
    steady: Instant,
    wall: SystemTime,
}

impl When {
    pub(super) fn now() -> Self {
        Self {
            steady: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// How long ago it was: at least what either clock says. One that was set back says nothing.
    pub(super) fn until(self, now: Self) -> Duration {
        let steady = now.steady.saturating_duration_since(self.steady);
        let wall = now.wall.duration_since(self.wall).unwrap_or_default();
        steady.max(wall)
    }
}

/// How far the database's clock is ahead of this process's.
#[derive(Debug, Default)]
pub(super) struct Skew(AtomicI64);

impl Skew {
    /// The database said what time it was, between two looks at the own clock.
    pub(super) fn learn(&self, asked: SystemTime, said: i64, answered: SystemTime) {
        let (asked, answered) = (millis(asked), millis(answered));
        let uncertain = (answered - asked) / 2;
        let ahead = said - asked - uncertain;
        let known = self.0.load(Ordering::Relaxed);
        // A clock that was set meanwhile tells nothing.
        if uncertain >= 0 && (ahead - known).abs() > ALIKE_MS + uncertain {
            self.0.store(ahead, Ordering::Relaxed);
        }
    }

    /// A moment of the database's, by the own clock. Zero is no moment.
    pub(super) fn here(&self, there: i64) -> UnixMillis {
        match there {
            0 => UnixMillis(0),
            there => UnixMillis(there.saturating_sub(self.0.load(Ordering::Relaxed))),
        }
    }

    /// An own moment, by the database's clock.
    pub(super) fn there(&self, here: UnixMillis) -> i64 {
        match here.0 {
            0 => 0,
            here => here.saturating_add(self.0.load(Ordering::Relaxed)),
        }
    }
}

fn millis(at: SystemTime) -> i64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn time_passes_by_whichever_clock_says_so() {
        let then = When::now();
        let later = |steady, wall| When {
            steady: then.steady + steady,
            wall,
        };
        let slept = later(SECOND, then.wall + HOUR);
        assert_eq!(then.until(slept), HOUR, "the machine slept");
        let set_back = later(SECOND, then.wall - HOUR);
        assert_eq!(then.until(set_back), SECOND, "somebody set the clock back");
        assert_eq!(slept.until(then), Duration::ZERO);
    }

    fn learned(ahead: i64, rtt: u64) -> Skew {
        let skew = Skew::default();
        let asked = UNIX_EPOCH + 1_000 * HOUR;
        let answered = asked + Duration::from_millis(rtt);
        skew.learn(asked, millis(asked) + (rtt / 2) as i64 + ahead, answered);
        skew
    }

    #[test]
    fn moments_cross_between_clocks_that_differ() {
        for ahead in [-3_600_000, -500, 500, 3_600_000] {
            let skew = learned(ahead, 4);
            let here = UnixMillis(1_700_000_000_000);
            assert_eq!(skew.there(here), here.0 + ahead);
            assert_eq!(skew.here(skew.there(here)), here);
        }
    }

    #[test]
    fn clocks_that_differ_by_less_than_can_be_known_are_alike() {
        for (ahead, rtt) in [(0, 0), (15, 2), (-15, 2), (400, 1_000), (-400, 1_000)] {
            let skew = learned(ahead, rtt);
            assert_eq!(skew.there(UnixMillis(7)), 7, "{ahead} within {rtt}");
        }
    }

    #[test]
    fn no_moment_stays_none() {
        let skew = learned(5_000, 0);
        assert_eq!(
            (skew.there(UnixMillis(0)), skew.here(0)),
            (0, UnixMillis(0))
        );
    }
}
