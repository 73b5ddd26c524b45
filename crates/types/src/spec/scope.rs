//! Which URLs belong to a crawl, and when two of them are the same page.

use serde::{Deserialize, Serialize};

use super::{SpecError, within};

/// Which hosts may be visited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostScope {
    /// The hosts of the seeds (and their `www.` twins).
    #[default]
    SameHost,
    /// The registrable domains of the seeds, with all their subdomains.
    SameSite,
    /// Hosts matching one of these names or `*.` patterns.
    Listed(Vec<String>),
    Anywhere,
}

/// The limits of a crawl.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScopeSpec {
    pub hosts: HostScope,
    pub max_depth: Option<u32>,
    pub max_pages: Option<u64>,
    pub max_pages_per_host: Option<u64>,
    /// Requests to one host in one run, of whatever kind but for robots.txt.
    pub max_requests_per_host: Option<u64>,
    /// Globs over the whole URL, or `regex:` followed by a regular expression. If any are given,
    /// a URL (other than a seed) must match one.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub max_url_length: u32,
    pub max_links_per_page: u32,
    pub follow_nofollow: bool,
    pub traps: TrapSpec,
}

impl Default for ScopeSpec {
    fn default() -> Self {
        Self {
            hosts: HostScope::default(),
            max_depth: None,
            max_pages: None,
            max_pages_per_host: None,
            max_requests_per_host: None,
            include: Vec::new(),
            exclude: Vec::new(),
            max_url_length: 2048,
            max_links_per_page: 1000,
            follow_nofollow: true,
            traps: TrapSpec::default(),
        }
    }
}

impl ScopeSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        within(
            "scope.max_url_length",
            u64::from(self.max_url_length),
            16,
            65_536,
        )?;
        within(
            "scope.max_links_per_page",
            u64::from(self.max_links_per_page),
            0,
            1_000_000,
        )?;
        if self.max_pages == Some(0) {
            return Err(SpecError::new(
                "scope.max_pages",
                "0 pages is no crawl: give 1 or more",
            ));
        }
        if self.hosts == HostScope::Listed(Vec::new()) {
            return Err(SpecError::new("scope.hosts", "list at least one host"));
        }
        Ok(())
    }
}

/// Guards against endless URL spaces. `None` switches a guard off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrapSpec {
    /// How often one segment may occur in a path.
    pub max_segment_repeats: Option<u32>,
    pub max_path_segments: Option<u32>,
    /// How many query strings one path of a host may be seen with.
    pub max_query_variants: Option<u32>,
    /// How many values a directory position may take below one prefix.
    pub max_path_values: Option<u32>,
    /// How many years from today a date in a URL may lie.
    pub max_years_from_now: Option<u32>,
}

impl Default for TrapSpec {
    fn default() -> Self {
        Self {
            max_segment_repeats: Some(3),
            max_path_segments: Some(32),
            max_query_variants: Some(5_000),
            max_path_values: Some(20_000),
            max_years_from_now: Some(60),
        }
    }
}

/// When two URLs are one page. Never changes what is requested, apart from `upgrade_https`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NormaliseSpec {
    pub strip_www: bool,
    pub strip_trailing_slash: bool,
    /// `http` and `https` name the same page.
    pub ignore_scheme: bool,
    /// Names of query parameters without meaning; a trailing `*` matches any ending.
    pub tracking_params: Vec<String>,
    /// Request `https` where a link says `http`.
    pub upgrade_https: bool,
}

impl Default for NormaliseSpec {
    fn default() -> Self {
        let names = [
            "utm_*", "fbclid", "gclid", "gclsrc", "dclid", "msclkid", "mc_cid", "mc_eid", "yclid",
            "igshid", "_hsenc", "_hsmi", "ref", "source",
        ];
        Self {
            strip_www: true,
            strip_trailing_slash: true,
            ignore_scheme: true,
            tracking_params: names.map(str::to_owned).to_vec(),
            upgrade_https: false,
        }
    }
}
