//! A second crawl of the same pages asks conditionally and remembers what the first one saw.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use trawl_testweb::{Answer, Behaviour, Behaviours, WebSpec};

use crate::harness::{Trawl, Web, place};

#[test]
fn unchanged_pages_are_not_sent_again_and_still_lead_on() {
    let (_folder, database) = place();
    let spec = WebSpec {
        validators: true,
        ..WebSpec::many_hosts(3, 60)
    };
    let web = Web::start(spec);
    let crawl = || {
        let call = Trawl::crawl(&database, "0").args(["--scope", "any"]);
        call.arg(web.url(0, "/")).run().expect_code(0)
    };
    let first = crawl();
    assert!(first.json_lines().iter().all(|r| r["outcome"] == "fetched"));
    web.log().clear();
    web.touch(7);
    let second = crawl().json_lines();
    assert_eq!(
        second.len(),
        60,
        "every page is found again by its old links"
    );
    for record in &second {
        let page = web.page_of(record["url"].as_str().unwrap()).unwrap();
        let expected = match page {
            7 => ("fetched", 200),
            _ => ("not_modified", 304),
        };
        assert_eq!(record["outcome"], expected.0, "{record}");
        assert_eq!(record["status_code"], expected.1, "{record}");
    }
    for request in web.log().entries() {
        assert_ne!(request.path(), "/robots.txt", "it is known for a day");
        assert!(request.if_none_match.is_some() || request.if_modified_since.is_some());
    }
    // Both crawls are there, each with its own results.
    let status = Trawl::on("status", &database).arg("--json").run();
    let status = status.expect_code(0).json_lines();
    assert_eq!(status.len(), 2);
    assert_eq!(status[1]["counts"]["outcomes"]["not_modified"], 59);
    let export = Trawl::on("export", &database).arg("1").run().expect_code(0);
    assert_eq!(export.json_lines().len(), 60);
}

/// An answer that is not sent again to those who have it.
fn tagged(content_type: &str, body: &str) -> Behaviour {
    let answer = Answer::of_type(content_type, body.to_owned());
    let tag = format!("\"{:x}\"", body.len());
    Behaviour::Answer(answer.with_header("etag", &tag))
}

fn html(body: &str) -> Behaviour {
    tagged("text/html", &format!("<!doctype html>{body}"))
}

/// How each path ended, in a crawl of host 0.
fn ends(web: &Web, database: &Path, args: &[&str]) -> BTreeMap<String, String> {
    let call = Trawl::crawl(database, "0").args(args);
    let done = call.arg(web.url(0, "/")).run().expect_code(0);
    let root = web.url(0, "/");
    let end = |record: Value| {
        let path = record["url"].as_str()?.strip_prefix(root.as_str())?;
        Some((format!("/{path}"), record["outcome"].as_str()?.to_owned()))
    };
    done.json_lines().into_iter().filter_map(end).collect()
}

fn assert_ends(ends: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    let seen: Vec<(&str, &str)> = ends.iter().map(|(p, o)| (p.as_str(), o.as_str())).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_page_that_was_cut_is_asked_for_anew_and_leads_on() {
    let (_folder, database) = place();
    let long = format!("{}<a href=/behind>behind</a>", "<p>word</p>".repeat(500));
    let behaviours = Behaviours::none()
        .on(0, "/", html(&long))
        .on(0, "/behind", html("the end"));
    let web = Web::start_with(WebSpec::small_site(1), behaviours);
    let cut = ends(&web, &database, &["--max-body", "1KB"]);
    assert_ends(&cut, &[("/", "fetched")]);
    let whole = ends(&web, &database, &[]);
    assert_ends(&whole, &[("/", "fetched"), ("/behind", "fetched")]);
    let again = ends(&web, &database, &[]);
    assert_ends(
        &again,
        &[("/", "not_modified"), ("/behind", "not_modified")],
    );
}

#[test]
fn documents_and_sitemaps_that_were_not_read_are_asked_for_anew() {
    let (_folder, database) = place();
    let feed = "<rss version='2.0'><channel><title>News</title><item><title>One</title>\
                <link>/from-feed</link><description>The first.</description></item></channel></rss>";
    let map = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url>\
               <loc>/from-map</loc></url></urlset>";
    let behaviours = Behaviours::none()
        .on(
            0,
            "/",
            html("<a href=/feed>feed</a> <a href=/map.xml>map</a>"),
        )
        .on(0, "/feed", tagged("application/rss+xml", feed))
        .on(0, "/map.xml", tagged("application/xml", map))
        .on(0, "/from-feed", html("found by the feed"))
        .on(
            0,
            "/from-map",
            html("found by the map, and by nothing else"),
        );
    let web = Web::start_with(WebSpec::small_site(1), behaviours);
    let seen = |args: &[&str]| {
        let ends = ends(&web, &database, args);
        ["/", "/feed", "/from-feed", "/map.xml", "/from-map"].map(|path| {
            ends.get(path)
                .map_or("unseen", |end| end.as_str())
                .to_owned()
        })
    };
    let (none, not) = ("unseen", "not_modified");
    let plain = ["fetched", "not_html", none, "not_html", none];
    assert_eq!(seen(&[]), plain);
    assert_eq!(seen(&[]), [not, not, none, not, none]);
    let documents = [not, "fetched", "fetched", "not_html", none];
    assert_eq!(seen(&["--documents"]), documents);
    assert_eq!(seen(&["--documents"]), [not, not, not, not, none]);
    let sitemaps = [not, "not_html", none, "not_html", "fetched"];
    assert_eq!(seen(&["--sitemaps"]), sitemaps);
    assert_eq!(seen(&["--sitemaps"]), [not, not, none, not, not]);
}

#[test]
fn each_crawl_has_the_links_that_it_saw() {
    let (folder, database) = place();
    let versions = [
        "<a href=/l1>1</a>",
        "<a href=/l2>the second</a>",
        "no links",
    ];
    let web = Web::start(WebSpec::small_site(1));
    for path in ["/l1", "/l2"] {
        web.on(0, path, html("the end"));
    }
    let crawl = |number: usize| {
        let output = format!("{}/{number}/", folder.path().display());
        let call = Trawl::crawl(&database, "0").args(["--output", &output]);
        call.arg(web.url(0, "/")).run().expect_code(0);
        let links = fs::read_to_string(format!("{output}links.ndjson")).unwrap();
        let link = |line: &str| serde_json::from_str::<Value>(line).unwrap()["to"].clone();
        links.lines().map(link).collect::<Vec<Value>>()
    };
    let mut written = Vec::new();
    for (number, version) in versions.iter().enumerate() {
        web.on(0, "/", html(version));
        written.push(crawl(number));
    }
    // It has not changed since it lost its links.
    written.push(crawl(versions.len()));
    let expected = [
        vec![web.url(0, "/l1")],
        vec![web.url(0, "/l2")],
        vec![],
        vec![],
    ];
    assert_eq!(
        written,
        expected.map(|urls| urls.into_iter().map(Value::from).collect::<Vec<_>>())
    );
    for (number, links) in (1..).zip(written) {
        let call = Trawl::on("export", &database).arg(number.to_string());
        let export = call.args(["--fields", "depth,links"]).run().expect_code(0);
        let front = export.json_lines().remove(0);
        assert_eq!(front["depth"], 0);
        let exported = front["links"].as_array().cloned().unwrap_or_default();
        let exported: Vec<Value> = exported.iter().map(|link| link["url"].clone()).collect();
        assert_eq!(exported, links, "crawl {number}");
    }
}
