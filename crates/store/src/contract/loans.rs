//! Hosts on loan: how several processes crawl from one store without a host being asked by two of
//! them at once. A process borrows a host, asks it alone for as long as the loan lasts, and gives
//! it back with the time before which nobody may ask it again. The store renews loans by itself;
//! one that ended is fenced: what its borrower settles afterwards is not written.
//!
//! A store that one process has to itself makes no loans.

use async_trait::async_trait;
use trawl_types::{CrawlId, HostId, UnixMillis};

use super::{StoreError, read::StoredHost};

/// A host on loan, as one crawl with pending URLs there sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoanedHost {
    pub crawl: CrawlId,
    pub host: StoredHost,
}

/// A host that is given back. Where one of the crawls still has pending URLs there, perhaps found
/// by somebody else meanwhile, it can be borrowed again after the wait; otherwise it rests until
/// something new is found for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnedHost {
    pub host: HostId,
    /// Nobody may ask it for this long.
    pub wait_ms: u64,
    /// Crawls that ask nothing more of it, whatever is pending there: its budget is used up or it
    /// was given up. It is not lent for them again, and they can be complete without it.
    pub closed: Vec<CrawlId>,
}

#[async_trait]
pub trait HostLoans: Send + Sync + std::fmt::Debug {
    /// Borrows up to `most` hosts that may be asked now and that nobody else holds. One entry for
    /// each of these crawls that has pending URLs there; a host without any is not lent.
    async fn borrow_hosts(
        &self,
        crawls: &[CrawlId],
        most: u32,
    ) -> Result<Vec<LoanedHost>, StoreError>;

    /// The same for a crawl that has waited long enough: only hosts with pending URLs of it are
    /// looked at, some of them, and none that was ready before comes first.
    async fn borrow_hosts_of(
        &self,
        needy: CrawlId,
        crawls: &[CrawlId],
        most: u32,
    ) -> Result<Vec<LoanedHost>, StoreError>;

    /// Borrows one host, made known to the store if it is not; nothing while another holds it. A
    /// host that is on loan here already is given at once. `next_allowed` says when it may be asked.
    async fn borrow_host(
        &self,
        crawl: CrawlId,
        name: &str,
    ) -> Result<Option<StoredHost>, StoreError>;

    /// Whether a request to a host may begin now: the loan is sure to last longer than the delay
    /// that must follow the request. Judged by whichever clock of this machine says that more time
    /// has passed: one stops while it sleeps, the other may be set. Never waits.
    fn may_ask(&self, host: HostId, delay_ms: u64) -> bool;

    /// Loans that another process has taken over since this was last asked. Never waits.
    fn lost(&self) -> Vec<HostId>;

    /// Crawls that are to be worked on.
    async fn running_crawls(&self) -> Result<Vec<CrawlId>, StoreError>;

    async fn give_back(&self, hosts: Vec<ReturnedHost>) -> Result<(), StoreError>;

    /// Calls a running crawl completed if nothing of it is pending on any host that is not closed to
    /// it, or its budget of pages is used up. False if there is something left, and also if it is not running any more.
    async fn complete(
        &self,
        crawl: CrawlId,
        why: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError>;
}
