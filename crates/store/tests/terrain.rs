//! A map's distances, counts and states: random graphs settled in random order, with the file
//! closed and opened again in between, against a plain search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::Path,
};

use proptest::prelude::*;
use rusqlite::Connection;
use trawl_store::{
    OpenOptions, SqliteStore, Store, TerrainRows,
    conformance::web::{Asked, NOW, fetched},
    contract::{
        read::PendingUrl,
        target::LinkTarget,
        write::{CommitBatch, NewLink, Terrain, TerrainHost, WriteRules},
    },
};
use trawl_types::{
    CrawlId, CrawlSpec, LinkKind, LinkRel, OutcomeKind, PageState, Place, Reason, ReasonCode,
    spec::{Order, TerrainSpec},
    terrain::{DomainClass, TerrainState},
};

/// Hosts by number: two quality domains, a blacklisted one, a stub, the rest discovered.
const HOSTS: [&str; 6] = [
    "q0.test",
    "q1.test",
    "bad.test",
    "stub.test",
    "d0.test",
    "d1.test",
];

fn class_of(host: usize) -> DomainClass {
    match host {
        0 | 1 => DomainClass::Quality,
        2 => DomainClass::Blacklisted,
        3 => DomainClass::Stubbed,
        _ => DomainClass::Discovered,
    }
}

/// A page is its number; its host is the number modulo the number of hosts.
fn host_of(page: usize) -> usize {
    page % HOSTS.len()
}

fn may_be_visited(page: usize) -> bool {
    matches!(
        class_of(host_of(page)),
        DomainClass::Quality | DomainClass::Discovered
    )
}

struct Lists(Vec<String>);

impl Terrain for Lists {
    fn origins(&self) -> &[String] {
        &self.0
    }

    fn of_host(&self, host: &str) -> TerrainHost {
        let number = HOSTS.iter().position(|name| *name == host).unwrap();
        TerrainHost {
            domain: host.to_owned(),
            class: class_of(number),
            origin: (number < 2).then_some(number as u16),
        }
    }

    fn identity(&self, address: &str) -> String {
        address.to_owned()
    }
}

fn rules(max_depth: u32) -> WriteRules {
    WriteRules {
        order: Order::BreadthFirst,
        max_depth: Some(max_depth),
        max_pages: None,
        admission: Box::new(Asked::default()),
        terrain: Some(Box::new(Lists(vec!["q0.test".into(), "q1.test".into()]))),
    }
}

fn link(store: &dyn Store, page: usize, is_redirect: bool) -> NewLink {
    let host = HOSTS[host_of(page)];
    let verdict = match class_of(host_of(page)) {
        DomainClass::Blacklisted => Err(Reason::from(ReasonCode::Blacklisted)),
        DomainClass::Stubbed => Err(Reason::from(ReasonCode::Stub)),
        DomainClass::Quality | DomainClass::Discovered => Ok(0),
    };
    let key = store.key_secret().key(host, &format!("p{page}"));
    NewLink {
        target: LinkTarget::new(&format!("https://{host}/p{page}"), host, key, verdict),
        kind: if is_redirect {
            LinkKind::Redirect
        } else {
            LinkKind::Anchor
        },
        rel: LinkRel(LinkRel::NOFOLLOW),
        place: Place::Nav,
        anchor: format!("to {page}").into(),
        chain: Vec::new(),
        mark: None,
    }
}

fn number(url: &str) -> usize {
    url.rsplit("/p").next().unwrap().parse().unwrap()
}

#[derive(Debug, Clone)]
struct Graph {
    links: Vec<BTreeMap<usize, bool>>,
    seeds: BTreeSet<usize>,
}

fn graph() -> impl Strategy<Value = Graph> {
    (2usize..40).prop_flat_map(|pages| {
        let link = (0..pages, prop::bool::weighted(0.15));
        let links = prop::collection::vec(prop::collection::btree_map(link.0, link.1, 0..5), pages);
        // Seeds lie in quality domains.
        let seeds = prop::collection::btree_set((0..pages).prop_map(|n| n / 6 * 6 + n % 2), 1..3);
        (links, seeds).prop_map(move |(links, seeds)| Graph {
            seeds: seeds.into_iter().filter(|seed| *seed < pages).collect(),
            links,
        })
    })
}

/// What is true in the end.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    visited: BTreeSet<usize>,
    known: BTreeSet<usize>,
    /// By page and origin.
    depths: BTreeMap<(usize, u16), u32>,
    edges: BTreeSet<(usize, usize)>,
}

/// Repeats a plain relaxation until nothing changes any more.
fn truth(graph: &Graph, max_depth: u32) -> Truth {
    let mut truth = Truth::default();
    loop {
        let mut next = Truth {
            known: graph.seeds.clone(),
            visited: truth.visited.clone(),
            ..Truth::default()
        };
        for page in &truth.visited {
            for to in graph.links[*page].keys() {
                next.known.insert(*to);
                next.edges.insert((*page, *to));
            }
        }
        next.depths = relax(graph, &next);
        for page in &next.known {
            let near = (0..2).any(|origin| {
                let depth = next.depths.get(&(*page, origin));
                depth.is_some_and(|depth| *depth <= max_depth)
            });
            if near && may_be_visited(*page) {
                next.visited.insert(*page);
            }
        }
        if next == truth {
            return truth;
        }
        truth = next;
    }
}

fn relax(graph: &Graph, seen: &Truth) -> BTreeMap<(usize, u16), u32> {
    let mut depths = BTreeMap::new();
    for page in &seen.known {
        if host_of(*page) < 2 {
            depths.insert((*page, host_of(*page) as u16), 0);
        }
    }
    for _ in 0..=graph.links.len() {
        for (from, to) in &seen.edges {
            let step = u32::from(!graph.links[*from][to]);
            for origin in 0..2 {
                if let Some(depth) = depths.get(&(*from, origin)).map(|depth| depth + step) {
                    let best = depths.entry((*to, origin)).or_insert(depth);
                    *best = depth.min(*best);
                }
            }
        }
    }
    depths
}

fn spec() -> CrawlSpec {
    CrawlSpec {
        terrain: Some(TerrainSpec {
            config_hash: "abc".into(),
            ..TerrainSpec::default()
        }),
        ..CrawlSpec::default()
    }
}

/// Settles everything in an order and in batches that `choices` decide; odd batches end with the
/// file closed and opened again.
async fn crawl(path: &Path, graph: &Graph, choices: &[(usize, usize)], max_depth: u32) -> CrawlId {
    let mut store = SqliteStore::open(path, &OpenOptions::default()).unwrap();
    let seeds = graph.seeds.iter().map(|seed| link(&store, *seed, false));
    let seeds = seeds.collect();
    let crawl = store
        .create_crawl(&spec(), "map", seeds, rules(max_depth), None, NOW)
        .await
        .unwrap();
    let mut open = pending(&store, crawl).await;
    let mut choices = choices.iter().cycle();
    while !open.is_empty() {
        let mut settlements = Vec::new();
        let (restart, size) = *choices.next().unwrap();
        for _ in 0..size.min(open.len()) {
            let (pick, _) = choices.next().unwrap();
            let url = open.remove(pick % open.len());
            let links = &graph.links[number(&url.address)];
            let links = links
                .iter()
                .map(|(to, redirect)| link(&store, *to, *redirect));
            settlements.push(fetched(url.page, links.collect()));
        }
        let batch = CommitBatch {
            crawl,
            now: NOW,
            settlements,
            hosts: Vec::new(),
            seeds: Vec::new(),
        };
        open.extend(store.commit(batch).await.unwrap().admitted);
        if restart % 7 == 0 {
            store.close().await.unwrap();
            drop(store);
            store = SqliteStore::open(path, &OpenOptions::default()).unwrap();
            store.reopen_crawl(crawl, rules(max_depth)).await.unwrap();
            open = pending(&store, crawl).await;
        }
    }
    store.close().await.unwrap();
    crawl
}

async fn pending(store: &SqliteStore, crawl: CrawlId) -> Vec<PendingUrl> {
    let hosts = store.pending_hosts(crawl, trawl_types::HostId(0), 99).await;
    let mut urls = Vec::new();
    for host in hosts.unwrap() {
        urls.extend(store.pending(crawl, host.id, 999).await.unwrap());
    }
    urls
}

/// What the file says, through the views that people read.
fn told(path: &Path) -> Truth {
    let conn = Connection::open(path).unwrap();
    let mut truth = Truth::default();
    let mut pages = conn.prepare("SELECT url, state FROM pages").unwrap();
    let mut rows = pages.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let page = number(&row.get::<_, String>(0).unwrap());
        truth.known.insert(page);
        let state: String = row.get(1).unwrap();
        let expected = match class_of(host_of(page)) {
            DomainClass::Blacklisted => Some("Blacklisted"),
            DomainClass::Stubbed => Some("Stubbed"),
            _ => None,
        };
        match expected {
            Some(expected) => assert_eq!(state, expected),
            None if state == "Processed" => {
                truth.visited.insert(page);
            }
            None => assert_eq!(state, "DepthExceeded"),
        }
    }
    let sql = "SELECT p.url, d.quality_origin, d.depth FROM page_depths d
               JOIN pages p ON p.id = d.page_id";
    let mut depths = conn.prepare(sql).unwrap();
    let mut rows = depths.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let page = number(&row.get::<_, String>(0).unwrap());
        let origin = match row.get_ref(1).unwrap().as_str().unwrap() {
            "q0.test" => 0,
            _ => 1,
        };
        assert!(
            truth
                .depths
                .insert((page, origin), row.get(2).unwrap())
                .is_none(),
            "one record for each page and origin"
        );
    }
    let sql = "SELECT a.url, b.url FROM links l JOIN pages a ON a.id = l.from_page_id
               JOIN pages b ON b.id = l.to_page_id";
    let mut links = conn.prepare(sql).unwrap();
    let mut rows = links.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let end = |at| number(&row.get::<_, String>(at).unwrap());
        truth.edges.insert((end(0), end(1)));
    }
    truth
}

fn references_add_up(path: &Path, truth: &Truth) {
    let conn = Connection::open(path).unwrap();
    for (view, referrers, key, class) in [
        (
            "blacklisted_urls",
            "blacklisted_referrers",
            "blacklisted_url_id",
            DomainClass::Blacklisted,
        ),
        (
            "stubbed_urls",
            "stubbed_referrers",
            "stubbed_url_id",
            DomainClass::Stubbed,
        ),
    ] {
        let sql = format!(
            "SELECT url, reference_count, (SELECT count(*) FROM {referrers} r WHERE r.{key} = v.id)
             FROM {view} v"
        );
        let mut statement = conn.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| {
            Ok((
                number(&row.get::<_, String>(0)?),
                row.get::<_, u32>(1)?,
                row.get::<_, u32>(2)?,
            ))
        });
        let found: BTreeMap<usize, u32> = rows
            .unwrap()
            .map(|row| {
                let (page, count, referrers) = row.unwrap();
                assert_eq!(count, referrers);
                (page, count)
            })
            .collect();
        let mut expected = BTreeMap::new();
        for (_, to) in &truth.edges {
            if class_of(host_of(*to)) == class {
                *expected.entry(*to).or_insert(0) += 1;
            }
        }
        assert_eq!(found, expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn distances_from_every_origin_are_the_shortest_whatever_the_order(
        graph in graph(),
        choices in prop::collection::vec((0usize..1000, 1usize..6), 1..40),
        max_depth in 0u32..4,
    ) {
        prop_assume!(!graph.seeds.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let run = runtime.block_on(crawl(&path, &graph, &choices, max_depth));
        let truth = truth(&graph, max_depth);
        assert_eq!(told(&path), truth);
        references_add_up(&path, &truth);
        rows_tell_the_same(&path, run, &truth);
    }
}

fn rows_tell_the_same(path: &Path, run: CrawlId, truth: &Truth) {
    let rows = TerrainRows::open(path).unwrap();
    let mut pages = BTreeMap::new();
    rows.pages(run, &mut |page| {
        pages.insert(page.id, number(&page.url));
        assert_eq!(page.class, class_of(host_of(number(&page.url))));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(
        pages.values().copied().collect::<BTreeSet<_>>(),
        truth.known
    );
    let mut edges = BTreeSet::new();
    rows.edges(run, &mut |edge| {
        assert_eq!(edge.anchor, format!("to {}", pages[&edge.to]));
        assert_eq!(
            (edge.place, edge.rel),
            (Place::Nav, LinkRel(LinkRel::NOFOLLOW))
        );
        edges.insert((pages[&edge.from], pages[&edge.to]));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(edges, truth.edges);
    let mut depths = BTreeMap::new();
    rows.depths(run, &mut |(page, origin, depth)| {
        depths.insert((pages[&page], origin), depth);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(depths, truth.depths);
}

#[test]
fn the_view_names_states_as_the_program_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let graph = Graph {
        links: vec![BTreeMap::new()],
        seeds: BTreeSet::from([0]),
    };
    runtime.block_on(crawl(&path, &graph, &[(1, 1)], 0));
    let conn = Connection::open(&path).unwrap();
    let set = "UPDATE crawl_pages SET state = ?1, reason = ?2, outcome = ?3";
    let check = |state: PageState, reason: Option<ReasonCode>, outcome: Option<OutcomeKind>| {
        let (code, kind) = (
            reason.map(|code| code as u8),
            outcome.map(|kind| kind as u8),
        );
        conn.execute(set, (state as u8, code, kind)).unwrap();
        let told: String = conn
            .query_row("SELECT state FROM pages", [], |row| row.get(0))
            .unwrap();
        assert_eq!(
            told,
            TerrainState::of(state, reason, outcome).as_str(),
            "{state:?} {reason:?} {outcome:?}"
        );
    };
    check(PageState::Pending, None, None);
    for reason in ReasonCode::ALL {
        check(PageState::Refused, Some(*reason), None);
    }
    for outcome in OutcomeKind::ALL {
        check(PageState::Done, None, Some(*outcome));
    }
}
