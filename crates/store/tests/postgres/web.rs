//! Crawls of many hosts, spoken to by host and number.

use std::time::Duration;

use trawl_store::{
    LoanOptions, PostgresOptions, PostgresStore, Store,
    conformance::web::{NOW, fetched, link as plain},
    contract::{
        loans::{HostLoans, LoanedHost, ReturnedHost},
        target::LinkTarget,
        write::{CommitBatch, CommitReport, NewLink, Settlement, WriteRules},
    },
};
use trawl_types::{CrawlId, CrawlSpec, HostId, PageId};

/// A store that lends nothing and fences nothing.
pub(crate) async fn plain_store(url: &str) -> PostgresStore {
    PostgresStore::open(url, PostgresOptions::default())
        .await
        .unwrap()
}

/// A store as a worker opens it.
pub(crate) async fn worker(url: &str, options: LoanOptions) -> PostgresStore {
    let options = PostgresOptions {
        loans: Some(options),
        ..PostgresOptions::default()
    };
    PostgresStore::open(url, options).await.unwrap()
}

/// Loans that are not renewed while a test runs.
pub(crate) fn unrenewed(worker: &str, lasts: Duration) -> LoanOptions {
    LoanOptions {
        renewed_every: Duration::from_hours(1),
        ..LoanOptions::new(worker).lasting(lasts)
    }
}

pub(crate) fn link(store: &dyn Store, host: &str, number: usize) -> NewLink {
    let address = format!("https://{host}/{number}");
    let key = store.key_secret().key(host, &address);
    NewLink {
        target: LinkTarget::new(&address, host, key, Ok(0)),
        ..plain(store, "")
    }
}

pub(crate) async fn begin(store: &dyn Store, seeds: Vec<NewLink>, rules: WriteRules) -> CrawlId {
    let spec = CrawlSpec::default();
    store
        .create_crawl(&spec, "test", seeds, rules, None, NOW)
        .await
        .unwrap()
}

pub(crate) async fn commit(
    store: &dyn Store,
    crawl: CrawlId,
    settlements: Vec<Settlement>,
) -> CommitReport {
    let batch = CommitBatch {
        crawl,
        now: NOW,
        settlements,
        hosts: Vec::new(),
        seeds: Vec::new(),
    };
    store.commit(batch).await.unwrap()
}

/// The number of a page of a crawl.
pub(crate) async fn page(store: &dyn Store, crawl: CrawlId, link: &NewLink) -> PageId {
    let standing = store.standing(crawl, link.target.key).await.unwrap();
    standing.expect("the page is known").page_id
}

pub(crate) async fn read(store: &dyn Store, crawl: CrawlId, page: PageId, links: Vec<NewLink>) {
    commit(store, crawl, vec![fetched(page, links)]).await;
}

pub(crate) fn loans(store: &PostgresStore) -> &dyn HostLoans {
    store.loans().expect("a worker borrows")
}

pub(crate) async fn borrow(store: &PostgresStore, crawl: CrawlId, most: u32) -> Vec<LoanedHost> {
    loans(store).borrow_hosts(&[crawl], most).await.unwrap()
}

/// Borrows as soon as there is something to borrow.
pub(crate) async fn borrow_soon(store: &PostgresStore, crawl: CrawlId) -> LoanedHost {
    for _ in 0..1500 {
        if let Some(host) = borrow(store, crawl, 1).await.pop() {
            return host;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing to borrow");
}

pub(crate) async fn give_back(store: &PostgresStore, host: HostId, wait_ms: u64) {
    give_back_closed(store, host, wait_ms, Vec::new()).await;
}

pub(crate) async fn give_back_closed(
    store: &PostgresStore,
    host: HostId,
    wait_ms: u64,
    closed: Vec<CrawlId>,
) {
    let back = ReturnedHost {
        host,
        wait_ms,
        closed,
    };
    loans(store).give_back(vec![back]).await.unwrap();
}
