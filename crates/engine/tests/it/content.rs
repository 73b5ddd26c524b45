//! Content is made beside the crawl: no delay is broken for it, and no page is lost or asked for
//! again because of it.

use std::{collections::HashMap, time::Duration};

use trawl_testweb::{Behaviours, WebSpec};
use trawl_types::{CrawlSpec, CrawlState, Sequence};

use crate::stage::{Stage, ended, gaps};

fn with_content(mut spec: CrawlSpec) -> CrawlSpec {
    spec.keep.markdown = true;
    spec.content.near_duplicates = true;
    spec
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delays_hold_while_content_is_made_and_every_page_has_some() {
    let stage = Stage::new(WebSpec::many_hosts(4, 120), Behaviours::none()).await;
    let delay = 20;
    let crawl = stage.crawl(with_content(stage.spec(delay))).await;
    let records = stage.results(crawl).await;
    assert_eq!(records.len(), 120);
    assert!(records.iter().all(|record| record.has_content));
    let last = Sequence(records.len() as i64);
    let content = stage.store.content(crawl, last).await.unwrap().unwrap();
    let content: serde_json::Value = serde_json::from_slice(&content).unwrap();
    assert!(content["markdown"].as_str().unwrap().len() > 100);
    let requests = stage.requests();
    for host in 0..4 {
        let wanted = Duration::from_millis(delay).as_micros() as u64;
        for (gap, request) in gaps(&requests, host) {
            assert!(gap >= wanted, "{gap} µs before {request:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_keeps_content_may_be_paused_at_every_turn() {
    let stage = Stage::new(WebSpec::many_hosts(10, 200), Behaviours::none()).await;
    let mut handle = stage.start(with_content(stage.spec(0))).await;
    let mut pages = 0;
    let end = loop {
        pages += 20;
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
    let records = stage.results(end.crawl).await;
    assert_eq!(records.len(), 200);
    assert!(records.iter().all(|record| record.has_content));
    let mut asked: HashMap<(u32, String), u32> = HashMap::new();
    for request in stage.requests() {
        let page = (request.host, request.path().to_owned());
        *asked.entry(page).or_default() += 1;
    }
    asked.retain(|_, count| *count > 1);
    assert!(asked.is_empty(), "asked for again: {asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_budget_is_met_while_content_is_made() {
    let stage = Stage::new(WebSpec::many_hosts(10, 200), Behaviours::none()).await;
    let mut spec = with_content(stage.spec(0));
    spec.scope.max_pages = Some(37);
    let crawl = stage.crawl(spec).await;
    let records = stage.results(crawl).await;
    assert_eq!(records.iter().filter(|r| r.outcome.is_page()).count(), 37);
}
