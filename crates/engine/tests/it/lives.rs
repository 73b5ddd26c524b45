//! The life of a crawl: pause and resume in one process, cancel, budgets. Each page is asked for
//! once, however often the crawl is interrupted, and a budget is never exceeded.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use trawl_engine::EngineError;
use trawl_store::StoreError;
use trawl_testweb::{Behaviour, Behaviours, Slow, WebSpec};
use trawl_types::{CrawlState, OutcomeKind, UnixMillis, spec::HostScope};

use crate::stage::{Stage, ended, has_pages};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_paused_and_resumed_at_every_turn_asks_for_each_page_once() {
    let stage = Stage::new(WebSpec::many_hosts(30, 900), Behaviours::none()).await;
    let mut handle = stage.start(stage.spec(0)).await;
    let mut pages = 0;
    let end = loop {
        pages += 10;
        // Whichever comes first: the pages, or the end.
        let reached = handle.progress.wait_for(|progress| progress.pages >= pages);
        if reached.await.is_ok() {
            handle.pause();
        }
        let end = ended(&mut handle).await;
        if end.state != CrawlState::Paused {
            break end;
        }
        handle = stage.engine.resume(end.crawl).await.unwrap();
    };
    assert_eq!(end.state, CrawlState::Completed);
    assert_eq!(stage.results(end.crawl).await.len(), 900);
    let mut asked: HashMap<(u32, String), u32> = HashMap::new();
    for request in stage.requests() {
        *asked
            .entry((request.host, request.path().to_owned()))
            .or_default() += 1;
    }
    asked.retain(|_, count| *count > 1);
    assert!(asked.is_empty(), "asked for again: {asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_budget_is_met_and_never_exceeded_also_across_pauses() {
    let web = WebSpec::many_hosts(20, 1000).with_latency(Duration::from_millis(2));
    let stage = Stage::new(web, Behaviours::none()).await;
    let mut spec = stage.spec(0);
    spec.scope.max_pages = Some(137);
    spec.politeness.per_host = 8;
    let mut handle = stage.start(spec).await;
    let (mut pages, mut pauses) = (0, 0);
    let end = loop {
        pages += 5;
        let reached = handle.progress.wait_for(|progress| progress.pages >= pages);
        if reached.await.is_ok() {
            handle.pause();
        }
        let end = ended(&mut handle).await;
        if end.state == CrawlState::Completed {
            break end;
        }
        pauses += 1;
        handle = stage.engine.resume(end.crawl).await.unwrap();
    };
    assert!(pauses > 0);
    assert_eq!(stage.results(end.crawl).await.len(), 137);
    let pages = stage.web.log().count_where(|r| r.path() != "/robots.txt");
    assert_eq!(pages, 137, "not one request beyond the budget");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_do_not_use_up_the_budget() {
    let behaviours = Behaviours::none().on("*", "/p/1", Behaviour::Status(404));
    let stage = Stage::new(WebSpec::many_hosts(5, 200), behaviours).await;
    let mut spec = stage.spec(0);
    spec.scope.max_pages = Some(100);
    let crawl = stage.crawl(spec).await;
    let results = stage.results(crawl).await;
    let fetched = results.iter().filter(|r| r.outcome == OutcomeKind::Fetched);
    assert_eq!(fetched.count(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_for_each_host_is_met_and_never_exceeded() {
    let stage = Stage::new(WebSpec::many_hosts(6, 300), Behaviours::none()).await;
    let mut spec = stage.spec(0);
    spec.scope.max_pages_per_host = Some(9);
    spec.politeness.per_host = 4;
    stage.crawl(spec).await;
    for host in 0..6 {
        let log = stage.web.log();
        let pages = log.count_where(|r| r.host == host && r.path() != "/robots.txt");
        assert_eq!(pages, 9, "host {host}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_crawl_is_over_for_good() {
    let stage = Stage::new(WebSpec::small_site(500), Behaviours::none()).await;
    let mut handle = stage.start(stage.spec(1)).await;
    has_pages(&mut handle, 5).await;
    handle.cancel();
    let end = ended(&mut handle).await;
    assert_eq!(end.state, CrawlState::Cancelled);
    let refused = stage.engine.resume(end.crawl).await;
    assert!(matches!(refused, Err(EngineError::NothingLeft(..))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_waits_for_answers_under_way_and_no_longer_than_it_must() {
    // Answers take a while: pausing in the middle must neither lose nor repeat one.
    let web = WebSpec::many_hosts(10, 60).with_latency(Duration::from_millis(120));
    let stage = Stage::new(web, Behaviours::none()).await;
    let mut handle = stage.start(stage.spec(0)).await;
    has_pages(&mut handle, 12).await;
    handle.pause();
    let end = ended(&mut handle).await;
    assert_eq!(stage.web.log().in_flight(), 0);
    let asked = stage.web.log().count_where(|r| r.path() != "/robots.txt");
    assert_eq!(stage.results(end.crawl).await.len(), asked);
    let mut handle = stage.engine.resume(end.crawl).await.unwrap();
    ended(&mut handle).await;
    let asked = stage.web.log().count_where(|r| r.path() != "/robots.txt");
    assert_eq!(asked, 60);
}

/// Whether it is stopped for now or for good: nothing else is under way that could wake the crawl.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_stops_although_an_answer_never_comes() {
    let silent = Behaviour::Slow(Slow::NoAnswer);
    let behaviours = Behaviours::none().on(0, "/silent", silent);
    let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/silent")];
    spec.fetch.headers_timeout_ms = 600_000;
    spec.fetch.total_timeout_ms = 600_000;
    let asked = async |times| {
        while stage.web.log().count_where(|r| r.path() == "/silent") < times {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut handle = stage.start(spec).await;
    asked(1).await;
    handle.pause();
    let end = ended(&mut handle).await;
    assert_eq!(end.state, CrawlState::Paused);
    let mut handle = stage.engine.resume(end.crawl).await.unwrap();
    asked(2).await;
    handle.cancel();
    assert_eq!(ended(&mut handle).await.state, CrawlState::Cancelled);
    assert_eq!(stage.results(end.crawl).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn depth_is_the_shortest_distance_within_the_scope_and_limits_by_it() {
    let stage = Stage::new(WebSpec::many_hosts(4, 400), Behaviours::none()).await;
    let graph = stage.web.graph();
    let mut spec = stage.spec(0);
    spec.scope.hosts = HostScope::SameHost;
    spec.scope.max_depth = Some(2);
    // Concurrency finds long ways before short ones.
    spec.politeness.per_host = 16;
    let crawl = stage.crawl(spec).await;
    let depths = graph.depths_within(0, |page| graph.host(page) == 0);
    let within = (0..400u32).filter(|page| depths[*page as usize] <= 2);
    let expected: HashSet<String> = within.map(|page| graph.path(page)).collect();
    let results = stage.results(crawl).await;
    let path = |url: &str| url::Url::parse(url).unwrap().path().to_owned();
    let found: HashSet<String> = results.iter().map(|r| path(&r.url)).collect();
    assert_eq!(found, expected);
    for record in &results {
        let page = graph.find(0, &path(&record.url)).unwrap();
        assert_eq!(record.depth, depths[page as usize], "{}", record.url);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_the_store_takes_no_more_of_is_the_end_of_that_crawl_alone() {
    let web = WebSpec::many_hosts(20, 600).with_latency(Duration::from_millis(2));
    let stage = Stage::new(web, Behaviours::none()).await;
    let mut lost = stage.start(stage.spec(5)).await;
    let mut kept = stage.start(stage.spec(5)).await;
    has_pages(&mut lost, 20).await;
    // Somebody else ends it: its rows are closed while answers are under way.
    let (cancelled, why) = (CrawlState::Cancelled, "elsewhere");
    let said = stage
        .store
        .set_state(lost.crawl, cancelled, why, UnixMillis(1));
    said.await.unwrap();
    let error = lost.ended().await.unwrap_err();
    assert!(
        matches!(error, EngineError::Store(StoreError::NoCrawl(_))),
        "{error}"
    );
    assert_eq!(ended(&mut kept).await.state, CrawlState::Completed);
    assert_eq!(stage.results(kept.crawl).await.len(), 600);
    let next = stage.crawl(stage.spec(0)).await;
    assert_eq!(stage.results(next).await.len(), 600, "on the same hosts");
}
