//! Documents in, ranked hits out: keywords, meaning, and both together.
//!
//! A crate of its own because it hides heavy dependencies and is a contract with several
//! implementations (embedders). It fetches nothing from the web and knows no crawl beyond the
//! result log it follows.
//!
//! In reading order:
//! - [`analysis`]: text to terms. Pure.
//! - [`query`]: what somebody typed. Pure.
//! - [`lexical`]: keyword search over posting lists, wherever they lie. Pure.
//! - [`vector`]: search by meaning over vectors in memory. Pure.
//! - [`embed`]: texts to vectors, and texts ranked, inside the process or over HTTP.
//! - [`document`], [`prepare`]: what is searched, and how it is cut.
//! - [`file`](mod@file): the index as one file.
//! - [`qdrant`]: its vectors in a server elsewhere.
//! - [`fuse`](mod@fuse), [`highlight`]: two lists to one; where a text answers. Pure.
//! - [`follow`]: from the result log to the index; [`desk`]: what people add and remove.
//! - [`diff`]: what changed between two versions of a text. Pure.
//! - [`request`], [`search`]: from what was typed to a page of results.

pub mod analysis;
mod cache;
mod cursor;
pub mod desk;
pub mod diff;
pub mod document;
pub mod embed;
mod error;
pub mod file;
pub mod follow;
pub mod fuse;
pub mod highlight;
pub mod lexical;
mod model;
mod page;
pub mod prepare;
pub mod qdrant;
pub mod query;
pub mod request;
mod rest;
pub mod search;
mod sides;
pub mod vector;

pub use cache::CacheFigures;
pub use error::SearchError;
pub use model::Model;
pub use request::{Degraded, Hit, Mode, Request, Response};
pub use search::Searcher;
