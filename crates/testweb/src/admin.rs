//! The truth over HTTP, for tests that drive the web as another process: the log and the graph
//! under `/.testweb/`. These requests are never logged.

use std::fmt::Write as _;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::body::Content;
use crate::graph::TrueGraph;
use crate::service::World;

/// The answer to an administrative request; `None` where it is none.
pub(crate) fn answer(world: &World, request: &Parts) -> Option<Response<Content>> {
    let what = request.uri.path().strip_prefix("/.testweb/")?;
    let text = match what {
        "log" => log_lines(world),
        "graph" => graph_lines(world),
        "clear" => {
            world.log.clear();
            "{\"cleared\":true}\n".to_owned()
        }
        _ => String::new(),
    };
    let missing = text.is_empty() && what != "log";
    let mut response = Response::new(Content::Full(text.into()));
    if missing {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Some(response)
}

fn log_lines(world: &World) -> String {
    let mut out = String::new();
    for entry in world.log.entries() {
        if let Ok(line) = serde_json::to_string(&entry) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// One line for each page: number, host, path, depth and the numbers of the pages it links to.
fn graph_lines(world: &World) -> String {
    let renderer = &world.site.renderer;
    let graph = TrueGraph::from_rule(&renderer.rule);
    let mut out = String::new();
    for page in 0..graph.page_count() {
        let line = serde_json::json!({
            "page": page,
            "host": graph.host(page),
            "name": renderer.spec.host_name(graph.host(page)),
            "path": graph.path(page),
            "depth": graph.depth(page),
            "links": graph.links(page),
            "external": renderer.external_link(page),
        });
        let _ = writeln!(out, "{line}");
    }
    out
}
