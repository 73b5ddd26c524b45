//! Depth is the shortest distance from the seeds, whatever the order in which pages are read.

use trawl_types::{PageState, ReasonCode, spec::Order};

use super::web::{Crawl, breadth, names, redirect, rules};
use crate::contract::Store;

pub async fn a_shorter_path_is_carried_on(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    crawl.read("a", &["c"]).await;
    crawl.read("c", &["d"]).await;
    crawl.read("d", &["e"]).await;
    crawl.read("e", &["f", "c"]).await;
    assert_eq!(crawl.depth("f").await, 4);
    crawl.read("b", &["e"]).await;
    assert_eq!(crawl.depth("e").await, 1);
    assert_eq!(crawl.depth("f").await, 2);
    assert_eq!(crawl.depth("c").await, 1);
    let queue = crawl.pending().await;
    assert_eq!(queue[0].depth, 2);
    assert_eq!(queue[0].rank, Order::BreadthFirst.rank(2, 0));
}

pub async fn redirects_do_not_lead_further_away(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], rules(Order::BreadthFirst, Some(0))).await;
    crawl.settle("a", vec![redirect(store, "b")]).await;
    crawl
        .settle("b", vec![redirect(store, "a"), redirect(store, "c")])
        .await;
    assert_eq!(crawl.depth("c").await, 0);
    assert_eq!(crawl.queue().await, ["c"]);
}

pub async fn a_shorter_path_admits_what_was_too_deep(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], rules(Order::BreadthFirst, Some(2))).await;
    crawl.read("a", &["c"]).await;
    crawl.read("c", &["d"]).await;
    let report = crawl.read("d", &["e", "g"]).await;
    assert!(report.admitted.is_empty());
    let e = crawl.standing("e").await;
    assert_eq!(e.state, PageState::Refused);
    assert_eq!(e.reason.unwrap().code, ReasonCode::TooDeep);
    let report = crawl.read("b", &["d"]).await;
    assert_eq!(names(&report.admitted), ["e", "g"]);
    assert_eq!(crawl.queue().await, ["e", "g"]);
    let counts = crawl.counts().await;
    assert_eq!((counts.refused, counts.pending), (0, 2));
    assert!(counts.reasons.is_empty());
    let report = crawl.read("e", &["h"]).await;
    assert!(report.admitted.is_empty());
}

pub async fn the_standing_of_a_page_tells_the_shortest_path(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    crawl.read("a", &["c"]).await;
    crawl.read("c", &["d"]).await;
    crawl.read("d", &["e"]).await;
    crawl.read("b", &["d"]).await;
    let e = crawl.standing("e").await;
    let path: Vec<&str> = e
        .chain
        .iter()
        .map(|url| url.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(path, ["b", "d", "e"]);
    assert!(e.record.is_none());
    let d = crawl.standing("d").await;
    assert_eq!(d.state, PageState::Done);
    assert_eq!(
        d.record.unwrap().parent.as_deref(),
        Some("https://a.test/b")
    );
}
