//! What is written before the lock of a crawl is held: nobody waits for it, and where it turns out to be
//! wrong under the lock, nothing of it stays.

use std::time::Duration;

use tokio_postgres::{Client, NoTls};
use trawl_store::{
    LoanOptions, PostgresStore, Store,
    conformance::web::{NOW, breadth, fetched},
    contract::write::{CommitBatch, HostUpdate, StoredRobots, WriteRules},
};
use trawl_types::{CrawlId, PageId, Scheme};

use crate::{
    rows::{assert_counters_are_true, assert_log_is_whole, number},
    server,
    web::{begin, borrow_soon, commit, link, page, worker},
};

const HOST: &str = "a.test";

/// A worker with a crawl of some pages of one host, which it has borrowed.
async fn crawling(url: &str, pages: usize, rules: WriteRules) -> (PostgresStore, CrawlId) {
    let store = worker(url, LoanOptions::new("one")).await;
    let seeds = (0..pages).map(|n| link(&store, HOST, n)).collect();
    let crawl = begin(&store, seeds, rules).await;
    borrow_soon(&store, crawl).await;
    (store, crawl)
}

async fn nth(store: &PostgresStore, crawl: CrawlId, number: usize) -> PageId {
    page(store, crawl, &link(store, HOST, number)).await
}

/// Somebody who settles pages of a crawl and takes their time.
async fn lock(url: &str, crawl: CrawlId) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = format!("BEGIN; SELECT 1 FROM crawls WHERE id = {crawl} FOR UPDATE");
    client.batch_execute(&sql).await.unwrap();
    client
}

/// Commits pages, of which each links to one of its own, while another holds the lock and does something.
async fn settle_after(url: &str, store: &PostgresStore, crawl: CrawlId, ids: &[PageId], sql: &str) {
    let other = lock(url, crawl).await;
    let ends = ids.iter().enumerate().map(|(n, id)| {
        let target = link(store, HOST, 1000 + n);
        fetched(*id, vec![target])
    });
    let settling = commit(store, crawl, ends.collect());
    let meanwhile = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while number(url, waiting).await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        other
            .batch_execute(&format!("{sql}; COMMIT"))
            .await
            .unwrap();
    };
    tokio::join!(settling, meanwhile);
}

#[tokio::test]
async fn what_is_known_of_hosts_waits_for_nobody_who_settles_pages() {
    let url = server::shared().database().await;
    let (store, crawl) = crawling(&url, 1, breadth()).await;
    let host = store.host_by_name(crawl, HOST).await.unwrap().unwrap().id;
    let answer = |status| HostUpdate {
        host: Some(host),
        delay_ms: Some(7000),
        robots: Some(StoredRobots {
            scheme: Scheme::Https,
            status,
            body: b"Crawl-delay: 7".to_vec(),
            fetched_at: NOW,
        }),
        ..HostUpdate::default()
    };
    let _other = lock(&url, crawl).await;
    let batch = CommitBatch {
        crawl,
        now: NOW,
        settlements: Vec::new(),
        hosts: vec![answer(500), answer(200)],
        seeds: Vec::new(),
    };
    let done = tokio::time::timeout(Duration::from_secs(20), store.commit(batch)).await;
    done.expect("it does not wait for the lock").unwrap();
    let host = store.host_by_name(crawl, HOST).await.unwrap().unwrap();
    assert_eq!((host.delay_ms, host.robots.len()), (7000, 1));
    assert_eq!(host.robots[0].status, 200, "the last answer counts");
}

#[tokio::test]
async fn a_page_that_leaves_the_queue_while_its_end_waits_leaves_nothing_behind() {
    let url = server::shared().database().await;
    let (store, crawl) = crawling(&url, 2, breadth()).await;
    let pages = [nth(&store, crawl, 0).await, nth(&store, crawl, 1).await];
    let gone = format!("DELETE FROM crawl_pages WHERE page = {}", pages[0]);
    settle_after(&url, &store, crawl, &pages, &gone).await;
    assert_log_is_whole(&store, crawl, 1).await;
    let lists = "SELECT count(*) FROM page_links";
    assert_eq!(number(&url, lists).await, 1, "of the other page");
    assert_eq!(store.counts(crawl).await.unwrap().edges, 1);
}

#[tokio::test]
async fn what_others_have_found_nearer_meanwhile_is_led_on_from_there() {
    let url = server::shared().database().await;
    let (store, crawl) = crawling(&url, 1, breadth()).await;
    let seed = nth(&store, crawl, 0).await;
    commit(
        &store,
        crawl,
        vec![fetched(seed, vec![link(&store, HOST, 1)])],
    )
    .await;
    let next = nth(&store, crawl, 1).await;
    let nearer = format!("UPDATE crawl_pages SET depth = 0 WHERE page = {next}");
    settle_after(&url, &store, crawl, &[next], &nearer).await;
    let last = nth(&store, crawl, 1000).await;
    let depth = format!("SELECT depth::int8 FROM crawl_pages WHERE page = {last}");
    assert_eq!(number(&url, &depth).await, 1);
}

#[tokio::test]
async fn a_budget_is_met_exactly_by_who_foresaw_more() {
    let url = server::shared().database().await;
    let rules = WriteRules {
        max_pages: Some(3),
        ..breadth()
    };
    let (store, crawl) = crawling(&url, 5, rules).await;
    let mut ends = Vec::new();
    for number in 0..5 {
        let page = nth(&store, crawl, number).await;
        ends.push(fetched(page, vec![link(&store, HOST, 100 + number)]));
    }
    let report = commit(&store, crawl, ends).await;
    assert_eq!((report.counts.pages, report.edges), (3, 3));
    assert_log_is_whole(&store, crawl, 3).await;
    assert_counters_are_true(&url, &store, crawl).await;
}
