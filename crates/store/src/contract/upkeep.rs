//! Looking after a store: what is old goes, figures are rolled up, counted anew and added up. Nothing of
//! a crawl under way is touched, but for those that never complete.

use std::str::FromStr;

use async_trait::async_trait;
use serde::Serialize;
use trawl_types::{CrawlId, CrawlState, OutcomeKind, Sequence, UnixMillis};

use super::{
    StoreError,
    overview::{Overview, Purge, Purged},
    read::CrawlCounts,
    write::Digest,
};

/// Kinds of data that grow old, by the names that settings have for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ageing {
    /// Visits: what was seen of a page.
    Visits,
    /// Visits that ended in vain.
    Failures,
    /// Visits of pages that a later crawl has visited again.
    Versions,
    /// Bodies and content; what is known of the visits stays.
    Bodies,
    /// URLs that a crawl left pending or refused when it ended.
    Queue,
    /// Figures of minutes, which become figures of hours.
    Minutes,
    /// Figures of hours, which become figures of days.
    Hours,
    /// Answers to robots.txt, which are asked for again when they are needed.
    Robots,
    /// Addresses, hosts and lists of links that nothing refers to any more. Only hosts have an age: it
    /// counts from when they were last asked.
    Unused,
}

impl Ageing {
    /// In the order in which they are cleaned up: what goes wholly goes first.
    pub const ALL: [Self; 9] = [
        Self::Visits,
        Self::Failures,
        Self::Versions,
        Self::Bodies,
        Self::Queue,
        Self::Minutes,
        Self::Hours,
        Self::Robots,
        Self::Unused,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Visits => "visits",
            Self::Failures => "failures",
            Self::Versions => "versions",
            Self::Bodies => "bodies",
            Self::Queue => "queue",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Robots => "robots",
            Self::Unused => "unused",
        }
    }

    /// The visits to be forgotten, for kinds that are visits.
    fn purge(self, old: Cutoff, dry_run: bool) -> Option<Purge> {
        let purge = Purge {
            before: Some(old.before),
            archived: old.archived,
            dry_run,
            ..Purge::default()
        };
        match self {
            Self::Visits => Some(purge),
            Self::Failures => {
                let failed = OutcomeKind::ALL.iter().copied();
                let outcomes = failed.filter(|kind| kind.is_error()).collect();
                Some(Purge { outcomes, ..purge })
            }
            Self::Versions => Some(Purge {
                superseded: true,
                ..purge
            }),
            _ => None,
        }
    }
}

impl FromStr for Ageing {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = Self::ALL.into_iter();
        all.into_iter().find(|kind| kind.as_str() == text).ok_or(())
    }
}

/// What is old enough to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoff {
    pub before: UnixMillis,
    /// Visits, and what was kept of them, only if they have been archived.
    pub archived: bool,
}

impl From<UnixMillis> for Cutoff {
    fn from(before: UnixMillis) -> Self {
        Self {
            before,
            archived: false,
        }
    }
}

/// What is kept, and for how long.
#[derive(Debug, Clone, Default)]
pub struct Keeping {
    /// Days for which each kind is kept; 0 for ever.
    pub ages: Vec<(Ageing, u32)>,
    /// Visits, and what was kept of them, stay until they have been archived.
    pub archived_first: bool,
}

/// What became of one kind of data, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cleaned {
    pub rows: u64,
    /// As far as they are known: of pages as they were read, or of records.
    pub bytes: u64,
}

impl From<Purged> for Cleaned {
    fn from(purged: Purged) -> Self {
        Self {
            rows: purged.visits,
            bytes: purged.bytes,
        }
    }
}

/// How much of what there is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Storage {
    /// Largest first.
    pub tables: Vec<TableSize>,
    /// Files of bodies beside the database, where they lie there.
    pub body_files: u64,
    pub body_file_bytes: u64,
    /// Of the database itself, with what is free in it.
    pub database_bytes: u64,
    pub free_bytes: u64,
    pub crawls: Vec<CrawlSize>,
    /// Those from which most was read, most first.
    pub hosts: Vec<HostSize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSize {
    pub name: String,
    pub rows: u64,
    /// With indexes.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CrawlSize {
    pub crawl: CrawlId,
    pub name: String,
    pub state: CrawlState,
    pub results: u64,
    /// Of bodies and content that its results refer to.
    pub stored_bytes: u64,
    pub read_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSize {
    pub host: String,
    pub pages: u64,
    pub read_bytes: u64,
}

/// A figure of a crawl that its rows deny.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Miscount {
    pub figure: String,
    pub said: u64,
    pub counted: u64,
}

#[async_trait]
pub trait Upkeep: Send + Sync + std::fmt::Debug {
    /// Kinds that are no visits: see [`clean`].
    async fn clean_rows(
        &self,
        what: Ageing,
        old: Cutoff,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError>;
    /// The number of its log up to which all of a crawl has been archived.
    async fn archived(&self, crawl: CrawlId) -> Result<Sequence, StoreError>;
    /// All of a crawl up to this number has been archived. Never takes anything back.
    async fn note_archived(&self, crawl: CrawlId, through: Sequence) -> Result<(), StoreError>;
    /// Reads whole tables.
    async fn storage(&self, hosts: u32) -> Result<Storage, StoreError>;
    /// A crawl in numbers, counted row by row: pages, results, refusals, hosts and copies. Figures that
    /// only commits know (edges, bytes, near-duplicates) are as they are said to be.
    async fn recount(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError>;
    /// What is said of a crawl becomes what is counted. The crawl must have ended.
    async fn repair_counts(&self, crawl: CrawlId) -> Result<(), StoreError>;
    /// The answer of a visit as it was kept: see [`segment::split_answer`](crate::segment::split_answer).
    async fn answer(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError>;
    /// A visit gets other content: it is written to the end of the log once more, with it. The crawl
    /// must have ended. Nothing if the visit is not the page's newest.
    async fn revise(
        &self,
        crawl: CrawlId,
        seq: Sequence,
        digest: Digest,
        now: UnixMillis,
    ) -> Result<Option<Sequence>, StoreError>;
}

/// Removes what is older, or only counts it.
pub async fn clean<S: Upkeep + Overview + ?Sized>(
    store: &S,
    what: Ageing,
    old: impl Into<Cutoff> + Send,
    dry_run: bool,
) -> Result<Cleaned, StoreError> {
    let old = old.into();
    match what.purge(old, dry_run) {
        Some(purge) => Ok(store.purge(purge).await?.into()),
        None => store.clean_rows(what, old, dry_run).await,
    }
}

/// Removes what is older than it is kept, kind by kind, and then the files that nothing refers to any
/// more.
pub async fn clean_up<S: Upkeep + Overview + ?Sized>(
    store: &S,
    keeping: &Keeping,
    now: UnixMillis,
    dry_run: bool,
) -> Result<Vec<(Ageing, Cleaned)>, StoreError> {
    let mut done = Vec::new();
    for (what, days) in keeping.ages.iter().filter(|(_, days)| *days > 0) {
        let old = Cutoff {
            before: UnixMillis(now.0 - i64::from(*days) * 86_400_000),
            archived: keeping.archived_first,
        };
        done.push((*what, clean(store, *what, old, dry_run).await?));
    }
    if !dry_run {
        store.sweep().await?;
    }
    Ok(done)
}

/// Figures in which two counts differ.
pub fn miscounts(said: &CrawlCounts, counted: &CrawlCounts) -> Vec<Miscount> {
    let mut wrong = Vec::new();
    let mut compare = |figure: &str, said: u64, counted: u64| {
        if said != counted {
            let figure = figure.to_owned();
            wrong.push(Miscount {
                figure,
                said,
                counted,
            });
        }
    };
    compare("discovered", said.discovered, counted.discovered);
    compare("pending", said.pending, counted.pending);
    compare("done", said.done, counted.done);
    compare("refused", said.refused, counted.refused);
    compare("hosts", said.hosts, counted.hosts);
    compare("pages", said.pages, counted.pages);
    compare("duplicates", said.duplicates, counted.duplicates);
    for kind in OutcomeKind::ALL {
        let of = |counts: &CrawlCounts| counts.outcomes.get(kind).copied().unwrap_or(0);
        compare(kind.as_str(), of(said), of(counted));
    }
    for reason in trawl_types::ReasonCode::ALL {
        let of = |counts: &CrawlCounts| counts.reasons.get(reason).copied().unwrap_or(0);
        compare(reason.as_str(), of(said), of(counted));
    }
    wrong
}

/// Milliseconds of a bucket that figures are rolled up to.
pub(crate) const HOUR_MINUTES: i64 = 60;
pub(crate) const DAY_MINUTES: i64 = 24 * 60;

/// Whole buckets before a moment, in minutes since 1970.
pub(crate) fn whole_buckets(before: UnixMillis, width: i64) -> i64 {
    before.0.div_euclid(60_000 * width) * width
}
