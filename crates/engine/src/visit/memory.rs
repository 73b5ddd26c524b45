//! Where links lead, remembered: the navigation of a site stands on each of its pages, so most
//! links were normalised, judged and scored before. Bounded, shared by all visits of a crawl.
//!
//! Only what depends on nothing but the link's text and the page's origin is remembered; whatever
//! else matters (nofollow, keywords) bypasses it.

use std::{
    hash::Hasher,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};
use trawl_store::contract::target::LinkTarget;
use trawl_types::KeySecret;

const SHARDS: usize = 4;
/// Links of a generation, of whatever shard, so that one large site may have all of it: two make about
/// 10 MB.
const GENERATION: usize = 7 << 12;

/// A keyed hash of origin and link, so wide that nothing else need be compared.
pub(crate) type Key = u128;
/// Where a link leads; `None` if it is no web address.
pub(crate) type Known = Option<LinkTarget>;

/// Two generations: what is still in use moves to the young one before the old one goes.
#[derive(Debug, Default)]
struct Shard {
    generation: usize,
    young: FxHashMap<Key, Known>,
    old: FxHashMap<Key, Known>,
}

#[derive(Debug)]
pub(crate) struct LinkMemory {
    secret: KeySecret,
    /// Links that went into a young generation so far.
    learned: AtomicUsize,
    shards: [Mutex<Shard>; SHARDS],
}

/// The memory as the links of one origin see it.
#[derive(Debug)]
pub(crate) struct OfOrigin<'m> {
    learned: &'m AtomicUsize,
    shard: &'m Mutex<Shard>,
    hasher: SipHasher13,
}

impl LinkMemory {
    pub(crate) fn new(secret: KeySecret) -> Self {
        Self {
            secret,
            learned: AtomicUsize::new(0),
            shards: Default::default(),
        }
    }

    pub(crate) fn of_origin(&self, origin: &str) -> OfOrigin<'_> {
        let mut hasher = SipHasher13::new_with_key(&self.secret.0);
        hasher.write(origin.as_bytes());
        // Neither part of an origin nor of a link: the two cannot be mistaken for each other.
        hasher.write_u8(b'\n');
        OfOrigin {
            learned: &self.learned,
            shard: &self.shards[hasher.finish128().as_u128() as usize % SHARDS],
            hasher,
        }
    }
}

impl OfOrigin<'_> {
    pub(crate) fn key(&self, href: &str) -> Key {
        let mut hasher = self.hasher;
        hasher.write(href.as_bytes());
        hasher.finish128().as_u128()
    }

    /// What is remembered of links, all of a page at once: the lock is taken once, and waits for
    /// memory overlap.
    pub(crate) fn recall(&self, links: &[Option<Key>]) -> Vec<Option<Known>> {
        let mut shard = self.locked();
        let mut moved = 0;
        let mut recall = |key: &Option<Key>| shard.get((*key)?, &mut moved);
        let known = links.iter().map(&mut recall).collect();
        self.learned.fetch_add(moved, Ordering::Relaxed);
        known
    }

    pub(crate) fn learn(&self, news: Vec<(Key, Known)>) {
        if news.is_empty() {
            return;
        }
        self.learned.fetch_add(news.len(), Ordering::Relaxed);
        self.locked().young.extend(news);
    }

    /// A poisoned shard is as good as any: entries are whole or absent.
    fn locked(&self) -> MutexGuard<'_, Shard> {
        let mut shard = self.shard.lock().unwrap_or_else(PoisonError::into_inner);
        shard.age(self.learned.load(Ordering::Relaxed) / GENERATION);
        shard
    }
}

impl Shard {
    fn get(&mut self, key: Key, moved: &mut usize) -> Option<Known> {
        if let Some(known) = self.young.get(&key) {
            return Some(known.clone());
        }
        let known = self.old.remove(&key)?;
        self.young.insert(key, known.clone());
        *moved += 1;
        Some(known)
    }

    /// What was not used for two generations is forgotten.
    fn age(&mut self, generation: usize) {
        let behind = generation.saturating_sub(self.generation);
        if behind == 0 {
            return;
        }
        self.generation = generation;
        std::mem::swap(&mut self.young, &mut self.old);
        self.young.clear();
        if behind > 1 {
            self.old.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use trawl_types::UrlKey;

    use super::*;

    fn memory() -> LinkMemory {
        LinkMemory::new(KeySecret([3; 16]))
    }

    fn target(address: &str) -> LinkTarget {
        let key = UrlKey { host: 0, url: 0 };
        LinkTarget::new(address, "a.test", key, Ok(0))
    }

    fn recall(links: &OfOrigin<'_>, href: &str) -> Option<Known> {
        links.recall(&[Some(links.key(href))]).remove(0)
    }

    #[test]
    fn a_link_is_remembered_for_its_origin_alone() {
        let memory = memory();
        let a = memory.of_origin("http://a.test");
        a.learn(vec![(a.key("/x"), Some(target("http://a.test/x")))]);
        let known = recall(&a, "/x").unwrap().unwrap();
        assert_eq!(known.address(), "http://a.test/x");
        assert!(recall(&memory.of_origin("http://b.test"), "/x").is_none());
        assert!(a.recall(&[None])[0].is_none());
    }

    #[test]
    fn what_is_no_address_is_remembered_as_well() {
        let memory = memory();
        let links = memory.of_origin("http://a.test");
        links.learn(vec![(links.key("http://["), None)]);
        assert!(recall(&links, "http://[").unwrap().is_none());
    }

    #[test]
    fn memory_stays_bounded_and_keeps_what_is_in_use() {
        let memory = memory();
        let links = memory.of_origin("o");
        links.learn(vec![(links.key("/in-use"), Some(target("t")))]);
        for n in 0..200_000 {
            links.learn(vec![(links.key(&format!("/{n}")), Some(target("t")))]);
            assert!(recall(&links, "/in-use").is_some());
        }
        let shard = links.locked();
        assert!(shard.young.len() + shard.old.len() <= 2 * GENERATION);
    }
}
