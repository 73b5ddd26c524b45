//! Politeness under full concurrency, with many crawls at once and restarts: the test web's log
//! must show no violation at all, so the tolerance is zero everywhere.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use trawl_engine::{CrawlHandle, EngineOptions};
use trawl_testweb::{Behaviour, Behaviours, Damage, LoggedRequest, RobotsKind, TestWeb, WebSpec};
use trawl_types::{CrawlState, spec::RobotsPolicy};

use crate::stage::{Stage, ended, gaps, has_pages};

const MILLI: u64 = 1000;

fn assert_gaps(requests: &[LoggedRequest], host: u32, least_ms: u64) {
    for (gap, request) in gaps(requests, host) {
        let path = &request.path_and_query;
        assert!(
            gap >= least_ms * MILLI,
            "host {host}: {path} after {gap} µs"
        );
    }
}

fn assert_robots_first(web: &TestWeb) {
    for host in 0..web.spec().hosts {
        let requests = web.log().of_host(host);
        assert_eq!(requests[0].path(), "/robots.txt", "host {host}");
    }
}

/// How often each path of each host was asked for, robots.txt aside.
fn counts(requests: &[LoggedRequest]) -> HashMap<(u32, &str), usize> {
    let mut counts = HashMap::new();
    for request in requests.iter().filter(|r| r.path() != "/robots.txt") {
        *counts.entry((request.host, request.path())).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_crawls_at_once_with_pauses_and_restarts_never_break_a_delay() {
    const HOSTS: u32 = 10;
    const PAGES: u32 = 400;
    const SLOW: u32 = 4;
    let slow = RobotsKind::CrawlDelay(0.04);
    let behaviours = Behaviours::none().robots(SLOW, slow);
    let mut stage = Stage::new(WebSpec::many_hosts(HOSTS, PAGES), behaviours).await;
    let mut handles: Vec<CrawlHandle> = Vec::new();
    for _ in 0..4 {
        handles.push(stage.start(stage.spec(15)).await);
    }
    for pages in [30, 80, 150] {
        // One crawl pauses and goes on while the others run.
        let mut paused = handles.remove(0);
        has_pages(&mut paused, pages).await;
        paused.pause();
        assert_eq!(ended(&mut paused).await.state, CrawlState::Paused);
        handles.push(stage.engine.resume(paused.crawl).await.unwrap());
        // Then everything stops, and a new engine goes on.
        for handle in &handles {
            handle.pause();
        }
        let mut crawls = Vec::new();
        for mut handle in handles.drain(..) {
            assert_eq!(ended(&mut handle).await.state, CrawlState::Paused);
            crawls.push(handle.crawl);
        }
        stage.restart().await;
        for crawl in crawls {
            handles.push(stage.engine.resume(crawl).await.unwrap());
        }
    }
    for mut handle in handles {
        assert_eq!(ended(&mut handle).await.state, CrawlState::Completed);
        let results = stage.results(handle.crawl).await;
        assert_eq!(results.len(), PAGES as usize);
    }
    let requests = stage.requests();
    for host in 0..HOSTS {
        assert_gaps(&requests, host, if host == SLOW { 40 } else { 15 });
        assert_eq!(stage.web.log().max_concurrent(host), 1);
        // Known for a day, to all crawls and across restarts.
        assert_eq!(stage.web.log().count(host, "/robots.txt"), 1);
    }
    assert_robots_first(&stage.web);
    assert_eq!(counts(&requests).len(), PAGES as usize);
    assert!(counts(&requests).values().all(|count| *count == 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_requests_to_a_host_at_once_are_four_and_never_five() {
    let web = WebSpec::many_hosts(3, 300).with_latency(Duration::from_millis(10));
    let stage = Stage::new(web, Behaviours::none()).await;
    let mut spec = stage.spec(0);
    spec.politeness.per_host = 4;
    let (mut one, mut other) = (stage.start(spec.clone()).await, stage.start(spec).await);
    ended(&mut one).await;
    ended(&mut other).await;
    for host in 0..3 {
        // Two crawls share the four.
        assert_eq!(stage.web.log().max_concurrent(host), 4, "host {host}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_requests_at_once_still_keep_the_delay_between_them() {
    let web = WebSpec::small_site(60).with_latency(Duration::from_millis(30));
    let stage = Stage::new(web, Behaviours::none()).await;
    let mut spec = stage.spec(20);
    spec.politeness.per_host = 4;
    stage.crawl(spec).await;
    assert_gaps(&stage.requests(), 0, 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_polite_crawl_makes_a_hasty_one_on_the_same_host_wait() {
    let stage = Stage::new(WebSpec::small_site(300), Behaviours::none()).await;
    let named = |name: &str, delay| {
        let mut spec = stage.spec(delay);
        spec.fetch.user_agent.full = Some(name.to_owned());
        spec
    };
    let mut hasty = stage.start(named("hasty/1", 0)).await;
    has_pages(&mut hasty, 20).await;
    let mut polite = named("polite/1", 50);
    polite.scope.max_pages = Some(10);
    let mut polite = stage.start(polite).await;
    ended(&mut polite).await;
    ended(&mut hasty).await;
    let requests = stage.requests();
    let is_polite = |r: &LoggedRequest| r.user_agent.as_deref() == Some("polite/1");
    let first = requests.iter().position(is_polite).unwrap();
    let last = requests.iter().rposition(is_polite).unwrap();
    // From the request before the polite crawl's first to its last.
    assert_gaps(&requests[first - 1..=last], 0, 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_polite_crawl_keeps_its_distance_from_a_hasty_one_that_is_over() {
    let stage = Stage::new(WebSpec::small_site(5), Behaviours::none()).await;
    stage.crawl(stage.spec(0)).await;
    let before = stage.requests().len();
    stage.crawl(stage.spec(200)).await;
    assert_gaps(&stage.requests()[before - 1..], 0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_do_not_fit_into_memory_wait_in_the_store_and_are_treated_alike() {
    let web = WebSpec::many_hosts(40, 200);
    let options = EngineOptions {
        most_hosts: 4,
        ..EngineOptions::default()
    };
    let slow = RobotsKind::CrawlDelay(0.03);
    let stage = Stage::with_options(web, Behaviours::none().robots("*", slow), options).await;
    let crawl = stage.crawl(stage.spec(5)).await;
    assert_eq!(stage.results(crawl).await.len(), 200);
    for host in 0..40 {
        assert_gaps(&stage.requests(), host, 30);
        assert_eq!(stage.web.log().count(host, "/robots.txt"), 1);
    }
    assert_robots_first(&stage.web);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_is_cancelled_over_robots_txt_leaves_the_host_to_others() {
    let never = Behaviours::none().robots(0, RobotsKind::Timeout);
    let stage = Stage::new(WebSpec::small_site(20), never).await;
    let mut first = stage.start(stage.spec(0)).await;
    let log = stage.web.log();
    while log.is_empty() {
        tokio::task::yield_now().await;
    }
    stage.web.set_robots(0, RobotsKind::AllowAll);
    let mut second = stage.start(stage.spec(0)).await;
    first.cancel();
    assert_eq!(ended(&mut first).await.state, CrawlState::Cancelled);
    let end = ended(&mut second).await;
    assert_eq!(end.state, CrawlState::Completed);
    assert_eq!(stage.results(end.crawl).await.len(), 20);
}

/// A front page that leads to all of these.
fn index(links: &[&str]) -> Behaviour {
    let links = links.iter().map(|to| format!("<a href=\"{to}\">x</a>\n"));
    Behaviour::page(format!(
        "<!doctype html><title>Index</title>{}",
        links.collect::<String>()
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_robots_txt_disallows_is_never_asked_for_not_even_through_a_redirect() {
    let links = [
        "/private/a",
        "/private/open/b",
        "/x/paper.pdf",
        "/x/paper.pdf?download",
        "/search?q=1",
        "/searching/?lang=en&q=2",
        "/go-private",
        "/go-nested",
        "/%70rivate/encoded",
        "/PRIVATE/upper",
        "/fine",
    ];
    let behaviours = Behaviours::none()
        .robots(0, RobotsKind::Wildcards)
        .robots(1, RobotsKind::DisallowAll)
        .on(0, "/", index(&links))
        .on(0, "/go-private", Behaviour::redirect_to("/private/target"))
        .on(
            0,
            "/*",
            Behaviour::page("<!doctype html><title>Page</title>"),
        );
    let stage = Stage::new(WebSpec::many_hosts(2, 2), behaviours).await;
    let other = stage.web.url(1, "/secret");
    stage
        .web
        .on(0, "/go-nested", Behaviour::redirect_to(&other));
    stage.crawl(stage.spec(0)).await;
    let requests = stage.requests();
    let asked: Vec<(u32, &str)> = requests
        .iter()
        .map(|r| (r.host, r.path_and_query.as_str()))
        .collect();
    for path in [
        "/",
        "/private/open/b",
        "/x/paper.pdf?download",
        "/go-private",
        "/go-nested",
    ] {
        assert!(asked.contains(&(0, path)), "{path} is allowed: {asked:?}");
    }
    for path in ["/PRIVATE/upper", "/fine", "/robots.txt"] {
        assert!(asked.contains(&(0, path)), "{path} is allowed: {asked:?}");
    }
    let of_host_0: HashSet<_> = asked.iter().filter(|(host, _)| *host == 0).collect();
    assert_eq!(of_host_0.len(), 8, "{asked:?}");
    assert_eq!(stage.web.log().of_host(1).len(), 1, "robots.txt alone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_robots_txt_allows_what_it_should_and_nothing_else() {
    // The kind, whether /fine may be asked for, whether /private/x may be.
    let kinds = [
        (RobotsKind::AllowAll, true, true),
        (RobotsKind::DisallowAll, false, false),
        (RobotsKind::Missing, true, true),
        (RobotsKind::Status(403), true, true),
        (RobotsKind::Status(500), false, false),
        (RobotsKind::Status(503), false, false),
        (RobotsKind::Status(429), false, false),
        (RobotsKind::Timeout, false, false),
        (RobotsKind::Reset, false, false),
        (RobotsKind::ResetInBody, false, false),
        (RobotsKind::Stalled, false, false),
        (RobotsKind::Packed(Damage::Whole), true, false),
        (RobotsKind::Packed(Damage::Corrupt), false, false),
        (RobotsKind::Packed(Damage::Truncated), false, false),
        (RobotsKind::CutAtLimit, false, false),
        (RobotsKind::Huge, true, false),
        (RobotsKind::Html, true, true),
        (RobotsKind::SeveralGroups, true, false),
        (RobotsKind::Redirect { hops: 5 }, true, false),
        (RobotsKind::Redirect { hops: 6 }, true, true),
        (RobotsKind::InvalidUtf8, true, false),
        (RobotsKind::Mark, true, false),
        (RobotsKind::OldLineEnds, true, false),
        (RobotsKind::Empty, true, true),
    ];
    let mut behaviours = Behaviours::none()
        .on("*", "/", index(&["/fine", "/private/x"]))
        .on("*", "/fine", Behaviour::page("<title>Fine</title>"))
        .on("*", "/private/x", Behaviour::page("<title>Private</title>"));
    for (host, (kind, _, _)) in (0..).zip(&kinds) {
        behaviours = behaviours.robots(host, kind.clone());
    }
    let hosts = kinds.len() as u32;
    let stage = Stage::new(WebSpec::many_hosts(hosts, hosts), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = (0..hosts).map(|host| stage.web.url(host, "/")).collect();
    spec.fetch.headers_timeout_ms = 500;
    spec.fetch.idle_timeout_ms = 500;
    stage.crawl(spec).await;
    for (host, (kind, fine, private)) in (0..).zip(&kinds) {
        let asked = |path| stage.web.log().count(host, path) > 0;
        assert_eq!(asked("/"), *fine, "{kind:?}: /");
        assert_eq!(asked("/fine"), *fine, "{kind:?}: /fine");
        assert_eq!(asked("/private/x"), *private, "{kind:?}: /private/x");
    }
    assert_robots_first(&stage.web);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn robots_txt_is_not_asked_for_where_the_crawl_ignores_it() {
    let behaviours = Behaviours::none().robots(0, RobotsKind::DisallowAll);
    let stage = Stage::new(WebSpec::small_site(10), behaviours).await;
    let mut spec = stage.spec(0);
    spec.politeness.robots = RobotsPolicy::Ignore;
    let crawl = stage.crawl(spec).await;
    assert_eq!(stage.results(crawl).await.len(), 10);
    assert_eq!(stage.web.log().count(0, "/robots.txt"), 0);
}
