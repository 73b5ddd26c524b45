//! Small numbers given by a store, and wall-clock time as it is stored.

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(
    /// One crawl (a run of a spec) in a store.
    CrawlId
);
number!(
    /// One host in a store: the unit of politeness.
    HostId
);
number!(
    /// One page identity in a store, shared by all crawls.
    PageId
);
number!(
    /// Position in the result log of one crawl, counted from 1: a client's cursor.
    Sequence
);
number!(
    /// Milliseconds since the Unix epoch.
    UnixMillis
);
