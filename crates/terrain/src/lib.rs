//! A link graph seen as a terrain map. A crate of its own because it is pure: it reads a
//! [`TerrainSource`], writes to an [`std::io::Write`], and knows no database, network, file or clock.
//!
//! Modules in the order of the data:
//!
//! * [`config`]: what a map should do, as TOML; checked, hashed, turned into a crawl's spec
//! * [`source`]: the rows of a map, wherever they are kept; [`memory`]: in memory
//! * [`depth`]: how far every page is from every quality domain, the slow and sure way
//! * `atlas`: pages and domains under small numbers, which all views begin with
//! * [`summary`]: the figures of a run, as Markdown and JSON
//! * `text`: how numbers, times and crawled text are written

mod atlas;
pub mod config;
pub mod depth;
pub mod memory;
pub mod source;
pub mod summary;
#[cfg(test)]
mod testkit;
mod text;

pub use source::{TerrainSource, ViewError};
pub use summary::Summary;
