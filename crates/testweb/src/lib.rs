//! A scripted, deterministic and hostile web on loopback, with a known true link graph.
//!
//! Modules in reading order:
//! - `spec`: what a web looks like; `prng`: where its chance comes from
//! - `paths`, `graph`: where pages live and what they link to, as pure functions of the seed
//! - `filler`, `hrefs`, `render`: a page as HTML
//! - `site`: pages kept or rendered on demand; `http_date`: dates for headers
//! - `reply`, `body`: what an answer consists of
//! - `behaviour`, `script`: paths that do something else, and the table of them
//! - `gallery`: every behaviour once, with the end it should come to
//! - `log`: what was asked, when, and how often
//! - `wire`, `tls`, `server`, `service`, `admin`: sockets and the way of a request
//! - `web`: the running web
//!
//! It never contacts anything but loopback and never judges what a crawler did: tests do.

mod admin;
mod behaviour;
mod body;
mod filler;
mod gallery;
mod graph;
mod hrefs;
mod http_date;
mod log;
mod paths;
mod prng;
mod render;
mod reply;
mod script;
mod server;
mod service;
mod site;
mod spec;
mod tls;
mod web;
mod wire;

pub use behaviour::Behaviour;
pub use behaviour::bulk::Bulk;
pub use behaviour::charset::CharsetCase;
pub use behaviour::content::FileKind;
pub use behaviour::encoding::{Coding, Damage, ENCODED_TITLE};
pub use behaviour::failure::RetryAfter;
pub use behaviour::fault::WireFault;
pub use behaviour::redirect::Redirect;
pub use behaviour::robots::RobotsKind;
pub use behaviour::sitemap::SitemapKind;
pub use behaviour::slow::Slow;
pub use behaviour::trap::Trap;
pub use gallery::{GalleryEntry, hostile_gallery};
pub use graph::TrueGraph;
pub use log::{LoggedRequest, RequestLog};
pub use reply::Answer;
pub use script::{Behaviours, HostPick};
pub use spec::{HostNaming, WebSpec};
pub use web::TestWeb;
