//! A sliding window of two counters: what was counted in this minute, and the part of the minute before
//! that still lies within the last sixty seconds. Pure: time is an argument.

/// Seconds.
pub(super) const WINDOW: u64 = 60;

/// Requests in this window and in the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    window: u64,
    now: u32,
    before: u32,
}

impl Counted {
    /// Requests of the last minute, at a time in seconds.
    pub(super) fn used(&mut self, at: u64) -> u64 {
        let (window, into) = (at / WINDOW, at % WINDOW);
        if self.window != window {
            let follows = self.window + 1 == window;
            *self = Self {
                window,
                now: 0,
                before: if follows { self.now } else { 0 },
            };
        }
        let carried = u64::from(self.before) * (WINDOW - into) / WINDOW;
        carried + u64::from(self.now)
    }

    pub(super) fn add(&mut self) {
        self.now = self.now.saturating_add(1);
    }

    pub(super) fn take_back(&mut self) {
        self.now = self.now.saturating_sub(1);
    }

    /// Whether nothing of it counts any more.
    pub(super) fn is_over(&self, at: u64) -> bool {
        self.window + 1 < at / WINDOW
    }
}
