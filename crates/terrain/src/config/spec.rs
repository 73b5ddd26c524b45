//! The value becomes a crawl: what the document fixes (003 §4.3, §6, §10) stands here.

use sha2::{Digest, Sha256};
use trawl_types::spec::{
    CrawlSpec, FetchSpec, HostScope, NormaliseSpec, Politeness, RateLimitPolicy, RetrySpec,
    ScopeSpec, TerrainSpec, UserAgent,
};

use super::model::MapConfig;

/// Three retries after the first attempt, five seconds apart.
const RETRY: RetrySpec = RetrySpec {
    attempts: 4,
    base_ms: 5_000,
    max_ms: 5_000,
};

/// An edge that is cut off is missing from the map: the size of a body is limit enough.
const MAX_LINKS_PER_PAGE: u32 = 20_000;

impl MapConfig {
    /// SHA-256 (hex) over what the file means: comments, spacing, the order of sections and the
    /// output paths do not count.
    pub fn hash(&self) -> String {
        let canonical = serde_json::to_vec(self).unwrap_or_default();
        let digest = Sha256::digest(canonical);
        digest
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }

    /// The crawl to run; `extra_roots` is the text of the PEM files.
    pub fn to_spec(&self, extra_roots: Vec<String>) -> CrawlSpec {
        let seeds = self.quality.iter().flat_map(|entry| entry.seeds.clone());
        CrawlSpec {
            seeds: seeds.collect(),
            scope: self.scope(),
            politeness: self.politeness(),
            fetch: self.fetch(extra_roots),
            normalise: NormaliseSpec {
                upgrade_https: self.network.upgrade_https,
                ..NormaliseSpec::default()
            },
            terrain: Some(self.terrain()),
            ..CrawlSpec::default()
        }
    }

    fn scope(&self) -> ScopeSpec {
        ScopeSpec {
            hosts: HostScope::Anywhere,
            max_depth: Some(self.crawler.max_depth),
            max_requests_per_host: Some(u64::from(self.crawler.max_domain_requests)),
            max_links_per_page: MAX_LINKS_PER_PAGE,
            follow_nofollow: true,
            ..ScopeSpec::default()
        }
    }

    fn politeness(&self) -> Politeness {
        Politeness {
            delay_ms: self.crawler.minimum_time_on_page,
            per_host: 1,
            concurrency: self.crawler.max_concurrent_pages_open,
            robots: self.crawler.robots_unreachable,
            on_rate_limit: RateLimitPolicy::SuspendHost,
            retry: RETRY,
            ..Politeness::default()
        }
    }

    fn fetch(&self, extra_roots: Vec<String>) -> FetchSpec {
        let agent = &self.user_agent;
        let network = &self.network;
        FetchSpec {
            user_agent: UserAgent {
                name: agent.crawler_name.clone(),
                version: agent.crawler_version.clone(),
                contact_url: agent.contact_url.clone(),
                contact_email: agent.contact_email.clone(),
                full: None,
            },
            proxy: network.proxy.clone(),
            connect_timeout_ms: 10_000,
            total_timeout_ms: 30_000,
            head: self.crawler.head,
            max_redirects: 10,
            extra_roots,
            allow_networks: network.allow_networks.clone(),
            allow_ports: network.allow_ports.clone(),
            resolve: network.resolve.clone(),
            ..FetchSpec::default()
        }
    }

    fn terrain(&self) -> TerrainSpec {
        let quality = self.quality.iter().map(|entry| entry.domain.clone());
        TerrainSpec {
            quality: quality.collect(),
            blacklist: self.blacklist.clone(),
            stub: self.stub.clone(),
            config_hash: self.hash(),
        }
    }
}
