//! Where nothing may be written: a clear error for writers, an answer for readers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use trawl_store::{
    OpenOptions, SqliteStore, Store, StoreError,
    conformance::web::{Crawl, breadth},
};
use trawl_types::CrawlId;

async fn database(folder: &Path) -> (PathBuf, CrawlId) {
    let path = folder.join("t.db");
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    let crawl = Crawl::begin(&store, &["a"], breadth()).await;
    crawl.read("a", &["b"]).await;
    let id = crawl.id;
    store.close().await.unwrap();
    (path, id)
}

async fn writers_are_refused_and_readers_are_not(path: &Path, id: CrawlId) {
    let refused = SqliteStore::open(path, &OpenOptions::default()).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    assert!(refused.to_string().contains("t.db"), "{refused}");
    let store = SqliteStore::open_read_only(path).unwrap();
    assert_eq!(store.counts(id).await.unwrap().done, 1);
}

fn set_read_only(path: &Path, read_only: bool) {
    let mut permissions = std::fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(read_only);
    std::fs::set_permissions(path, permissions).unwrap();
}

fn run(command: &str, args: &[&str], folder: &Path) -> bool {
    let output = Command::new(command).args(args).arg(folder).output();
    output.is_ok_and(|output| output.status.success())
}

/// A file system that is gone when the test ends, however it ends.
struct Mount(tempfile::TempDir);

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &[], self.0.path());
    }
}

#[tokio::test]
async fn a_read_only_file_is_named_and_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let (path, id) = database(folder.path()).await;
    set_read_only(&path, true);
    // Permissions do not bind the superuser; the next test does.
    if std::fs::OpenOptions::new().write(true).open(&path).is_err() {
        writers_are_refused_and_readers_are_not(&path, id).await;
    }
    set_read_only(&path, false);
}

#[tokio::test]
async fn a_read_only_file_system_is_named_and_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    if !run("mount", &["-t", "tmpfs", "tmpfs"], folder.path()) {
        eprintln!("skipped: mounting a file system needs rights");
        return;
    }
    let mount = Mount(folder);
    let (path, id) = database(mount.0.path()).await;
    if run("mount", &["-o", "remount,ro"], mount.0.path()) {
        writers_are_refused_and_readers_are_not(&path, id).await;
    }
}
