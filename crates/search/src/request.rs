//! What is asked of a search and what comes back. Plain data.

use serde::{Deserialize, Serialize};
use trawl_types::UnixMillis;
use uuid::Uuid;

use crate::{
    document::{ChunkKind, Filter},
    fuse::Weights,
};

/// No page has more results, and no search goes deeper.
pub const MOST_RESULTS: usize = 1000;

/// Which sides a search asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Hybrid,
    Keyword,
    Vector,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub query: String,
    pub mode: Mode,
    pub filter: Filter,
    pub weights: Weights,
    /// Results with a lower score are left out.
    pub min_score: f32,
    /// With the chunks before and after each result.
    pub expand_chunks: bool,
    /// At most one result of a document.
    pub one_per_document: bool,
    /// So many of the best are put in order by a reranker.
    pub rerank: Option<usize>,
    pub limit: usize,
    pub cursor: Option<String>,
}

impl Request {
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            mode: Mode::Hybrid,
            filter: Filter::default(),
            weights: Weights::default(),
            min_score: 0.0,
            expand_chunks: false,
            one_per_document: false,
            rerank: None,
            limit: 10,
            cursor: None,
        }
    }
}

/// Which list a result came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Vector,
    Keyword,
    Fused,
}

impl Side {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Keyword => "keyword",
            Self::Fused => "fused",
        }
    }
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub document_id: Uuid,
    pub chunk_id: Uuid,
    pub url: String,
    pub title: Option<String>,
    pub content: String,
    pub score: f32,
    pub vector_score: Option<f32>,
    pub keyword_score: Option<f32>,
    pub rerank_score: Option<f32>,
    pub source: Side,
    /// Ranges of characters of the content.
    pub highlights: Vec<(usize, usize)>,
    pub section_header: Option<String>,
    pub content_type: ChunkKind,
    pub chunk_index: u32,
    pub crawled_at: UnixMillis,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded_chunks: Option<Vec<String>>,
}

/// A part of a search that could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Degraded {
    /// `vector`, `keyword`, `rerank` or `qdrant`.
    pub part: &'static str,
    pub reason: String,
    /// It stays so until somebody changes the settings.
    #[serde(skip)]
    pub lasting: bool,
}

/// A page of results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Response {
    pub results: Vec<Hit>,
    /// Chunks that have a word of the query, or that were compared.
    pub total_count: u64,
    pub next_cursor: Option<String>,
    pub query_embedding_cached: bool,
    pub result_cached: bool,
    pub latency_ms: f64,
    /// The sides that answered.
    pub searched: Vec<Side>,
    /// What could not be asked, and why; the rest answered alone.
    pub degraded: Vec<Degraded>,
}
