//! Depth is the shortest distance over recorded edges, whatever the order of arrival: random
//! graphs, settled in random order and in batches of random size, against a plain search. Pages are read as
//! the engine reads them: what the store has recognised is not sent to it again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use trawl_store::{
    OpenOptions, SqliteStore, Store,
    conformance::{
        known::Reader,
        web::{Crawl, link, redirect, rules},
    },
    contract::{read::PendingUrl, write::NewLink},
};
use trawl_types::{HostId, PageState, spec::Order};

#[derive(Debug, Clone)]
struct Graph {
    /// For each page: where it links to, and whether that is a redirect.
    links: Vec<Vec<(usize, bool)>>,
    seeds: Vec<usize>,
}

fn graph() -> impl Strategy<Value = Graph> {
    (2usize..24).prop_flat_map(|pages| {
        let link = (0..pages, prop::bool::weighted(0.15));
        let links = prop::collection::vec(prop::collection::vec(link, 0..4), pages);
        let seeds = prop::collection::vec(0..pages, 1..3);
        (links, seeds).prop_map(|(links, seeds)| Graph {
            links: links.into_iter().map(distinct).collect(),
            seeds,
        })
    })
}

/// Links of a page are distinct by key.
fn distinct(links: Vec<(usize, bool)>) -> Vec<(usize, bool)> {
    let by_target: BTreeMap<usize, bool> = links.into_iter().collect();
    by_target.into_iter().collect()
}

/// Distances from the seeds, passing only through pages within the limit.
fn distances(graph: &Graph, limit: u32) -> BTreeMap<usize, u32> {
    let mut best: BTreeMap<usize, u32> = BTreeMap::new();
    let mut queue: VecDeque<(usize, u32)> = graph.seeds.iter().map(|seed| (*seed, 0)).collect();
    while let Some((page, depth)) = queue.pop_front() {
        if best.get(&page).is_some_and(|known| *known <= depth) {
            continue;
        }
        best.insert(page, depth);
        if depth <= limit {
            for (to, is_redirect) in &graph.links[page] {
                queue.push_back((*to, depth + u32::from(!is_redirect)));
            }
        }
    }
    best
}

fn name(page: usize) -> String {
    format!("p{page}")
}

fn links_of(store: &dyn Store, graph: &Graph, page: usize) -> Vec<NewLink> {
    let make = |(to, is_redirect): &(usize, bool)| match is_redirect {
        true => redirect(store, &name(*to)),
        false => link(store, &name(*to)),
    };
    graph.links[page].iter().map(make).collect()
}

fn number(url: &PendingUrl) -> usize {
    url.address.rsplit("/p").next().unwrap().parse().unwrap()
}

async fn settle_all(crawl: &Crawl<'_>, graph: &Graph, choices: &[(usize, usize)]) {
    let mut open = crawl.pending().await;
    let mut choices = choices.iter().cycle();
    let mut reader = Reader::default();
    while !open.is_empty() {
        let mut settlements = Vec::new();
        let (_, size) = choices.next().unwrap();
        for _ in 0..*size {
            if open.is_empty() {
                break;
            }
            let (pick, _) = choices.next().unwrap();
            let url = open.remove(pick % open.len());
            let links = links_of(crawl.store, graph, number(&url));
            settlements.push(reader.read(&url, links));
        }
        let report = crawl.commit(settlements).await;
        reader.hear(&report);
        open.extend(report.admitted);
    }
}

async fn check(graph: &Graph, choices: &[(usize, usize)], max_depth: Option<u32>) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("t.db"), &OpenOptions::default()).unwrap();
    let seeds: Vec<String> = graph.seeds.iter().map(|seed| name(*seed)).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let crawl = Crawl::begin(&store, &seeds, rules(Order::BreadthFirst, max_depth)).await;
    settle_all(&crawl, graph, choices).await;
    let limit = max_depth.unwrap_or(u32::MAX);
    let expected = distances(graph, limit);
    for (page, depth) in &expected {
        let standing = crawl.standing(&name(*page)).await;
        assert_eq!(standing.depth, *depth, "depth of {page}");
        let state = if *depth <= limit {
            PageState::Done
        } else {
            PageState::Refused
        };
        assert_eq!(standing.state, state, "state of {page} at depth {depth}");
        let first = standing.chain.first().unwrap();
        assert!(seeds.iter().any(|seed| first.ends_with(seed)));
    }
    check_edges(&crawl, graph, &expected, limit).await;
    let counts = crawl.counts().await;
    assert_eq!(counts.discovered, expected.len() as u64);
    assert_eq!(counts.discovered, counts.done + counts.refused);
    assert_eq!(counts.pending, 0);
    let left = store.pending_hosts(crawl.id, HostId(0), 9).await.unwrap();
    assert!(left.is_empty());
}

/// Every page that was visited has the links of the graph, in their order.
async fn check_edges(crawl: &Crawl<'_>, graph: &Graph, depths: &BTreeMap<usize, u32>, limit: u32) {
    for (page, _) in depths.iter().filter(|(_, depth)| **depth <= limit) {
        let number = crawl.page(&name(*page)).await;
        let links = crawl.store.links_of(crawl.id, number).await.unwrap();
        let found: Vec<String> = links.iter().map(|link| link.anchor.clone()).collect();
        let to = |(to, _): &(usize, bool)| format!("to {}", name(*to));
        let expected: Vec<String> = graph.links[*page].iter().map(to).collect();
        assert_eq!(found, expected, "links of {page}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn depth_is_the_shortest_distance_whatever_the_order(
        graph in graph(),
        choices in prop::collection::vec((0usize..1000, 1usize..6), 1..40),
        max_depth in prop::option::weighted(0.6, 0u32..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(&graph, &choices, max_depth));
    }
}
