//! Where links lead, remembered: the navigation of a site stands on each of its pages, so most
//! links were normalised, judged and scored before. Bounded, shared by all visits of a crawl.
//!
//! Only what depends on nothing but the link's text and the page's origin is remembered; whatever
//! else matters (nofollow, keywords) bypasses it.
//!
//! Once the store has said that it knows the page of a link, that is all that is remembered of it.

use std::{
    hash::Hasher,
    hint::black_box,
    num::NonZeroU64,
    sync::{
        PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128, SipHasher13};
use trawl_store::contract::{
    known::{KnownTarget, Recognised},
    target::LinkTarget,
};
use trawl_types::{KeySecret, PageId, UrlKey};

const SHARDS: usize = 4;
/// Links of a generation, of whatever shard, so that one large site may have all of it: two make about
/// 10 MB.
const GENERATION: usize = 7 << 12;

/// A keyed hash of origin and link, so wide that nothing else need be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// By this half it is looked for. The lowest bits name the shard.
    mark: u64,
    rest: u64,
}

/// Where a link leads.
#[derive(Debug, Clone)]
pub(crate) enum Known {
    /// To no web address.
    Nowhere,
    To(LinkTarget),
    /// To a page that the store knows.
    Page(KnownTarget),
}

/// A link that was seen before.
#[derive(Debug)]
struct Link {
    key: Key,
    held: Held,
}

/// What is known of a link, in little room: once most pages are known, all links lie near the processor.
#[derive(Debug)]
enum Held {
    Nowhere,
    To(Box<LinkTarget>),
    /// A [`KnownTarget`], whose fields take less room here.
    Page {
        key: UrlKey,
        page: PageId,
        depth: u32,
    },
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
    /// From which memory of the store it is that pages are known.
    store: AtomicU64,
    shards: [RwLock<Shard>; SHARDS],
}

/// The memory as the links of one origin see it.
#[derive(Debug)]
pub(crate) struct OfOrigin<'m> {
    memory: &'m LinkMemory,
    shard: usize,
    hasher: SipHasher13,
    /// The memory of the store that is in force, or was a moment ago.
    store: u64,
}

impl LinkMemory {
    pub(crate) fn new(secret: KeySecret) -> Self {
        Self {
            secret,
            learned: AtomicUsize::new(0),
            store: AtomicU64::new(0),
            shards: Default::default(),
        }
    }

    pub(crate) fn of_origin(&self, origin: &str) -> OfOrigin<'_> {
        let mut hasher = SipHasher13::new_with_key(&self.secret.0);
        hasher.write(origin.as_bytes());
        // Neither part of an origin nor of a link: the two cannot be mistaken for each other.
        hasher.write_u8(b'\n');
        OfOrigin {
            memory: self,
            shard: hasher.finish128().as_u128() as usize % SHARDS,
            hasher,
            store: self.store.load(Ordering::Acquire),
        }
    }

    /// Takes in what the store said from a memory of its. If that is not the one before, nothing holds any
    /// more of what was said earlier.
    pub(crate) fn recognise(&self, recognised: &[Recognised], store: u64) {
        if self.store.load(Ordering::Acquire) != store {
            let mut shards = [(); SHARDS].map(|()| None);
            for (guard, shard) in shards.iter_mut().zip(&self.shards) {
                *guard = Some(self.write(shard));
            }
            shards.iter_mut().flatten().for_each(|shard| shard.unknow());
            self.store.store(store, Ordering::Release);
        }
        for (number, shard) in self.shards.iter().enumerate() {
            let here = |said: &&Recognised| said.mark.get() as usize % SHARDS == number;
            let mut here = recognised.iter().filter(here).peekable();
            if here.peek().is_some() {
                let mut shard = self.write(shard);
                here.for_each(|said| shard.recognise(said));
            }
        }
    }

    /// A poisoned shard is as good as any: entries are whole or absent.
    fn read<'s>(&self, shard: &'s RwLock<Shard>) -> RwLockReadGuard<'s, Shard> {
        let guard = shard.read().unwrap_or_else(PoisonError::into_inner);
        if guard.number >= self.number() {
            return guard;
        }
        drop(guard);
        drop(self.write(shard));
        shard.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<'s>(&self, shard: &'s RwLock<Shard>) -> RwLockWriteGuard<'s, Shard> {
        let mut guard = shard.write().unwrap_or_else(PoisonError::into_inner);
        guard.age(self.number());
        guard
    }

    /// Which generation is the young one.
    fn number(&self) -> usize {
        self.learned.load(Ordering::Relaxed) / GENERATION
    }
}

impl Key {
    /// By which the store names the link.
    pub(crate) fn mark(self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.mark)
    }
}

impl OfOrigin<'_> {
    /// From which memory of the store it is that pages are known, or from a later one.
    pub(crate) fn of_store(&self) -> u64 {
        self.store
    }

    pub(crate) fn key(&self, href: &str) -> Key {
        let mut hasher = self.hasher;
        hasher.write(href.as_bytes());
        let hash = hasher.finish128();
        Key {
            mark: hash.h1 - hash.h1 % SHARDS as u64 + self.shard as u64,
            rest: hash.h2,
        }
    }

    /// What is remembered of links, all of a page at once. They are looked for first, then glanced at
    /// and only then read. Each is a wait for memory, and waits overlap where nothing else is done in
    /// between.
    pub(crate) fn recall(&self, links: &[Option<Key>]) -> Vec<Option<Known>> {
        let mut aged = Vec::new();
        let shard = self.memory.read(self.here());
        let find = |key: &Option<Key>| shard.find((*key)?);
        let found: Vec<Option<Found<'_>>> = links.iter().map(find).collect();
        let glances = found.iter().flatten().map(|found| found.link.glance());
        black_box(glances.fold(0, |sum, glance| sum ^ glance));
        let mut read = |(key, found): (&Option<Key>, Option<Found<'_>>)| {
            let Found { link, old } = found.filter(|found| Some(found.link.key) == *key)?;
            let known = link.held.known();
            if old {
                aged.push((link.key, known.clone()));
            }
            Some(known)
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
        self.memory.learned.fetch_add(news.len(), Ordering::Relaxed);
        let mut shard = self.memory.write(self.here());
        let in_force = self.memory.store.load(Ordering::Acquire) == self.store;
        for (key, known) in news {
            if in_force || !matches!(known, Known::Page(_)) {
                shard.young.insert(key, Held::of(known));
            }
        }
    }

    fn here(&self) -> &RwLock<Shard> {
        &self.memory.shards[self.shard]
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
        self.key.mark
            ^ match &self.held {
                Held::Nowhere | Held::Page { .. } => 0,
                Held::To(target) => target.glance(),
            }
    }
}

impl Held {
    fn of(known: Known) -> Self {
        match known {
            Known::Nowhere => Self::Nowhere,
            Known::To(target) => Self::To(Box::new(target)),
            Known::Page(KnownTarget { key, page, depth }) => Self::Page { key, page, depth },
        }
    }

    fn known(&self) -> Known {
        match self {
            Self::Nowhere => Known::Nowhere,
            Self::To(target) => Known::To(LinkTarget::clone(target)),
            Self::Page { key, page, depth } => Known::Page(KnownTarget {
                key: *key,
                page: *page,
                depth: *depth,
            }),
        }
    }
}

impl Generation {
    fn find(&self, key: Key) -> Option<&Link> {
        let place = self.index.get(&key.mark)?;
        self.links.get(*place as usize)
    }

    fn marked(&mut self, mark: NonZeroU64) -> Option<&mut Link> {
        let place = self.index.get(&mark.get())?;
        self.links.get_mut(*place as usize)
    }

    fn insert(&mut self, key: Key, held: Held) {
        // Others may have been as quick.
        if self.find(key).is_some_and(|link| link.key == key) {
            return;
        }
        if self.links.capacity() == 0 {
            // Room that is not used costs nothing; links that are moved to larger room do.
            self.links.reserve_exact(GENERATION);
        }
        self.index.insert(key.mark, self.links.len() as u32);
        self.links.push(Link { key, held });
    }

    /// Forgets which pages are known, and with that the links to them.
    fn unknow(&mut self) {
        let links = std::mem::take(&mut self.links);
        self.index.clear();
        for link in links {
            if !matches!(link.held, Held::Page { .. }) {
                self.insert(link.key, link.held);
            }
        }
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

    /// The page of a link is known from now on, whichever generation it is of.
    fn recognise(&mut self, said: &Recognised) {
        for generation in [&mut self.young, &mut self.old] {
            let Some(link) = generation.marked(said.mark) else {
                continue;
            };
            let key = match &link.held {
                Held::Nowhere => continue,
                Held::To(target) => target.key,
                Held::Page { key, .. } => *key,
            };
            if key == said.target.key {
                link.held = Held::of(Known::Page(said.target));
            }
        }
    }

    fn unknow(&mut self) {
        self.young.unknow();
        self.old.unknow();
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
    use super::*;

    fn memory() -> LinkMemory {
        LinkMemory::new(KeySecret([3; 16]))
    }

    fn target(address: &str) -> Known {
        let key = UrlKey { host: 0, url: 0 };
        Known::To(LinkTarget::new(address, "a.test", key, Ok(0)))
    }

    fn address(known: Option<Known>) -> Option<String> {
        match known? {
            Known::To(target) => Some(target.address().to_owned()),
            Known::Nowhere | Known::Page(_) => None,
        }
    }

    fn recognised(key: Key, depth: u32) -> Recognised {
        let target = KnownTarget {
            key: UrlKey { host: 0, url: 0 },
            page: PageId(9),
            depth,
        };
        let mark = key.mark().unwrap();
        Recognised { mark, target }
    }

    fn depth(known: Option<Known>) -> Option<u32> {
        match known? {
            Known::Page(page) => Some(page.depth),
            Known::Nowhere | Known::To(_) => None,
        }
    }

    fn recall(links: &OfOrigin<'_>, href: &str) -> Option<Known> {
        links.recall(&[Some(links.key(href))]).remove(0)
    }

    #[test]
    fn a_link_is_remembered_for_its_origin_alone() {
        let memory = memory();
        let a = memory.of_origin("http://a.test");
        a.learn(vec![(a.key("/x"), target("http://a.test/x"))]);
        assert_eq!(address(recall(&a, "/x")).unwrap(), "http://a.test/x");
        assert!(recall(&memory.of_origin("http://b.test"), "/x").is_none());
        assert!(a.recall(&[None])[0].is_none());
    }

    #[test]
    fn what_is_no_address_is_remembered_as_well() {
        let memory = memory();
        let links = memory.of_origin("http://a.test");
        links.learn(vec![(links.key("http://["), Known::Nowhere)]);
        assert!(matches!(recall(&links, "http://["), Some(Known::Nowhere)));
    }

    #[test]
    fn memory_stays_bounded_and_keeps_what_is_in_use() {
        let memory = memory();
        let links = memory.of_origin("o");
        links.learn(vec![(links.key("/in-use"), target("t"))]);
        for n in 0..200_000 {
            links.learn(vec![(links.key(&format!("/{n}")), target("t"))]);
            assert!(recall(&links, "/in-use").is_some());
        }
        let shard = memory.read(links.here());
        assert!(shard.young.links.len() + shard.old.links.len() <= 2 * GENERATION);
        assert!(shard.young.index.len() <= shard.young.links.len());
    }

    #[test]
    fn keys_that_share_a_half_are_not_mistaken_for_each_other() {
        let memory = memory();
        let links = memory.of_origin("o");
        let (one, other) = (Key { mark: 7, rest: 1 }, Key { mark: 7, rest: 2 });
        links.learn(vec![(one, target("one"))]);
        assert!(links.recall(&[Some(one)])[0].is_some());
        assert!(links.recall(&[Some(other)])[0].is_none());
        links.learn(vec![(other, target("other"))]);
        let found = links.recall(&[Some(other), Some(one)]);
        let found: Vec<Option<String>> = found.into_iter().map(address).collect();
        assert_eq!(found, [Some("other".to_owned()), None]);
    }

    #[test]
    fn what_two_learn_at_once_is_remembered_once() {
        let memory = memory();
        let links = memory.of_origin("o");
        let key = links.key("/x");
        links.learn(vec![(key, target("t")), (key, target("t"))]);
        assert_eq!(links.memory.read(links.here()).young.links.len(), 1);
    }

    #[test]
    fn of_a_page_that_the_store_knows_nothing_else_is_remembered() {
        let memory = memory();
        for origin in ["a", "b", "c", "d", "e"] {
            let links = memory.of_origin(origin);
            let key = links.key("/x");
            links.learn(vec![(key, target("t"))]);
            memory.recognise(&[recognised(key, 3)], 0);
            assert_eq!(depth(recall(&links, "/x")), Some(3));
            memory.recognise(&[recognised(key, 2)], 0);
            assert_eq!(depth(recall(&links, "/x")), Some(2));
        }
    }

    #[test]
    fn a_mark_that_is_another_links_by_now_is_not_believed() {
        let memory = memory();
        let links = memory.of_origin("o");
        let key = links.key("/x");
        links.learn(vec![(key, target("t"))]);
        let mut said = recognised(key, 3);
        said.target.key.url = 1;
        memory.recognise(&[said], 0);
        assert_eq!(address(recall(&links, "/x")).unwrap(), "t");
    }

    #[test]
    fn what_the_store_has_forgotten_is_known_no_more_and_does_not_come_back() {
        let memory = memory();
        let before = memory.of_origin("o");
        let (key, other) = (before.key("/x"), before.key("/y"));
        before.learn(vec![(key, target("x")), (other, target("y"))]);
        memory.recognise(&[recognised(key, 3)], 0);
        let known = recall(&before, "/x").unwrap();
        memory.recognise(&[], 1);
        let now = memory.of_origin("o");
        assert_eq!((before.of_store(), now.of_store()), (0, 1));
        assert!(recall(&now, "/x").is_none());
        assert_eq!(address(recall(&now, "/y")).unwrap(), "y");
        before.learn(vec![(key, known)]);
        assert!(recall(&now, "/x").is_none(), "it was known before");
    }

    #[test]
    fn links_take_little_room() {
        assert_eq!(size_of::<Link>(), 48);
    }
}
