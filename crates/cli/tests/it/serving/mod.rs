//! `trawl serve` over real sockets, with the test web behind it.
//!
//! * `results`: the five ways of delivery, fields, cursors, streams
//! * `lives`: pause, resume, cancel, restart, `kill -9`
//! * `rights`: keys, scopes, rates, other people's jobs, every route
//! * `accounts`: users, sessions, bad logins, requests of other sites
//! * `tls`: certificates
//! * `settings`: file, environment, flags; log lines
//! * `frontier`: the open frontier
//! * `finding`: search
//! * `postgres`: all of it on a database that servers share
//! * `redis`: what such servers share besides, and may lose
//! * `overview`: pages, domains, figures across jobs, cleaning up
//! * `sharing`: priorities, thresholds, signs of life
//! * `answers`: errors, extraction, explanations, the contract

mod accounts;
mod answers;
mod finding;
mod frontier;
mod lives;
mod onlookers;
mod overview;
mod postgres;
mod redis;
mod results;
mod rights;
mod settings;
mod sharing;
mod tls;

use serde_json::{Value, json};
use trawl_testweb::WebSpec;

use crate::harness::{Server, Web, place};

/// A server without rights to ask for, a web behind it, and where its database lies.
pub(crate) struct Stage {
    pub(crate) web: Web,
    pub(crate) server: Server,
    pub(crate) database: std::path::PathBuf,
    pub(crate) _folder: tempfile::TempDir,
}

pub(crate) fn stage(pages: u32, args: &[&str]) -> Stage {
    let web = Web::start(WebSpec::small_site(pages));
    let (folder, database) = place();
    let port = web.addr().port().to_string();
    let mut all = vec!["--allow-port", &port];
    all.extend(args);
    let server = Server::start(&database, &all);
    Stage {
        web,
        server,
        database,
        _folder: folder,
    }
}

impl Stage {
    /// Stops the server as an operator does, and starts it anew.
    pub(crate) fn restart(self, args: &[&str]) -> Self {
        assert_eq!(self.server.stop(), Some(0));
        let port = self.web.addr().port().to_string();
        let server = Server::start(&self.database, &[args, &["--allow-port", &port]].concat());
        Self { server, ..self }
    }
}

/// A crawl of the whole test web, or a body for one.
pub(crate) fn site(web: &Web) -> Value {
    json!({ "seed_urls": [web.url(0, "/")] })
}
