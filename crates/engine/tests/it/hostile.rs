//! The hostile gallery of the test web, crawled as a whole: every piece comes to the end it should,
//! the crawl goes on and ends, and endless webs end by their guards or by the budget.

use std::{collections::HashMap, time::Duration};

use trawl_testweb::{
    Behaviour, Behaviours, GalleryEntry, RetryAfter, Trap, WebSpec, hostile_gallery,
};
use trawl_types::{
    CrawlSpec, CrawlState, OutcomeKind, PageRecord, ReasonCode,
    spec::{BreakerSpec, TrapSpec},
};

use crate::stage::{Stage, ended};

/// Patience is short, and nothing is given up: each piece must show its own end.
fn impatient(mut spec: CrawlSpec) -> CrawlSpec {
    let (politeness, fetch) = (&mut spec.politeness, &mut spec.fetch);
    politeness.per_host = 8;
    politeness.retry.attempts = 3;
    politeness.max_wait_ms = 5_000;
    politeness.breaker = BreakerSpec {
        failures: 1_000_000,
        ..BreakerSpec::default()
    };
    fetch.headers_timeout_ms = 1_500;
    fetch.idle_timeout_ms = 1_500;
    // Long enough for ten megabytes on a busy machine.
    fetch.total_timeout_ms = 8_000;
    spec.scope.traps = TrapSpec {
        max_query_variants: Some(40),
        max_path_values: Some(50),
        ..TrapSpec::default()
    };
    spec.scope.max_depth = Some(4);
    spec
}

/// The record at the end of a chain of redirects: that is where a crawl says what came of it.
fn end_of<'a>(records: &HashMap<&str, &'a PageRecord>, url: &str) -> &'a PageRecord {
    let mut record = records[url];
    for _ in 0..60 {
        let next = record.redirect_to.as_deref().and_then(|to| records.get(to));
        match next {
            Some(next) if record.outcome == OutcomeKind::Redirected => record = next,
            _ => break,
        }
    }
    record
}

fn is_right(entry: &GalleryEntry, records: &HashMap<&str, &PageRecord>, url: &str) -> bool {
    let (first, last) = (records[url], end_of(records, url));
    // What breaks off is kept as far as it came, and marked.
    let kept = entry.path.ends_with("-truncated")
        && first.outcome == OutcomeKind::Fetched
        && first.truncated;
    kept || entry.expects(first.outcome.as_str()) || entry.expects(last.outcome.as_str())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hostile_page_comes_to_its_named_end_and_the_crawl_goes_on() {
    let web = WebSpec::many_hosts(2, 40);
    let stage = Stage::new(web, Behaviours::none().with_gallery()).await;
    // A host that asks for a wait of years is given up (`waits.rs`); here it goes on.
    let unsaid = Behaviour::Busy {
        status: 429,
        retry_after: RetryAfter::Unsaid,
    };
    stage.web.on(0, "/hostile/429-for-ever", unsaid);
    let mut spec = impatient(stage.spec(0));
    spec.seeds = vec![stage.web.url(0, "/hostile/"), stage.web.url(0, "/")];
    let mut handle = stage.start(spec).await;
    let end = ended(&mut handle).await;
    assert_eq!(end.state, CrawlState::Completed);
    let results = stage.results(end.crawl).await;
    let records: HashMap<&str, &PageRecord> = results.iter().map(|r| (r.url.as_str(), r)).collect();
    assert_eq!(records.len(), results.len(), "each page has one result");
    let mut wrong = Vec::new();
    let gallery = hostile_gallery();
    for entry in &gallery {
        let url = stage.web.url(0, &entry.path);
        if !is_right(entry, &records, &url) {
            let (first, last) = (records[url.as_str()], end_of(&records, &url));
            let expected = entry.expected_outcome;
            wrong.push(format!(
                "{} ({}): {:?} then {:?} {:?}, not {expected}",
                entry.path, entry.what, first.outcome, last.outcome, last.error
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // One bad page stops nothing: the ordinary web beside the gallery is complete.
    let graph = stage.web.graph();
    for page in 0..graph.page_count() {
        let (host, path) = (graph.host(page), graph.path(page));
        let found = |r: &&PageRecord| {
            let url = url::Url::parse(&r.url).unwrap();
            let name = url.host_str().unwrap().to_owned();
            url.path() == path && name == stage.web.host_name(host)
        };
        let record = results.iter().find(found).unwrap();
        assert_eq!(record.outcome, OutcomeKind::Fetched, "{}", record.url);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_webs_end_by_the_guard_against_them() {
    let traps = |change: fn(&mut TrapSpec)| {
        let mut traps = TrapSpec::default();
        change(&mut traps);
        traps
    };
    for (trap, path, guards, reason) in [
        (
            Trap::Calendar,
            "/trap",
            traps(|t| t.max_years_from_now = Some(2)),
            ReasonCode::Calendar,
        ),
        (
            Trap::SessionId,
            "/trap",
            traps(|t| t.max_query_variants = Some(100)),
            ReasonCode::QueryVariants,
        ),
        (
            Trap::Filters,
            "/trap",
            traps(|t| t.max_query_variants = Some(100)),
            ReasonCode::QueryVariants,
        ),
        (
            Trap::RepeatedPath,
            "/trap*",
            traps(|_| ()),
            ReasonCode::RepeatedSegments,
        ),
        (
            Trap::GrowingPath,
            "/trap*",
            traps(|t| t.max_path_segments = Some(5)),
            ReasonCode::PathTooDeep,
        ),
    ] {
        let behaviours = Behaviours::none().on(0, path, Behaviour::Trap(trap));
        let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
        let mut spec = stage.spec(0);
        spec.politeness.per_host = 8;
        spec.seeds = vec![stage.web.url(0, "/trap")];
        spec.scope.traps = guards;
        let mut handle = stage.start(spec).await;
        let end = ended(&mut handle).await;
        assert_eq!(end.why, "nothing is left to visit", "{trap:?}");
        let counts = stage.store.counts(end.crawl).await.unwrap();
        assert!(counts.reasons.contains_key(&reason), "{trap:?}: {counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_webs_end_by_the_budget_where_the_guards_are_off() {
    let off = TrapSpec {
        max_segment_repeats: None,
        max_path_segments: None,
        max_query_variants: None,
        max_path_values: None,
        max_years_from_now: None,
    };
    for trap in [
        Trap::Calendar,
        Trap::SessionId,
        Trap::GrowingPath,
        Trap::Filters,
    ] {
        let behaviours = Behaviours::none().on(0, "/trap*", Behaviour::Trap(trap));
        let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
        let mut spec = stage.spec(0);
        spec.politeness.per_host = 8;
        spec.seeds = vec![stage.web.url(0, "/trap")];
        spec.scope.traps = off.clone();
        spec.scope.max_pages = Some(150);
        let crawl = stage.crawl(spec).await;
        assert_eq!(stage.results(crawl).await.len(), 150, "{trap:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_answers_nothing_does_not_hold_up_the_others() {
    use trawl_testweb::Slow;
    let silence = Behaviour::Slow(Slow::NoAnswer);
    let behaviours = Behaviours::none().on(1, "/*", silence);
    let web = WebSpec::many_hosts(3, 90).with_latency(Duration::from_millis(1));
    let stage = Stage::new(web, behaviours).await;
    let mut spec = stage.spec(0);
    spec.fetch.headers_timeout_ms = 400;
    let crawl = stage.crawl(spec).await;
    let results = stage.results(crawl).await;
    let fetched = results.iter().filter(|r| r.outcome == OutcomeKind::Fetched);
    assert_eq!(fetched.count(), 60, "both other hosts are whole");
    let silent = results.iter().filter(|r| r.url.contains("site1.test"));
    assert!(silent.clone().count() > 0);
    for record in silent {
        assert_eq!(
            record.outcome,
            OutcomeKind::HeadersTimeout,
            "{}",
            record.url
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_nobody_asked_about_is_not_called_unchanged() {
    let behaviours = Behaviours::none().on(0, "/304", Behaviour::Status(304));
    let stage = Stage::new(WebSpec::small_site(1), behaviours).await;
    let mut spec = stage.spec(0);
    spec.seeds = vec![stage.web.url(0, "/304")];
    let crawl = stage.crawl(spec).await;
    let results = stage.results(crawl).await;
    assert_eq!(results[0].outcome, OutcomeKind::ProtocolError);
}
