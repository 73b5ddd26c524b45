//! Many writers at once: nothing fails, nothing is doubled, the log has no gaps.

use trawl_store::{
    LoanOptions, PostgresStore, Store, StoreError,
    conformance::web::{NOW, breadth, fetched},
    contract::{
        jobs::{JobStore, NewJob},
        target::LinkTarget,
        write::{CommitBatch, NewLink, WriteRules},
    },
};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, PageId, Sequence, UrlKey};

use crate::{
    rows::{assert_counters_are_true, assert_log_is_whole, number},
    server,
    web::{begin, commit, link, page, plain_store},
};

const WRITERS: usize = 8;

/// Every writer settles its share of the pages, a few at a time; all pages link to all others.
async fn settle(
    store: &PostgresStore,
    crawl: CrawlId,
    pages: &[PageId],
    links: &[NewLink],
    writer: usize,
) {
    let mine: Vec<PageId> = pages
        .iter()
        .copied()
        .skip(writer)
        .step_by(WRITERS)
        .collect();
    for (nth, some) in mine.chunks(3).enumerate() {
        let ends = some.iter().map(|page| {
            // Everybody begins elsewhere, as documents do.
            let mut all = links.to_vec();
            all.rotate_left((writer * 31 + nth * 7) % links.len());
            all.truncate(40);
            fetched(*page, all)
        });
        commit(store, crawl, ends.collect()).await;
    }
}

async fn seeded(store: &PostgresStore, count: usize, rules: WriteRules) -> (CrawlId, Vec<PageId>) {
    let seeds: Vec<NewLink> = (0..count)
        .map(|n| link(store, &format!("h{}.test", n % 10), n))
        .collect();
    let crawl = begin(store, seeds.clone(), rules).await;
    let mut pages = Vec::new();
    for seed in &seeds {
        pages.push(page(store, crawl, seed).await);
    }
    (crawl, pages)
}

async fn writers(url: &str, crawl: CrawlId, rules: impl Fn() -> WriteRules) -> Vec<PostgresStore> {
    let mut stores = Vec::new();
    for _ in 0..WRITERS {
        let store = plain_store(url).await;
        store.reopen_crawl(crawl, rules()).await.unwrap();
        stores.push(store);
    }
    stores
}

async fn settle_together(stores: &[PostgresStore], crawl: CrawlId, pages: &[PageId]) {
    let links: Vec<NewLink> = (0..120)
        .map(|n| link(&stores[0], &format!("h{}.test", n % 10), n))
        .collect();
    let all = stores
        .iter()
        .enumerate()
        .map(|(n, store)| settle(store, crawl, pages, &links, n));
    futures_util::future::join_all(all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pages_that_link_to_each_other_are_settled_by_eight_writers_without_gap_or_double() {
    let url = server::shared().database().await;
    let first = plain_store(&url).await;
    let (crawl, pages) = seeded(&first, 96, breadth()).await;
    let stores = writers(&url, crawl, breadth).await;
    settle_together(&stores, crawl, &pages).await;
    let counts = first.counts(crawl).await.unwrap();
    assert_eq!((counts.done, counts.discovered), (96, 120));
    assert_log_is_whole(&first, crawl, 96).await;
    assert_counters_are_true(&url, &first, crawl).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_budget_of_pages_is_met_exactly_by_eight_writers() {
    let url = server::shared().database().await;
    let first = plain_store(&url).await;
    let rules = || WriteRules {
        max_pages: Some(50),
        ..breadth()
    };
    let (crawl, pages) = seeded(&first, 96, rules()).await;
    let stores = writers(&url, crawl, rules).await;
    settle_together(&stores, crawl, &pages).await;
    let counts = first.counts(crawl).await.unwrap();
    assert_eq!((counts.pages, counts.done), (50, 50));
    assert_log_is_whole(&first, crawl, 50).await;
    assert_counters_are_true(&url, &first, crawl).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_page_settled_by_all_writers_at_once_has_one_result() {
    let url = server::shared().database().await;
    let first = plain_store(&url).await;
    let (crawl, pages) = seeded(&first, 5, breadth()).await;
    let stores = writers(&url, crawl, breadth).await;
    let all = stores.iter().map(|store| {
        let ends = pages.iter().map(|page| fetched(*page, Vec::new()));
        commit(store, crawl, ends.collect())
    });
    futures_util::future::join_all(all).await;
    assert_log_is_whole(&first, crawl, 5).await;
    assert_counters_are_true(&url, &first, crawl).await;
}

#[tokio::test]
async fn readers_see_results_in_order_while_many_write() {
    let url = server::shared().database().await;
    let first = plain_store(&url).await;
    let (crawl, pages) = seeded(&first, 96, breadth()).await;
    let stores = writers(&url, crawl, breadth).await;
    let reading = async {
        let mut last = Sequence(0);
        while last.0 < 96 {
            for record in first.results(crawl, last, 10).await.unwrap() {
                assert_eq!(record.seq.0, last.0 + 1, "a number is missing");
                last = record.seq;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(reading, settle_together(&stores, crawl, &pages));
}

#[tokio::test]
async fn urls_that_would_have_the_same_number_have_different_ones() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let near = |n: u64| {
        let key = UrlKey {
            host: 7 << 48,
            url: (5 << 27) | n,
        };
        NewLink {
            target: LinkTarget::new(&format!("https://a.test/{n}"), "a.test", key, Ok(0)),
            ..link(&store, "a.test", 0)
        }
    };
    let crawl = begin(&store, vec![near(1), near(2)], breadth()).await;
    let first = page(&store, crawl, &near(1)).await;
    let second = page(&store, crawl, &near(2)).await;
    assert_ne!(first, second);
    let other = plain_store(&url).await;
    other.reopen_crawl(crawl, breadth()).await.unwrap();
    let report = commit(
        &other,
        crawl,
        vec![fetched(first, vec![near(2), near(3), near(1)])],
    )
    .await;
    assert_eq!(report.discovered, 1);
    assert_eq!(report.admitted[0].address, "https://a.test/3");
    let links = store.links_of(crawl, first).await.unwrap();
    let urls: Vec<&str> = links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(
        urls,
        ["https://a.test/2", "https://a.test/3", "https://a.test/1"]
    );
    let third = page(&store, crawl, &near(3)).await;
    assert_eq!(links[1].to, third);
}

#[tokio::test]
async fn a_worker_may_begin_crawls_without_borrowing_anything() {
    let url = server::shared().database().await;
    let store = crate::web::worker(&url, LoanOptions::new("one")).await;
    let crawl = begin(&store, vec![link(&store, "a.test", 0)], breadth()).await;
    assert_eq!(store.counts(crawl).await.unwrap().pending, 1);
}

fn asked_for(id: &str) -> NewJob {
    NewJob {
        id: id.into(),
        owner: "owner".into(),
        kind: "spider".into(),
        request: "{}".into(),
        idempotency: None,
    }
}

async fn rows_of(url: &str, crawl: CrawlId) -> i64 {
    let tables = ["crawl_pages", "crawl_hosts", "tallies", "results"];
    let counted = tables.map(|t| format!("(SELECT count(*) FROM {t} WHERE crawl = {crawl})"));
    number(url, &format!("SELECT {}", counted.join(" + "))).await
}

#[tokio::test]
async fn of_a_crawl_that_was_deleted_elsewhere_nothing_is_written_any_more() {
    let url = server::shared().database().await;
    let (one, two) = (plain_store(&url).await, plain_store(&url).await);
    let (spec, seed) = (CrawlSpec::default(), link(&one, "a.test", 0));
    let job = Some(asked_for("job"));
    let begun = one.create_crawl(&spec, "", vec![seed.clone()], breadth(), job, NOW);
    let crawl = begun.await.unwrap();
    let page = page(&one, crawl, &seed).await;
    assert!(two.delete_job("job").await.unwrap());
    for links in [vec![], vec![link(&one, "b.test", 1)]] {
        let batch = CommitBatch {
            crawl,
            now: NOW,
            settlements: vec![fetched(page, links)],
            hosts: Vec::new(),
            seeds: vec![link(&one, "c.test", 2)],
        };
        let refused = one.commit(batch).await;
        assert!(
            matches!(refused, Err(StoreError::NoCrawl(_))),
            "{refused:?}"
        );
        assert_eq!(rows_of(&url, crawl).await, 0);
    }
}

#[tokio::test]
async fn answers_that_come_after_a_crawl_was_cancelled_in_the_same_process_are_recorded() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    let page = page(&store, crawl, &seed).await;
    let ended = store.set_state(crawl, CrawlState::Cancelled, "cancelled", NOW);
    ended.await.unwrap();
    let late = commit(&store, crawl, vec![fetched(page, Vec::new())]).await;
    assert_eq!(late.counts.done, 1);
    let row = store.crawl(crawl).await.unwrap();
    assert_eq!(row.state, CrawlState::Cancelled, "and it stays cancelled");
}
