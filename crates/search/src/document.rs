//! The nouns: documents, chunks, filters. Plain data.

use serde::{Deserialize, Serialize};
use trawl_types::UnixMillis;
use uuid::Uuid;

/// Where a document came from. Numbers are stored: never reuse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum DocSource {
    Crawl = 0,
    Upload = 1,
    Api = 2,
}

impl DocSource {
    pub fn from_stored(code: u8) -> Option<Self> {
        [Self::Crawl, Self::Upload, Self::Api]
            .into_iter()
            .find(|source| *source as u8 == code)
    }
}

/// What most of a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ChunkKind {
    Prose = 0,
    Code = 1,
    Table = 2,
    List = 3,
}

impl ChunkKind {
    pub fn from_stored(code: u8) -> Self {
        match code {
            1 => Self::Code,
            2 => Self::Table,
            3 => Self::List,
            _ => Self::Prose,
        }
    }
}

/// A document to be searched.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDocument {
    /// Its identity: a second document under the same URL replaces the first.
    pub url: String,
    pub parent_url: Option<String>,
    pub title: Option<String>,
    /// Markdown.
    pub content: String,
    pub language: Option<String>,
    pub source: DocSource,
    pub collection: Option<Uuid>,
    pub tags: Vec<String>,
    pub metadata: serde_json::Value,
    pub crawled_at: UnixMillis,
    /// The crawl that saw it.
    pub crawl: Option<i64>,
    /// Who may find it: whoever the crawl belongs to, [`EVERYBODY`], or administrators alone.
    pub owner: Option<String>,
}

/// The owner of documents that everybody may find.
pub const EVERYBODY: &str = "*";

/// Which documents are searched; an empty list leaves everything in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    pub collections: Vec<Uuid>,
    pub tags: Vec<Uuid>,
    /// Hosts; each stands for what is below it, too.
    pub domains: Vec<String>,
    pub date_from: Option<UnixMillis>,
    pub date_to: Option<UnixMillis>,
    pub sources: Vec<DocSource>,
    pub languages: Vec<String>,
    /// Only documents of these owners and of everybody; nothing for all.
    pub owners: Option<Vec<String>>,
}

/// The host of a URL, as filters and `site:` mean it.
pub fn domain_of(url: &str) -> String {
    let parsed = url::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(url::Url::host_str);
    host.unwrap_or_default().to_ascii_lowercase()
}

/// Whether a host is another one or below it.
pub fn is_within(host: &str, above: &str) -> bool {
    let above = above.trim_start_matches("*.");
    host.strip_suffix(above)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_within_itself_and_what_is_above_it() {
        assert!(is_within("docs.example.org", "example.org"));
        assert!(is_within("example.org", "example.org"));
        assert!(!is_within("badexample.org", "example.org"));
        assert_eq!(domain_of("https://Example.org:8080/a"), "example.org");
    }
}
