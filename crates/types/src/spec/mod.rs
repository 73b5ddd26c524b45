//! [`CrawlSpec`]: everything about a crawl in one value. Command-line flags, TOML and API bodies
//! are three spellings of it. Checked by [`CrawlSpec::validate`]; rules compile it, nothing here
//! interprets patterns or addresses.

mod content;
mod fetching;
mod politeness;
mod scope;
mod strategy;
mod terrain;

use serde::{Deserialize, Serialize};

pub use content::{ContentSpec, KeepSpec, SitemapPolicy};
pub use fetching::{FetchSpec, HeadPolicy, Oversize, UserAgent};
pub use politeness::{BreakerSpec, Politeness, RateLimitPolicy, RetrySpec, RobotsPolicy};
pub use scope::{HostScope, NormaliseSpec, ScopeSpec, TrapSpec};
pub use strategy::{MAX_SCORE, Order, Priority, StrategySpec};
pub use terrain::TerrainSpec;

/// The version of the spec's shape that this program writes.
pub const SPEC_VERSION: u32 = 1;

/// What a crawl should do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrawlSpec {
    pub version: u32,
    pub seeds: Vec<String>,
    pub scope: ScopeSpec,
    pub strategy: StrategySpec,
    pub politeness: Politeness,
    pub fetch: FetchSpec,
    pub normalise: NormaliseSpec,
    pub keep: KeepSpec,
    pub content: ContentSpec,
    /// Its share where several crawls want to go on at once.
    pub priority: Priority,
    /// It never completes: with nothing to visit it waits for URLs to be added. Needs no seeds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standing: bool,
    /// The crawl is a terrain map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terrain: Option<TerrainSpec>,
}

impl Default for CrawlSpec {
    fn default() -> Self {
        Self {
            version: SPEC_VERSION,
            seeds: Vec::new(),
            scope: ScopeSpec::default(),
            strategy: StrategySpec::default(),
            politeness: Politeness::default(),
            fetch: FetchSpec::default(),
            normalise: NormaliseSpec::default(),
            keep: KeepSpec::default(),
            content: ContentSpec::default(),
            priority: Priority::default(),
            standing: false,
            terrain: None,
        }
    }
}

/// A field of a spec that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct SpecError {
    pub field: String,
    pub problem: String,
}

impl SpecError {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

impl CrawlSpec {
    /// Checks numbers against their limits; patterns, URLs and networks are checked where they
    /// are compiled.
    pub fn validate(&self) -> Result<(), SpecError> {
        if self.version > SPEC_VERSION {
            return Err(SpecError::new(
                "version",
                format!(
                    "{} is newer than this program ({SPEC_VERSION}): update trawl",
                    self.version
                ),
            ));
        }
        if self.seeds.is_empty() && !self.standing {
            return Err(SpecError::new(
                "seeds",
                "give at least one URL to start from",
            ));
        }
        self.scope.validate()?;
        self.politeness.validate()?;
        self.content.validate()?;
        if self.content.sitemaps != SitemapPolicy::None
            && self.politeness.robots == RobotsPolicy::Ignore
        {
            return Err(SpecError::new(
                "content.sitemaps",
                "robots.txt names them, and this crawl ignores it",
            ));
        }
        self.fetch.validate()
    }
}

/// Fails unless `low <= value <= high`.
fn within(field: &str, value: u64, low: u64, high: u64) -> Result<(), SpecError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(SpecError::new(
        field,
        format!("{value} is not between {low} and {high}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid() -> CrawlSpec {
        CrawlSpec {
            seeds: vec!["https://example.org/".into()],
            ..CrawlSpec::default()
        }
    }

    #[test]
    fn the_defaults_are_valid_once_there_is_a_seed() {
        assert_eq!(valid().validate(), Ok(()));
        assert!(CrawlSpec::default().validate().is_err());
    }

    #[test]
    fn a_spec_survives_its_own_spelling() {
        let text = serde_json::to_string(&valid()).unwrap();
        assert_eq!(serde_json::from_str::<CrawlSpec>(&text).unwrap(), valid());
    }

    #[test]
    fn unknown_fields_are_refused() {
        assert!(serde_json::from_str::<CrawlSpec>(r#"{"seedz":[]}"#).is_err());
    }

    #[test]
    fn numbers_outside_their_limits_name_the_field() {
        let mut spec = valid();
        spec.politeness.concurrency = 0;
        assert_eq!(spec.validate().unwrap_err().field, "politeness.concurrency");
    }
}
