//! Whose crawls are: jobs know it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rustc_hash::FxHashMap;
use trawl_search::{SearchError, follow::Owners};
use trawl_store::contract::{jobs::JobFilter, read::CrawlRow, server::ServerStore};
use trawl_types::{CrawlId, UnixMillis};

/// Jobs that are looked at in one go.
const PAGE: u32 = 200;

/// Owners by number and beginning of crawls; nothing for crawls that have none.
type Known = FxHashMap<(CrawlId, UnixMillis), Option<String>>;

/// Remembers what it has once found out. Numbers of crawls may come back, beginnings do not.
#[derive(Debug)]
pub struct JobOwners {
    store: Arc<dyn ServerStore>,
    known: Mutex<Known>,
}

impl JobOwners {
    pub fn new(store: Arc<dyn ServerStore>) -> Self {
        Self {
            store,
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unknown(&self, crawls: &[CrawlRow]) -> Vec<(CrawlId, UnixMillis)> {
        let known = self.known();
        let keys = crawls.iter().map(|row| (row.id, row.started_at));
        keys.filter(|key| !known.contains_key(key)).collect()
    }

    /// New crawls have new jobs, so the newest are looked at first.
    async fn look_up(&self, crawls: &[CrawlRow]) -> Result<(), SearchError> {
        let mut offset = 0;
        while !self.unknown(crawls).is_empty() {
            let filter = JobFilter {
                limit: PAGE,
                offset,
                ..JobFilter::default()
            };
            let (rows, _) = self.store.jobs(filter).await?;
            offset += rows.len() as u32;
            let last = rows.is_empty();
            let mut known = self.known();
            for row in rows {
                let key = (row.crawl.id, row.crawl.started_at);
                known.insert(key, Some(row.owner));
            }
            drop(known);
            if last {
                for key in self.unknown(crawls) {
                    // A crawl without a job: from the command line.
                    self.known().insert(key, None);
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Owners for JobOwners {
    async fn owners(&self, crawls: &[CrawlRow]) -> Result<FxHashMap<CrawlId, String>, SearchError> {
        self.look_up(crawls).await?;
        let known = self.known();
        let owner = |row: &CrawlRow| {
            let owner = known.get(&(row.id, row.started_at))?.clone()?;
            Some((row.id, owner))
        };
        Ok(crawls.iter().filter_map(owner).collect())
    }
}
