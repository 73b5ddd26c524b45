//! A full disk: a clear error, nothing half done, and a store that goes on once there is room.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{path::Path, process::Command};

use trawl_store::{
    OpenOptions, SqliteStore, Store, StoreError,
    conformance::web::{Crawl, NOW, breadth, fetched, visit},
    contract::{
        known::KnownLinks,
        write::{CommitBatch, Settlement, Visit, VisitEnd},
    },
    segment::{self, Record},
};
use trawl_types::{OutcomeKind, PageId};

fn batch(crawl: &Crawl<'_>, page: PageId, round: usize, body: Option<Record>) -> CommitBatch {
    let names: Vec<String> = (0..200).map(|n| format!("{round}-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let visit = Visit {
        body,
        ..visit(OutcomeKind::Fetched)
    };
    CommitBatch {
        crawl: crawl.id,
        now: NOW,
        settlements: vec![Settlement {
            page,
            end: VisitEnd::Final(Box::new(visit)),
            links: crawl.links(&names),
            known: KnownLinks::default(),
        }],
        hosts: Vec::new(),
        seeds: Vec::new(),
    }
}

/// Commits until the disk is full; returns how many went through.
async fn fill(crawl: &Crawl<'_>, body: Option<&Record>) -> (usize, StoreError) {
    for round in 0..10_000 {
        let page = crawl.pending().await[0].page;
        let commit = crawl.store.commit(batch(crawl, page, round, body.cloned()));
        if let Err(error) = commit.await {
            return (round, error);
        }
    }
    panic!("the disk never filled up");
}

async fn is_sound(crawl: &Crawl<'_>, path: &Path, commits: usize) {
    let counts = crawl.counts().await;
    assert_eq!(counts.done, commits as u64);
    assert_eq!(counts.discovered, 1 + 200 * commits as u64);
    let conn = rusqlite::Connection::open(path).unwrap();
    let check: String = conn
        .query_row("PRAGMA quick_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    let rows: i64 = conn
        .query_row("SELECT count(*) FROM crawl_pages", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows as u64, counts.discovered);
}

#[tokio::test]
async fn a_database_at_its_limit_says_so_and_stays_usable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let options = OpenOptions {
        max_bytes: Some(1 << 20),
        ..OpenOptions::default()
    };
    let store = SqliteStore::open(&path, &options).unwrap();
    let crawl = Crawl::begin(&store, &["a"], breadth()).await;
    let (commits, error) = fill(&crawl, None).await;
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    is_sound(&crawl, &path, commits).await;
    // The same handle goes on with what needs no room; another one with all of it.
    let page = crawl.pending().await[0].page;
    let id = crawl.id;
    store.close().await.unwrap();
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    crawl
        .commit(vec![fetched(page, crawl.links(&["more"]))])
        .await;
    assert_eq!(crawl.counts().await.done, commits as u64 + 1);
}

/// A real file system without room, where one may be mounted.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        let ok = mounted.is_ok_and(|output| output.status.success());
        ok.then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_the_same_handle_goes_on() {
    let Some(disk) = SmallDisk::mount("8m") else {
        eprintln!("skipped: mounting a small file system needs rights");
        return;
    };
    for body in [None, Some(200_000)] {
        let noise = |size: usize| (0..size).map(|n| (n * n % 251) as u8).collect::<Vec<u8>>();
        let record = body.map(|size| {
            let body = noise(size);
            segment::encode("https://a.test/", NOW, 200, [], body.into())
        });
        let ballast = disk.0.path().join("ballast");
        std::fs::write(&ballast, vec![0; 2 << 20]).unwrap();
        let path = disk.0.path().join(format!("t{}.db", body.is_some()));
        let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
        let crawl = Crawl::begin(&store, &["a"], breadth()).await;
        let (commits, error) = fill(&crawl, record.as_ref()).await;
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        is_sound(&crawl, &path, commits).await;
        std::fs::remove_file(&ballast).unwrap();
        let page = crawl.pending().await[0].page;
        crawl
            .commit(vec![fetched(page, crawl.links(&["more"]))])
            .await;
        assert_eq!(crawl.counts().await.done, commits as u64 + 1);
        store.close().await.unwrap();
        for entry in std::fs::read_dir(disk.0.path()).unwrap() {
            let entry = entry.unwrap().path();
            let _ = std::fs::remove_file(&entry);
            let _ = std::fs::remove_dir_all(&entry);
        }
    }
}
