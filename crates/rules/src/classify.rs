//! What a map does with a domain (003 §3.3): visit it, only record it, or neither.

use trawl_types::{
    Reason, ReasonCode,
    spec::{SpecError, TerrainSpec},
    terrain::DomainClass,
};

use crate::{
    normalise::without_www,
    pattern::{HostPattern, HostSet},
};

/// The three lists of a map. Where more than one matches, the blacklist wins over the stub list
/// and that over the quality list.
#[derive(Debug, Clone, Default)]
pub struct DomainLists {
    quality: HostSet,
    /// Quality patterns as they are shown; the place of one is its number as an origin.
    origins: Vec<String>,
    blacklist: HostSet,
    stub: HostSet,
}

/// What the lists say of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classified<'l> {
    pub class: DomainClass,
    /// The pattern that decided, if one did.
    pub by: Option<&'l HostPattern>,
    /// Which of the quality domains it is.
    pub origin: Option<u16>,
}

impl DomainLists {
    /// Compiles the lists; the first pattern that cannot be used is the error.
    pub fn compile(spec: &TerrainSpec) -> Result<Self, SpecError> {
        if spec.quality.len() > usize::from(u16::MAX) {
            let problem = format!("at most {} domains", u16::MAX);
            return Err(SpecError::new("terrain.quality", problem));
        }
        let quality = patterns("terrain.quality", &spec.quality)?;
        Ok(Self {
            origins: quality.iter().map(ToString::to_string).collect(),
            quality: quality.into_iter().collect(),
            blacklist: patterns("terrain.blacklist", &spec.blacklist)?
                .into_iter()
                .collect(),
            stub: patterns("terrain.stub", &spec.stub)?.into_iter().collect(),
        })
    }

    /// The quality domains, by their numbers as origins.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }

    /// The class of a host name (without port). `www.` is not part of a domain.
    pub fn classify(&self, host: &str) -> Classified<'_> {
        let host = domain_of(host);
        let lists = [
            (DomainClass::Blacklisted, &self.blacklist),
            (DomainClass::Stubbed, &self.stub),
            (DomainClass::Quality, &self.quality),
        ];
        let found = lists
            .into_iter()
            .find_map(|(class, list)| list.find(host).map(|pattern| (class, pattern)));
        let Some((class, by)) = found else {
            return Classified {
                class: DomainClass::Discovered,
                by: None,
                origin: None,
            };
        };
        let origin = (class == DomainClass::Quality)
            .then(|| self.origins.iter().position(|o| *o == by.to_string()))
            .flatten();
        Classified {
            class,
            by: Some(by),
            origin: origin.and_then(|at| u16::try_from(at).ok()),
        }
    }

    /// Refuses what must not be visited.
    pub(crate) fn check(&self, host: &str) -> Result<(), Reason> {
        let found = self.classify(host);
        let code = match found.class {
            DomainClass::Blacklisted => ReasonCode::Blacklisted,
            DomainClass::Stubbed => ReasonCode::Stub,
            DomainClass::Quality | DomainClass::Discovered => return Ok(()),
        };
        Err(Reason::new(
            code,
            found.by.map(ToString::to_string).unwrap_or_default(),
        ))
    }
}

/// The domain that a host name stands for in a map (003 §3.1 and §3.2).
pub fn domain_of(host: &str) -> &str {
    without_www(host)
}

fn patterns(field: &str, texts: &[String]) -> Result<Vec<HostPattern>, SpecError> {
    let parse = |text: &String| {
        HostPattern::parse(text).map_err(|error| SpecError::new(field, error.to_string()))
    };
    texts.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(quality: &[&str], blacklist: &[&str], stub: &[&str]) -> DomainLists {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        DomainLists::compile(&TerrainSpec {
            quality: owned(quality),
            blacklist: owned(blacklist),
            stub: owned(stub),
            ..TerrainSpec::default()
        })
        .unwrap()
    }

    #[test]
    fn the_blacklist_wins_then_the_stub_list_then_the_quality_list() {
        let lists = lists(
            &["*.example.com", "good.test", "*.both.test"],
            &["ads.example.com", "*.bad.test"],
            &["*.wikipedia.org", "*.both.test", "*.bad.test"],
        );
        for (host, class, pattern, origin) in [
            (
                "example.com",
                DomainClass::Quality,
                "*.example.com",
                Some(0),
            ),
            (
                "ads.example.com",
                DomainClass::Blacklisted,
                "ads.example.com",
                None,
            ),
            ("x.bad.test", DomainClass::Blacklisted, "*.bad.test", None),
            (
                "en.wikipedia.org",
                DomainClass::Stubbed,
                "*.wikipedia.org",
                None,
            ),
            ("a.both.test", DomainClass::Stubbed, "*.both.test", None),
            ("good.test", DomainClass::Quality, "good.test", Some(1)),
            ("www.good.test", DomainClass::Quality, "good.test", Some(1)),
            ("sub.good.test", DomainClass::Discovered, "", None),
            (
                "example.completely.different",
                DomainClass::Discovered,
                "",
                None,
            ),
        ] {
            let found = lists.classify(host);
            assert_eq!(found.class, class, "{host}");
            let by = found.by.map(ToString::to_string).unwrap_or_default();
            assert_eq!((by.as_str(), found.origin), (pattern, origin), "{host}");
        }
    }

    #[test]
    fn a_refusal_names_the_list_and_the_pattern() {
        let lists = lists(&["a.test"], &["*.bad.test"], &["stub.test"]);
        let reason = lists.check("x.bad.test").unwrap_err();
        assert_eq!(
            (reason.code, reason.detail.as_str()),
            (ReasonCode::Blacklisted, "*.bad.test")
        );
        assert_eq!(lists.check("stub.test").unwrap_err().code, ReasonCode::Stub);
        assert_eq!(lists.check("a.test"), Ok(()));
        assert_eq!(lists.check("elsewhere.test"), Ok(()));
    }

    #[test]
    fn www_stands_for_the_domain_below_it_only_if_there_is_one() {
        assert_eq!(domain_of("www.example.org"), "example.org");
        assert_eq!(domain_of("www.localhost"), "www.localhost");
        assert_eq!(domain_of("wwww.example.org"), "wwww.example.org");
    }
}
