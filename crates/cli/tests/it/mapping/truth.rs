//! What a map of the test web must say: a plain search over its true graph, repeated until nothing
//! changes.

use std::collections::{BTreeMap, BTreeSet};

use super::MapData;
use crate::harness::Web;

/// The roles of hosts: 0 and 1 are quality, 2 is blacklisted, 3 a stub, the rest is discovered.
const ORIGINS: u32 = 2;
const BLACKLISTED: u32 = 2;
const STUB: u32 = 3;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Truth {
    pub(super) states: BTreeMap<String, String>,
    pub(super) edges: BTreeSet<(String, String)>,
    pub(super) depths: BTreeMap<(String, String), u32>,
    pub(super) blacklisted: BTreeMap<String, u32>,
    pub(super) stubbed: BTreeMap<String, u32>,
}

/// What a database says, in the same shape.
pub(super) fn told(data: &MapData) -> Truth {
    Truth {
        states: data.states(),
        edges: data.edges(),
        depths: data.depths(),
        blacklisted: data.references("blacklisted_urls"),
        stubbed: data.references("stubbed_urls"),
    }
}

pub(super) fn truth(web: &Web, max_depth: u32) -> Truth {
    let mut visited = BTreeSet::new();
    loop {
        let known = known(web, &visited);
        let depths = depths(web, &known, &visited);
        let near = |page: &u32| {
            (0..ORIGINS).any(|origin| {
                depths
                    .get(&(*page, origin))
                    .is_some_and(|d| *d <= max_depth)
            })
        };
        let open = |page: &u32| !matches!(web.graph().host(*page), BLACKLISTED | STUB);
        let next: BTreeSet<u32> = known
            .iter()
            .copied()
            .filter(|p| open(p) && near(p))
            .collect();
        if next == visited {
            return in_words(web, &known, &visited, &depths);
        }
        visited = next;
    }
}

/// Seeds, and whatever visited pages link to.
fn known(web: &Web, visited: &BTreeSet<u32>) -> BTreeSet<u32> {
    let graph = web.graph();
    let seeds = (0..ORIGINS).filter_map(|host| graph.find(host, "/"));
    let linked = visited
        .iter()
        .flat_map(|page| graph.links(*page).iter().copied());
    seeds.chain(linked).collect()
}

fn depths(web: &Web, known: &BTreeSet<u32>, visited: &BTreeSet<u32>) -> BTreeMap<(u32, u32), u32> {
    let graph = web.graph();
    let mut depths = BTreeMap::new();
    for page in known {
        if graph.host(*page) < ORIGINS {
            depths.insert((*page, graph.host(*page)), 0);
        }
    }
    loop {
        let before = depths.clone();
        for page in visited {
            for (origin, to) in
                (0..ORIGINS).flat_map(|o| graph.links(*page).iter().map(move |to| (o, *to)))
            {
                if let Some(depth) = depths.get(&(*page, origin)).map(|depth| depth + 1) {
                    let best = depths.entry((to, origin)).or_insert(depth);
                    *best = depth.min(*best);
                }
            }
        }
        if depths == before {
            return depths;
        }
    }
}

fn in_words(
    web: &Web,
    known: &BTreeSet<u32>,
    visited: &BTreeSet<u32>,
    depths: &BTreeMap<(u32, u32), u32>,
) -> Truth {
    let graph = web.graph();
    let mut truth = Truth::default();
    for page in known {
        let url = web.page_url(*page);
        let state = match graph.host(*page) {
            BLACKLISTED => "Blacklisted",
            STUB => "Stubbed",
            _ if visited.contains(page) => "Processed",
            _ => "DepthExceeded",
        };
        truth.states.insert(url, state.to_owned());
    }
    for page in visited {
        for to in graph.links(*page) {
            let url = web.page_url(*to);
            match graph.host(*to) {
                BLACKLISTED => *truth.blacklisted.entry(url.clone()).or_default() += 1,
                STUB => *truth.stubbed.entry(url.clone()).or_default() += 1,
                _ => {}
            }
            truth.edges.insert((web.page_url(*page), url));
        }
    }
    for ((page, origin), depth) in depths {
        let key = (web.page_url(*page), web.host_name(*origin));
        truth.depths.insert(key, *depth);
    }
    truth
}
