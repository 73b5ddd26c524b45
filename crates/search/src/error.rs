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
    #[error("the crawl database cannot be read")]
    Store(#[from] trawl_store::StoreError),
    #[error("the search stopped before its end")]
    Stopped,
}
