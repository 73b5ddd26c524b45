//! One lease to one settlement. Runs beside the dispatcher, owns nothing but its lease, and never
//! fails: whatever happens is an outcome.
//!
//! * `answer`: what a status and a content type mean
//! * `redirect`: where a redirect may lead
//! * `links`: a page's links as the store takes them
//! * `listed`: links of documents and sitemaps
//! * `rooted`: links spelled so that they mean the same on every page of an origin
//! * `memory`: where links lead, remembered
//! * `read`: a body read through
//! * `page`: the visit of a page
//! * `conclude`: what follows from it
//! * `digest`: what a page or document means, found out when the host has its lease back
//! * `robots`: the visit of robots.txt
//! * `heard`: what other processes know of robots.txt

mod answer;
mod conclude;
mod digest;
pub(crate) mod heard;
mod links;
mod listed;
mod memory;
mod page;
mod read;
mod redirect;
mod robots;
mod rooted;

use std::sync::Arc;

use trawl_frontier::{LeaseId, Report};
use trawl_store::{Store, contract::write::Settlement};
use trawl_types::{CrawlUrl, HostId};

use crate::task::PageTask;

pub(crate) use answer::Others;
pub use digest::redigest;
pub(crate) use digest::{Raw, digest};
pub(crate) use links::{Parent, known_links};
pub(crate) use memory::LinkMemory;
pub(crate) use page::visit_page;
pub(crate) use robots::{RobotsEnd, RobotsResult, visit_robots};

/// Asked right before a request is sent: a host that is on loan may be somebody else's by then.
#[derive(Debug, Clone)]
pub(crate) struct Permit {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) host: HostId,
    pub(crate) delay_ms: u64,
}

impl Permit {
    pub(crate) fn holds(&self) -> bool {
        let loans = self.store.loans();
        loans.is_none_or(|loans| loans.may_ask(self.host, self.delay_ms))
    }
}

/// What a visit tells the dispatcher.
#[derive(Debug)]
pub(crate) enum Said {
    /// The answer has begun: the server has seen the request.
    Answered(LeaseId),
    Finished(Box<Finished>),
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) lease: LeaseId,
    pub(crate) report: Report,
    pub(crate) step: Step,
}

/// What follows from a finished lease.
#[derive(Debug)]
pub(crate) enum Step {
    Settled {
        task: Box<PageTask>,
        settlement: Box<Settlement>,
        /// What more is to be made of it before it is committed.
        raw: Option<Box<Raw>>,
    },
    /// The same page, at another address or with another method.
    CarryOn {
        task: Box<PageTask>,
        url: Box<CrawlUrl>,
    },
    Robots(RobotsEnd),
}
