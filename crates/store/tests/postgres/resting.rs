//! Hosts with nothing to be asked for rest, and wake up when there is something again.

use std::{collections::HashSet, time::Duration};

use trawl_store::{
    LoanOptions, PostgresStore, Store,
    conformance::web::{NOW, breadth, fetched},
    contract::write::{NewLink, WriteRules},
};
use trawl_types::{CrawlId, CrawlState};

use crate::{
    server,
    web::{
        begin, borrow, borrow_soon, commit, give_back, give_back_closed, link, loans, page,
        plain_store, read, unrenewed, worker,
    },
};

fn looking_twice_soon(name: &str) -> LoanOptions {
    LoanOptions {
        second_look: Duration::from_millis(1500),
        ..LoanOptions::new(name)
    }
}

/// Borrows hosts and reads what is pending on those whose name begins with `x`, until told to stop.
async fn crawl_on(store: &PostgresStore, crawl: CrawlId, over: &std::sync::atomic::AtomicBool) {
    while !over.load(std::sync::atomic::Ordering::Relaxed) {
        let lent = borrow(store, crawl, 3).await;
        if lent.is_empty() {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        for host in lent {
            let id = host.host.id;
            if !host.host.name.starts_with('x') {
                give_back_closed(store, id, 0, vec![crawl]).await;
                continue;
            }
            let urls = store.pending(crawl, id, 1000).await.unwrap();
            let ends = urls.iter().map(|url| fetched(url.page, Vec::new()));
            commit(store, crawl, ends.collect()).await;
            give_back(store, id, 0).await;
        }
    }
}

#[tokio::test]
async fn stale_loans_and_hosts_that_rest_by_mistake_are_put_right_when_asked_for() {
    let url = server::shared().database().await;
    let one = worker(&url, unrenewed("one", Duration::from_secs(1))).await;
    let two = worker(&url, LoanOptions::new("two")).await;
    let seeds = ["a.test", "b.test", "c.test"].map(|name| link(&one, name, 0));
    let crawl = begin(&one, seeds.to_vec(), breadth()).await;
    let registry = two.registry().unwrap();
    let gone = borrow_soon(&one, crawl).await.host.id;
    let alive = borrow_soon(&two, crawl).await.host.id;
    let nothing = registry.recover_loans().await.unwrap();
    assert_eq!((nothing.loans, nothing.woken), (0, 0), "no loan is over");
    // The first worker is not heard of again, and a wake-up is lost.
    while loans(&one).may_ask(gone, 0) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let sql = "UPDATE hosts SET ready_at = 'infinity', empties = 2 WHERE holder IS NULL";
    server::shared().sql(database_of(&url), sql).await;
    let recovered = registry.recover_loans().await.unwrap();
    assert_eq!((recovered.loans, recovered.woken), (1, 1));
    let mut found = HashSet::new();
    while found.len() < 2 {
        found.extend(borrow(&two, crawl, 5).await.iter().map(|host| host.host.id));
    }
    assert!(found.contains(&gone) && !found.contains(&alive));
}

fn database_of(url: &str) -> &str {
    let path = url.split('?').next().unwrap();
    path.rsplit('/').next().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_url_is_forgotten_however_writers_and_borrowers_meet() {
    const PAGES: usize = 80;
    const LINKS: usize = 4;
    let url = server::shared().database().await;
    let writer = plain_store(&url).await;
    let seeds: Vec<NewLink> = (0..PAGES)
        .map(|n| link(&writer, &format!("s{n}.test"), 0))
        .collect();
    let crawl = begin(&writer, seeds.clone(), breadth()).await;
    let over = std::sync::atomic::AtomicBool::new(false);
    let workers = [
        worker(&url, looking_twice_soon("one")).await,
        worker(&url, looking_twice_soon("two")).await,
    ];
    for worker in &workers {
        worker.reopen_crawl(crawl, breadth()).await.unwrap();
    }
    // Few enough that the borrowers run dry again and again.
    let write = async |part: &[NewLink], from: usize| {
        for (n, seed) in part.iter().enumerate() {
            let found = (0..LINKS).map(|at| link(&writer, "x.test", (from + n) * LINKS + at));
            let page = page(&writer, crawl, seed).await;
            read(&writer, crawl, page, found.collect()).await;
            tokio::time::sleep(Duration::from_millis((n % 7) as u64 * 5)).await;
        }
    };
    let writing = async {
        tokio::join!(
            write(&seeds[..20], 0),
            write(&seeds[20..40], 20),
            write(&seeds[40..60], 40),
            write(&seeds[60..], 60),
        );
        let all = (PAGES * (LINKS + 1)) as u64;
        for _ in 0..3000 {
            if writer.counts(crawl).await.unwrap().done == all {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        writer.counts(crawl).await.unwrap()
    };
    let (counts, (), ()) = tokio::join!(
        writing,
        crawl_on(&workers[0], crawl, &over),
        crawl_on(&workers[1], crawl, &over),
    );
    let all = (PAGES * (LINKS + 1)) as u64;
    assert_eq!((counts.done, counts.pending), (all, 0));
}

#[tokio::test]
async fn a_host_rests_when_nothing_is_pending_and_wakes_for_a_new_url() {
    let url = server::shared().database().await;
    let one = worker(&url, looking_twice_soon("one")).await;
    let writer = plain_store(&url).await;
    let (a, b) = (link(&one, "a.test", 0), link(&one, "b.test", 0));
    let crawl = begin(&one, vec![a.clone()], breadth()).await;
    let second = begin(&writer, vec![b.clone()], breadth()).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    let first = page(&one, crawl, &a).await;
    read(&one, crawl, first, Vec::new()).await;
    give_back(&one, host, 0).await;
    assert!(borrow(&one, crawl, 9).await.is_empty());
    let from = page(&writer, second, &b).await;
    read(&writer, second, from, vec![link(&writer, "a.test", 1)]).await;
    let again = borrow_soon(&one, second).await;
    assert_eq!((again.host.id, again.crawl), (host, second));
}

#[tokio::test]
async fn hosts_of_a_paused_crawl_rest_until_it_goes_on() {
    let url = server::shared().database().await;
    let one = worker(&url, looking_twice_soon("one")).await;
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    let paused = one.set_state(crawl, CrawlState::Paused, "", NOW);
    paused.await.unwrap();
    give_back(&one, host, 0).await;
    let other = begin(&one, vec![link(&one, "b.test", 0)], breadth()).await;
    // The second look at a host whose only crawl is paused.
    tokio::time::sleep(Duration::from_millis(1600)).await;
    assert_eq!(borrow(&one, other, 9).await.len(), 1);
    let resumed = one.set_state(crawl, CrawlState::Running, "", NOW);
    resumed.await.unwrap();
    assert_eq!(borrow_soon(&one, crawl).await.host.id, host);
}

#[tokio::test]
async fn a_crawl_is_complete_when_nothing_is_pending_where_it_still_asks() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let seeds = vec![link(&one, "a.test", 0), link(&one, "b.test", 0)];
    let crawl = begin(&one, seeds.clone(), breadth()).await;
    let complete = async || loans(&one).complete(crawl, "done", NOW).await.unwrap();
    assert!(!complete().await);
    let hosts = borrow(&one, crawl, 5).await;
    let page = page(&one, crawl, &seeds[0]).await;
    for loan in hosts {
        if loan.host.name == "a.test" {
            read(&one, crawl, page, Vec::new()).await;
            give_back(&one, loan.host.id, 0).await;
        } else {
            assert!(!complete().await);
            give_back_closed(&one, loan.host.id, 0, vec![crawl]).await;
        }
    }
    assert!(borrow(&one, crawl, 5).await.is_empty());
    assert!(complete().await);
    assert!(!complete().await, "it runs no more");
    let row = one.crawl(crawl).await.unwrap();
    assert_eq!(
        (row.state, row.why.as_str()),
        (CrawlState::Completed, "done")
    );
}

#[tokio::test]
async fn a_crawl_is_complete_when_its_budget_is_used_up() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let rules = || WriteRules {
        max_pages: Some(2),
        ..breadth()
    };
    let seeds: Vec<NewLink> = (0..4).map(|n| link(&one, "a.test", n)).collect();
    let crawl = begin(&one, seeds.clone(), rules()).await;
    borrow_soon(&one, crawl).await;
    let mut ends = Vec::new();
    for seed in &seeds {
        ends.push(fetched(page(&one, crawl, seed).await, Vec::new()));
    }
    let report = commit(&one, crawl, ends).await;
    assert_eq!((report.counts.pages, report.counts.pending), (2, 2));
    assert!(loans(&one).complete(crawl, "", NOW).await.unwrap());
}
