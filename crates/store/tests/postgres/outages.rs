//! A database that goes away: writers wait and lose nothing, readers are told soon.

use std::time::{Duration, Instant};

use trawl_store::{
    PostgresOptions, PostgresStore, Store, StoreError,
    conformance::web::{breadth, fetched},
    contract::write::NewLink,
};
use trawl_types::{CrawlId, PageId};

use crate::{
    rows::{assert_counters_are_true, assert_log_is_whole},
    server::Server,
    web::{begin, commit, link, page, plain_store},
};

/// Settles pages one by one; each links to the next ones and to one that nobody else knows.
async fn write(store: &PostgresStore, crawl: CrawlId, pages: &[PageId], writer: usize) {
    for (n, page) in pages.iter().enumerate() {
        let fresh = link(store, &format!("w{writer}.test"), n);
        let links = vec![link(store, "h0.test", n % 40), fresh];
        commit(store, crawl, vec![fetched(*page, links)]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_stopped_in_the_middle_of_commits_loses_and_doubles_nothing() {
    const PAGES: usize = 160;
    let server = Server::start();
    let url = server.database().await;
    let store = plain_store(&url).await;
    let seeds: Vec<NewLink> = (0..PAGES)
        .map(|n| link(&store, &format!("h{}.test", n % 8), n))
        .collect();
    let crawl = begin(&store, seeds.clone(), breadth()).await;
    let mut pages = Vec::new();
    for seed in &seeds {
        pages.push(page(&store, crawl, seed).await);
    }
    let (one, two, three, four) = (&pages[..40], &pages[40..80], &pages[80..120], &pages[120..]);
    let faults = async {
        for pause in [60, 110, 30, 150] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            server.crash();
            server.start_again();
            server.ready().await;
        }
    };
    tokio::join!(
        faults,
        write(&store, crawl, one, 1),
        write(&store, crawl, two, 2),
        write(&store, crawl, three, 3),
        write(&store, crawl, four, 4),
    );
    assert_log_is_whole(&store, crawl, PAGES).await;
    let counts = store.counts(crawl).await.unwrap();
    // Seeds, one page of its own for each, and those among the forty that are no seeds.
    assert_eq!(counts.discovered, (2 * PAGES + 35) as u64);
    assert_eq!(counts.edges, 2 * PAGES as u64);
    assert_counters_are_true(&url, &store, crawl).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_server_is_away_reads_fail_soon_and_commits_wait() {
    let server = Server::start();
    let url = server.database().await;
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    let page = page(&store, crawl, &seed).await;
    server.crash();
    let began = Instant::now();
    let error = store.crawl(crawl).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(!format!("{error} {error:?}").contains("s3cret"));
    assert!(began.elapsed() < Duration::from_secs(10));
    let write = commit(&store, crawl, vec![fetched(page, Vec::new())]);
    let restart = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        server.start_again();
    };
    let (report, ()) = tokio::join!(write, restart);
    assert_eq!(report.counts.done, 1);
    assert_eq!(store.crawl(crawl).await.unwrap().last_seq.0, 1);
}

#[tokio::test]
async fn a_commit_that_waits_ends_when_the_store_is_closed() {
    let server = Server::start();
    let url = server.database().await;
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    server.crash();
    let host = store.pending_hosts(crawl, trawl_types::HostId(0), 1);
    let closing = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        store.close().await.unwrap();
    };
    let (waiting, ()) = tokio::join!(host, closing);
    assert!(matches!(waiting, Err(StoreError::Stopped)));
}

#[tokio::test]
async fn whoever_cannot_connect_is_told_where_but_not_with_which_password() {
    let url = "postgres://trawl:s3cret@127.0.0.1:1/crawl";
    let error = PostgresStore::open(url, PostgresOptions::default()).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    let text = format!("{error} {error:?}");
    assert!(text.contains("127.0.0.1:1/crawl"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}
