//! The runs of a map as times: when something was first and last seen.

use trawl_types::{CrawlId, UnixMillis, terrain::Run};

/// From when to when something was seen; no end while the run it was last seen in goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) start: Option<UnixMillis>,
    pub(crate) end: Option<UnixMillis>,
}

/// The first and the last run in which something was seen, as places in the list of runs: four
/// bytes instead of sixteen, and there may be millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    first: u16,
    last: u16,
}

impl Seen {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

#[derive(Debug)]
pub(crate) struct RunTimes {
    runs: Vec<Run>,
}

impl RunTimes {
    pub(crate) fn new(mut runs: Vec<Run>) -> Self {
        runs.sort_by_key(|run| run.id);
        Self { runs }
    }

    pub(crate) fn seen(&self, first: CrawlId, last: CrawlId) -> Seen {
        Seen {
            first: self.place(first),
            last: self.place(last),
        }
    }

    pub(crate) fn life(&self, seen: Seen) -> Life {
        let run = |place: u16| self.runs.get(usize::from(place));
        Life {
            start: run(seen.first).map(|run| run.started_at),
            end: run(seen.last).and_then(|run| run.finished_at),
        }
    }

    /// The place of a run; one that is not listed stands behind all.
    fn place(&self, run: CrawlId) -> u16 {
        let place = self.runs.binary_search_by_key(&run, |run| run.id);
        place
            .ok()
            .and_then(|place| u16::try_from(place).ok())
            .unwrap_or(u16::MAX)
    }
}
