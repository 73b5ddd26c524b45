//! The guarantees of the `trawl` command, tested on the real binary against the test web.
//!
//! * `harness`: the test web on a thread of its own, the binary, the database as a crash left it
//! * `kill_nine`: killed at random instants, a crawl loses nothing and repeats nothing
//! * `addresses`: nothing reaches an address that is not public unless it is allowed
//! * `exits`: what the process says to scripts, and that bad input leaves no trace
//! * `output`: results in every format, in files, folders and pipes
//! * `reach`: which pages are visited, and in what order
//! * `explaining`: why a URL was or was not crawled
//! * `extracting`: one document or many, from files, pipes and the web
//! * `content`: copies, kept Markdown and text, documents, sitemaps
//! * `serving`: crawl jobs over HTTP
//! * `scaling`: one crawl by several processes on PostgreSQL
//! * `searching`: what was crawled is indexed and found
//! * `models`: models from registries
//! * `signals`: Ctrl-C once and twice
//! * `recrawl`: a second crawl of the same pages
//! * `mapping`: terrain maps
//! * `memory`: hostile pages do not make the process grow
//! * `disk`: no space, no right to write
//! * `admin`: backups, lifecycle, repairs and moves
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod harness;

mod addresses;
mod admin;
mod content;
mod disk;
mod exits;
mod explaining;
mod extracting;
mod kill_nine;
mod mapping;
mod memory;
mod models;
mod output;
mod reach;
mod recrawl;
mod scaling;
mod searching;
mod serving;
mod signals;
