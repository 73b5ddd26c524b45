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
//! * [`html`]: the same as one page with a graph to look around in
//! * [`export`]: the graph for other programs, by page, host or site
//! * [`prospects`]: discovered domains that could become part of the quality list
//! * [`diff`]: two runs compared
//! * `runs`, `text`: when things were seen; how numbers, times and crawled text are written

mod atlas;
pub mod config;
pub mod depth;
pub mod diff;
pub mod export;
pub mod html;
pub mod memory;
pub mod prospects;
mod runs;
pub mod source;
pub mod summary;
#[cfg(test)]
mod testkit;
mod text;

pub use diff::Diff;
pub use prospects::Prospects;
pub use source::{TerrainSource, ViewError};
pub use summary::Summary;
