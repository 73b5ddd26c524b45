//! Vectors of recent queries: embedding one costs more than all the rest of a search.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::FxHashMap;

/// So many are remembered.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct QueryVectors(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    vectors: FxHashMap<(String, String), Arc<Vec<f32>>>,
    order: VecDeque<(String, String)>,
}

impl QueryVectors {
    pub(crate) fn get(&self, model: &str, text: &str) -> Option<Arc<Vec<f32>>> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner
            .vectors
            .get(&(model.to_owned(), text.to_owned()))
            .cloned()
    }

    pub(crate) fn put(&self, model: &str, text: &str, vector: Arc<Vec<f32>>) {
        let key = (model.to_owned(), text.to_owned());
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.vectors.insert(key.clone(), vector).is_none() {
            inner.order.push_back(key);
        }
        if inner.order.len() > MOST
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.vectors.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let cache = QueryVectors::default();
        for n in 0..=MOST {
            cache.put("m", &n.to_string(), Arc::new(vec![1.0]));
        }
        assert!(cache.get("m", "0").is_none());
        assert!(cache.get("m", "1").is_some() && cache.get("other", "1").is_none());
    }
}
