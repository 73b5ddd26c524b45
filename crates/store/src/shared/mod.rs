//! What back ends have in common: codes in columns, the text of a page's links, bounded memory. Knows
//! no database.
//!
//! * [`link_text`]: the links of a page as one text
//! * [`link_lists`]: such texts over several crawls
//! * [`codes`]: ranks, chains of redirects, what a crawl keeps, whether a refusal may be lifted
//! * [`recent`]: a map that forgets
//! * [`sieve`]: a set that may claim too much
//! * [`stragglers`]: crawls that have ended and may still be written
//! * [`compressed`]: frames made beside everything else

pub(crate) mod codes;
pub(crate) mod compressed;
pub(crate) mod link_lists;
pub(crate) mod link_text;
pub(crate) mod recent;
pub(crate) mod sieve;
pub(crate) mod stragglers;
