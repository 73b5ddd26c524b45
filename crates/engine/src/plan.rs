//! A spec compiled into rules, and what they say of a URL. Pure but for the fetcher it carries.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use trawl_fetch::Fetcher;
use trawl_rules::{
    AddressGuard, DomainLists, Normaliser, Scope, Scorer, TrapGuard, domain_of, site_of,
};
use trawl_store::contract::{
    target::LinkTarget,
    write::{Admission, NewLink, Terrain, TerrainHost, WriteRules},
};
use trawl_store::{Store, StoreError};
use trawl_types::{
    CrawlId, CrawlSpec, CrawlUrl, HostKey, KeySecret, LinkKind, LinkRel, Place, Reason, ReasonCode,
    spec::{MAX_SCORE, SitemapPolicy, SpecError},
};
use url::{Origin, Url};

use crate::{
    clusters::Clusters,
    visit::{LinkMemory, Others},
};

/// Everything a visit needs to know of its crawl.
#[derive(Debug)]
pub struct CrawlPlan {
    pub(crate) spec: CrawlSpec,
    pub(crate) fetcher: Fetcher,
    normaliser: Arc<Normaliser>,
    scope: Scope,
    guard: AddressGuard,
    scorer: Scorer,
    /// The lists of a terrain map.
    terrain: Option<Arc<DomainLists>>,
    secret: KeySecret,
    seeds: Vec<Result<CrawlUrl, (String, Reason)>>,
    memory: LinkMemory,
    /// Only where near-duplicates are looked for.
    clusters: Option<Mutex<Clusters>>,
    /// Where the spec's own headers may be sent.
    trusted: FxHashSet<String>,
}

impl CrawlPlan {
    /// Checks and compiles a spec; the error names the field that cannot be used.
    pub fn compile(spec: CrawlSpec, secret: KeySecret, this_year: i32) -> Result<Self, SpecError> {
        spec.validate()?;
        let normaliser = Normaliser::new(&spec.normalise, secret);
        let seeds: Vec<_> = spec
            .seeds
            .iter()
            .map(|text| {
                normaliser
                    .seed(text)
                    .map_err(|reason| (text.clone(), reason))
            })
            .collect();
        let good: Vec<CrawlUrl> = seeds.iter().filter_map(|seed| seed.clone().ok()).collect();
        if good.is_empty()
            && let Some(Err((text, reason))) = seeds.first()
        {
            return Err(SpecError::new("seeds", format!("{text:?}: {reason}")));
        }
        let scope = Scope::compile(&spec, &good, this_year)?;
        let guard = AddressGuard::compile(&spec.fetch)?;
        let scorer = Scorer::new(&spec.strategy);
        let lists = spec
            .terrain
            .as_ref()
            .map(DomainLists::compile)
            .transpose()?;
        let terrain = lists.map(Arc::new);
        let fetcher = Fetcher::new(&spec.fetch)?;
        let trusted = good.iter().map(|seed| origin_of(seed.address())).collect();
        let normaliser = Arc::new(normaliser);
        let clusters = spec.content.near_duplicates;
        let clusters = clusters.then(|| Mutex::new(Clusters::new(&spec.content)));
        Ok(Self {
            clusters,
            spec,
            fetcher,
            normaliser,
            scope,
            guard,
            scorer,
            terrain,
            memory: LinkMemory::new(secret),
            secret,
            seeds,
            trusted,
        })
    }

    pub fn spec(&self) -> &CrawlSpec {
        &self.spec
    }

    pub(crate) fn normaliser(&self) -> &Normaliser {
        &self.normaliser
    }

    /// Seeds that are no URLs at all, with what is wrong.
    pub fn bad_seeds(&self) -> impl Iterator<Item = (&str, &Reason)> {
        self.seeds
            .iter()
            .filter_map(|seed| seed.as_ref().err())
            .map(|(t, r)| (t.as_str(), r))
    }

    /// What would become of a URL that a person gives: its address, and what the rules say of it
    /// apart from depth, budgets and robots.txt.
    pub fn foresee(&self, text: &str) -> Result<(CrawlUrl, Result<(), Reason>), Reason> {
        let url = self.normaliser.seed(text)?;
        let verdict = self.judge(&url, LinkRel::default());
        Ok((url, verdict))
    }

    /// Whether a person may give this as a start.
    pub fn check_seed(&self, text: &str) -> Result<(), Reason> {
        let url = self.normaliser.seed(text)?;
        self.judge_seed(&url)
    }

    /// Everything but depth, stateful traps and robots.txt.
    pub(crate) fn judge(&self, url: &CrawlUrl, rel: LinkRel) -> Result<(), Reason> {
        self.guard.check_url(url.address())?;
        self.scope.check(url, rel)
    }

    pub(crate) fn judge_seed(&self, url: &CrawlUrl) -> Result<(), Reason> {
        self.guard.check_url(url.address())?;
        self.scope.check_seed(url)
    }

    pub(crate) fn score(&self, url: &CrawlUrl, anchor: &str, parent: u8) -> u8 {
        self.scorer.score(url, anchor, parent)
    }

    /// Brings the depth at which a link leads somewhere into its score.
    pub(crate) fn set_depth(&self, target: &mut LinkTarget, depth: u32) {
        if let Ok(score) = &mut target.verdict {
            *score = self.scorer.at_depth(*score, depth);
        }
    }

    /// A requested address in the memory of a redirect chain.
    pub(crate) fn mark_of(&self, address: &str) -> u64 {
        self.secret.mark(address)
    }

    /// The score of a link, if it suffices.
    pub(crate) fn weigh(&self, url: &CrawlUrl, anchor: &str, parent: u8) -> Result<u8, Reason> {
        let score = self.score(url, anchor, parent);
        let least = self.spec.strategy.min_score;
        if score >= least {
            return Ok(score);
        }
        let share = |score: u8| f32::from(score) / f32::from(MAX_SCORE);
        let detail = format!("{:.2}, threshold {:.2}", share(score), share(least));
        Err(Reason::new(ReasonCode::LowScore, detail))
    }

    /// Where a link leads and what the rules say of it; `None` if it is no web address.
    pub(crate) fn target(
        &self,
        base: &Url,
        href: &str,
        rel: LinkRel,
        anchor: &str,
        parent_score: u8,
    ) -> Option<LinkTarget> {
        let url = self.normaliser.join(base, href).ok()?;
        let verdict = self.judge(&url, rel);
        let verdict = verdict.and_then(|()| self.weigh(&url, anchor, parent_score));
        Some(LinkTarget::new(
            url.as_str(),
            url.host().as_str(),
            url.key(),
            verdict,
        ))
    }

    /// True if what the rules say of a link depends on nothing but where it leads.
    pub(crate) fn may_remember(&self, rel: LinkRel) -> bool {
        let refused_for_rel = rel.is_nofollow() && !self.spec.scope.follow_nofollow;
        !refused_for_rel && self.spec.strategy.keywords.is_empty()
    }

    pub(crate) fn memory(&self) -> &LinkMemory {
        &self.memory
    }

    pub(crate) fn clusters(&self) -> Option<&Mutex<Clusters>> {
        self.clusters.as_ref()
    }

    /// Takes in what an earlier process found of this crawl.
    pub(crate) async fn remember(
        &mut self,
        store: &dyn Store,
        crawl: CrawlId,
    ) -> Result<(), StoreError> {
        match &mut self.clusters {
            Some(clusters) => {
                let clusters = clusters.get_mut();
                let clusters = clusters.unwrap_or_else(PoisonError::into_inner);
                clusters.rebuild(store, crawl).await
            }
            None => Ok(()),
        }
    }

    /// Whether more is made of pages than links and facts.
    pub(crate) fn digests(&self) -> bool {
        self.spec.keep.content() || self.spec.content.near_duplicates
    }

    pub(crate) fn others(&self) -> Others {
        Others {
            documents: self.spec.content.documents || self.spec.keep.content(),
            sitemaps: self.spec.content.sitemaps != SitemapPolicy::None,
        }
    }

    /// A sitemap that robots.txt or another sitemap names. Include patterns are about pages; a
    /// sitemap on a host of another site must be in scope.
    pub(crate) fn sitemap_target(&self, base: &Url, address: &str) -> Option<LinkTarget> {
        let url = self.normaliser.join(base, address).ok()?;
        let home = Url::host_str(base).zip(url.address().host_str());
        let verdict = if home.is_some_and(|(here, there)| site_of(here) == site_of(there)) {
            self.judge_seed(&url)
        } else {
            self.judge(&url, LinkRel::default())
        };
        let verdict = verdict.map(|()| MAX_SCORE);
        let (address, host) = (url.as_str(), url.host().as_str());
        Some(LinkTarget::new(address, host, url.key(), verdict))
    }

    /// The same, as it enters the store from robots.txt.
    pub(crate) fn sitemap_seed(&self, base: &Url, address: &str) -> Option<NewLink> {
        Some(NewLink {
            target: self.sitemap_target(base, address)?,
            kind: LinkKind::Sitemap,
            rel: LinkRel::default(),
            place: Place::Body,
            anchor: "".into(),
            chain: Vec::new(),
            mark: None,
        })
    }

    /// The seeds as they enter the store.
    pub(crate) fn seed_links(&self) -> Vec<NewLink> {
        let good = self.seeds.iter().filter_map(|seed| seed.as_ref().ok());
        good.map(|url| {
            let verdict = self.judge_seed(url).map(|()| MAX_SCORE);
            new_link(
                url,
                verdict,
                LinkKind::Anchor,
                LinkRel::default(),
                Place::Body,
                "",
            )
        })
        .collect()
    }

    /// A URL that somebody adds, as it enters the store.
    pub(crate) fn added_link(&self, text: &str, score: u8) -> Result<(CrawlUrl, NewLink), Reason> {
        let url = self.normaliser.seed(text)?;
        let verdict = self.judge_seed(&url).map(|()| score);
        let (kind, rel) = (LinkKind::Anchor, LinkRel::default());
        let link = new_link(&url, verdict, kind, rel, Place::Body, "");
        Ok((url, link))
    }

    pub(crate) fn write_rules(&self) -> WriteRules {
        WriteRules {
            order: self.spec.strategy.order,
            max_depth: self.spec.scope.max_depth,
            max_pages: self.spec.scope.max_pages,
            admission: Box::new(TrapAdmission(TrapGuard::new(
                &self.spec.scope.traps,
                self.secret,
            ))),
            terrain: self.terrain.as_ref().map(|lists| {
                let map = MapTerrain {
                    lists: Arc::clone(lists),
                    normaliser: Arc::clone(&self.normaliser),
                };
                Box::new(map) as Box<dyn Terrain>
            }),
        }
    }

    /// Credentials go only to the origins that were named as seeds.
    pub(crate) fn may_see_secrets(&self, url: &Url) -> bool {
        !self.spec.fetch.headers.is_empty() && self.trusted.contains(&origin_of(url))
    }
}

fn origin_of(url: &Url) -> String {
    match url.origin() {
        origin @ Origin::Tuple(..) => origin.ascii_serialization(),
        Origin::Opaque(_) => String::new(),
    }
}

/// A link in the form a commit takes.
pub(crate) fn new_link(
    url: &CrawlUrl,
    verdict: Result<u8, Reason>,
    kind: LinkKind,
    rel: LinkRel,
    place: Place,
    anchor: &str,
) -> NewLink {
    NewLink {
        target: LinkTarget::new(url.as_str(), url.host().as_str(), url.key(), verdict),
        kind,
        rel,
        place,
        anchor: anchor.into(),
        chain: Vec::new(),
        mark: None,
    }
}

/// What a map's lists make of hosts, asked by the store.
struct MapTerrain {
    lists: Arc<DomainLists>,
    normaliser: Arc<Normaliser>,
}

impl Terrain for MapTerrain {
    fn origins(&self) -> &[String] {
        self.lists.origins()
    }

    fn of_host(&self, host: &str) -> TerrainHost {
        let host = HostKey::from_stored(host);
        let found = self.lists.classify(host.name());
        TerrainHost {
            domain: domain_of(host.name()).to_owned(),
            class: found.class,
            origin: found.origin,
        }
    }

    fn identity(&self, address: &str) -> String {
        let Ok(url) = Url::parse(address) else {
            return address.to_owned();
        };
        // Two schemes may name one page, but only the one that is requested can be opened.
        let identity = self.normaliser.identity(&url);
        match identity.split_once("://") {
            Some((_, rest)) => format!("{}://{rest}", url.scheme()),
            None => identity,
        }
    }
}

/// The stateful trap guards, asked by the store for each URL it has never seen.
struct TrapAdmission(TrapGuard);

impl Admission for TrapAdmission {
    fn admit(&mut self, target: &LinkTarget) -> Result<(), Reason> {
        self.0.admit(target.host(), target.address())
    }
}
