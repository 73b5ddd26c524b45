//! Query parameters that follow visitors around and say nothing about the page.

use rustc_hash::FxHashSet;

/// Names compared without case; a trailing `*` in the spec matches any ending.
#[derive(Debug, Clone, Default)]
pub(super) struct TrackingNames {
    exact: FxHashSet<String>,
    prefixes: Vec<String>,
    longest: usize,
}

impl TrackingNames {
    pub(super) fn new(names: &[String]) -> Self {
        let mut found = Self::default();
        for name in names {
            let name = name.trim().to_ascii_lowercase();
            if let Some(prefix) = name.strip_suffix('*') {
                found.prefixes.push(prefix.to_owned());
            } else {
                found.longest = found.longest.max(name.len());
                found.exact.insert(name);
            }
        }
        found
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.is_listed(name) || self.prefixes.iter().any(|prefix| begins_with(name, prefix))
    }

    fn is_listed(&self, name: &str) -> bool {
        if name.len() > self.longest {
            return false;
        }
        if name.bytes().any(|b| b.is_ascii_uppercase()) {
            return self.exact.contains(&name.to_ascii_lowercase());
        }
        self.exact.contains(name)
    }
}

fn begins_with(name: &str, lower_prefix: &str) -> bool {
    name.as_bytes()
        .get(..lower_prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(lower_prefix.as_bytes()))
}
