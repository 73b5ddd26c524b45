//! Segment files: what nobody refers to is cut off, and the files are archives others can read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use trawl_store::{
    OpenOptions, SqliteStore, Store,
    conformance::web::{Crawl, NOW, breadth, visit},
    contract::{
        known::KnownLinks,
        overview::{Overview, Purge},
        write::{Settlement, Visit, VisitEnd},
    },
    segment,
};
use trawl_types::{CrawlId, CrawlState, OutcomeKind, Sequence, UnixMillis};

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, &OpenOptions::default()).unwrap()
}

fn segment_file(path: &Path, number: u32) -> PathBuf {
    PathBuf::from(format!("{}-bodies/{number:06}.warc.zst", path.display()))
}

async fn keep(crawl: &Crawl<'_>, name: &str, body: &str) -> Sequence {
    let settlement = settlement(crawl, name, body).await;
    crawl.commit(vec![settlement]).await.last_seq.unwrap()
}

async fn settlement(crawl: &Crawl<'_>, name: &str, body: &str) -> Settlement {
    let record = segment::encode(
        &format!("https://a.test/{name}"),
        NOW,
        200,
        [("Content-Type", &b"text/html"[..])],
        body.to_owned().into(),
    );
    let visit = Visit {
        body: Some(record),
        ..visit(OutcomeKind::Fetched)
    };
    Settlement {
        page: crawl.page(name).await,
        end: VisitEnd::Final(Box::new(visit)),
        links: Vec::new(),
        known: KnownLinks::default(),
    }
}

async fn text(store: &SqliteStore, id: CrawlId, seq: Sequence) -> Option<String> {
    let body = store.body(id, seq).await.unwrap();
    body.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[tokio::test]
async fn orphans_are_cut_off_when_the_store_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let id = {
        let crawl = Crawl::begin(&store, &["a", "b"], breadth()).await;
        keep(&crawl, "a", "first").await;
        crawl.id
    };
    store.close().await.unwrap();
    drop(store);
    let file = segment_file(&path, 1);
    let whole = std::fs::read(&file).unwrap();
    let mut longer = std::fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap();
    longer.write_all(b"a body whose commit never came").unwrap();
    std::fs::write(segment_file(&path, 2), b"a whole file of them").unwrap();
    let store = open(&path);
    assert_eq!(std::fs::read(&file).unwrap(), whole);
    assert!(!segment_file(&path, 2).exists());
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    let seq = keep(&crawl, "b", "second").await;
    assert_eq!(text(&store, id, seq).await.as_deref(), Some("second"));
    assert_eq!(
        text(&store, id, Sequence(1)).await.as_deref(),
        Some("first")
    );
}

#[tokio::test]
async fn bodies_that_were_lost_are_missing_and_the_next_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let id = {
        let crawl = Crawl::begin(&store, &["a", "b", "c"], breadth()).await;
        keep(&crawl, "a", "first").await;
        keep(&crawl, "b", "second").await;
        crawl.id
    };
    drop(store);
    let file = segment_file(&path, 1);
    let length = std::fs::metadata(&file).unwrap().len();
    let cut = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    cut.set_len(length - 3).unwrap();
    let store = open(&path);
    assert_eq!(text(&store, id, Sequence(2)).await, None);
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    let seq = keep(&crawl, "c", "third").await;
    assert_eq!(text(&store, id, seq).await.as_deref(), Some("third"));
    assert_eq!(
        text(&store, id, Sequence(1)).await.as_deref(),
        Some("first")
    );
    assert_eq!(text(&store, id, Sequence(2)).await, None);
}

#[tokio::test]
async fn a_flipped_bit_makes_a_body_missing_not_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let crawl = Crawl::begin(&store, &["a"], breadth()).await;
    let seq = keep(&crawl, "a", "first").await;
    let file = segment_file(&path, 1);
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(text(&store, crawl.id, seq).await, None);
}

#[tokio::test]
async fn a_segment_file_is_a_warc_file_under_zstd() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let crawl = Crawl::begin(&store, &["a", "b"], breadth()).await;
    keep(&crawl, "a", "one\r\n\r\n").await;
    keep(&crawl, "b", "two").await;
    let plain = zstd::stream::decode_all(&*std::fs::read(segment_file(&path, 1)).unwrap()).unwrap();
    let mut rest = std::str::from_utf8(&plain).unwrap();
    let mut types = Vec::new();
    while !rest.is_empty() {
        let (head, after) = rest.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("WARC/1.1\r\n"));
        let field = |name: &str| {
            let line = head.lines().find(|line| line.starts_with(name)).unwrap();
            line[name.len()..].trim().to_owned()
        };
        types.push(field("WARC-Type:"));
        let length: usize = field("Content-Length:").parse().unwrap();
        assert_eq!(&after[length..length + 4], "\r\n\r\n");
        rest = &after[length + 4..];
    }
    assert_eq!(types, ["warcinfo", "response", "response"]);
}

#[tokio::test]
async fn files_that_nothing_refers_to_are_swept_and_later_bodies_find_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let crawl = Crawl::begin(&store, &["a", "b", "c"], breadth()).await;
    keep(&crawl, "a", "first").await;
    assert_eq!(store.sweep().await.unwrap().segments, 0, "it is in use");
    let purge = Purge {
        before: Some(UnixMillis(NOW.0 + 1)),
        ..Purge::default()
    };
    let end = store.set_state(crawl.id, CrawlState::Completed, "", NOW);
    end.await.unwrap();
    assert_eq!(store.purge(purge.clone()).await.unwrap().visits, 1);
    store.reopen_crawl(crawl.id, breadth()).await.unwrap();
    let swept = store.sweep().await.unwrap();
    assert_eq!(swept.segments, 1);
    assert!(!segment_file(&path, 1).exists());
    let seq = keep(&crawl, "b", "second").await;
    assert_eq!(text(&store, crawl.id, seq).await.as_deref(), Some("second"));
    assert_eq!(store.sweep().await.unwrap().segments, 0);
    assert!(segment_file(&path, 2).exists());
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_sweep_that_was_killed_before_the_file_was_gone_is_done_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let (first, id) = {
        let crawl = Crawl::begin(&store, &["a", "b"], breadth()).await;
        keep(&crawl, "a", "first").await;
        let end = store.set_state(crawl.id, CrawlState::Completed, "", NOW);
        end.await.unwrap();
        (std::fs::read(segment_file(&path, 1)).unwrap(), crawl.id)
    };
    let purge = Purge {
        crawl: Some(id),
        ..Purge::default()
    };
    store.purge(purge).await.unwrap();
    assert_eq!(store.sweep().await.unwrap().segments, 1);
    store.close().await.unwrap();
    // As if the process had ended between its commit and the removal of the file.
    std::fs::write(segment_file(&path, 1), first).unwrap();
    let store = open(&path);
    assert_eq!(store.sweep().await.unwrap().segments, 1);
    assert!(!segment_file(&path, 1).exists());
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    let seq = keep(&crawl, "b", "second").await;
    assert_eq!(text(&store, id, seq).await.as_deref(), Some("second"));
    store.close().await.unwrap();
    let store = open(&path);
    assert_eq!(text(&store, id, seq).await.as_deref(), Some("second"));
}

/// The frames that rows refer to, each with the number of its rows.
fn frames(path: &Path) -> Vec<i64> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let sql = "SELECT count(*) FROM results WHERE body_segment IS NOT NULL
               GROUP BY body_segment, body_offset ORDER BY body_segment, body_offset";
    let mut rows = conn.prepare(sql).unwrap();
    let counts = rows.query_map([], |row| row.get(0)).unwrap();
    counts.map(Result::unwrap).collect()
}

#[tokio::test]
async fn pages_of_a_commit_are_compressed_together_and_read_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let names: Vec<String> = (0..120).map(|n| format!("p{n}")).collect();
    let seeds: Vec<&str> = names.iter().map(String::as_str).collect();
    let crawl = Crawl::begin(&store, &seeds, breadth()).await;
    let body = |name: &str| format!("<p>{}</p>{name}", "words of a template. ".repeat(2_000));
    let mut batch = Vec::new();
    for name in &seeds {
        batch.push(settlement(&crawl, name, &body(name)).await);
    }
    crawl.commit(batch).await;
    // 5 MB fill one frame and begin another.
    assert_eq!(frames(&path).len(), 2);
    assert_eq!(frames(&path).iter().sum::<i64>(), 120);
    for (n, name) in seeds.iter().enumerate().rev() {
        let found = text(&store, crawl.id, Sequence(n as i64 + 1)).await;
        assert_eq!(found.unwrap(), body(name));
    }
    let file = segment_file(&path, 1);
    assert!(std::fs::metadata(file).unwrap().len() < 100_000);
    store.close().await.unwrap();
}
