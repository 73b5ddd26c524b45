//! A map that forgets what was not used for long.

use std::{borrow::Borrow, hash::Hash};

use rustc_hash::FxHashMap;

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
