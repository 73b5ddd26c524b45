//! Where links lead, remembered: the navigation of a site stands on each of its pages, so most
//! links were normalised, judged and scored before. Bounded, shared by all visits of a crawl.
//!
//! Only what depends on nothing but the link's text and the page's origin is remembered; whatever
//! else matters (nofollow, keywords) bypasses it.

use std::{
    hash::Hasher,
    hint::black_box,
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
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

/// A link that was seen before.
#[derive(Debug)]
struct Link {
    key: Key,
    known: Known,
}

/// Links and where they stand. The index is small enough to stay near the processor, which the links
/// are not: that way waiting for one link does not keep the next from being looked for.
#[derive(Debug, Default)]
struct Generation {
    /// By one half of their keys. Of two that share it the later is remembered.
    index: FxHashMap<u64, u32>,
    links: Vec<Link>,
}

/// Two generations: what is still in use moves to the young one before the old one goes.
#[derive(Debug, Default)]
struct Shard {
    number: usize,
    young: Generation,
    old: Generation,
}

#[derive(Debug)]
pub(crate) struct LinkMemory {
    secret: KeySecret,
    /// Links that went into a young generation so far.
    learned: AtomicUsize,
    shards: [RwLock<Shard>; SHARDS],
}

/// The memory as the links of one origin see it.
#[derive(Debug)]
pub(crate) struct OfOrigin<'m> {
    learned: &'m AtomicUsize,
    shard: &'m RwLock<Shard>,
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

    /// What is remembered of links, all of a page at once. They are looked for first, then glanced at
    /// and only then read. Each is a wait for memory, and waits overlap where nothing else is done in
    /// between.
    pub(crate) fn recall(&self, links: &[Option<Key>]) -> Vec<Option<Known>> {
        let mut aged = Vec::new();
        let shard = self.read();
        let find = |key: &Option<Key>| shard.find((*key)?);
        let found: Vec<Option<Found<'_>>> = links.iter().map(find).collect();
        let glances = found.iter().flatten().map(|found| found.link.glance());
        black_box(glances.fold(0, |sum, glance| sum ^ glance));
        let mut read = |(key, found): (&Option<Key>, Option<Found<'_>>)| {
            let Found { link, old } = found.filter(|found| Some(found.link.key) == *key)?;
            if old {
                aged.push((link.key, link.known.clone()));
            }
            Some(link.known.clone())
        };
        let known = links.iter().zip(found).map(&mut read).collect();
        drop(shard);
        self.learn(aged);
        known
    }

    pub(crate) fn learn(&self, news: Vec<(Key, Known)>) {
        if news.is_empty() {
            return;
        }
        self.learned.fetch_add(news.len(), Ordering::Relaxed);
        let mut shard = self.write();
        for (key, known) in news {
            shard.young.insert(key, known);
        }
    }

    /// A poisoned shard is as good as any: entries are whole or absent.
    fn read(&self) -> RwLockReadGuard<'_, Shard> {
        let shard = self.shard.read().unwrap_or_else(PoisonError::into_inner);
        if shard.number >= self.number() {
            return shard;
        }
        drop(shard);
        drop(self.write());
        self.shard.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shard> {
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        shard.age(self.number());
        shard
    }

    /// Which generation is the young one.
    fn number(&self) -> usize {
        self.learned.load(Ordering::Relaxed) / GENERATION
    }
}

/// A link whose key may be the one that was looked for: half of it is.
struct Found<'s> {
    link: &'s Link,
    old: bool,
}

impl Link {
    /// Brings it near the processor. What comes out is of no use.
    fn glance(&self) -> u64 {
        self.key as u64 ^ self.known.as_ref().map_or(0, LinkTarget::glance)
    }
}

impl Generation {
    fn find(&self, key: Key) -> Option<&Link> {
        let place = self.index.get(&(key as u64))?;
        self.links.get(*place as usize)
    }

    fn insert(&mut self, key: Key, known: Known) {
        // Others may have been as quick.
        if self.find(key).is_some_and(|link| link.key == key) {
            return;
        }
        if self.links.capacity() == 0 {
            // Room that is not used costs nothing; links that are moved to larger room do.
            self.links.reserve_exact(GENERATION);
        }
        self.index.insert(key as u64, self.links.len() as u32);
        self.links.push(Link { key, known });
    }

    fn clear(&mut self) {
        self.index.clear();
        self.links.clear();
    }
}

impl Shard {
    fn find(&self, key: Key) -> Option<Found<'_>> {
        let young = self.young.find(key).map(|link| (link, false));
        let found = young.or_else(|| self.old.find(key).map(|link| (link, true)));
        found.map(|(link, old)| Found { link, old })
    }

    /// What was not used for two generations is forgotten.
    fn age(&mut self, number: usize) {
        let behind = number.saturating_sub(self.number);
        if behind == 0 {
            return;
        }
        self.number = number;
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
        let shard = links.read();
        assert!(shard.young.links.len() + shard.old.links.len() <= 2 * GENERATION);
        assert!(shard.young.index.len() <= shard.young.links.len());
    }

    #[test]
    fn keys_that_share_a_half_are_not_mistaken_for_each_other() {
        let memory = memory();
        let links = memory.of_origin("o");
        let (one, other) = (7 | 1 << 64, 7 | 2 << 64);
        links.learn(vec![(one, Some(target("one")))]);
        assert!(links.recall(&[Some(one)])[0].is_some());
        assert!(links.recall(&[Some(other)])[0].is_none());
        links.learn(vec![(other, Some(target("other")))]);
        let found = links.recall(&[Some(other), Some(one)]);
        let address = |known: Option<Known>| Some(known??.address().to_owned());
        let found: Vec<Option<String>> = found.into_iter().map(address).collect();
        assert_eq!(found, [Some("other".to_owned()), None]);
    }

    #[test]
    fn what_two_learn_at_once_is_remembered_once() {
        let memory = memory();
        let links = memory.of_origin("o");
        links.learn(vec![(1, Some(target("t"))), (1, Some(target("t")))]);
        assert_eq!(links.read().young.links.len(), 1);
    }
}
