//! Redirects, limits, robots.txt, 429, dead links: each rule of the document in the state it
//! leads to.

use trawl_testweb::{
    Answer, Behaviour, Behaviours, FileKind, Redirect, RetryAfter, RobotsKind, WebSpec,
};

use super::{MapData, MapFile};
use crate::harness::Web;

/// A page with these links.
fn page(links: &[&str]) -> Behaviour {
    let links = links.iter().fold(String::new(), |text, link| {
        text + &format!("<p><a href=\"{link}\">to {link}</a></p>")
    });
    Behaviour::Answer(Answer::html(format!(
        "<title>t</title><main>{links}</main>"
    )))
}

fn web(behaviours: Behaviours) -> Web {
    Web::start_with(WebSpec::many_hosts(5, 5), behaviours)
}

fn quality(web: &Web, seed: &str) -> MapFile {
    MapFile::new(web).quality("site0.test", &[web.url(0, seed)])
}

#[test]
fn every_end_of_a_visit_has_its_state() {
    let web = web(Behaviours::none());
    let (off, bad) = (web.url(1, "/x"), web.url(2, "/gate"));
    web.on(
        0,
        "/start",
        page(&[
            "/dead", "/loop", "/pdf", "/to-bad", "/to-stub", "/long", "/slash", "/flap", &off,
            "/broken",
        ]),
    );
    web.on(0, "/dead", Behaviour::Status(404));
    web.on(0, "/broken", Behaviour::Status(503));
    web.on(
        0,
        "/flap",
        Behaviour::Flapping {
            failures: 1,
            status: 500,
        },
    );
    web.on(
        0,
        "/loop",
        Behaviour::Redirect(Redirect::Loop { length: 3 }),
    );
    web.on(
        0,
        "/long",
        Behaviour::Redirect(Redirect::Chain { hops: 14 }),
    );
    web.on(0, "/pdf", Behaviour::File(FileKind::Pdf));
    web.on(0, "/to-bad", Behaviour::Redirect(Redirect::to(&bad)));
    web.on(
        0,
        "/to-stub",
        Behaviour::Redirect(Redirect::to(&web.url(3, "/article"))),
    );
    web.on(1, "/x", page(&[&bad]));
    let map = quality(&web, "/start")
        .blacklist("site2.test")
        .stub("site3.test");
    map.map().run().expect_code(0);
    let data = MapData::open(&map.database());
    let expect = |url: &str, state: &str, said: &str| {
        let (found, error) = data.state(url);
        assert_eq!(found, state, "{url}: {error}");
        assert!(error.contains(said), "{url}: {error}");
    };
    expect(&web.url(0, "/start"), "Processed", "");
    expect(&web.url(0, "/dead"), "DeadLink", "not_found");
    expect(&web.url(0, "/broken"), "Failed", "503");
    expect(&web.url(0, "/flap"), "Processed", "");
    expect(&web.url(0, "/pdf"), "ContentMismatch", "not_html");
    expect(&web.url(0, "/to-bad"), "Failed", "blacklist");
    expect(&web.url(0, "/to-stub"), "Failed", "stub");
    expect(&bad, "Blacklisted", "");
    expect(&web.url(3, "/article"), "Stubbed", "");
    expect(&web.url(1, "/x"), "Processed", "");
    // The page that was redirected and the one that links refer to it.
    assert_eq!(data.references("blacklisted_urls")[&bad], 2);
    assert_eq!(
        data.number("SELECT retry_count FROM pages WHERE url LIKE '%/broken'"),
        3
    );
    assert_eq!(
        data.number("SELECT retry_count FROM pages WHERE url LIKE '%/flap'"),
        1
    );
    let loops =
        "SELECT count(*) FROM pages WHERE state = 'Failed' AND error_message LIKE 'redirect_loop%'";
    assert_eq!(data.number(loops), 1);
    let long = "SELECT count(*) FROM pages WHERE state = 'Failed' AND error_message LIKE 'too_many_redirects%'";
    assert_eq!(data.number(long), 1);
    for host in [2, 3] {
        assert!(web.log().of_host(host).is_empty(), "host {host} was asked");
    }
}

#[test]
fn a_domain_that_says_429_is_asked_no_more_and_its_pages_say_why() {
    let web = web(Behaviours::none());
    let other: Vec<String> = (0..6).map(|n| web.url(1, &format!("/p{n}"))).collect();
    let links: Vec<&str> = other.iter().map(String::as_str).collect();
    web.on(0, "/start", page(&links));
    for n in 0..6 {
        web.on(
            1,
            &format!("/p{n}"),
            Behaviour::Busy {
                status: 429,
                retry_after: RetryAfter::Seconds(1),
            },
        );
    }
    let map = quality(&web, "/start");
    map.map().run().expect_code(0);
    let data = MapData::open(&map.database());
    for url in &other {
        assert_eq!(data.state(url).0, "RateLimited", "{url}");
    }
    let asked = web.pages_asked();
    assert_eq!(asked.iter().filter(|request| request.host == 1).count(), 1);
    assert_eq!(
        data.number("SELECT rate_limited FROM domain_states WHERE domain = 'site1.test'"),
        1
    );
    let summary = std::fs::read_to_string(map.summary()).unwrap();
    assert!(summary.contains("| Rate Limited (429) | 6 |"), "{summary}");
    assert!(summary.contains("site1.test (request #1)"), "{summary}");
}

#[test]
fn a_domain_is_asked_as_often_as_allowed_and_the_rest_waits_for_another_run() {
    let web = web(Behaviours::none());
    let paths: Vec<String> = (0..9).map(|n| format!("/p{n}")).collect();
    let links: Vec<&str> = paths.iter().map(String::as_str).collect();
    web.on(0, "/start", page(&links));
    for path in &paths {
        web.on(0, path, page(&[]));
    }
    let map = quality(&web, "/start").max_requests(4);
    map.map().run().expect_code(0);
    let data = MapData::open(&map.database());
    assert_eq!(web.pages_asked().len(), 4);
    assert_eq!(data.number("SELECT request_count FROM domain_states"), 4);
    assert_eq!(
        data.number("SELECT count(*) FROM pages WHERE state = 'RequestLimitHit'"),
        6
    );
    assert_eq!(data.number("SELECT count(*) FROM frontier"), 0);
}

#[test]
fn robots_denials_are_failures_of_a_known_kind_and_are_counted() {
    let web = web(Behaviours::none().robots(1, RobotsKind::DisallowAll));
    let off = web.url(1, "/x");
    web.on(0, "/start", page(&[&off]));
    let map = quality(&web, "/start");
    map.map().run().expect_code(0);
    let data = MapData::open(&map.database());
    let (state, error) = data.state(&off);
    assert_eq!(state, "Failed");
    assert!(error.starts_with("robots_disallowed"), "{error}");
    let summary = std::fs::read_to_string(map.summary()).unwrap();
    assert!(summary.contains("| Robots Denied | 1 |"), "{summary}");
    assert!(web.pages_asked().iter().all(|request| request.host == 0));
}

#[test]
fn a_page_first_seen_too_deep_is_crawled_when_a_shorter_path_appears() {
    // The long way is found at once; the short one stands behind a Crawl-delay.
    let web = web(Behaviours::none().robots(4, RobotsKind::CrawlDelay(1.5)));
    let (a, b, c) = (web.url(1, "/a"), web.url(2, "/b"), web.url(3, "/c"));
    web.on(0, "/start", page(&[&a]));
    web.on(1, "/a", page(&[&b]));
    web.on(2, "/b", page(&[&c]));
    web.on(3, "/c", page(&[]));
    web.on(4, "/start", page(&["/gate"]));
    web.on(4, "/gate", Behaviour::Redirect(Redirect::to(&b)));
    let map = quality(&web, "/start")
        .max_depth(1)
        .quality("site4.test", &[web.url(4, "/start")]);
    map.map().run().expect_code(0);
    let order: Vec<String> = web
        .pages_asked()
        .iter()
        .map(|r| r.path().to_owned())
        .collect();
    let place = |path: &str| order.iter().position(|asked| asked == path);
    assert!(
        place("/a") < place("/gate") && place("/gate") < place("/b"),
        "{order:?}"
    );
    let data = MapData::open(&map.database());
    assert_eq!(data.state(&b).0, "Processed");
    assert_eq!(data.state(&c).0, "Processed");
    // A redirect adds nothing: /b is where the gate is.
    let depth = |url: &str, origin: &str| data.depths()[&(url.to_owned(), origin.to_owned())];
    assert_eq!((depth(&b, "site0.test"), depth(&b, "site4.test")), (2, 0));
    assert_eq!((depth(&c, "site0.test"), depth(&c, "site4.test")), (3, 1));
}

#[test]
fn links_to_http_are_asked_for_over_https() {
    let web = web(Behaviours::none());
    let ca = MapFile::new(&web).file("ca.pem");
    std::fs::create_dir_all(ca.parent().unwrap()).unwrap();
    std::fs::write(&ca, web.ca_pem()).unwrap();
    web.on(0, "/start", page(&["/next", "http://www.site0.test/plain"]));
    web.on(0, "/next", page(&[]));
    let map = MapFile::new(&web).quality("site0.test", &[web.tls_url(0, "/start")]);
    let text = std::fs::read_to_string(map.write()).unwrap();
    std::fs::write(
        map.write(),
        text.replace("upgrade-https = false", "upgrade-https = true"),
    )
    .unwrap();
    let path = map.file("map.toml");
    crate::harness::Trawl::new("map")
        .arg(&path)
        .arg("--ca-cert")
        .arg(&ca)
        .run()
        .expect_code(0);
    let data = MapData::open(&map.database());
    assert_eq!(data.state(&web.tls_url(0, "/next")).0, "Processed");
    // Nothing listens on port 443: the page is known by its https address, without www.
    assert_eq!(data.state("https://site0.test/plain").0, "Unreachable");
}
