//! Opening a database: whose it is, who holds it, and what may be done with it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use trawl_store::{
    OpenOptions, SqliteStore, Store, StoreError,
    conformance::web::{Crawl, NOW, breadth},
};
use trawl_types::{CrawlState, Sequence};

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, &OpenOptions::default())
}

fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    (folder, path)
}

#[tokio::test]
async fn a_second_writer_is_told_who_holds_the_file() {
    let (_folder, path) = folder();
    let options = OpenOptions {
        command: "trawl crawl".into(),
        ..OpenOptions::default()
    };
    let first = SqliteStore::open(&path, &options).unwrap();
    let text = open(&path).unwrap_err().to_string();
    assert!(text.contains("is in use by process"), "{text}");
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    assert!(text.contains("`trawl crawl`"), "{text}");
    first.close().await.unwrap();
    open(&path).unwrap();
}

/// The log is written back beside the commits whenever there is much in it. Only one can do that at a
/// time, so the last word must be had when the other has ended.
#[tokio::test]
async fn a_closed_store_is_one_file_also_right_after_a_large_commit() {
    let (_folder, path) = folder();
    for round in 0..6 {
        let store = open(&path).unwrap();
        let crawl = Crawl::begin(&store, &["a"], breadth()).await;
        let links: Vec<String> = (0..40_000).map(|n| format!("{round}-{n}")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        crawl.read("a", &links).await;
        store.close().await.unwrap();
        drop(store);
        for rest in ["-wal", "-shm"] {
            let rest = format!("{}{rest}", path.display());
            assert!(!Path::new(&rest).exists(), "round {round}: {rest} is left");
        }
    }
}

#[tokio::test]
async fn a_dropped_store_has_given_the_file_up_and_kept_everything() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let secret = store.key_secret();
    let id = {
        let crawl = Crawl::begin(&store, &["a"], breadth()).await;
        crawl.read("a", &["b", "c"]).await;
        crawl.id
    };
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(store.key_secret().0, secret.0);
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    assert_eq!(crawl.queue().await, ["b", "c"]);
    let report = crawl.read("b", &["a", "d"]).await;
    assert_eq!(report.last_seq, Some(Sequence(2)));
    assert_eq!(report.discovered, 1);
    assert_eq!(report.hosts.len(), 1);
    assert_eq!(crawl.counts().await.edges, 4);
}

#[tokio::test]
async fn a_reader_looks_on_while_a_crawl_runs() {
    let (_folder, path) = folder();
    let missing = SqliteStore::open_read_only(&path).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    let store = open(&path).unwrap();
    let crawl = Crawl::begin(&store, &["a"], breadth()).await;
    let reader = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(reader.counts(crawl.id).await.unwrap().pending, 1);
    crawl.read("a", &["b", "c"]).await;
    assert_eq!(reader.counts(crawl.id).await.unwrap().pending, 2);
    assert_eq!(reader.key_secret().0, store.key_secret().0);
    let written = reader
        .set_state(crawl.id, CrawlState::Failed, "", NOW)
        .await;
    assert!(matches!(written, Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_missing_database_is_made_only_if_asked_for() {
    let (_folder, path) = folder();
    let options = OpenOptions {
        create: false,
        ..OpenOptions::default()
    };
    let missing = SqliteStore::open(&path, &options).unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    assert!(!path.exists());
    let nowhere = path.join("no/such/folder/t.db");
    assert!(open(&nowhere).is_err());
}

#[test]
fn a_newer_format_is_refused() {
    let (_folder, path) = folder();
    drop(open(&path).unwrap());
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    for refused in [open(&path), SqliteStore::open_read_only(&path)] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, StoreError::Newer { found: 99, .. }),
            "{refused}"
        );
    }
}

#[test]
fn other_peoples_files_are_refused_and_left_as_they_are() {
    let (_folder, path) = folder();
    std::fs::write(&path, "not a database at all, ".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    for refused in [open(&path), SqliteStore::open_read_only(&path)] {
        assert!(matches!(refused.unwrap_err(), StoreError::Foreign { .. }));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
    std::fs::remove_file(&path).unwrap();
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    for refused in [open(&path), SqliteStore::open_read_only(&path)] {
        assert!(matches!(refused.unwrap_err(), StoreError::Foreign { .. }));
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_not_a_panic() {
    let (_folder, path) = folder();
    let store = open(&path).unwrap();
    let crawl = Crawl::begin(&store, &["a"], breadth()).await;
    let names: Vec<String> = (0..500).map(|n| format!("page{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    crawl.read("a", &names).await;
    let id = crawl.id;
    store.close().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let from = 4096 * 3;
    bytes[from..].iter_mut().for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, bytes).unwrap();
    let Err(error) = (match open(&path) {
        Ok(store) => store.results(id, Sequence(0), 10).await.map(|_| ()),
        Err(error) => Err(error),
    }) else {
        panic!("the damage was not noticed");
    };
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}
