//! The ordinary web: pages, their links, the log and the truth over HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use support::{get, send};
use trawl_testweb::{Behaviour, HostNaming, TestWeb, WebSpec};

/// The hrefs of anchors, found in the dumbest way: comments and scripts are cut out first.
fn hrefs(html: &str) -> Vec<String> {
    let mut text = html.to_owned();
    for (open, close) in [
        ("<!--", "-->"),
        ("<script", "</script>"),
        ("<style", "</style>"),
    ] {
        while let Some(start) = text.find(open) {
            let end = start + text[start..].find(close).unwrap() + close.len();
            text.replace_range(start..end, "");
        }
    }
    let anchors = text
        .split("<a ")
        .skip(1)
        .filter(|tag| !tag.contains("download"));
    anchors
        .map(|tag| href_of(tag).replace("&amp;", "&"))
        .collect()
}

fn href_of(tag: &str) -> &str {
    let value = &tag[tag.find("href=").unwrap() + 5..];
    match value.chars().next().unwrap() {
        quote @ ('"' | '\'') => value[1..].split(quote).next().unwrap(),
        _ => value.split('>').next().unwrap(),
    }
}

/// Resolves an href to a host and a path, as far as this web uses them.
fn resolve(web: &TestWeb, host: u32, base: &str, href: &str) -> Option<(u32, String)> {
    let href = href.split(['#', '?']).next().unwrap();
    if let Some(rest) = href.to_ascii_lowercase().strip_prefix("http://") {
        let (authority, path) = rest.split_once('/').unwrap();
        let name = authority.split(':').next().unwrap();
        let host = (0..web.spec().hosts).find(|&h| web.host_name(h) == name)?;
        return Some((host, format!("/{path}")));
    }
    if href.contains(':') {
        return None;
    }
    if href.starts_with('/') {
        return Some((host, href.to_owned()));
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in href.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some((host, parts.join("/")))
}

async fn assert_pages_link_as_the_graph_says(web: &TestWeb) {
    let graph = web.graph();
    for page in 0..graph.page_count() {
        let (host, path) = (graph.host(page), graph.path(page));
        let answer = get(web.addr(), &web.host_name(host), &path).await;
        assert_eq!(answer.status, 200, "{path}");
        let html = answer.text();
        let found: BTreeSet<_> = hrefs(&html)
            .iter()
            .filter_map(|href| resolve(web, host, &path, href))
            .collect();
        let truth: BTreeSet<_> = graph
            .links(page)
            .iter()
            .map(|&to| (graph.host(to), graph.path(to)))
            .collect();
        assert_eq!(found, truth, "links of {path}");
    }
}

#[tokio::test]
async fn the_links_on_the_pages_are_exactly_those_of_the_true_graph() {
    let web = TestWeb::start(WebSpec::many_hosts(5, 400)).await.unwrap();
    assert_pages_link_as_the_graph_says(&web).await;
}

#[tokio::test]
async fn a_web_too_large_to_keep_is_rendered_on_demand_and_links_the_same() {
    let spec = WebSpec::many_hosts(3, 60).with_page_bytes(5 << 20);
    let web = TestWeb::start(spec).await.unwrap();
    assert_pages_link_as_the_graph_says(&web).await;
}

#[tokio::test]
async fn requests_are_logged_with_their_time_and_what_they_carried() {
    let web = TestWeb::start(WebSpec::many_hosts(2, 10)).await.unwrap();
    get(web.addr(), "site1.test", "/?utm_source=x").await;
    send(
        web.addr(),
        "HEAD",
        "site1.test:99",
        "/nowhere",
        "user-agent: tester/1\r\ncookie: a=b\r\n",
    )
    .await;
    let entries = web.log().entries();
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[0].host, entries[0].status), (1, 200));
    assert_eq!(entries[0].path_and_query, "/?utm_source=x");
    assert_eq!(
        (entries[1].method.as_str(), entries[1].status),
        ("HEAD", 404)
    );
    assert_eq!(entries[1].user_agent.as_deref(), Some("tester/1"));
    assert_eq!(entries[1].cookie.as_deref(), Some("a=b"));
    assert!(entries.iter().all(|entry| entry.finished_micros.is_some()));
    assert!(entries[0].at_micros <= entries[1].at_micros);
    assert_eq!(web.log().count(1, "/"), 1);
    assert_eq!(web.log().count(1, "/?utm_source=y"), 0);
    assert_eq!(web.log().max_concurrent(1), 1);
    assert!(web.log().min_gap(1).is_some());
    web.log().clear();
    assert!(web.log().is_empty());
}

#[tokio::test]
async fn requests_in_flight_on_a_host_are_counted() {
    let spec = WebSpec::many_hosts(2, 10).with_latency(Duration::from_millis(100));
    let web = TestWeb::start(spec).await.unwrap();
    let addr = web.addr();
    let asks =
        (0..4).map(|_| tokio::spawn(async move { get(addr, "site1.test", "/").await.status }));
    for ask in asks.collect::<Vec<_>>() {
        assert_eq!(ask.await.unwrap(), 200);
    }
    assert_eq!(web.log().max_concurrent(1), 4);
    assert_eq!(web.log().max_concurrent(0), 0);
    assert_eq!(web.log().in_flight(), 0);
}

#[tokio::test]
async fn head_has_the_length_of_the_page_and_no_body() {
    let web = TestWeb::start(WebSpec::small_site(5).with_page_bytes(9000))
        .await
        .unwrap();
    let answer = send(web.addr(), "HEAD", "site0.test", "/", "").await;
    assert_eq!(answer.header("content-length"), Some("9000"));
    assert!(answer.body.is_empty());
}

#[tokio::test]
async fn paths_can_be_scripted_while_the_web_runs_and_given_back() {
    let web = TestWeb::start(WebSpec::small_site(5)).await.unwrap();
    web.on("*", "/p/1", Behaviour::Status(410));
    assert_eq!(get(web.addr(), "site0.test", "/p/1").await.status, 410);
    web.off("*", "/p/1");
    assert_eq!(get(web.addr(), "site0.test", "/p/1").await.status, 200);
}

#[tokio::test]
async fn the_truth_can_be_read_over_http_without_being_logged() {
    let web = TestWeb::start(WebSpec::small_site(20)).await.unwrap();
    get(web.addr(), "site0.test", "/p/1").await;
    let log = get(web.addr(), "site0.test", "/.testweb/log").await.text();
    let line: serde_json::Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(line["path_and_query"], "/p/1");
    let graph = get(web.addr(), "site0.test", "/.testweb/graph")
        .await
        .text();
    assert_eq!(graph.lines().count(), 20);
    let root: serde_json::Value = serde_json::from_str(graph.lines().next().unwrap()).unwrap();
    assert_eq!((&root["path"], &root["depth"]), (&"/".into(), &0.into()));
    assert_eq!(web.log().len(), 1);
}

#[tokio::test]
async fn hosts_can_have_addresses_of_their_own() {
    let spec = WebSpec {
        naming: HostNaming::LoopbackAddresses,
        ..WebSpec::many_hosts(3, 9)
    };
    let web = TestWeb::start(spec).await.unwrap();
    for host in 0..3 {
        let authority = format!("{}:{}", web.host_name(host), web.addr().port());
        let answer = get(authority.parse().unwrap(), &authority, "/").await;
        assert!(answer.text().contains(&format!("Page 0 of site {host}:")));
    }
    assert_eq!(web.log().count(2, "/"), 1);
}

#[tokio::test]
async fn pages_with_validators_answer_304_until_they_change() {
    let spec = WebSpec {
        validators: true,
        ..WebSpec::small_site(5)
    };
    let web = TestWeb::start(spec).await.unwrap();
    let first = get(web.addr(), "site0.test", "/p/1").await;
    let tag = format!("if-none-match: {}\r\n", first.header("etag").unwrap());
    let date = format!(
        "if-modified-since: {}\r\n",
        first.header("last-modified").unwrap()
    );
    for header in [&tag, &date] {
        let again = send(web.addr(), "GET", "site0.test", "/p/1", header).await;
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
    web.touch(web.graph().find(0, "/p/1").unwrap());
    for header in [&tag, &date] {
        let changed = send(web.addr(), "GET", "site0.test", "/p/1", header).await;
        assert_eq!(changed.status, 200);
        assert_ne!(changed.body, first.body);
    }
}

#[tokio::test]
async fn a_stopped_web_no_longer_listens() {
    let web = TestWeb::start(WebSpec::small_site(5)).await.unwrap();
    let addr = web.addr();
    web.stop().await;
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}
