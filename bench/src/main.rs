//! Measures trawl against a baseline in the same run.
fn main() {}
