//! What was fetched a short while ago, for a limited time: in Redis, where all processes find it, or in
//! memory while there is none. Bounded: what is too large is not kept. Values are what strangers wrote;
//! whoever reads them treats them so.
//!
//! * `here`: in this process
//! * `packed`: large values are compressed

mod here;
mod packed;

use std::time::{Duration, Instant};

use crate::{
    Quick,
    link::{Away, Link},
    rates::short_hash,
};
pub(crate) use here::Cache;

/// Bytes of a value as it is kept.
const LARGEST: usize = 4 << 20;
/// Keys looked at in one question, where some are to be forgotten.
const GLANCE: usize = 500;

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The main content of a page.
    Page,
    Robots,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Robots => "robots",
        }
    }

    fn keys_of(self, host: Option<&str>) -> String {
        match host {
            None => format!("cache:{}:", self.as_str()),
            Some(host) => format!("cache:{}:{host}:", self.as_str()),
        }
    }
}

impl Quick {
    /// What was kept for something of a host, unless its time is over.
    pub async fn cached(&self, kind: Kind, host: &str, what: &str) -> Option<Vec<u8>> {
        let key = kind.keys_of(Some(host)) + &short_hash(what);
        if let Some(link) = self.link() {
            let mut get = redis::cmd("GET");
            get.arg(link.key(&key));
            if let Ok(found) = link.ask::<Option<Vec<u8>>>(&get).await {
                return packed::open(&found?);
            }
        }
        packed::open(&self.0.cache.get(&key, Instant::now())?)
    }

    /// Keeps something for a while; false if it is too large.
    pub async fn keep(
        &self,
        kind: Kind,
        host: &str,
        what: &str,
        value: &[u8],
        lasts: Duration,
    ) -> bool {
        let value = packed::pack(value);
        if value.len() > LARGEST || lasts.as_secs() == 0 {
            return false;
        }
        let key = kind.keys_of(Some(host)) + &short_hash(what);
        if let Some(link) = self.link() {
            let mut set = redis::cmd("SET");
            set.arg(link.key(&key))
                .arg(&value)
                .arg("EX")
                .arg(lasts.as_secs());
            if link.ask::<()>(&set).await.is_ok() {
                return true;
            }
        }
        self.0.cache.put(key, value, Instant::now() + lasts);
        true
    }

    /// Forgets what was kept, of one host or of all; how much it was.
    pub async fn forget(&self, kind: Kind, host: Option<&str>) -> u64 {
        let begins = kind.keys_of(host);
        let here = self.0.cache.forget(&begins);
        match self.link() {
            None => here,
            Some(link) => here + forget_in(link, &begins).await.unwrap_or(0),
        }
    }
}

/// Goes through all keys in small steps: others are not held up.
async fn forget_in(link: &Link, begins: &str) -> Result<u64, Away> {
    let pattern = format!("{}*", literally(&link.key(begins)));
    let (mut cursor, mut forgotten) = (0_u64, 0);
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(&pattern);
        scan.arg("COUNT").arg(GLANCE);
        let (next, keys): (u64, Vec<String>) = link.ask(&scan).await?;
        if !keys.is_empty() {
            let mut remove = redis::cmd("UNLINK");
            remove.arg(&keys);
            forgotten += link.ask::<u64>(&remove).await?;
        }
        cursor = next;
        if cursor == 0 {
            return Ok(forgotten);
        }
    }
}

/// A text as a pattern that matches it and nothing else.
fn literally(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '^' | '-' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_cannot_widen_a_pattern() {
        assert_eq!(literally("a*b?[c]\\"), "a\\*b\\?\\[c\\]\\\\");
    }

    #[tokio::test]
    async fn without_redis_values_are_kept_in_memory() {
        let quick = Quick::here();
        let hour = Duration::from_hours(1);
        let large = "x".repeat(100_000);
        for value in ["", "small", &large] {
            assert!(
                quick
                    .keep(Kind::Page, "h", value, value.as_bytes(), hour)
                    .await
            );
            let found = quick.cached(Kind::Page, "h", value).await;
            assert_eq!(found.as_deref(), Some(value.as_bytes()));
        }
        assert_eq!(quick.cached(Kind::Robots, "h", "small").await, None);
        assert_eq!(quick.forget(Kind::Page, Some("other")).await, 0);
        assert_eq!(quick.forget(Kind::Page, Some("h")).await, 3);
        assert_eq!(quick.cached(Kind::Page, "h", "small").await, None);
    }
}
