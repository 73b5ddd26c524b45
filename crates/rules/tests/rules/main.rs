//! What the rules promise, as tables. One binary, so that the tables link once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod addresses;
mod normalisation;
mod robots;
mod robots_against_a_peer;
mod scope;
mod scores;
mod traps;

use trawl_rules::Normaliser;
use trawl_types::{CrawlUrl, KeySecret, spec::NormaliseSpec};

/// A URL with the default identity.
fn crawl_url(text: &str) -> CrawlUrl {
    normaliser().seed(text).unwrap()
}

fn normaliser() -> Normaliser {
    Normaliser::new(&NormaliseSpec::default(), KeySecret([7; 16]))
}
