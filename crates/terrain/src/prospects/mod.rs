//! Where a map could grow: discovered domains by who refers to them, and how the quality domains
//! refer to each other. Three views of the same edges:
//!
//! * co-link: discovered domains ranked by how many quality entries link to them
//! * snowball: the same by all domains that are themselves at most one link away
//! * inter-actor: links from each quality entry to each other

mod gather;
mod markdown;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use serde::Serialize;
use trawl_types::CrawlId;

use crate::source::{TerrainSource, ViewError};

/// What is known of the surroundings of a run's quality domains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prospects {
    pub run: CrawlId,
    /// The quality entries, in the order of the configuration.
    pub actors: Vec<String>,
    /// Discovered domains that a quality entry links to, most entries first.
    pub co_link: Vec<Prospect>,
    /// Discovered domains that near domains link to, most domains first.
    pub snowball: Vec<Prospect>,
    /// How many discovered domains are linked to at all.
    pub total: usize,
    pub inter_actor: Matrix,
}

/// A domain that could become part of the quality list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prospect {
    pub domain: String,
    /// The quality entries that link to it, most links first.
    pub cited_by: Vec<Citation>,
    /// Domains within one link of a quality domain that link to it, quality domains included.
    pub near_domains: u64,
    /// Links from other domains, whichever.
    pub links: u64,
    pub depth: u32,
    pub pages_known: u64,
    /// How many quality entries it can be reached from, over however many links.
    pub reached_from: u64,
    /// Links to it from different domains.
    pub examples: Vec<ExampleLink>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Citation {
    pub actor: String,
    pub links: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExampleLink {
    pub from: String,
    pub to: String,
    pub anchor: String,
}

/// Links from one quality entry (row) to another (column); within one on the diagonal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Matrix {
    pub links: Vec<Vec<u64>>,
}

impl Prospects {
    /// Reads the edges twice: once to rank, once for examples. Each ranking has at most `limit` rows.
    pub fn read<S: TerrainSource>(
        source: &S,
        run: CrawlId,
        limit: usize,
    ) -> Result<Self, ViewError<S::Error>> {
        gather::read(source, run, limit)
    }

    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Quality entries for the domains of the co-link ranking, to be put into a configuration.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for prospect in &self.co_link {
            let count = prospect.cited_by.len();
            let noun = if count == 1 { "domain" } else { "domains" };
            let name = toml_text(&prospect.domain);
            let seed = toml_text(&prospect.seed());
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "# cited by {count} quality {noun}\n[[quality]]\ndomain = {name}\nseeds = [{seed}]\n\n"
            );
        }
        out
    }
}

impl Prospect {
    /// The front page, by the scheme and port under which the domain was found.
    fn seed(&self) -> String {
        let found = self.examples.first().map(|example| example.to.as_str());
        let front = found.and_then(|url| {
            let url = url::Url::parse(url).ok()?;
            let host = url.host_str()?;
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            Some(format!("{}://{host}{port}/", url.scheme()))
        });
        front.unwrap_or_else(|| format!("https://{}/", self.domain))
    }
}

/// A TOML string, without what it could not hold as it is.
fn toml_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|c| !crate::text::is_unseen(*c))
        .collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}
