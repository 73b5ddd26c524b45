//! Bounded memory in front of the tables. Only the writer fills it, and forgets all of it when a
//! transaction is rolled back, so that it never claims what the file does not hold.

use std::{borrow::Borrow, hash::Hash};

use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, HostId, PageId, UrlKey};

/// A map of two generations: when the young one is full, the old one is forgotten. What is used
/// moves back among the young, so hot entries stay.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    young: FxHashMap<K, V>,
    old: FxHashMap<K, V>,
    limit: usize,
}

impl<K: Hash + Eq, V: Copy> Recent<K, V> {
    /// Holds between `limit` and twice as many entries once it is warm.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            limit,
        }
    }

    pub(crate) fn get<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if let Some(value) = self.young.get(key) {
            return Some(*value);
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.insert(key, value);
        Some(value)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.limit {
            // The tables change places, so that their memory is used again.
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert(key, value);
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

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
        }
    }

    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.hosts.clear();
        self.crawl_hosts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_what_is_not_goes() {
        let mut recent = Recent::new(4);
        recent.insert(0, 0);
        for n in 1..40 {
            recent.insert(n, n);
            assert_eq!(recent.get(&0), Some(0));
        }
        assert_eq!(recent.get(&1), None);
        assert!(recent.young.len() + recent.old.len() <= 8);
    }
}
