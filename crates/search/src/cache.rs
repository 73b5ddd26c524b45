//! Answers that were given before. Of many who ask for the same at once, one computes and the others
//! wait for it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rustc_hash::FxHashMap;
use tokio::sync::OnceCell;

use crate::error::SearchError;

/// What an answer is found by.
pub(crate) type Key = [u8; 32];

/// An answer, or the failure that all who waited for it share.
type Cell<V> = Arc<OnceCell<Result<V, Arc<SearchError>>>>;

/// A cache in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheFigures {
    pub entries: u64,
    /// About as many bytes are held.
    pub bytes: u64,
    /// Questions that were answered from it, those that waited for another's answer among them.
    pub hits: u64,
    pub misses: u64,
}

/// A bounded number of answers; the oldest go first.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    inner: Mutex<Inner<V>>,
    most_entries: usize,
    most_bytes: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Debug)]
struct Inner<V> {
    cells: FxHashMap<Key, (Cell<V>, usize)>,
    order: VecDeque<Key>,
    bytes: usize,
    /// Answers to an earlier state of the data are of no use.
    generation: u64,
}

impl<V: Clone> Cache<V> {
    pub(crate) fn new(most_entries: usize, most_bytes: usize) -> Self {
        Self {
            inner: Mutex::new(Inner {
                cells: FxHashMap::default(),
                order: VecDeque::new(),
                bytes: 0,
                generation: 0,
            }),
            most_entries,
            most_bytes,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The answer, and whether it was there already.
    pub(crate) async fn get_or<F>(
        &self,
        key: Key,
        size: impl Fn(&V) -> usize,
        make: F,
    ) -> Result<(V, bool), SearchError>
    where
        F: Future<Output = Result<V, SearchError>>,
    {
        let cell = self.cell(key);
        let mut is_new = false;
        let mine = &mut is_new;
        let compute = || async move {
            *mine = true;
            make.await.map_err(Arc::new)
        };
        let found = cell.get_or_init(compute).await.clone();
        if is_new {
            self.misses.fetch_add(1, Ordering::Relaxed);
            self.settle(key, &cell, found.as_ref().ok().map(size));
        } else {
            self.hits.fetch_add(1, Ordering::Relaxed);
        }
        found
            .map(|value| (value, !is_new))
            .map_err(SearchError::Shared)
    }

    /// Drops everything if the data is newer than what is held.
    pub(crate) fn keep_only(&self, generation: u64) {
        let mut inner = self.inner();
        if generation > inner.generation {
            inner.clear();
            inner.generation = generation;
        }
    }

    fn cell(&self, key: Key) -> Cell<V> {
        let mut inner = self.inner();
        if let Some((cell, _)) = inner.cells.get(&key) {
            return Arc::clone(cell);
        }
        let cell: Cell<V> = Arc::default();
        inner.cells.insert(key, (Arc::clone(&cell), 0));
        inner.order.push_back(key);
        inner.shrink(self.most_entries, self.most_bytes);
        cell
    }

    /// An answer counts with its size; a failure is forgotten, so that the next one tries again.
    fn settle(&self, key: Key, cell: &Cell<V>, size: Option<usize>) {
        let mut inner = self.inner();
        let same = |entry: &(Cell<V>, usize)| Arc::ptr_eq(&entry.0, cell);
        if !inner.cells.get(&key).is_some_and(same) {
            return;
        }
        match size {
            None => inner.drop_one(key),
            Some(size) => {
                if let Some(entry) = inner.cells.get_mut(&key) {
                    entry.1 = size;
                }
                inner.bytes += size;
                inner.shrink(self.most_entries, self.most_bytes);
            }
        }
    }

    pub(crate) fn forget(&self, key: Key) {
        self.inner().drop_one(key);
    }

    pub(crate) fn clear(&self) -> u64 {
        let mut inner = self.inner();
        let count = inner.cells.len() as u64;
        inner.clear();
        count
    }

    /// Drops those answers that a condition holds for.
    pub(crate) fn drop_if(&self, condition: impl Fn(&V) -> bool) -> u64 {
        let mut inner = self.inner();
        let fits = |cell: &Cell<V>| {
            let value = cell.get().and_then(|found| found.as_ref().ok());
            value.is_some_and(&condition)
        };
        let keys: Vec<Key> = inner
            .cells
            .iter()
            .filter(|(_, (cell, _))| fits(cell))
            .map(|(key, _)| *key)
            .collect();
        for key in &keys {
            inner.drop_one(*key);
        }
        keys.len() as u64
    }

    pub(crate) fn figures(&self) -> CacheFigures {
        let inner = self.inner();
        CacheFigures {
            entries: inner.cells.len() as u64,
            bytes: inner.bytes as u64,
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Inner<V> {
    fn clear(&mut self) {
        self.cells.clear();
        self.order.clear();
        self.bytes = 0;
    }

    fn drop_one(&mut self, key: Key) {
        if let Some((_, size)) = self.cells.remove(&key) {
            self.bytes -= size;
            self.order.retain(|other| *other != key);
        }
    }

    fn shrink(&mut self, most_entries: usize, most_bytes: usize) {
        while self.cells.len() > most_entries || self.bytes > most_bytes {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            if let Some((_, size)) = self.cells.remove(&oldest) {
                self.bytes -= size;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn key(number: u32) -> Key {
        *blake3::hash(&number.to_le_bytes()).as_bytes()
    }

    async fn ask(cache: &Cache<u32>, number: u32) -> (u32, bool) {
        let make = async move { Ok(number) };
        cache.get_or(key(number), |_| 10, make).await.unwrap()
    }

    #[tokio::test]
    async fn the_oldest_are_forgotten_by_number_and_by_size() {
        let cache = Cache::new(3, 1000);
        for number in 0..4 {
            assert!(!ask(&cache, number).await.1);
        }
        assert!(!ask(&cache, 0).await.1, "it was forgotten");
        assert!(ask(&cache, 3).await.1, "it was not");
        let small = Cache::new(100, 25);
        for number in 0..4 {
            ask(&small, number).await;
        }
        assert_eq!((small.figures().entries, small.figures().bytes), (2, 20));
    }

    #[tokio::test]
    async fn of_many_who_ask_at_once_one_computes() {
        let cache = Arc::new(Cache::new(10, 1000));
        let computed = Arc::new(AtomicU64::new(0));
        let asking = (0..50).map(|_| {
            let (cache, computed) = (Arc::clone(&cache), Arc::clone(&computed));
            tokio::spawn(async move {
                let make = async {
                    computed.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Ok(7)
                };
                cache.get_or(key(7), |_| 1, make).await.unwrap().0
            })
        });
        for asked in asking.collect::<Vec<_>>() {
            assert_eq!(asked.await.unwrap(), 7);
        }
        assert_eq!(computed.load(Ordering::SeqCst), 1);
        assert_eq!((cache.figures().hits, cache.figures().misses), (49, 1));
    }

    #[tokio::test]
    async fn failures_are_shared_and_not_kept() {
        let cache: Cache<u32> = Cache::new(10, 1000);
        let fail = async { Err(SearchError::BadCursor) };
        let error = cache.get_or(key(1), |_| 1, fail).await.unwrap_err();
        assert!(matches!(error.root(), SearchError::BadCursor));
        assert_eq!(ask(&cache, 1).await, (1, false));
    }

    #[tokio::test]
    async fn a_question_that_is_given_up_is_answered_for_the_next() {
        let cache: Cache<u32> = Cache::new(10, 1000);
        let never = cache.get_or(key(1), |_| 1, std::future::pending());
        let given_up = tokio::time::timeout(Duration::from_millis(5), never).await;
        assert!(given_up.is_err());
        assert_eq!(ask(&cache, 1).await, (1, false));
    }

    #[tokio::test]
    async fn what_is_newer_than_the_answers_drops_them() {
        let cache = Cache::new(10, 1000);
        ask(&cache, 1).await;
        cache.keep_only(0);
        assert!(ask(&cache, 1).await.1);
        cache.keep_only(1);
        assert!(!ask(&cache, 1).await.1);
        assert_eq!(cache.drop_if(|value| *value == 1), 1);
        assert_eq!(cache.clear(), 0);
    }
}
