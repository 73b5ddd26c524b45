//! The shared nouns of a crawl. A crate of its own because it is pure and every other crate speaks it.
//!
//! Nothing here does I/O, reads a clock or knows a database. Modules in the order of the data:
//!
//! * [`url`]: an address, its identity and its host, each a type of its own
//! * [`id`]: the small numbers a store gives to crawls, hosts and pages
//! * [`time`]: wall-clock time as it is written
//! * [`spec`]: everything that says what a crawl should do
//! * [`reason`]: why a URL was refused
//! * [`outcome`]: how a fetch ended
//! * [`link`]: an edge with its evidence
//! * [`short_text`]: text that is held in place, as links have it
//! * [`record`]: what is known of a page in the end
//! * [`terrain`]: a map's classes, states and rows

pub mod id;
pub mod link;
pub mod outcome;
pub mod reason;
pub mod record;
pub mod short_text;
pub mod spec;
pub mod terrain;
pub mod time;
pub mod url;

pub use id::{CrawlId, HostId, PageId, Sequence, UnixMillis};
pub use link::{LinkKind, LinkRel, Place};
pub use outcome::{Outcome, OutcomeKind};
pub use reason::{Reason, ReasonCode};
pub use record::{CrawlState, PageRecord, PageState};
pub use short_text::{AnchorText, ShortText};
pub use spec::CrawlSpec;
pub use url::{CrawlUrl, HostKey, KeySecret, Scheme, SiteKey, UrlKey};
