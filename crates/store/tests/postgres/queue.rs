//! A crawl's queue is changed by a server while workers have its hosts on loan.

use trawl_store::{
    LoanOptions, PostgresStore, Store,
    conformance::web::{NOW, breadth, fetched, visit},
    contract::{
        known::KnownLinks,
        overview::{Overview, Purge},
        queue::{QueueChange, Requeue},
        write::{CommitBatch, HostUpdate, NewLink, Settlement, Suspended, Visit, VisitEnd},
    },
    segment::encode,
};
use trawl_types::{CrawlId, CrawlState, OutcomeKind, PageId, Sequence, UnixMillis};

use crate::{
    server,
    web::{
        begin, borrow, borrow_soon, commit, give_back, give_back_closed, link, page, plain_store,
        read, worker,
    },
};

fn failed(page: PageId) -> Settlement {
    Settlement {
        page,
        end: VisitEnd::Final(Box::new(visit(OutcomeKind::ServerError))),
        links: Vec::new(),
        known: KnownLinks::default(),
    }
}

fn requeue() -> Requeue {
    Requeue {
        outcomes: vec![OutcomeKind::ServerError],
        ..Requeue::default()
    }
}

async fn changed(store: &dyn Store, crawl: CrawlId, wanted: Requeue) -> u64 {
    let change = QueueChange::Requeue(wanted);
    store.change_queue(crawl, change).await.unwrap().requeued
}

#[tokio::test]
async fn a_host_that_rests_is_woken_by_what_is_tried_again() {
    let url = server::shared().database().await;
    let server = plain_store(&url).await;
    let seed = link(&server, "a.test", 0);
    let crawl = begin(&server, vec![seed.clone()], breadth()).await;
    let worker = worker(&url, LoanOptions::new("one")).await;
    worker.reopen_crawl(crawl, breadth()).await.unwrap();
    let host = borrow_soon(&worker, crawl).await.host.id;
    let page = page(&server, crawl, &seed).await;
    commit(&worker, crawl, vec![failed(page)]).await;
    give_back(&worker, host, 0).await;
    assert!(borrow(&worker, crawl, 1).await.is_empty(), "it rests");
    assert_eq!(changed(&server, crawl, requeue()).await, 1);
    assert_eq!(changed(&server, crawl, requeue()).await, 0, "twice is once");
    assert_eq!(borrow(&worker, crawl, 1).await.len(), 1);
    read(&worker, crawl, page, Vec::new()).await;
    let log = server.results(crawl, Sequence(0), 9).await.unwrap();
    assert_eq!(log.len(), 2);
}

#[tokio::test]
async fn a_host_that_was_given_up_is_asked_again_without_its_wait() {
    let url = server::shared().database().await;
    let server = plain_store(&url).await;
    let crawl = begin(&server, vec![link(&server, "a.test", 0)], breadth()).await;
    let worker = worker(&url, LoanOptions::new("one")).await;
    worker.reopen_crawl(crawl, breadth()).await.unwrap();
    let host = borrow_soon(&worker, crawl).await.host.id;
    let update = HostUpdate {
        host: Some(host),
        failures: Some(7),
        next_allowed: Some(UnixMillis(i64::MAX / 2)),
        suspended: Some(Suspended::GivenUp),
        ..HostUpdate::default()
    };
    let batch = CommitBatch {
        crawl,
        now: NOW,
        settlements: Vec::new(),
        hosts: vec![update],
        seeds: Vec::new(),
    };
    worker.commit(batch).await.unwrap();
    give_back_closed(&worker, host, 3_600_000, vec![crawl]).await;
    assert!(borrow(&worker, crawl, 1).await.is_empty());
    let again = QueueChange::Requeue(Requeue {
        suspended: true,
        ..Requeue::default()
    });
    let done = server.change_queue(crawl, again).await.unwrap();
    assert_eq!(done.hosts, 1);
    let lent = borrow(&worker, crawl, 1).await.pop().expect("it is lent");
    assert_eq!((lent.host.failures, lent.host.suspended), (0, None));
}

#[tokio::test]
async fn what_is_settled_of_a_url_that_was_cleared_is_not_written() {
    let url = server::shared().database().await;
    let server = plain_store(&url).await;
    let seeds = vec![link(&server, "a.test", 0), link(&server, "a.test", 1)];
    let crawl = begin(&server, seeds.clone(), breadth()).await;
    let worker = worker(&url, LoanOptions::new("one")).await;
    worker.reopen_crawl(crawl, breadth()).await.unwrap();
    borrow_soon(&worker, crawl).await;
    let (first, second) = (
        page(&server, crawl, &seeds[0]).await,
        page(&server, crawl, &seeds[1]).await,
    );
    let found = link(&server, "a.test", 2);
    read(&worker, crawl, first, vec![found.clone()]).await;
    let clear = QueueChange::Clear { host: None };
    let gone = server.change_queue(crawl, clear).await.unwrap();
    assert_eq!(gone.cleared, 2);
    let report = commit(&worker, crawl, vec![fetched(second, vec![found.clone()])]).await;
    assert!(report.admitted.is_empty());
    assert_eq!((report.counts.done, report.counts.pending), (1, 0));
    let log = server.results(crawl, Sequence(0), 9).await.unwrap();
    assert_eq!(log.len(), 1);
    // What a worker remembers from before does not keep it from being found again.
    let change = QueueChange::Requeue(Requeue {
        outcomes: vec![OutcomeKind::Fetched],
        ..Requeue::default()
    });
    server.change_queue(crawl, change).await.unwrap();
    let report = commit(&worker, crawl, vec![fetched(first, vec![found])]).await;
    assert_eq!(report.admitted.len(), 1);
    assert_eq!(report.counts.pending, 1);
}

/// A crawl of one page that ended.
async fn ended(store: &PostgresStore, seed: &NewLink, visit: Visit) -> CrawlId {
    let crawl = begin(store, vec![seed.clone()], breadth()).await;
    let settled = Settlement {
        page: page(store, crawl, seed).await,
        end: VisitEnd::Final(Box::new(visit)),
        links: Vec::new(),
        known: KnownLinks::default(),
    };
    commit(store, crawl, vec![settled]).await;
    let ended = store.set_state(crawl, CrawlState::Completed, "", NOW);
    ended.await.unwrap();
    crawl
}

#[tokio::test]
async fn bodies_go_with_the_last_visit_that_refers_to_them() {
    let url = server::shared().database().await;
    let store = plain_store(&url).await;
    let seed = link(&store, "a.test", 0);
    let body = encode("https://a.test/0", NOW, 200, [], b"body".to_vec().into());
    let with_body = Visit {
        body: Some(body),
        ..visit(OutcomeKind::Fetched)
    };
    let first = ended(&store, &seed, with_body).await;
    let second = ended(&store, &seed, visit(OutcomeKind::NotModified)).await;
    let records = async || crate::rows::number(&url, "SELECT count(*) FROM records").await;
    let purge = async |crawl| {
        let purge = Purge {
            crawl: Some(crawl),
            ..Purge::default()
        };
        store.purge(purge).await.unwrap().visits
    };
    assert_eq!(purge(first).await, 1);
    let kept = store.body(second, Sequence(1)).await.unwrap();
    assert_eq!(kept.as_deref(), Some(&b"body"[..]), "inherited");
    assert_eq!(store.counts(first).await.unwrap().discovered, 0);
    assert_eq!(records().await, 1);
    assert_eq!(purge(second).await, 1);
    assert_eq!(records().await, 0);
}
