//! What the tests stand on. It asserts nothing about the crawler; tests do.
//!
//! * `web`: the test web on a thread of its own
//! * `trawl`: the real binary, run with a limit against hanging
//! * `api`: the real server and a plain client
//! * `tei`: a server that embeds and reranks
//! * `cross_encoder`: a tiny model that ranks, in a folder and behind the real `trawl embed-server`
//! * `postgres`: databases for servers that share one
//! * `snapshot`: what a database holds, read from a copy so that nothing is repaired on the way
//! * `harbour`: pages with something to be found in them
//! * `dice`: chance that can be repeated

mod api;
mod cross_encoder;
mod dice;
pub(crate) mod harbour;
pub(crate) mod postgres;
mod snapshot;
mod tei;
mod trawl;
mod web;

pub(crate) use api::{Api, Reply, Server};
pub(crate) use cross_encoder::CrossEncoder;
pub(crate) use dice::Dice;
pub(crate) use snapshot::{Copy, Snapshot};
pub(crate) use tei::{Health, Tei};
pub(crate) use trawl::{Done, Trawl, place};
pub(crate) use web::Web;
