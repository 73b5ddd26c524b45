//! Wall time and the frontier's time. The only place of the engine that reads a clock. Both are
//! cut to milliseconds, so a time that is taken from one to the other gains one: never too early.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use trawl_frontier::Moment;
use trawl_types::UnixMillis;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            began: Instant::now(),
        }
    }

    pub(crate) fn now(self) -> Moment {
        Moment::from_millis(self.began.elapsed().as_millis() as u64)
    }

    #[allow(
        clippy::unused_self,
        reason = "time is asked of a clock, whichever it is"
    )]
    pub(crate) fn wall(self) -> UnixMillis {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        UnixMillis(since.as_millis() as i64)
    }

    /// A stored wall-clock time on the frontier's clock; past times become now.
    pub(crate) fn moment_of(self, wall: UnixMillis) -> Moment {
        let ahead = u64::try_from(wall.0 - self.wall().0).unwrap_or(0);
        if ahead == 0 {
            Moment::START
        } else {
            self.now().after(ahead + 1)
        }
    }

    /// A moment of the frontier as wall-clock time.
    pub(crate) fn wall_of(self, moment: Moment) -> UnixMillis {
        UnixMillis(self.wall().0 + moment.millis_from(self.now()) as i64 + 1)
    }

    /// The instant to sleep until.
    pub(crate) fn instant_of(self, moment: Moment) -> tokio::time::Instant {
        (self.began + std::time::Duration::from_millis(moment.as_millis())).into()
    }

    /// Years since the common era, near enough for calendar traps.
    pub(crate) fn year(self) -> i32 {
        const MILLIS_PER_YEAR: i64 = 31_556_952_000;
        1970 + (self.wall().0 / MILLIS_PER_YEAR) as i32
    }
}
