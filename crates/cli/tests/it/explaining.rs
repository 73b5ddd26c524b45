//! `trawl explain`: each decision has a reason that can be asked for.

use std::path::Path;

use trawl_testweb::{Behaviour, Behaviours, RetryAfter, RobotsKind, WebSpec};

use crate::harness::{Trawl, Web, place};

fn explain(database: &Path, url: &str) -> String {
    Trawl::on("explain", database)
        .arg(url)
        .run()
        .expect_code(0)
        .stdout
}

/// The index leads to one page of each fate.
fn crawled() -> (tempfile::TempDir, std::path::PathBuf, Web) {
    let (folder, database) = place();
    let page = |html: &str| Behaviour::page(format!("<!doctype html>{html}"));
    let rules = "User-agent: *\nDisallow: /secret/\n";
    let behaviours = Behaviours::none()
        .robots(0, RobotsKind::Custom(rules.to_owned()))
        .on(
            0,
            "/",
            page("<a href=/one>1</a><a href=/secret/x>s</a><a href=/gone>g</a><a href=/old>o</a>"),
        )
        .on(
            0,
            "/one",
            page("<title>Page one</title><a href=/one/two>2</a>"),
        )
        .on(
            0,
            "/one/two",
            page("<a href=/one/two/three>3</a><a href=/skip/me>k</a>"),
        )
        .on(0, "/old", Behaviour::redirect_to("/one"))
        .on(0, "/gone", Behaviour::Status(410));
    let web = Web::start_with(WebSpec::many_hosts(2, 2), behaviours);
    let call = Trawl::crawl(&database, "0")
        .args(["--max-depth", "2", "--exclude", "/skip/*"])
        .arg(web.url(0, "/"));
    call.run().expect_code(0);
    (folder, database, web)
}

#[test]
fn explain_names_what_became_of_a_url_and_by_which_rule() {
    let (_folder, database, web) = crawled();
    for (path, says) in [
        (
            "/one",
            &["crawled", "fetched 200", "Page one", "depth        1"][..],
        ),
        ("/gone", &["crawled", "gone 410"]),
        ("/old", &["redirected", "/one"]),
        (
            "/secret/x",
            &["not crawled", "robots.txt disallows", "line 2", "/secret/"],
        ),
        (
            "/one/two/three",
            &["not crawled", "further from the seeds", "depth        3"],
        ),
        ("/skip/me", &["not crawled", "exclude pattern", "/skip/*"]),
        ("/never", &["never seen", "would be crawled", "allows it"]),
        (
            "/secret/unseen",
            &["never seen", "would be refused", "disallows it by line 2"],
        ),
    ] {
        let text = explain(&database, &web.url(0, path));
        let promised = text.contains("would be crawled");
        assert_eq!(promised, path == "/never", "{path}:\n{text}");
        for part in says {
            assert!(text.contains(part), "{path} should say {part:?}:\n{text}");
        }
    }
}

#[test]
fn explain_shows_the_way_from_the_seed() {
    let (_folder, database, web) = crawled();
    let text = explain(&database, &web.url(0, "/one/two"));
    let chain = [web.url(0, "/"), web.url(0, "/one"), web.url(0, "/one/two")];
    for (step, url) in chain.iter().enumerate() {
        assert!(text.contains(&format!("{step}: {url}\n")), "{text}");
    }
}

#[test]
fn explain_says_what_would_happen_to_a_url_that_was_never_seen() {
    let (_folder, database, web) = crawled();
    let elsewhere = web.url(1, "/");
    for (url, says) in [
        (elsewhere.as_str(), "outside the crawl's scope"),
        ("http://10.0.0.1/", "must not be contacted"),
        ("ftp://example.org/", "only http and https"),
        ("http://user:pw@example.org/", "user name or password"),
    ] {
        let text = explain(&database, url);
        assert!(text.contains("never seen"), "{text}");
        assert!(text.contains("would be refused"), "{text}");
        assert!(text.contains(says), "{url} should say {says:?}:\n{text}");
        assert!(!text.contains("would be read first"), "{text}");
    }
}

#[test]
fn what_is_no_url_is_bad_input() {
    let (_folder, database, _web) = crawled();
    for text in ["", "not a url", "http://[::bad"] {
        let done = Trawl::on("explain", &database).arg(text).run();
        let done = done.expect_code(2);
        assert!(done.stderr.contains("not a URL"), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
}

#[test]
fn explain_promises_nothing_of_a_host_that_is_given_up_or_used_up() {
    let long = Behaviour::Busy {
        status: 503,
        retry_after: RetryAfter::Seconds(7200),
    };
    let long = Behaviours::none().on(0, "/p/1", long);
    for (args, behaviours, says) in [
        (
            &["--max-pages-per-host", "2"][..],
            Behaviours::none(),
            "budget",
        ),
        (&[], long, "suspended"),
    ] {
        let (_folder, database) = place();
        let web = Web::start_with(WebSpec::small_site(20), behaviours);
        let call = Trawl::crawl(&database, "0").args(args);
        call.arg(web.url(0, "/")).run().expect_code(0);
        let text = explain(&database, &web.url(0, "/never/seen"));
        assert!(text.contains("it would wait"), "{text}");
        assert!(text.contains(says), "{text}");
        assert!(!text.contains("would be crawled"), "{text}");
    }
}

#[test]
fn explain_speaks_json() {
    let (_folder, database, web) = crawled();
    let json = |path: &str| {
        let call = Trawl::on("explain", &database).args(["--json", &web.url(0, path)]);
        call.run().expect_code(0).json_lines().remove(0)
    };
    let one = json("/one");
    assert_eq!(one["seen"]["state"], "done");
    assert_eq!(one["seen"]["record"]["outcome"], "fetched");
    assert_eq!(one["verdict"], "allowed");
    for time in [
        &one["seen"]["discovered_at"],
        &one["seen"]["record"]["crawled_at"],
    ] {
        let is_iso = time.as_str().is_some_and(|time| time.ends_with('Z'));
        assert!(is_iso, "{time}");
    }
    let secret = json("/secret/x");
    assert_eq!(secret["seen"]["state"], "refused");
    assert_eq!(secret["seen"]["reason"]["code"], "robots_disallowed");
    assert_eq!(json("/never")["seen"], serde_json::Value::Null);
    assert_eq!(json("/never")["verdict"], "allowed");
    let unseen = json("/secret/unseen");
    assert_eq!(unseen["verdict"]["code"], "robots_disallowed");
}

#[test]
fn a_url_is_found_in_any_of_its_spellings() {
    let (_folder, database, web) = crawled();
    let port = web.addr().port();
    for spelling in [
        format!("http://SITE0.test:{port}/one"),
        format!("http://site0.test:{port}/one/#part"),
        format!("http://site0.test:{port}/one?utm_source=x"),
        format!("https://www.site0.test:{port}/./one"),
    ] {
        let text = explain(&database, &spelling);
        assert!(text.contains("fetched 200"), "{spelling}:\n{text}");
    }
}
