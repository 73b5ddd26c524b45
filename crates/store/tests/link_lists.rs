//! What a page links to is one row for as long as it stays the same; the view `edges` shows the
//! single links.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use rusqlite::Connection;
use trawl_store::{
    OpenOptions, SqliteStore, Store,
    conformance::web::{Crawl, breadth, link},
    contract::write::NewLink,
};

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, &OpenOptions::default()).unwrap()
}

fn lists(path: &Path) -> Vec<(i64, i64)> {
    let conn = Connection::open(path).unwrap();
    let sql = "SELECT first_crawl, last_crawl FROM page_links ORDER BY id";
    let mut rows = conn.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn edges(path: &Path) -> Vec<(String, i64, i64)> {
    let conn = Connection::open(path).unwrap();
    let sql = "SELECT anchor, first_crawl, last_crawl FROM edges ORDER BY src, dst";
    let mut rows = conn.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn edge(anchor: &str, first_crawl: i64, last_crawl: i64) -> (String, i64, i64) {
    (anchor.to_owned(), first_crawl, last_crawl)
}

#[tokio::test]
async fn a_page_seen_again_with_the_same_links_gets_no_new_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    for new in [2, 0, 0] {
        let crawl = Crawl::begin(&store, &["a"], breadth()).await;
        let report = crawl.read("a", &["b", "c"]).await;
        assert_eq!(report.edges, new);
        assert_eq!(crawl.counts().await.edges, 2);
    }
    assert_eq!(lists(&path), [(1, 3)]);
    assert_eq!(edges(&path), [edge("to b", 1, 3), edge("to c", 1, 3)]);
}

#[tokio::test]
async fn a_page_whose_links_changed_gets_a_row_and_edges_show_the_newest_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    let first = Crawl::begin(&store, &["a"], breadth()).await;
    first.read("a", &["b", "c"]).await;
    let second = Crawl::begin(&store, &["a"], breadth()).await;
    let renamed = NewLink {
        anchor: "still \"c\"".into(),
        ..link(&store, "c")
    };
    second.settle("a", vec![renamed]).await;
    assert_eq!(lists(&path), [(1, 1), (2, 2)]);
    let expected = [edge("to b", 1, 1), edge("still \"c\"", 1, 2)];
    assert_eq!(edges(&path), expected);
    let page = second.page("a").await;
    let links = store.links_of(second.id, page).await.unwrap();
    let seen: Vec<_> = links
        .iter()
        .map(|link| edge(&link.anchor, link.first_crawl.0, link.last_crawl.0))
        .collect();
    assert_eq!(seen, expected[1..]);
}

#[tokio::test]
async fn a_page_that_has_lost_its_links_gets_a_row_and_one_that_never_had_any_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = open(&path);
    for links in [&["b", "c"][..], &[], &[], &["c"]] {
        let crawl = Crawl::begin(&store, &["a", "z"], breadth()).await;
        crawl.read("a", links).await;
        crawl.read("z", &[]).await;
        assert_eq!(crawl.counts().await.edges, links.len() as u64);
    }
    assert_eq!(lists(&path), [(1, 1), (2, 3), (4, 4)]);
    assert_eq!(edges(&path), [edge("to b", 1, 1), edge("to c", 1, 4)]);
}

#[tokio::test]
async fn an_older_crawl_that_comes_back_counts_only_what_nobody_has_seen() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("t.db"));
    let first = Crawl::begin(&store, &["a"], breadth()).await;
    let second = Crawl::begin(&store, &["a"], breadth()).await;
    assert_eq!(second.read("a", &["b", "c"]).await.edges, 2);
    assert_eq!(first.read("a", &["c", "d"]).await.edges, 1);
    assert_eq!(first.counts().await.edges, 2);
    let page = first.page("a").await;
    let links = store.links_of(first.id, page).await.unwrap();
    let crawls: Vec<_> = links
        .iter()
        .map(|link| edge(&link.anchor, link.first_crawl.0, link.last_crawl.0))
        .collect();
    let expected = [edge("to c", 1, 2), edge("to d", 1, 1)];
    assert_eq!(crawls, expected);
}
