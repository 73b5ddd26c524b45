//! What a map does with a domain (003 §3.3): visit it, only record it, or neither.

use crate::pattern::{HostPattern, HostSet};

/// The list a domain is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainClass {
    /// To be explored.
    Quality,
    /// Never visited; references are counted.
    Blacklisted,
    /// Recorded by page, not visited.
    Stubbed,
    /// On no list.
    Discovered,
}

/// The three lists of a map. Where more than one matches, the blacklist wins over the stub list
/// and that over the quality list.
#[derive(Debug, Clone, Default)]
pub struct DomainLists {
    quality: HostSet,
    blacklist: HostSet,
    stub: HostSet,
}

impl DomainLists {
    pub fn new(
        quality: Vec<HostPattern>,
        blacklist: Vec<HostPattern>,
        stub: Vec<HostPattern>,
    ) -> Self {
        Self {
            quality: quality.into_iter().collect(),
            blacklist: blacklist.into_iter().collect(),
            stub: stub.into_iter().collect(),
        }
    }

    /// The class of a host name (without port) and the pattern that decided, if one did.
    pub fn classify(&self, host: &str) -> (DomainClass, Option<&HostPattern>) {
        [
            (DomainClass::Blacklisted, &self.blacklist),
            (DomainClass::Stubbed, &self.stub),
            (DomainClass::Quality, &self.quality),
        ]
        .into_iter()
        .find_map(|(class, list)| list.find(host).map(|pattern| (class, Some(pattern))))
        .unwrap_or((DomainClass::Discovered, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> Vec<HostPattern> {
        patterns
            .iter()
            .map(|p| HostPattern::parse(p).unwrap())
            .collect()
    }

    #[test]
    fn the_blacklist_wins_then_the_stub_list_then_the_quality_list() {
        let lists = DomainLists::new(
            list(&["*.example.com", "good.test", "*.both.test"]),
            list(&["ads.example.com", "*.bad.test"]),
            list(&["*.wikipedia.org", "*.both.test", "*.bad.test"]),
        );
        for (host, class, pattern) in [
            ("example.com", DomainClass::Quality, Some("*.example.com")),
            (
                "ads.example.com",
                DomainClass::Blacklisted,
                Some("ads.example.com"),
            ),
            ("x.bad.test", DomainClass::Blacklisted, Some("*.bad.test")),
            (
                "en.wikipedia.org",
                DomainClass::Stubbed,
                Some("*.wikipedia.org"),
            ),
            ("a.both.test", DomainClass::Stubbed, Some("*.both.test")),
            ("good.test", DomainClass::Quality, Some("good.test")),
            ("www.good.test", DomainClass::Discovered, None),
            (
                "example.completely.different",
                DomainClass::Discovered,
                None,
            ),
        ] {
            let (found, by) = lists.classify(host);
            assert_eq!(found, class, "{host}");
            assert_eq!(by.map(ToString::to_string).as_deref(), pattern, "{host}");
        }
    }
}
