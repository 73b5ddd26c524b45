//! From host names to addresses. Says nothing about which addresses may be contacted: every one
//! of them still goes through the guard.
//!
//! * [`fixed`]: names whose address the operator gave
//! * [`system`]: everything else, asked of the system's name servers and cached

mod fixed;
mod system;

use std::net::IpAddr;

pub(crate) use fixed::FixedNames;
pub(crate) use system::SystemResolver;

/// Looks host names up. A port of its own so that tests can answer as hostile servers do.
#[async_trait::async_trait]
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of a name, in the order in which they should be tried. The name has no
    /// trailing dot.
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// For good: there is no such name, or it has no address.
    #[error("the name does not exist")]
    NotFound,
    /// For now: a name server did not answer, or could not.
    #[error("the name could not be looked up: {0}")]
    Failed(String),
}
