//! What nothing refers to is removed beside those who write links.

use std::sync::atomic::{AtomicBool, Ordering};

use trawl_store::{
    PostgresStore, Store,
    conformance::web::{NOW, breadth, fetched},
    contract::{
        jobs::{JobStore, NewJob},
        upkeep::{Ageing, clean},
        write::{CommitBatch, HostUpdate, NewLink},
    },
};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, UnixMillis};

use crate::{
    rows::{assert_counters_are_true, number},
    server,
    web::{begin, commit, link, page, plain_store},
};

/// After everything that happens here, by the clock of the database too.
const LATER: UnixMillis = UnixMillis(4_102_444_800_000);

async fn job(store: &PostgresStore, id: &str, seeds: Vec<NewLink>) -> CrawlId {
    let job = NewJob {
        id: id.into(),
        owner: "somebody".into(),
        kind: "crawl".into(),
        request: "{}".into(),
        idempotency: None,
    };
    let spec = CrawlSpec::default();
    let begun = store.create_crawl(&spec, id, seeds, breadth(), Some(job), NOW);
    let crawl = begun.await.unwrap();
    let state = CrawlState::Completed;
    store.set_state(crawl, state, "", NOW).await.unwrap();
    crawl
}

async fn unused(store: &PostgresStore, before: UnixMillis) -> u64 {
    let done = clean(store, Ageing::Unused, before, false).await;
    done.unwrap().rows
}

/// Everything that a row of a crawl names is there, and every address once.
async fn assert_nothing_dangles(url: &str) {
    for (what, sql) in [
        (
            "addresses",
            "SELECT count(*) FROM crawl_pages c WHERE NOT EXISTS (
            SELECT 1 FROM urls u WHERE u.page = c.page)",
        ),
        (
            "hosts",
            "SELECT count(*) FROM crawl_pages c WHERE NOT EXISTS (
            SELECT 1 FROM hosts h WHERE h.id = c.host)",
        ),
        (
            "doubles",
            "SELECT count(*) - count(DISTINCT (key_host, key_url)) FROM urls",
        ),
        (
            "links",
            "SELECT count(*) FROM page_links l, json_array_elements(l.links::json) e
            WHERE NOT EXISTS (SELECT 1 FROM urls u WHERE u.page = (e ->> 0)::int8)",
        ),
    ] {
        assert_eq!(number(url, sql).await, 0, "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn addresses_are_removed_beside_those_who_link_to_them() {
    const PAGES: usize = 60;
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let seeds: Vec<NewLink> = (0..PAGES).map(|n| link(&store, "a.test", n)).collect();
    let crawl = begin(&store, seeds.clone(), breadth()).await;
    let over = AtomicBool::new(false);
    // Two processes link to addresses that others have had, a moment ago or not at all.
    let write = async |part: &[NewLink], writer: usize| {
        let store = plain_store(&url).await;
        store.reopen_crawl(crawl, breadth()).await.unwrap();
        for (n, seed) in part.iter().enumerate() {
            let at = page(&store, crawl, seed).await;
            let links = (0..20).map(|to| link(&store, "x.test", (n + writer) * 10 + to));
            commit(&store, crawl, vec![fetched(at, links.collect())]).await;
        }
    };
    let writers = async {
        tokio::join!(write(&seeds[..30], 0), write(&seeds[30..], 15));
        over.store(true, Ordering::Relaxed);
    };
    let jobs = async {
        let mut number = 0;
        while !over.load(Ordering::Relaxed) {
            let id = number.to_string();
            let first = number * 13 % 500;
            let seeds = (first..first + 60).map(|n| link(&store, "x.test", n));
            job(&store, &id, seeds.collect()).await;
            store.delete_job(&id).await.unwrap();
            number += 1;
        }
    };
    let cleaner = async {
        let store = plain_store(&url).await;
        let mut gone = 0;
        while !over.load(Ordering::Relaxed) {
            gone += unused(&store, LATER).await;
        }
        gone
    };
    let ((), (), gone) = tokio::join!(writers, jobs, cleaner);
    assert!(gone > 0, "something was removed meanwhile");
    assert_nothing_dangles(&url).await;
    assert_counters_are_true(&url, &store, crawl).await;
    unused(&store, LATER).await;
    let kept = "SELECT count(*) FROM urls u WHERE NOT EXISTS (
        SELECT 1 FROM crawl_pages c WHERE c.page = u.page)";
    assert!(
        number(&url, kept).await < 20,
        "but for neighbours of others"
    );
    assert_nothing_dangles(&url).await;
}

#[tokio::test]
async fn hosts_go_while_nothing_runs_and_come_back_for_those_who_remember_them() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let hosts = "SELECT count(*) FROM hosts";
    let seeds = || vec![link(&store, "quiet.test", 1), link(&store, "waits.test", 1)];
    let crawl = job(&store, "one", seeds()).await;
    let host = store.host_by_name(crawl, "waits.test").await.unwrap();
    store.reopen_crawl(crawl, breadth()).await.unwrap();
    let batch = CommitBatch {
        crawl,
        now: NOW,
        settlements: Vec::new(),
        hosts: vec![HostUpdate {
            host: Some(host.unwrap().id),
            next_allowed: Some(UnixMillis(LATER.0 + 60_000)),
            ..HostUpdate::default()
        }],
        seeds: Vec::new(),
    };
    store.commit(batch).await.unwrap();
    store.delete_job("one").await.unwrap();
    let runs = begin(&store, vec![link(&store, "runs.test", 1)], breadth()).await;
    assert_eq!(unused(&store, LATER).await, 2, "addresses alone");
    let state = CrawlState::Completed;
    store.set_state(runs, state, "", NOW).await.unwrap();
    assert_eq!(unused(&store, LATER).await, 1, "quiet.test");
    assert_eq!(number(&url, hosts).await, 2);
    // A wait that is over holds nobody.
    assert_eq!(unused(&store, UnixMillis(LATER.0 + 120_000)).await, 1);
    let again = begin(&store, seeds(), breadth()).await;
    assert_eq!(
        store
            .pending_hosts(again, trawl_types::HostId(0), 9)
            .await
            .unwrap()
            .len(),
        2
    );
    assert_nothing_dangles(&url).await;
}
