//! The trawl command.
fn main() {}
