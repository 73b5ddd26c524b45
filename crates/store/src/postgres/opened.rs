//! Crawls that this process writes. One that has ended stays for a while: answers that were under way
//! when it was cancelled are still committed.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::FxHashMap;
use trawl_types::CrawlId;

use super::commit::OpenCrawl;

/// Crawls that have ended and are remembered.
const ENDED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Opened {
    crawls: FxHashMap<CrawlId, Arc<OpenCrawl>>,
    /// The latest last.
    ended: VecDeque<CrawlId>,
}

impl Opened {
    pub(super) fn get(&self, crawl: CrawlId) -> Option<Arc<OpenCrawl>> {
        self.crawls.get(&crawl).cloned()
    }

    pub(super) fn insert(&mut self, crawl: CrawlId, open: Arc<OpenCrawl>) {
        self.ended.retain(|ended| *ended != crawl);
        self.crawls.insert(crawl, open);
    }

    /// Only stragglers write it from now on.
    pub(super) fn end(&mut self, crawl: CrawlId) {
        if !self.crawls.contains_key(&crawl) || self.ended.contains(&crawl) {
            return;
        }
        self.ended.push_back(crawl);
        if self.ended.len() > ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.crawls.remove(&oldest);
        }
    }

    /// There is nothing left that could be written.
    pub(super) fn remove(&mut self, crawl: CrawlId) {
        self.ended.retain(|ended| *ended != crawl);
        self.crawls.remove(&crawl);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::web::breadth;

    fn open() -> Arc<OpenCrawl> {
        OpenCrawl::new(breadth(), false, 0).unwrap()
    }

    #[test]
    fn of_crawls_that_have_ended_the_latest_are_remembered() {
        let mut opened = Opened::default();
        let crawls = 0..200_i64;
        for crawl in crawls.clone().map(CrawlId) {
            opened.insert(crawl, open());
            opened.end(crawl);
            opened.end(crawl);
            assert!(opened.get(crawl).is_some(), "{crawl}");
        }
        let left = crawls.map(CrawlId).filter(|c| opened.get(*c).is_some());
        assert_eq!(left.count(), ENDED);
    }

    #[test]
    fn a_crawl_that_goes_on_is_not_forgotten_with_those_that_ended() {
        let mut opened = Opened::default();
        opened.insert(CrawlId(0), open());
        opened.end(CrawlId(0));
        opened.insert(CrawlId(0), open());
        for crawl in (1..200).map(CrawlId) {
            opened.insert(crawl, open());
            opened.end(crawl);
        }
        assert!(opened.get(CrawlId(0)).is_some());
        opened.remove(CrawlId(0));
        assert!(opened.get(CrawlId(0)).is_none());
    }
}
