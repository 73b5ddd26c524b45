//! The configuration as a value. Its serialised form is what the hash is taken of: adding a field
//! changes the hash of every configuration, so give new fields `skip_serializing_if`.

use serde::Serialize;
use trawl_types::spec::{HeadPolicy, RobotsPolicy, UserAgent};

/// A whole configuration, checked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MapConfig {
    pub crawler: CrawlerConfig,
    pub user_agent: AgentConfig,
    /// Where results go says nothing about what they are.
    #[serde(skip)]
    pub output: OutputConfig,
    pub network: NetworkConfig,
    pub quality: Vec<QualityEntry>,
    pub blacklist: Vec<String>,
    pub stub: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CrawlerConfig {
    pub max_depth: u32,
    pub max_concurrent_pages_open: u32,
    /// Milliseconds between requests to one domain.
    pub minimum_time_on_page: u64,
    /// In one run.
    pub max_domain_requests: u32,
    pub robots_unreachable: RobotsPolicy,
    pub head: HeadPolicy,
}

impl Default for CrawlerConfig {
    fn default() -> Self {
        Self {
            max_depth: 3,
            max_concurrent_pages_open: 10,
            minimum_time_on_page: 1000,
            max_domain_requests: 500,
            robots_unreachable: RobotsPolicy::Strict,
            head: HeadPolicy::Auto,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct AgentConfig {
    pub crawler_name: String,
    pub crawler_version: String,
    pub contact_url: Option<String>,
    pub contact_email: Option<String>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        let agent = UserAgent::default();
        Self {
            crawler_name: agent.name,
            crawler_version: agent.version,
            contact_url: None,
            contact_email: None,
        }
    }
}

/// Paths as they were written: relative ones are the caller's to place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputConfig {
    pub database_path: String,
    pub summary_path: String,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            database_path: "./terrain.db".into(),
            summary_path: "./crawl-summary.md".into(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct NetworkConfig {
    /// CIDR networks that may be contacted although they are not public.
    pub allow_networks: Vec<String>,
    /// `name=address`.
    pub resolve: Vec<String>,
    pub allow_ports: Vec<u16>,
    /// PEM files; reading them is the caller's.
    pub extra_root_files: Vec<String>,
    /// `http` links are requested as `https`. Only without it may seeds be `http`.
    pub upgrade_https: bool,
    pub proxy: Option<String>,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            allow_networks: Vec::new(),
            resolve: Vec::new(),
            allow_ports: Vec::new(),
            extra_root_files: Vec::new(),
            upgrade_https: true,
            proxy: None,
        }
    }
}

// A proxy may carry a password, which must not reach a log.
impl std::fmt::Debug for NetworkConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NetworkConfig")
            .field("allow_networks", &self.allow_networks)
            .field("resolve", &self.resolve)
            .field("allow_ports", &self.allow_ports)
            .field("extra_root_files", &self.extra_root_files)
            .field("upgrade_https", &self.upgrade_https)
            .field("proxy", &self.proxy.as_ref().map(|_| ".."))
            .finish()
    }
}

/// One `[[quality]]`: a domain to explore, and where to begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct QualityEntry {
    pub domain: String,
    pub seeds: Vec<String>,
}
