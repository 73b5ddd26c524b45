//! Crawl jobs over HTTP. A crate of its own because it hides a heavy dependency (the web framework).
//! Handlers are thin; what they need stands in the other rooms:
//!
//! * [`settings`]: what an operator decides
//! * `error`: the one table of errors and their shape
//! * `auth`: keys, users, scopes and rates
//! * `app`: what all handlers share
//! * `jobs`: the life of a job: start, pause, resume, cancel, recovery after a crash
//! * [`duties`]: what a server does by itself every so often
//! * `frontier`: the open frontier, a crawl that never completes
//! * `spider`: a request becomes a spec; results become pages, lists and streams
//! * [`search`]: the index that belongs to the server, and who may find what in it
//! * `routes`: every endpoint, in one list
//! * `tls`: certificates and keys
//! * `serve`: sockets, timeouts, the end

mod app;
pub mod auth;
pub mod duties;
mod error;
mod frontier;
mod jobs;
mod routes;
pub mod search;
mod serve;
pub mod settings;
mod spider;
mod tls;

pub use routes::openapi;
pub use serve::{ServeError, Server};
pub use settings::ServerSettings;
pub use tls::{Tls, TlsError};
