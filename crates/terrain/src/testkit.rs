//! Small maps for the tests of this crate.

use std::collections::BTreeMap;

use trawl_types::{
    CrawlId, LinkKind, LinkRel, OutcomeKind, PageId, Place, ReasonCode, UnixMillis,
    terrain::{DomainClass, Run, RunStatus, TerrainDomain, TerrainEdge, TerrainPage, TerrainState},
};

use crate::{
    memory::{MemoryRun, MemorySource},
    source::PageDepth,
};

pub(crate) const FIRST: CrawlId = CrawlId(1);
pub(crate) const SECOND: CrawlId = CrawlId(2);

/// 2025-01-15T10:30:00Z.
pub(crate) const START: i64 = 1_736_937_000_000;

/// Builds one run, page by page and link by link.
#[derive(Debug)]
pub(crate) struct MapBuilder {
    run: MemoryRun,
    domains: BTreeMap<String, TerrainDomain>,
}

impl MapBuilder {
    pub(crate) fn new(id: CrawlId, origins: &[&str]) -> Self {
        let started = START + (id.0 - 1) * 86_400_000;
        Self {
            run: MemoryRun {
                run: Run {
                    id,
                    started_at: UnixMillis(started),
                    finished_at: Some(UnixMillis(started + 15_323_000)),
                    status: RunStatus::Completed,
                    config_hash: "0".repeat(64),
                },
                origins: origins.iter().map(|&o| o.to_owned()).collect(),
                domains: Vec::new(),
                pages: Vec::new(),
                edges: Vec::new(),
                depths: Vec::new(),
            },
            domains: BTreeMap::new(),
        }
    }

    /// Adds a page of `https://domain/path` and tells its number.
    pub(crate) fn page(
        &mut self,
        url: &str,
        class: DomainClass,
        state: TerrainState,
        depth: u32,
    ) -> PageId {
        let name = url.split('/').nth(2).unwrap().to_owned();
        let origin = self.run.origins.iter().position(|o| *o == name);
        let id = PageId(url.bytes().fold(7_i64, |hash, byte| {
            (hash * 131 + i64::from(byte)) % 1_000_000_007
        }));
        self.domains
            .entry(name.clone())
            .or_insert_with(|| TerrainDomain {
                name: name.clone(),
                class,
                origin: origin.map(|at| at as u16),
                requests: 0,
                rate_limited: false,
            })
            .requests += 1;
        let run = self.run.run.id;
        self.run.pages.push(TerrainPage {
            id,
            url: url.to_owned(),
            domain: name,
            class,
            state,
            depth,
            title: Some(format!("Title of {url}")),
            status_code: (state == TerrainState::Processed).then_some(200),
            content_type: None,
            last_modified: None,
            visited_at: Some(UnixMillis(self.run.run.started_at.0 + 1000)),
            discovered_at: self.run.run.started_at,
            first_run: run,
            last_run: run,
            reason: None,
            outcome: None,
            error: None,
            retry_count: 0,
        });
        id
    }

    pub(crate) fn failed(&mut self, url: &str, outcome: OutcomeKind) -> PageId {
        let state = TerrainState::of(trawl_types::PageState::Done, None, Some(outcome));
        let id = self.page(url, DomainClass::Discovered, state, 1);
        self.run.pages.last_mut().unwrap().outcome = Some(outcome);
        id
    }

    pub(crate) fn refused(&mut self, url: &str, reason: ReasonCode) -> PageId {
        let state = TerrainState::of(trawl_types::PageState::Refused, Some(reason), None);
        let id = self.page(url, DomainClass::Discovered, state, 1);
        self.run.pages.last_mut().unwrap().reason = Some(reason);
        id
    }

    pub(crate) fn rate_limited(&mut self, domain: &str, requests: u64) {
        let domain = self.domains.get_mut(domain).unwrap();
        (domain.rate_limited, domain.requests) = (true, requests);
    }

    pub(crate) fn link(&mut self, from: PageId, to: PageId, anchor: &str) {
        let position = self.run.edges.iter().filter(|e| e.from == from).count();
        let run = self.run.run.id;
        self.run.edges.push(TerrainEdge {
            from,
            to,
            kind: LinkKind::Anchor,
            rel: LinkRel(0),
            place: Place::Main,
            position: position as u32,
            anchor: anchor.to_owned(),
            first_run: run,
            last_run: run,
        });
    }

    pub(crate) fn depth(&mut self, page: PageId, origin: u16, depth: u32) {
        self.run.depths.push(PageDepth {
            page,
            origin,
            depth,
        });
    }

    pub(crate) fn run(mut self) -> MemoryRun {
        self.run.domains = self.domains.into_values().collect();
        self.run
    }

    pub(crate) fn source(self) -> MemorySource {
        MemorySource {
            runs: vec![self.run()],
        }
    }
}

/// Two quality domains, two discovered ones they cite, one blacklisted, one stubbed, some errors.
pub(crate) fn small_map() -> MemorySource {
    use DomainClass as C;
    use TerrainState as S;
    let mut map = MapBuilder::new(FIRST, &["a.org", "b.org"]);
    let a = map.page("https://a.org/", C::Quality, S::Processed, 0);
    let a2 = map.page("https://a.org/two", C::Quality, S::Processed, 0);
    let b = map.page("https://b.org/", C::Quality, S::Processed, 0);
    let near = map.page("https://near.net/", C::Discovered, S::Processed, 1);
    let far = map.page("https://blog.far.co.uk/", C::Discovered, S::Processed, 2);
    let lost = map.page("https://far.co.uk/x", C::Discovered, S::DepthExceeded, 3);
    let ad = map.page(
        "https://ads.example/t?a=1&b=2",
        C::Blacklisted,
        S::Blacklisted,
        1,
    );
    let stub = map.page("https://github.com/x|y", C::Stubbed, S::Stubbed, 1);
    let dead = map.failed("https://near.net/gone", OutcomeKind::NotFound);
    let slow = map.failed("https://slow.net/", OutcomeKind::RateLimited);
    map.rate_limited("slow.net", 45);
    let timeout = map.failed("https://near.net/late", OutcomeKind::HeadersTimeout);
    let refused = map.failed("https://near.net/shut", OutcomeKind::ConnectRefused);
    let robots = map.refused("https://near.net/private", ReasonCode::RobotsDisallowed);
    for (from, to) in [
        (a, a2),
        (a, b),
        (a, near),
        (a2, near),
        (b, near),
        (b, a),
        (near, far),
        (far, lost),
        (a, ad),
        (b, ad),
        (near, ad),
        (a, stub),
        (near, dead),
        (near, slow),
        (near, timeout),
        (near, refused),
        (near, robots),
    ] {
        map.link(from, to, "an <anchor> & more");
    }
    for (page, origin, depth) in [(a, 0, 0), (a2, 0, 0), (b, 0, 1), (b, 1, 0), (a, 1, 1)] {
        map.depth(page, origin, depth);
    }
    for origin in [0, 1] {
        map.depth(near, origin, 1);
        map.depth(far, origin, 2);
    }
    map.source()
}
