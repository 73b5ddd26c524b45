//! Values in this process, for when there is no Redis. Bounded in bytes: the oldest make room. Time is an
//! argument.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

const MOST_BYTES: usize = 32 << 20;
/// What a value takes besides its bytes, about.
const OVERHEAD: usize = 200;

#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    values: HashMap<String, Value>,
    /// In the order in which they came; those that were replaced stand in it twice.
    order: VecDeque<(String, u64)>,
    bytes: usize,
    count: u64,
}

#[derive(Debug)]
struct Value {
    bytes: Vec<u8>,
    until: Instant,
    number: u64,
}

impl Cache {
    pub(super) fn get(&self, key: &str, now: Instant) -> Option<Vec<u8>> {
        let kept = self.kept();
        let value = kept.values.get(key).filter(|value| value.until > now)?;
        Some(value.bytes.clone())
    }

    pub(super) fn put(&self, key: String, bytes: Vec<u8>, until: Instant) {
        let mut kept = self.kept();
        kept.remove(&key);
        kept.count += 1;
        let number = kept.count;
        kept.bytes += bytes.len() + OVERHEAD;
        kept.order.push_back((key.clone(), number));
        let value = Value {
            bytes,
            until,
            number,
        };
        kept.values.insert(key, value);
        while kept.bytes > MOST_BYTES || kept.order.len() > 2 * kept.values.len() + 16 {
            let Some((oldest, number)) = kept.order.pop_front() else {
                return;
            };
            if kept.values.get(&oldest).is_some_and(|v| v.number == number) {
                kept.remove(&oldest);
            }
        }
    }

    pub(super) fn forget(&self, begins: &str) -> u64 {
        let mut kept = self.kept();
        let keys = kept.values.keys().filter(|key| key.starts_with(begins));
        let keys: Vec<String> = keys.cloned().collect();
        for key in &keys {
            kept.remove(key);
        }
        keys.len() as u64
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn remove(&mut self, key: &str) {
        if let Some(value) = self.values.remove(key) {
            self.bytes -= value.bytes.len() + OVERHEAD;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_value_is_there_until_its_time_is_over() {
        let (cache, now) = (Cache::default(), Instant::now());
        cache.put("a".into(), vec![1], now + Duration::from_secs(1));
        assert_eq!(cache.get("a", now), Some(vec![1]));
        assert_eq!(cache.get("a", now + Duration::from_secs(1)), None);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_make_room() {
        let (cache, now) = (Cache::default(), Instant::now());
        let until = now + Duration::from_secs(1);
        for number in 0..100 {
            cache.put(number.to_string(), vec![0; MOST_BYTES / 10], until);
        }
        assert!(cache.kept().bytes <= MOST_BYTES);
        assert_eq!(cache.get("0", now), None);
        assert!(cache.get("99", now).is_some());
        for _ in 0..1000 {
            cache.put("again".into(), vec![0], until);
        }
        assert!(cache.kept().order.len() < 100);
        assert!(cache.get("again", now).is_some());
    }
}
