//! A request becomes a spec; results become pages.
//!
//! * [`request`]: what may be asked for, and the spec it means
//! * [`fields`]: which fields of a page are wanted
//! * [`page`]: a page as it is sent
//! * [`stream`]: pages as NDJSON, server-sent events and messages

pub(crate) mod fields;
pub(crate) mod page;
pub(crate) mod request;
pub(crate) mod stream;
