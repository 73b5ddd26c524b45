//! The guarantees of the engine, tested in one process against the test web's log.
//!
//! * `stage`: a test web, a store and an engine
//! * `attending`: a crawl that others work on
//! * `content`: content is made beside the crawl
//! * `following`: which links are followed
//! * `heads`: when HEAD comes before GET
//! * `hostile`: every hostile page comes to its named end
//! * `lives`: pause, resume, cancel, budgets and depth
//! * `politeness`: no host is asked too soon, too much at once, or for what it forbids
//! * `redirects`: redirects within a page and across pages
//! * `robots`: a robots.txt that cannot be read
//! * `waits`: Retry-After, back-off and the circuit breaker
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod stage;

mod attending;
mod content;
mod following;
mod heads;
mod hostile;
mod lives;
mod politeness;
mod redirects;
mod robots;
mod waits;
