//! The configuration of a terrain map (003 §2): TOML in, a checked value out, or every problem of
//! the file with its place. Reads no file: the text is an argument.
//!
//! * [`model`]: the configuration as a value, with its defaults
//! * [`read`]: the text becomes the value
//! * [`section`], [`domain`]: typed fields of a table; domains and patterns
//! * [`error`]: problems with line, column, what was found and what is allowed
//! * [`spec`]: the value becomes a [`trawl_types::CrawlSpec`], with its hash
//! * [`change`]: what differs between the spec of a run and a new one

mod change;
mod domain;
mod error;
mod lists;
mod model;
mod read;
mod section;
mod spec;
#[cfg(test)]
mod tests;

pub use change::explain_change;
// Settings of a server are told about in the same words.
pub use error::{ConfigErrors, Problem, Problems, nearest};
pub use model::{AgentConfig, CrawlerConfig, MapConfig, NetworkConfig, OutputConfig, QualityEntry};
pub use read::parse;
pub use section::describe;

/// A commented configuration to begin with; it is valid as it stands.
pub const SAMPLE: &str = include_str!("sample.toml");
