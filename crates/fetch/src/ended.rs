//! A fetch that ended without a usable answer, with its name.

use trawl_types::{Outcome, OutcomeKind};

use crate::Head;

/// How a fetch ended, and the head of the answer where one had come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub outcome: Outcome,
    /// Boxed because most ends have none.
    pub head: Option<Box<Head>>,
}

impl Ended {
    pub(crate) fn before_answer(end: End) -> Self {
        Self {
            outcome: Outcome::new(end.kind, None, end.detail),
            head: None,
        }
    }

    pub(crate) fn in_answer(end: End, head: Head) -> Self {
        Self {
            outcome: Outcome::new(end.kind, Some(head.status), end.detail),
            head: Some(Box::new(head)),
        }
    }
}

/// The name of an end and what to tell people, before it is known which answer it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct End {
    pub(crate) kind: OutcomeKind,
    /// Never holds resolved addresses or credentials.
    pub(crate) detail: String,
}

impl End {
    pub(crate) fn new(kind: OutcomeKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}
