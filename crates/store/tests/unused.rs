//! Hosts of a file that nothing refers to any more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use trawl_store::{
    OpenOptions, SqliteStore, Store,
    conformance::web::{NOW, breadth, link},
    contract::{
        jobs::{JobStore, NewJob},
        overview::Overview,
        target::LinkTarget,
        upkeep::{Ageing, Upkeep, clean},
        write::{CommitBatch, HostUpdate, NewLink},
    },
};
use trawl_types::{CrawlId, CrawlSpec, CrawlState, UnixMillis};

const LATER: UnixMillis = UnixMillis(NOW.0 + 10 * 86_400_000);

fn seed(store: &dyn Store, host: &str) -> NewLink {
    let address = format!("https://{host}/");
    let key = store.key_secret().key(host, &address);
    NewLink {
        target: LinkTarget::new(&address, host, key, Ok(0)),
        ..link(store, "")
    }
}

async fn job(store: &SqliteStore, id: &str, hosts: &[&str]) -> CrawlId {
    let job = NewJob {
        id: id.into(),
        owner: "somebody".into(),
        kind: "crawl".into(),
        request: "{}".into(),
        idempotency: None,
    };
    let seeds = hosts.iter().map(|host| seed(store, host)).collect();
    let spec = CrawlSpec::default();
    let begun = store.create_crawl(&spec, id, seeds, breadth(), Some(job), NOW);
    begun.await.unwrap()
}

async fn unused(store: &(impl Overview + Upkeep), before: UnixMillis) -> u64 {
    let would = clean(store, Ageing::Unused, before, true).await.unwrap();
    let done = clean(store, Ageing::Unused, before, false).await.unwrap();
    assert!(done.rows <= would.rows);
    done.rows
}

#[tokio::test]
async fn hosts_go_from_a_file_that_nobody_crawls_with_unless_they_asked_for_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trawl.db");
    let open = || SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    let store = open();
    let crawl = job(&store, "old", &["quiet.test", "waits.test"]).await;
    let host = store.host_by_name(crawl, "waits.test").await.unwrap();
    let batch = CommitBatch {
        crawl,
        now: NOW,
        settlements: Vec::new(),
        hosts: vec![HostUpdate {
            host: Some(host.unwrap().id),
            next_allowed: Some(UnixMillis(LATER.0 + 1)),
            ..HostUpdate::default()
        }],
        seeds: Vec::new(),
    };
    store.commit(batch).await.unwrap();
    store
        .set_state(crawl, CrawlState::Completed, "", NOW)
        .await
        .unwrap();
    job(&store, "new", &["used.test"]).await;
    assert!(store.delete_job("old").await.unwrap());
    assert_eq!(unused(&store, LATER).await, 2, "addresses alone");
    store.close().await.unwrap();
    let store = open();
    assert_eq!(unused(&store, LATER).await, 1, "quiet.test");
    let known = async |name: &str| {
        store
            .host_by_name(CrawlId(0), name)
            .await
            .unwrap()
            .is_some()
    };
    assert!(!known("quiet.test").await);
    assert!(known("waits.test").await && known("used.test").await);
    // A wait that is over holds nobody.
    assert_eq!(unused(&store, UnixMillis(LATER.0 + 2)).await, 1);
    assert!(!known("waits.test").await);
}

#[tokio::test]
async fn the_number_of_a_crawl_that_was_deleted_is_not_given_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trawl.db");
    let open = || SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    let store = open();
    let first = job(&store, "first", &["a.test"]).await;
    assert!(store.delete_job("first").await.unwrap());
    let second = job(&store, "second", &["a.test"]).await;
    assert_ne!(second, first);
    assert!(store.delete_job("second").await.unwrap());
    store.close().await.unwrap();
    // Also not by the next process.
    let third = job(&open(), "third", &["a.test"]).await;
    assert!(third > second, "{third} after {second}");
}
