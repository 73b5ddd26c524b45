//! Which hosts a crawl may visit, answered by hash lookups.

use rustc_hash::FxHashSet;
use trawl_types::{
    CrawlUrl, HostKey,
    spec::{HostScope, SpecError},
};

use super::unusable;
use crate::{
    pattern::{HostPattern, HostSet},
    site::registrable,
};

#[derive(Debug, Clone)]
pub(super) enum HostRule {
    Anywhere,
    /// Politeness hosts (with their ports) of the seeds and their `www.` twins.
    Same(FxHashSet<String>),
    /// The same set as a shortcut, and the registrable domains of the seeds.
    Site {
        seeds: FxHashSet<String>,
        sites: FxHashSet<String>,
    },
    Listed(HostSet),
}

impl HostRule {
    pub(super) fn compile(scope: &HostScope, seeds: &[CrawlUrl]) -> Result<Self, SpecError> {
        Ok(match scope {
            HostScope::Anywhere => Self::Anywhere,
            HostScope::SameHost => Self::Same(hosts_of(seeds)),
            HostScope::SameSite => Self::Site {
                seeds: hosts_of(seeds),
                sites: seeds
                    .iter()
                    .map(|seed| registrable(seed.host().name()).to_owned())
                    .collect(),
            },
            HostScope::Listed(names) => Self::Listed(
                names
                    .iter()
                    .map(|name| HostPattern::parse(name))
                    .collect::<Result<HostSet, _>>()
                    .map_err(|e| unusable("scope.hosts", &e))?,
            ),
        })
    }

    pub(super) fn allows(&self, host: &HostKey) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Same(seeds) => seeds.contains(undotted(host.as_str())),
            Self::Site { seeds, sites } => {
                seeds.contains(host.as_str()) || sites.contains(registrable(host.name()))
            }
            Self::Listed(set) => set.contains(host.name()),
        }
    }
}

fn hosts_of(seeds: &[CrawlUrl]) -> FxHashSet<String> {
    seeds
        .iter()
        .flat_map(|seed| {
            let host = undotted(seed.host().as_str());
            [host.to_owned(), www_twin(host)]
        })
        .collect()
}

/// `example.org.` names the same host as `example.org`.
fn undotted(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn www_twin(host: &str) -> String {
    match host.strip_prefix("www.") {
        Some(rest) if rest.contains('.') => rest.to_owned(),
        _ => format!("www.{host}"),
    }
}
