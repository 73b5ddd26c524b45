//! Patterns that people write: over host names and over whole URLs. A pattern that cannot be used
//! is an error that names it; none is ever ignored.

mod host;
mod hosts;
mod url;

pub use host::HostPattern;
pub use hosts::HostSet;
pub use url::UrlPattern;

/// A pattern that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("pattern {pattern:?}: {problem}")]
pub struct PatternError {
    pub pattern: String,
    pub problem: String,
}

impl PatternError {
    pub(crate) fn new(pattern: &str, problem: impl Into<String>) -> Self {
        Self {
            pattern: pattern.to_owned(),
            problem: problem.into(),
        }
    }
}
