//! The guarantees of the `trawl` command, tested on the real binary against the test web.
//!
//! * `harness`: the test web on a thread of its own, the binary, the database as a crash left it
//! * `kill_nine`: killed at random instants, a crawl loses nothing and repeats nothing
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod harness;

mod kill_nine;
