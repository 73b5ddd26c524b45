//! Bounded memory in front of the tables. Only the writer fills it, and forgets all of it when a
//! transaction is rolled back, so that it never claims what the file does not hold.

use trawl_types::{CrawlId, HostId, PageId, UrlKey};

use crate::shared::recent::Recent;

/// What the writer knows of a page in a crawl without asking the file. The depth is an upper
/// bound: a path found elsewhere may have lowered it since. Whoever finds a shorter one looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownPage {
    pub(crate) page: PageId,
    pub(crate) depth: u32,
    /// Refused for a reason that another link may lift.
    pub(crate) reconsider: bool,
}

/// Everything the writer remembers between commits.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) pages: Recent<(CrawlId, UrlKey), KnownPage>,
    pub(crate) hosts: Recent<Box<str>, HostId>,
    /// Hosts that a crawl already has in `crawl_hosts`.
    pub(crate) crawl_hosts: Recent<(CrawlId, HostId), ()>,
    /// How often everything was forgotten: what others heard of it no longer holds.
    pub(crate) number: u64,
}

/// Seven eighths of a power of two: hash tables are filled before they double.
const PAGES: usize = 7 << 14;
const HOSTS: usize = 7 << 11;

impl Memory {
    pub(crate) fn new() -> Self {
        Self {
            pages: Recent::new(PAGES),
            hosts: Recent::new(HOSTS),
            crawl_hosts: Recent::new(HOSTS),
            number: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.hosts.clear();
        self.crawl_hosts.clear();
        self.number += 1;
    }
}
