//! May we, should we: a crate of its own because it is pure. Rules take a URL and a spec and give
//! a verdict with its reason. Nothing here does I/O, reads a clock, draws random numbers or knows
//! a runtime; the year and the secret are arguments. In the order in which a URL meets them:
//!
//! * [`normalise`]: text to a URL whose identity is apart from its address
//! * [`pattern`]: host patterns and URL globs, as people write them
//! * [`site`]: the registrable domain of a host
//! * [`classify`]: quality, blacklist and stub lists of a map
//! * [`scope`]: does a URL belong to the crawl
//! * [`traps`]: counts that betray an endless URL space
//! * [`robots`]: robots.txt by RFC 9309, with the line that decided
//! * [`address`]: which addresses may be contacted
//! * [`score`]: which of two links is the better one

mod encoding;

pub mod address;
pub mod classify;
pub mod normalise;
pub mod pattern;
pub mod robots;
pub mod scope;
pub mod score;
pub mod site;
pub mod traps;

pub use address::{AddressGuard, AddressRefusal};
pub use classify::{Classified, DomainLists, domain_of};
pub use normalise::Normaliser;
pub use pattern::{HostPattern, HostSet, PatternError, UrlPattern};
pub use robots::{
    MAX_ROBOTS_BYTES, RobotsFromStatus, RobotsRules, RobotsVerdict, robots_for_status,
    robots_unreachable,
};
pub use scope::Scope;
pub use score::Scorer;
pub use site::site_of;
pub use traps::TrapGuard;
