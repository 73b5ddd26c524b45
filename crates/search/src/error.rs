//! What can go wrong with a search or an index.

use crate::{embed::EmbedError, query::QueryError};

/// A failure of a search or of an index.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error("the cursor is not one of this search")]
    BadCursor,
    #[error("there is no {kind} {name}")]
    Unknown { kind: &'static str, name: String },
    #[error("{0}")]
    Invalid(String),
    /// What is there already does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// There is nothing to search by meaning with.
    #[error("{0}")]
    NoModel(String),
    #[error("another process writes {0}: a running `trawl serve` keeps its index by itself")]
    Locked(String),
    #[error("{0} is of an older format: `trawl index` or `trawl serve` brings it up to date")]
    Older(String),
    #[error("{path} was written by a newer trawl (format {found}, this one knows {known})")]
    Newer {
        path: String,
        found: i64,
        known: i64,
    },
    #[error("there is no search index at {0}: make one with `trawl index`")]
    Missing(String),
    #[error("the search index cannot be used")]
    Database(#[from] rusqlite::Error),
    #[error("embedding failed")]
    Embed(#[from] EmbedError),
    #[error("Qdrant failed")]
    Qdrant(#[source] EmbedError),
    #[error("the crawl database cannot be read")]
    Store(#[from] trawl_store::StoreError),
    #[error("the search stopped before its end")]
    Stopped,
    /// A failure that several who asked for the same share.
    #[error(transparent)]
    Shared(std::sync::Arc<SearchError>),
}

impl SearchError {
    /// The failure itself, however many share it.
    pub fn root(&self) -> &Self {
        match self {
            Self::Shared(shared) => shared.root(),
            own => own,
        }
    }

    /// What those may read who ask: without addresses and paths of the operator.
    pub fn public(&self) -> String {
        let text = match self.root() {
            Self::Embed(EmbedError::Vector(_, bad)) => {
                return format!("the embedder gave a vector that cannot be used: {bad}");
            }
            Self::Embed(error @ EmbedError::Count(..)) => {
                return format!("the embedder cannot be used: {error}");
            }
            Self::Embed(_) => "the embedder cannot be reached",
            Self::Qdrant(_) => "Qdrant cannot be reached",
            Self::Database(_) | Self::Newer { .. } | Self::Older(_) | Self::Missing(_) => {
                "the search index cannot be used"
            }
            Self::Locked(_) => "another process writes the search index",
            Self::Store(_) => "the database cannot be read",
            other => return other.to_string(),
        };
        text.to_owned()
    }

    /// It and its causes, in one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            text.push_str(": ");
            text.push_str(&cause.to_string());
            source = cause.source();
        }
        text
    }
}
