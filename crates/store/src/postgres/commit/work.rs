//! A batch under way, and what a process remembers between batches. What it remembers may be older than
//! what other processes have written since: numbers of pages never change, depths only fall, and whoever
//! wants to change a row looks at it first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{CrawlId, HostId, PageId, Reason, ReasonCode, UrlKey, spec::Order};

use super::routed::Pending;
use crate::{
    contract::{
        StoreError,
        read::CrawlCounts,
        write::{CommitBatch, CommitReport, HostUpdate, NewLink, WriteRules},
    },
    shared::{codes, recent::Recent},
};

/// A crawl that this process writes.
#[derive(Debug)]
pub(in crate::postgres) struct OpenCrawl {
    rules: Mutex<WriteRules>,
    pub(super) order: Order,
    pub(super) max_depth: Option<u32>,
    pub(super) max_pages: Option<u64>,
    /// Earlier crawls may have seen the same pages.
    pub(super) has_elders: bool,
    /// As `crawls.keeps`.
    pub(super) keeps: i16,
}

impl OpenCrawl {
    pub(in crate::postgres) fn new(
        rules: WriteRules,
        has_elders: bool,
        keeps: i16,
    ) -> Result<Arc<Self>, StoreError> {
        if rules.terrain.is_some() {
            return Err(StoreError::Database(
                "terrain maps are kept in SQLite files: give the map a file of its own".into(),
            ));
        }
        Ok(Arc::new(Self {
            order: rules.order,
            max_depth: rules.max_depth,
            max_pages: rules.max_pages,
            rules: Mutex::new(rules),
            has_elders,
            keeps,
        }))
    }

    pub(in crate::postgres) fn has_elders(&self) -> bool {
        self.has_elders
    }

    pub(in crate::postgres) fn max_pages(&self) -> Option<u64> {
        self.max_pages
    }

    fn rules(&self) -> MutexGuard<'_, WriteRules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_within(&self, depth: u32) -> bool {
        self.max_depth.is_none_or(|max| depth <= max)
    }

    pub(super) fn judge_depth(&self, depth: u32) -> Result<(), Reason> {
        match self.max_depth {
            Some(max) if depth > max => Err(Reason::new(
                ReasonCode::TooDeep,
                format!("depth {depth}, limit {max}"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn rank(&self, depth: u32, score: u8, moment: i64) -> i64 {
        codes::rank(self.order, depth, score, moment)
    }
}

/// What is known of a page in a crawl without asking. The depth is an upper bound.
#[derive(Debug, Clone, Copy)]
pub(in crate::postgres) struct KnownPage {
    pub(super) page: PageId,
    pub(super) depth: u32,
    /// Refused for a reason that another link may lift.
    pub(super) reconsider: bool,
}

/// What a process remembers between commits. Bounded.
#[derive(Debug)]
pub(in crate::postgres) struct Memory {
    pub(super) pages: Recent<(CrawlId, UrlKey), KnownPage>,
    /// Upper bounds of depths, for paths that lead on from pages whose links are stored.
    pub(super) depths: Recent<(CrawlId, PageId), u32>,
    pub(super) hosts: Recent<HostId, ()>,
    /// Hosts that a crawl already has in `crawl_hosts`.
    pub(super) crawl_hosts: Recent<(CrawlId, HostId), ()>,
    /// `crawls.cleared` when pages were last remembered.
    cleared: Recent<CrawlId, i64>,
}

/// Seven eighths of a power of two: hash tables are filled before they double.
const PAGES: usize = 7 << 14;
const HOSTS: usize = 7 << 11;

impl Memory {
    pub(in crate::postgres) fn new() -> Self {
        Self {
            pages: Recent::new(PAGES),
            depths: Recent::new(PAGES),
            hosts: Recent::new(HOSTS),
            crawl_hosts: Recent::new(HOSTS),
            cleared: Recent::new(HOSTS),
        }
    }

    /// Hosts may have been removed while nothing ran.
    pub(in crate::postgres) fn forget_hosts(&mut self) {
        self.hosts.clear();
    }

    /// Rows of a crawl were removed so many times. What is remembered from before may be wrong.
    pub(super) fn is_cleared(&mut self, crawl: CrawlId, times: i64) {
        let before = self.cleared.get(&crawl);
        if before == Some(times) {
            return;
        }
        if before.is_some() || times > 0 {
            self.pages.clear();
            self.depths.clear();
        }
        self.cleared.insert(crawl, times);
    }
}

/// A batch under way.
#[derive(Debug)]
pub(in crate::postgres) struct Work {
    pub(super) open: Arc<OpenCrawl>,
    pub(super) batch: CommitBatch,
    /// Of this commit.
    pub(super) number: i64,
    /// Of the crawl's log, when the batch was looked at.
    pub(super) last_seq: i64,
    /// Its pages, if they were looked up with the links.
    pub(super) pending: Option<FxHashMap<PageId, Pending>>,
    /// What admission said, so that it is asked once however often a transaction is tried.
    admitted: FxHashMap<UrlKey, Result<(), Reason>>,
    /// Every page that the batch links to.
    pub(super) known: FxHashMap<UrlKey, KnownPage>,
    pub(super) report: CommitReport,
    /// Hosts that the report must introduce.
    pub(super) new_hosts: Vec<HostId>,
    /// Hosts with pages that this commit has lifted, in whichever attempt.
    pub(super) to_wake: Vec<i64>,
    pub(super) lessons: Lessons,
    /// What was foreseen of it has not come true.
    pub(super) was_overtaken: bool,
    /// The crawl in numbers as the ends have left it, and the last number of its log.
    pub(super) figures: Option<(CrawlCounts, i64)>,
}

/// What memory may be told once the ends are durable, and the links with them. A server that loses its
/// memory before that has lost the links, and they must be recorded again.
#[derive(Debug, Default)]
pub(super) struct Lessons {
    pub(super) pages: Vec<(UrlKey, KnownPage)>,
    pub(super) hosts: FxHashSet<HostId>,
}

/// Where a link of a batch stands: which settlement (nothing for seeds), and which of its links.
pub(super) type Place = (Option<usize>, usize);

impl Work {
    pub(in crate::postgres) fn new(open: Arc<OpenCrawl>, batch: CommitBatch) -> Self {
        Self {
            open,
            batch,
            number: 0,
            last_seq: 0,
            pending: None,
            admitted: FxHashMap::default(),
            known: FxHashMap::default(),
            report: CommitReport::default(),
            new_hosts: Vec::new(),
            to_wake: Vec::new(),
            lessons: Lessons::default(),
            was_overtaken: false,
            figures: None,
        }
    }

    /// The crawl has got its number only now.
    pub(in crate::postgres) fn is_of(&mut self, crawl: CrawlId, number: i64) {
        self.batch.crawl = crawl;
        self.number = number;
    }

    pub(super) fn has_links(&self) -> bool {
        !self.batch.seeds.is_empty() || self.batch.settlements.iter().any(|s| !s.links.is_empty())
    }

    /// Ends will be written after the links, and bring them to the disk.
    pub(super) fn has_ends(&self) -> bool {
        !self.batch.settlements.is_empty() || !self.batch.hosts.is_empty()
    }

    /// All that is news is what politeness must remember of hosts, whatever the crawl.
    pub(super) fn is_about_hosts(&self) -> bool {
        let counts = |host: &HostUpdate| host.requests > 0 || host.suspended.is_some();
        self.batch.settlements.is_empty() && !self.batch.hosts.iter().any(counts)
    }

    pub(super) fn link(&self, place: Place) -> &NewLink {
        match place.0 {
            Some(settlement) => &self.batch.settlements[settlement].links[place.1],
            None => &self.batch.seeds[place.1],
        }
    }

    /// What the rules that count say of a URL that is new to them.
    pub(super) fn admit(&mut self, place: Place) -> Result<(), Reason> {
        let key = self.link(place).target.key;
        if let Some(said) = self.admitted.get(&key) {
            return said.clone();
        }
        let target = &self.link(place).target;
        let said = self.open.rules().admission.admit(target);
        self.admitted.insert(key, said.clone());
        said
    }
}

/// Depth over a link; the last one there is stays the last.
pub(super) fn depth_over(depth: u32, link: &NewLink) -> u32 {
    depth.saturating_add(link.depth_step())
}

/// What is stored of a reason besides its code.
pub(super) fn detail(reason: &Reason) -> Option<&String> {
    (!reason.detail.is_empty()).then_some(&reason.detail)
}
