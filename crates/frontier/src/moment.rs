//! Time as the frontier sees it: milliseconds on a clock that only goes forward.

/// An instant, in milliseconds since the process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(u64);

impl Moment {
    pub const START: Self = Self(0);

    pub fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub fn as_millis(self) -> u64 {
        self.0
    }

    #[must_use]
    pub fn after(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from now until this instant; 0 if it is past.
    pub fn millis_from(self, now: Self) -> u64 {
        self.0.saturating_sub(now.0)
    }
}
