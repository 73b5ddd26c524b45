//! A database that goes away: writers wait and lose nothing, readers are told soon.

use std::time::{Duration, Instant};

use trawl_store::{
    PostgresOptions, PostgresStore, Store, StoreError,
    conformance::web::{breadth, fetched},
    contract::write::NewLink,
};
use trawl_testdb::Road;
use trawl_types::{CrawlId, PageId};

use crate::{
    rows::{assert_counters_are_true, assert_log_is_whole, number},
    server::{Server, shared},
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

/// Links do not wait for the disk: the ends that follow bring them there. Here the server loses its memory
/// in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn links_that_are_lost_before_their_page_is_settled_are_recorded_again() {
    let server = Server::start();
    let url = server.database().await;
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    let page = page(&store, crawl, &seed).await;
    // Whoever settles a page has to wait for this.
    let held = "BEGIN; SELECT 1 FROM crawls FOR UPDATE";
    let _held = server.session(name, held).await;
    let links = (1..=50).map(|n| link(&store, "b.test", n)).collect();
    let write = commit(&store, crawl, vec![fetched(page, links)]);
    let fault = async {
        while number(&url, "SELECT count(*) FROM crawl_pages").await < 51 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.crash();
        server.start_again();
    };
    let (report, ()) = tokio::join!(write, fault);
    assert_eq!((report.discovered, report.admitted.len()), (50, 50));
    assert_eq!(number(&url, "SELECT count(*) FROM crawl_pages").await, 51);
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

/// A store whose questions are given up soon.
async fn hasty_store(url: &str) -> PostgresStore {
    let options = PostgresOptions {
        patience: Duration::from_millis(400),
        ..PostgresOptions::default()
    };
    PostgresStore::open(url, options).await.unwrap()
}

/// What a question came to that was not answered.
async fn unanswered(store: &PostgresStore, crawl: CrawlId) -> String {
    match store.crawl(crawl).await {
        Err(StoreError::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

const NOT_ASKED: &str = "it is not asked until it is back";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_database_that_is_cut_off_nobody_waits_for_an_answer_until_it_is_back() {
    let road = Road::to(&shared().database().await);
    let store = hasty_store(road.url()).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    let page = page(&store, crawl, &seed).await;
    road.stall();
    for question in 1..=3 {
        let why = unanswered(&store, crawl).await;
        assert!(!why.contains(NOT_ASKED), "{question}: {why}");
    }
    while store.away().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.away(), Some("no answer in time"));
    let why = unanswered(&store, crawl).await;
    assert!(why.contains(NOT_ASKED), "{why}");
    // What the engine asks is asked again and again, and what it hears is heard by all.
    let write = commit(&store, crawl, vec![fetched(page, Vec::new())]);
    let mend = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        road.clear();
    };
    let (report, ()) = tokio::join!(write, mend);
    assert_eq!(report.counts.done, 1);
    assert_eq!(store.away(), None);
    assert_eq!(store.crawl(crawl).await.unwrap().last_seq.0, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_was_away_is_found_again_also_if_nobody_asks() {
    let server = Server::start();
    let store = hasty_store(&server.database().await).await;
    let crawl = begin(&store, vec![link(&store, "a.test", 0)], breadth()).await;
    server.crash();
    while store.away().is_none() {
        unanswered(&store, crawl).await;
    }
    assert_eq!(store.away(), Some("no connection"));
    server.start_again();
    while store.away().is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.crawl(crawl).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_questions_keep_nobody_from_asking_others() {
    let url = shared().database().await;
    let store = hasty_store(&url).await;
    let crawl = begin(&store, vec![link(&store, "a.test", 0)], breadth()).await;
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    let lock = "BEGIN; LOCK TABLE crawls IN ACCESS EXCLUSIVE MODE";
    let lock = shared().session(name, lock).await;
    for question in 0..6 {
        let why = unanswered(&store, crawl).await;
        assert!(!why.contains(NOT_ASKED), "{question}: {why}");
    }
    assert_eq!(store.away(), None);
    store.answers().await.unwrap();
    drop(lock);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_not_let_in_any_more_waits_and_whoever_begins_is_told() {
    let server = Server::start();
    let url = server.database().await;
    let sql = async |sql: &str| server.sql("postgres", sql).await;
    sql("CREATE ROLE someone SUPERUSER LOGIN").await;
    let url = url.replace("trawl:s3cret@", "someone:s3cret@");
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    let page = page(&store, crawl, &seed).await;
    sql("ALTER ROLE someone NOLOGIN").await;
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'someone'").await;
    // Connections that were open break first.
    let refused = loop {
        let why = unanswered(&store, crawl).await;
        if why.contains("28000") || why.contains("lets nobody in") {
            break why;
        }
    };
    assert!(!refused.contains("s3cret"), "{refused}");
    let error = PostgresStore::open(&url, PostgresOptions::default()).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Database(_)), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("refuses the login") && said.contains("28000"),
        "{said}"
    );
    let write = commit(&store, crawl, vec![fetched(page, Vec::new())]);
    let let_in = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        sql("ALTER ROLE someone LOGIN").await;
    };
    let (report, ()) = tokio::join!(write, let_in);
    assert_eq!(report.counts.done, 1);
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
