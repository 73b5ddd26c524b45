//! Many host patterns asked at once: one hash lookup for each label of the host.

use rustc_hash::FxHashMap;

use super::HostPattern;

/// A set of [`HostPattern`]s that finds the one that matches a host without trying each.
#[derive(Debug, Clone, Default)]
pub struct HostSet {
    exact: FxHashMap<String, HostPattern>,
    subtrees: FxHashMap<String, HostPattern>,
}

impl HostSet {
    /// The most specific pattern that matches: the name itself, then the longest domain.
    pub fn find(&self, host: &str) -> Option<&HostPattern> {
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.bytes().any(|b| b.is_ascii_uppercase()) {
            return self.find_lower(&host.to_ascii_lowercase());
        }
        self.find_lower(host)
    }

    pub fn contains(&self, host: &str) -> bool {
        self.find(host).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.subtrees.is_empty()
    }

    fn find_lower(&self, host: &str) -> Option<&HostPattern> {
        if let Some(pattern) = self.exact.get(host) {
            return Some(pattern);
        }
        if self.subtrees.is_empty() {
            return None;
        }
        let mut rest = host;
        loop {
            if let Some(pattern) = self.subtrees.get(rest) {
                return Some(pattern);
            }
            rest = rest.split_once('.')?.1;
        }
    }
}

impl FromIterator<HostPattern> for HostSet {
    fn from_iter<I: IntoIterator<Item = HostPattern>>(patterns: I) -> Self {
        let mut set = Self::default();
        for pattern in patterns {
            let map = if pattern.covers_subdomains() {
                &mut set.subtrees
            } else {
                &mut set.exact
            };
            map.insert(pattern.base().to_owned(), pattern);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(patterns: &[&str]) -> HostSet {
        patterns
            .iter()
            .map(|p| HostPattern::parse(p).unwrap())
            .collect()
    }

    #[test]
    fn a_set_finds_the_most_specific_pattern() {
        let set = set(&[
            "*.example.com",
            "*.b.example.com",
            "a.example.com",
            "one.test",
        ]);
        for (host, found) in [
            ("example.com", Some("*.example.com")),
            ("a.example.com", Some("a.example.com")),
            ("x.a.example.com", Some("*.example.com")),
            ("x.B.example.com.", Some("*.b.example.com")),
            ("one.test", Some("one.test")),
            ("www.one.test", None),
            ("example.completely.different", None),
            ("notexample.com", None),
            ("", None),
        ] {
            let shown = set.find(host).map(ToString::to_string);
            assert_eq!(shown.as_deref(), found, "{host}");
        }
    }
}
