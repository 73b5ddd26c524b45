//! What makes a crawl a terrain map: lists of domains, and the configuration they came from.

use serde::{Deserialize, Serialize};

/// Domains are plain (`example.org`) or stand for all below and themselves (`*.example.org`).
/// Where several lists match, blacklist goes before stub before quality.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TerrainSpec {
    /// The place of a domain in this list is its number as an origin of depths.
    pub quality: Vec<String>,
    pub blacklist: Vec<String>,
    pub stub: Vec<String>,
    /// SHA-256 of the configuration, hex.
    pub config_hash: String,
}
