//! The nouns of a terrain map: what a domain is to it, how a page stands, and the rows its views
//! are made of. Where they come from and what becomes of them is for others to know.

use serde::{Deserialize, Serialize};

use crate::{
    CrawlId, LinkKind, LinkRel, OutcomeKind, PageId, PageState, Place, ReasonCode, UnixMillis,
};

/// What the configuration says of a domain. Numbers are stored: never reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum DomainClass {
    /// To be explored in full.
    Quality = 0,
    /// Never visited; who refers to it is recorded.
    Blacklisted = 1,
    /// Not visited, but its URLs are of interest.
    Stubbed = 2,
    /// In no list: found on the way.
    Discovered = 3,
}

impl DomainClass {
    pub const ALL: [Self; 4] = [
        Self::Quality,
        Self::Blacklisted,
        Self::Stubbed,
        Self::Discovered,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quality => "quality",
            Self::Blacklisted => "blacklisted",
            Self::Stubbed => "stubbed",
            Self::Discovered => "discovered",
        }
    }

    pub fn from_stored(code: u8) -> Self {
        match code {
            0 => Self::Quality,
            1 => Self::Blacklisted,
            2 => Self::Stubbed,
            _ => Self::Discovered,
        }
    }
}

macro_rules! states {
    ($($name:ident),* $(,)?) => {
        /// How a page of a map stands (003 §4.1).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum TerrainState { $($name),* }

        impl TerrainState {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name under which it is stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),* }
            }

            pub fn from_stored(text: &str) -> Option<Self> {
                match text { $(stringify!($name) => Some(Self::$name),)* _ => None }
            }
        }
    };
}

states! {
    Discovered, Queued, Fetching,
    Processed,
    Blacklisted, Stubbed,
    DeadLink, Unreachable, RateLimited, Failed,
    DepthExceeded, RequestLimitHit, ContentMismatch,
}

impl TerrainState {
    /// The state behind a row of a crawl. What a host's limits make of a page that waits is known
    /// to the store's view alone.
    pub fn of(state: PageState, reason: Option<ReasonCode>, outcome: Option<OutcomeKind>) -> Self {
        match state {
            PageState::Pending => Self::Queued,
            PageState::Refused => reason.map_or(Self::Failed, Self::of_reason),
            PageState::Done => outcome.map_or(Self::Failed, Self::of_outcome),
        }
    }

    fn of_reason(reason: ReasonCode) -> Self {
        match reason {
            ReasonCode::Blacklisted => Self::Blacklisted,
            ReasonCode::Stub => Self::Stubbed,
            ReasonCode::TooDeep => Self::DepthExceeded,
            ReasonCode::HostBudget => Self::RequestLimitHit,
            ReasonCode::HostSuspended => Self::RateLimited,
            _ => Self::Failed,
        }
    }

    fn of_outcome(outcome: OutcomeKind) -> Self {
        use OutcomeKind as O;
        match outcome {
            O::Fetched | O::NotModified | O::Redirected => Self::Processed,
            O::NotHtml => Self::ContentMismatch,
            O::NotFound | O::Gone => Self::DeadLink,
            O::RateLimited => Self::RateLimited,
            O::DnsFailure
            | O::ConnectRefused
            | O::ConnectFailed
            | O::TlsFailure
            | O::AddressRefused
            | O::ProxyFailure => Self::Unreachable,
            _ => Self::Failed,
        }
    }

    /// The transitions of 003 §4.2, and those that a shorter path, a retry or a resumed run bring.
    pub fn may_become(self, next: Self) -> bool {
        use TerrainState as S;
        match self {
            S::Discovered => matches!(
                next,
                S::Blacklisted | S::Stubbed | S::Queued | S::DepthExceeded | S::Failed
            ),
            S::Queued => matches!(
                next,
                S::Queued
                    | S::DepthExceeded
                    | S::RequestLimitHit
                    | S::RateLimited
                    | S::Fetching
                    | S::Failed
            ),
            S::Fetching => matches!(
                next,
                S::Queued
                    | S::DeadLink
                    | S::Unreachable
                    | S::RateLimited
                    | S::Failed
                    | S::Processed
                    | S::ContentMismatch
            ),
            // A shorter path was found.
            S::DepthExceeded => matches!(next, S::Queued | S::DepthExceeded),
            _ => false,
        }
    }
}

/// How a run of a map stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Running,
    Completed,
    Interrupted,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    pub id: CrawlId,
    pub started_at: UnixMillis,
    pub finished_at: Option<UnixMillis>,
    pub status: RunStatus,
    pub config_hash: String,
}

/// One domain of a run: what it is and how it was treated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TerrainDomain {
    /// Without `www.` and port.
    pub name: String,
    pub class: DomainClass,
    /// The quality entry it belongs to, by its place in the configuration.
    pub origin: Option<u16>,
    pub requests: u64,
    pub rate_limited: bool,
}

/// One page as a run left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TerrainPage {
    pub id: PageId,
    /// Normalised.
    pub url: String,
    pub domain: String,
    pub class: DomainClass,
    pub state: TerrainState,
    /// Least distance from any quality domain.
    pub depth: u32,
    pub title: Option<String>,
    pub status_code: Option<u16>,
    pub content_type: Option<String>,
    pub last_modified: Option<String>,
    pub visited_at: Option<UnixMillis>,
    pub discovered_at: UnixMillis,
    pub first_run: CrawlId,
    pub last_run: CrawlId,
    pub reason: Option<ReasonCode>,
    pub outcome: Option<OutcomeKind>,
    pub error: Option<String>,
    pub retry_count: u32,
}

/// One edge with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TerrainEdge {
    pub from: PageId,
    pub to: PageId,
    pub kind: LinkKind,
    pub rel: LinkRel,
    pub place: Place,
    /// 0 for the first link of the page.
    pub position: u32,
    pub anchor: String,
    pub first_run: CrawlId,
    pub last_run: CrawlId,
}

#[cfg(test)]
mod tests {
    use super::TerrainState as S;

    #[test]
    fn every_state_is_read_back_from_its_name() {
        for state in S::ALL {
            assert_eq!(S::from_stored(state.as_str()), Some(*state));
        }
    }

    #[test]
    fn transitions_are_those_of_the_document() {
        for (from, to) in [
            (S::Discovered, S::Blacklisted),
            (S::Discovered, S::Stubbed),
            (S::Discovered, S::Queued),
            (S::Queued, S::DepthExceeded),
            (S::Queued, S::RequestLimitHit),
            (S::Queued, S::Fetching),
            (S::Fetching, S::DeadLink),
            (S::Fetching, S::Unreachable),
            (S::Fetching, S::RateLimited),
            (S::Fetching, S::Failed),
            (S::Fetching, S::Processed),
            // A shorter path was found, or an attempt is to be repeated.
            (S::DepthExceeded, S::Queued),
            (S::Fetching, S::Queued),
        ] {
            assert!(from.may_become(to), "{from:?} to {to:?}");
        }
    }

    #[test]
    fn ends_are_ends() {
        let ends = [
            S::Processed,
            S::Blacklisted,
            S::Stubbed,
            S::DeadLink,
            S::Unreachable,
            S::RateLimited,
            S::Failed,
            S::RequestLimitHit,
            S::ContentMismatch,
        ];
        for from in ends {
            for to in S::ALL {
                assert!(!from.may_become(*to), "{from:?} to {to:?}");
            }
        }
        assert!(
            !S::Queued.may_become(S::Processed),
            "nothing is read unasked"
        );
        assert!(!S::Blacklisted.may_become(S::Fetching));
    }
}
