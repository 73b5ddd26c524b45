//! The right to contact a host once, and what is said when it is given back.

use trawl_types::{CrawlId, HostId, Scheme};

use crate::{Moment, Queued};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(pub(crate) u64);

/// One request that may be made now. It must be given back by `Frontier::settle`.
#[derive(Debug)]
pub struct Lease<T> {
    pub id: LeaseId,
    pub crawl: CrawlId,
    pub host: HostId,
    /// The host's budget of requests has no room for this one: it must be given back unused. Only
    /// the next step of a visit that has begun comes out so.
    pub over_budget: bool,
    pub work: Work<T>,
}

#[derive(Debug)]
pub enum Work<T> {
    /// Visit a page.
    Page(Queued<T>),
    /// Read robots.txt of the host under this scheme, before any page of it.
    Robots(Scheme),
    /// Something asked for by `Frontier::add_errand`: a further hop of robots.txt, a sitemap.
    Errand(T),
}

/// What the answer says about the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Well,
    Failing,
    /// No request was made, or it says nothing about the host.
    Unknown,
}

/// How a lease ended, as far as the schedule is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// False if the host was not asked after all; its clock then stays as it was.
    pub contacted: bool,
    pub health: Health,
    /// Ask the host nothing for this long (Retry-After, back-off).
    pub wait_ms: Option<u64>,
    /// The page counts towards the budgets.
    pub counts_as_page: bool,
    /// Give the host up for this crawl.
    pub suspend: Option<Suspend>,
}

/// Why a host is given up before it has failed too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspend {
    /// It said that there were too many requests.
    RateLimited,
    /// It asked for a longer wait than the crawl is willing to keep.
    LongWait,
}

impl Report {
    /// A good answer.
    pub fn well(counts_as_page: bool) -> Self {
        Self {
            contacted: true,
            health: Health::Well,
            wait_ms: None,
            counts_as_page,
            suspend: None,
        }
    }

    /// Nobody was asked.
    pub fn untouched() -> Self {
        Self {
            contacted: false,
            health: Health::Unknown,
            wait_ms: None,
            counts_as_page: false,
            suspend: None,
        }
    }
}

/// What the frontier remembers of a lease while it is out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaseRecord {
    pub(crate) crawl: CrawlId,
    pub(crate) host: HostId,
    /// Whose page is visited, if it is a page.
    pub(crate) home: Option<HostId>,
    pub(crate) sent: Moment,
    pub(crate) answered: bool,
}
