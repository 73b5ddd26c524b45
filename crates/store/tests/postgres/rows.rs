//! What must hold between the tables, whatever happened.

use std::collections::HashSet;

use tokio_postgres::NoTls;
use trawl_store::{PostgresStore, Store};
use trawl_types::{CrawlId, Sequence};

/// The answer to a question that is one number.
pub(crate) async fn number(url: &str, sql: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Every page once, numbered from 1 without gaps.
pub(crate) async fn assert_log_is_whole(store: &PostgresStore, crawl: CrawlId, results: usize) {
    let log = store.results(crawl, Sequence(0), 100_000).await.unwrap();
    let numbers: Vec<i64> = log.iter().map(|record| record.seq.0).collect();
    let expected: Vec<i64> = (1..=results as i64).collect();
    assert_eq!(numbers, expected);
    let pages: HashSet<_> = log.iter().map(|record| record.page_id).collect();
    assert_eq!(pages.len(), results);
}

/// Counters are the numbers of rows.
pub(crate) async fn assert_counters_are_true(url: &str, store: &PostgresStore, crawl: CrawlId) {
    let counts = store.counts(crawl).await.unwrap();
    let rows = async |condition: &str| {
        let sql = format!("SELECT count(*) FROM crawl_pages WHERE crawl = {crawl} AND {condition}");
        number(url, &sql).await as u64
    };
    assert_eq!(counts.discovered, rows("true").await);
    assert_eq!(counts.pending, rows("state = 0").await);
    assert_eq!(counts.refused, rows("state = 1").await);
    assert_eq!(counts.done, rows("state = 2").await);
    let hosts = format!("SELECT count(*) FROM crawl_hosts WHERE crawl = {crawl}");
    assert_eq!(counts.hosts, number(url, &hosts).await as u64);
    let edges = format!(
        "SELECT coalesce(sum(json_array_length(links::json)), 0)::int8 FROM page_links
         WHERE first_crawl <= {crawl} AND last_crawl >= {crawl}"
    );
    assert_eq!(counts.edges, number(url, &edges).await as u64);
}
