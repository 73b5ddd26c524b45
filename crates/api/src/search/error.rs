//! What can go wrong with a search, as errors of the one shape. What is the operator's to know goes
//! to the log.

use serde_json::json;
use trawl_search::{SearchError, embed::EmbedError};

use crate::error::{ApiError, Code, UNAVAILABLE_SECONDS};

impl From<SearchError> for ApiError {
    fn from(error: SearchError) -> Self {
        let message = error.public();
        match error.root() {
            SearchError::Query(_) => Self::field("query", message),
            SearchError::BadCursor => Self::field(
                "cursor",
                "must be one that an answer to the same search gave",
            ),
            SearchError::Unknown { kind, name } => {
                Self::not_found(message).with_details(json!({ "kind": kind, "id": name }))
            }
            SearchError::Invalid(_) => Self::new(Code::Validation, message),
            SearchError::Conflict(_) => Self::new(Code::Conflict, message),
            SearchError::NoModel(_) => Self::new(Code::Unprocessable, message),
            SearchError::Embed(EmbedError::Vector(..) | EmbedError::Count(..)) => {
                Self::new(Code::EmbedderFailed, message)
            }
            SearchError::Embed(_) => {
                let message = format!("{message}; POST /search/keyword works without it");
                Self::new(Code::EmbedderUnavailable, message).with_retry_after(UNAVAILABLE_SECONDS)
            }
            SearchError::Locked(_)
            | SearchError::Store(_)
            | SearchError::Qdrant(_)
            | SearchError::Stopped => {
                tracing::warn!(error = error.chain(), "the search index cannot be used");
                Self::new(Code::Unavailable, message).with_retry_after(UNAVAILABLE_SECONDS)
            }
            _ => {
                tracing::error!(error = error.chain(), "the search index failed");
                Self::new(
                    Code::Internal,
                    "something went wrong on the server; its log says what",
                )
            }
        }
    }
}
