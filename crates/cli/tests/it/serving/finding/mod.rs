//! Search over HTTP: a server that indexes what its jobs crawl.
//!
//! * `searches`: by words, by meaning, by both; filters, pages, what is refused
//! * `documents`: uploads, versions, tags and collections, deleting and restoring
//! * `remembering`: caches, and that nothing deleted comes out of them
//! * `following`: `kill -9` while indexing, pages that vanish, PostgreSQL, one index for two servers
//! * `belonging`: who may find what
//! * `ranking`: the best in another order, by a model of the process and by one behind HTTP

mod belonging;
mod documents;
mod following;
mod ranking;
mod remembering;
mod searches;

use std::path::PathBuf;

use serde_json::{Value, json};
use trawl_testweb::{Behaviour, Behaviours, WebSpec};

use crate::harness::{
    Api, Reply, Server, Web,
    harbour::{NETS, STORMS, TIDES, page},
    place,
};

/// A site of a start page and so many others, which it links to.
pub(super) fn linking(paths: &[String]) -> Behaviour {
    let links: Vec<String> = paths
        .iter()
        .map(|path| format!("<a href='{path}'>page {path}</a>"))
        .collect();
    page(
        "The harbour",
        &format!(
            "Read about the harbour here, in this small guide for visitors of the coast. {}",
            links.join(" ")
        ),
    )
}

/// The harbour: four pages.
fn harbour() -> Web {
    let paths = ["/nets", "/tides", "/storms"].map(str::to_owned);
    let behaviours = Behaviours::none()
        .on(0, "/", linking(&paths))
        .on(0, "/nets", page("Nets", NETS))
        .on(0, "/tides", page("Tides", TIDES))
        .on(0, "/storms", page("Storms", STORMS));
    Web::start_with(WebSpec::many_hosts(1, 1), behaviours)
}

/// A server in a folder of its own.
struct Harbour {
    web: Web,
    server: Server,
    database: PathBuf,
    _folder: tempfile::TempDir,
}

const PLENTY: [&str; 6] = [
    "--rate-admin",
    "1000000",
    "--rate-user",
    "1000000",
    "--delay",
    "0s",
];

fn arguments<'a>(port: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [&PLENTY[..], &["--allow-port", port], args].concat()
}

impl Harbour {
    fn start(web: Web, args: &[&str]) -> Self {
        let (folder, database) = place();
        let port = web.addr().port().to_string();
        let server = Server::start(&database, &arguments(&port, args));
        Self {
            web,
            server,
            database,
            _folder: folder,
        }
    }

    /// With all pages indexed.
    fn indexed(args: &[&str]) -> Self {
        let harbour = Self::start(harbour(), args);
        crawl(&harbour.server.client(), &harbour.web.url(0, "/"));
        let api = harbour.server.client();
        api.wait_for_index(|figures| figures["documents"] == 4);
        harbour
    }
}

/// Crawls a site with its content, to the end; gives the job.
fn crawl(api: &Api, url: &str) -> String {
    let body = json!({ "url": url, "max_pages": 1000, "max_depth": 100 });
    let job = api.post("/crawl/deep", &body).expect(202).json();
    let id = job["job_id"].as_str().unwrap().to_owned();
    let view = api.wait_for(&id, &["completed", "failed"]);
    assert_eq!(view["status"], "completed", "{view}");
    id
}

fn search(api: &Api, path: &str, body: &Value) -> Value {
    api.post(path, body).expect(200).json()
}

/// The last parts of the URLs that were found.
fn found(answer: &Value) -> Vec<String> {
    let name = |hit: &Value| {
        let url = hit["url"].as_str().unwrap();
        url.rsplit(['/', ':']).next().unwrap().to_owned()
    };
    answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(name)
        .collect()
}

fn upload(api: &Api, name: &str, content: &str) -> Value {
    let body = json!({ "url": format!("upload:{name}"), "title": name, "content": content });
    let reply = api.post("/documents", &body);
    assert!(reply.status.is_success(), "{}", reply.text());
    reply.json()
}

#[track_caller]
fn refused(reply: Reply, status: u16, code: &str) -> Value {
    let answer = reply.expect(status).json();
    assert_eq!(answer["code"], code, "{answer}");
    answer
}
