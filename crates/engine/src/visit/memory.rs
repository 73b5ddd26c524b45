//! Where links lead, remembered: the navigation of a site stands on each of its pages, so most
//! links were normalised, judged and scored before. Bounded, shared by all visits of a crawl.
//!
//! Only what depends on nothing but the link's text and the page's origin is remembered; whatever
//! else matters (nofollow, keywords) bypasses it.

use std::{
    hash::{BuildHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::{FxBuildHasher, FxHashMap};
use trawl_types::{Reason, UrlKey};

const SHARDS: usize = 16;
/// Links per shard and generation: about 10 MB in all.
const GENERATION: usize = 1024;

/// What the rules make of a link.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) address: Arc<str>,
    pub(crate) key: UrlKey,
    pub(crate) host: Arc<str>,
    pub(crate) verdict: Result<u8, Reason>,
}

/// A link's text and where it leads; `None` if it is no web address.
type Known = (Box<str>, Box<str>, Option<Arc<Target>>);

/// Two generations: what is still in use moves to the young one before the old one goes.
#[derive(Debug, Default)]
struct Shard {
    young: FxHashMap<u64, Known>,
    old: FxHashMap<u64, Known>,
}

#[derive(Debug, Default)]
pub(crate) struct LinkMemory {
    shards: [Mutex<Shard>; SHARDS],
}

impl LinkMemory {
    /// The target of a link, worked out by `find` if it is not remembered.
    pub(crate) fn target(
        &self,
        origin: &str,
        href: &str,
        find: impl FnOnce() -> Option<Arc<Target>>,
    ) -> Option<Arc<Target>> {
        let hash = hash_of(origin, href);
        let shard = &self.shards[(hash >> 60) as usize % SHARDS];
        if let Some(known) = locked(shard).get(hash, origin, href) {
            return known.2.clone();
        }
        let target = find();
        locked(shard).insert(hash, (origin.into(), href.into(), target.clone()));
        target
    }
}

/// A poisoned shard is as good as any: entries are whole or absent.
fn locked(shard: &Mutex<Shard>) -> std::sync::MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hash_of(origin: &str, href: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    origin.hash(&mut hasher);
    href.hash(&mut hasher);
    hasher.finish()
}

impl Shard {
    // The texts are compared, so that a site that aims for collisions only slows itself down.
    fn get(&mut self, hash: u64, origin: &str, href: &str) -> Option<&Known> {
        let same = |known: &Known| &*known.0 == origin && &*known.1 == href;
        if !self.young.contains_key(&hash) {
            let known = self.old.remove(&hash)?;
            self.insert(hash, known);
        }
        self.young.get(&hash).filter(|known| same(known))
    }

    fn insert(&mut self, hash: u64, known: Known) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Arc<Target> {
        Arc::new(Target {
            address: text.into(),
            key: UrlKey { host: 0, url: 0 },
            host: "a.test".into(),
            verdict: Ok(0),
        })
    }

    #[test]
    fn a_link_is_worked_out_once_for_each_origin() {
        let memory = LinkMemory::default();
        memory.target("http://a.test", "/x", || Some(target("http://a.test/x")));
        let again = memory.target("http://a.test", "/x", || unreachable!());
        assert_eq!(&*again.unwrap().address, "http://a.test/x");
        let other = memory.target("http://b.test", "/x", || Some(target("http://b.test/x")));
        assert_eq!(&*other.unwrap().address, "http://b.test/x");
    }

    #[test]
    fn what_is_no_address_is_remembered_as_well() {
        let memory = LinkMemory::default();
        assert!(
            memory
                .target("http://a.test", "http://[", || None)
                .is_none()
        );
        assert!(
            memory
                .target("http://a.test", "http://[", || unreachable!())
                .is_none()
        );
    }

    #[test]
    fn memory_stays_bounded_and_keeps_what_is_in_use() {
        let memory = LinkMemory::default();
        for n in 0..200_000 {
            memory.target("o", &format!("/{n}"), || Some(target("t")));
            memory.target("o", "/in-use", || Some(target("t")));
        }
        let size = |shard: &Shard| shard.young.len() + shard.old.len();
        let held: usize = memory.shards.iter().map(|shard| size(&locked(shard))).sum();
        assert!(held <= SHARDS * 2 * GENERATION);
        memory.target("o", "/in-use", || unreachable!());
    }
}
