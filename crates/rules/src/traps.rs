//! Counts that betray an endless URL space: query strings of one path, directories below one
//! prefix. Leaf pages are never counted: a site may have as many as it likes.
//!
//! Memory is bounded. Of each host at most 250,000 directories and as many paths with
//! queries are remembered, of all together half a million; beyond that the hosts that were quiet
//! for longest are forgotten, and begin anew. A guard that has forgotten errs on the side of
//! crawling: budgets per host are the hard limit. Counts live as long as the process.

use std::hash::Hasher;

use rustc_hash::FxHashMap;
use siphasher::sip::SipHasher13;
use trawl_types::{HostKey, KeySecret, Reason, ReasonCode, spec::TrapSpec};

/// Directories, and paths with queries, remembered of one host: about 6 MB each at most.
const HOST_ENTRIES: usize = 250_000;
/// Of all hosts together: about 20 MB.
const TOTAL_ENTRIES: usize = 500_000;
/// What a host costs besides, in entries, so that many hosts of one page are bounded as well.
const HOST_COST: usize = 16;

/// Watches the new URLs of all hosts.
#[derive(Debug)]
pub struct TrapGuard {
    max_query_variants: Option<u32>,
    max_path_values: Option<u32>,
    secret: KeySecret,
    hosts: FxHashMap<HostKey, HostCounts>,
    entries: usize,
    admissions: u64,
}

/// Keys are keyed hashes, so that no site can choose them.
#[derive(Debug, Default)]
struct HostCounts {
    /// Known directories, each with the number of directories known in it.
    directories: FxHashMap<u64, u32>,
    /// Paths seen with a query, each with the number of queries.
    queries: FxHashMap<u64, u32>,
    last_seen: u64,
}

impl TrapGuard {
    pub fn new(spec: &TrapSpec, secret: KeySecret) -> Self {
        Self {
            max_query_variants: spec.max_query_variants,
            max_path_values: spec.max_path_values,
            secret,
            hosts: FxHashMap::default(),
            entries: 0,
            admissions: 0,
        }
    }

    /// Counts a URL that was not known before, as [`HostKey::as_str`] and `CrawlUrl::as_str` give it;
    /// called once for each. A refused URL is not counted.
    pub fn admit(&mut self, host: &str, address: &str) -> Result<(), Reason> {
        let (path, has_query) = path_of(address);
        let has_directories = leaf_start(path) > 1;
        let watched = has_query && self.max_query_variants.is_some()
            || has_directories && self.max_path_values.is_some();
        if !watched {
            return Ok(());
        }
        self.admissions += 1;
        let host = HostKey::from_stored(host);
        if !self.hosts.contains_key(&host) {
            self.entries += HOST_COST;
        }
        let counts = self.hosts.entry(host).or_default();
        counts.last_seen = self.admissions;
        let before = counts.len();
        let mut verdict = Ok(());
        if let Some(limit) = self.max_path_values {
            verdict = counts.admit_directories(path, limit, self.secret);
        }
        if let (Ok(()), true, Some(limit)) = (&verdict, has_query, self.max_query_variants) {
            verdict = counts.admit_query(path, limit, self.secret);
        }
        self.entries = self.entries + counts.len() - before;
        if self.entries > TOTAL_ENTRIES {
            self.forget_quiet_hosts();
        }
        verdict
    }

    /// Drops what is known of a host.
    pub fn forget(&mut self, host: &HostKey) {
        if let Some(counts) = self.hosts.remove(host) {
            self.entries -= counts.len() + HOST_COST;
        }
    }

    /// The room taken by all hosts together: directories, paths, and a little for each host.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Makes a quarter of the room free at once, so that the sorting is paid for by many calls.
    fn forget_quiet_hosts(&mut self) {
        let mut by_age: Vec<(u64, HostKey)> = self
            .hosts
            .iter()
            .map(|(host, counts)| (counts.last_seen, host.clone()))
            .collect();
        by_age.sort_unstable();
        for (_, host) in by_age {
            if self.entries <= TOTAL_ENTRIES / 4 * 3 {
                return;
            }
            self.forget(&host);
        }
    }
}

impl HostCounts {
    fn len(&self) -> usize {
        self.directories.len() + self.queries.len()
    }

    fn admit_directories(
        &mut self,
        path: &str,
        limit: u32,
        secret: KeySecret,
    ) -> Result<(), Reason> {
        let directories = &path[..leaf_start(path)];
        let mut hasher = SipHasher13::new_with_key(&secret.0);
        let mut parent = hasher.finish();
        let mut done = 0;
        for segment in directories.split_inclusive('/') {
            let start = done;
            done += segment.len();
            if start == 0 {
                continue; // the root slash
            }
            hasher.write(segment.as_bytes());
            let directory = hasher.finish();
            if !self.directories.contains_key(&directory) {
                if self.directories.get(&parent).is_some_and(|n| *n >= limit) {
                    let detail = format!("more than {limit} below {}", shown(&path[..start]));
                    return Err(Reason::new(ReasonCode::PathCardinality, detail));
                }
                if self.directories.len() + 2 > HOST_ENTRIES {
                    return Ok(());
                }
                *self.directories.entry(parent).or_insert(0) += 1;
                self.directories.insert(directory, 0);
            }
            parent = directory;
        }
        Ok(())
    }

    fn admit_query(&mut self, path: &str, limit: u32, secret: KeySecret) -> Result<(), Reason> {
        let mut hasher = SipHasher13::new_with_key(&secret.0);
        hasher.write(path.as_bytes());
        let key = hasher.finish();
        if self.queries.len() >= HOST_ENTRIES && !self.queries.contains_key(&key) {
            self.drop_rare_queries();
        }
        let variants = self.queries.entry(key).or_insert(0);
        if *variants >= limit {
            let detail = format!("more than {limit} of {}", shown(path));
            return Err(Reason::new(ReasonCode::QueryVariants, detail));
        }
        *variants += 1;
        Ok(())
    }

    /// Forgets the paths with fewest queries, which can only make a count too low.
    fn drop_rare_queries(&mut self) {
        let mut rare = 1;
        while self.queries.len() > HOST_ENTRIES / 2 {
            self.queries.retain(|_, variants| *variants > rare);
            rare = rare.saturating_mul(2);
        }
    }
}

/// The path of an address, and whether something is asked of it. Addresses have been parsed and written
/// again, so that the first slash after the host is where the path begins; to parse each once more would
/// take longer than all the rest.
fn path_of(address: &str) -> (&str, bool) {
    let after_scheme = address.find("://").map_or(0, |at| at + 3);
    let rest = &address[after_scheme..];
    let rest = &rest[rest.find('/').unwrap_or(rest.len())..];
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (path, rest) = rest.split_at(end);
    let asks = rest.strip_prefix('?');
    let asks = asks.is_some_and(|query| !query.is_empty() && !query.starts_with('#'));
    (path, asks)
}

/// Where the last segment begins; a trailing slash belongs to it.
fn leaf_start(path: &str) -> usize {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    trimmed.rfind('/').map_or(0, |at| at + 1)
}

fn shown(path: &str) -> String {
    path.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn the_path_of_an_address_is_that_of_its_url() {
        for text in [
            "http://a.test",
            "http://a.test/",
            "https://a.test:8080/a/b/",
            "http://a.test/?q=/x",
            "http://a.test/a?",
            "http://a.test/a?b#c?d",
            "http://a.test/a#b?c",
            "http://a.test/a?#b",
            "http://u:p@a.test/a://b/c?d?e",
            "http://[::1]:81/a//b",
            "http://a.test/ä b/%2f?ü",
        ] {
            let url = Url::parse(text).unwrap();
            let asks = url.query().is_some_and(|query| !query.is_empty());
            assert_eq!(path_of(url.as_str()), (url.path(), asks), "{text}");
        }
    }
}
