//! Names become pages: `a` is `https://a.test/a`. Builders for everything a store is given.

use std::sync::{Arc, Mutex};

use trawl_types::{
    CrawlId, CrawlSpec, HostId, LinkKind, LinkRel, Outcome, OutcomeKind, PageId, Place, Reason,
    ReasonCode, UnixMillis, UrlKey, record::PageStanding, spec::Order,
};

use crate::contract::{
    Store,
    known::KnownLinks,
    read::{CrawlCounts, PendingUrl},
    target::LinkTarget,
    write::{
        Admission, CommitBatch, CommitReport, HostUpdate, NewLink, Settlement, Visit, VisitEnd,
        WriteRules,
    },
};

pub const NOW: UnixMillis = UnixMillis(1_700_000_000_000);
pub const HOST: &str = "a.test";

/// Admits everything, and remembers what it was asked.
#[derive(Debug, Clone, Default)]
pub struct Asked(pub Arc<Mutex<Vec<String>>>);

impl Admission for Asked {
    fn admit(&mut self, target: &LinkTarget) -> Result<(), Reason> {
        let address = target.address();
        self.0.lock().unwrap().push(address.to_owned());
        if address.ends_with("/trap") {
            return Err(ReasonCode::QueryVariants.into());
        }
        Ok(())
    }
}

impl Asked {
    pub fn addresses(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

pub fn rules(order: Order, max_depth: Option<u32>) -> WriteRules {
    WriteRules {
        order,
        max_depth,
        max_pages: None,
        admission: Box::new(Asked::default()),
        terrain: None,
    }
}

pub fn breadth() -> WriteRules {
    rules(Order::BreadthFirst, None)
}

/// One crawl of a store, spoken to by names.
#[derive(Debug)]
pub struct Crawl<'s> {
    pub store: &'s dyn Store,
    pub id: CrawlId,
}

impl<'s> Crawl<'s> {
    pub async fn begin(store: &'s dyn Store, seeds: &[&str], rules: WriteRules) -> Self {
        let seeds = seeds.iter().map(|name| link(store, name)).collect();
        let spec = CrawlSpec::default();
        let id = store
            .create_crawl(&spec, "test", seeds, rules, None, NOW)
            .await;
        Self::of(store, id.unwrap()).await
    }

    /// A crawl that has begun. Where hosts are lent, nothing is written of one that is not on loan.
    pub async fn of(store: &'s dyn Store, id: CrawlId) -> Self {
        if let Some(lender) = store.loans() {
            let lent = lender.borrow_host(id, HOST).await.unwrap();
            lent.expect("nobody else has it");
        }
        Self { store, id }
    }

    /// Names as links that scope allows.
    pub fn links(&self, names: &[&str]) -> Vec<NewLink> {
        names.iter().map(|name| link(self.store, name)).collect()
    }

    pub async fn standing(&self, name: &str) -> PageStanding {
        let found = self.store.standing(self.id, key(self.store, name)).await;
        found
            .unwrap()
            .unwrap_or_else(|| panic!("{name} is unknown"))
    }

    pub async fn page(&self, name: &str) -> PageId {
        self.standing(name).await.page_id
    }

    pub async fn depth(&self, name: &str) -> u32 {
        self.standing(name).await.depth
    }

    pub async fn host(&self) -> HostId {
        let host = self.store.host_by_name(self.id, HOST).await.unwrap();
        host.expect("the host is known").id
    }

    pub async fn commit(&self, settlements: Vec<Settlement>) -> CommitReport {
        let batch = CommitBatch {
            crawl: self.id,
            now: NOW,
            settlements,
            hosts: Vec::new(),
            seeds: Vec::new(),
        };
        self.store.commit(batch).await.unwrap()
    }

    pub async fn update_host(&self, update: HostUpdate) {
        let batch = CommitBatch {
            crawl: self.id,
            now: NOW,
            settlements: Vec::new(),
            hosts: vec![update],
            seeds: Vec::new(),
        };
        self.store.commit(batch).await.unwrap();
    }

    /// A page was read and links to others.
    pub async fn read(&self, name: &str, to: &[&str]) -> CommitReport {
        self.settle(name, self.links(to)).await
    }

    pub async fn settle(&self, name: &str, links: Vec<NewLink>) -> CommitReport {
        let page = self.page(name).await;
        self.commit(vec![fetched(page, links)]).await
    }

    pub async fn counts(&self) -> CrawlCounts {
        self.store.counts(self.id).await.unwrap()
    }

    pub async fn pending(&self) -> Vec<PendingUrl> {
        let host = self.host().await;
        self.store.pending(self.id, host, 1000).await.unwrap()
    }

    /// Names of what is pending on the usual host, in order.
    pub async fn queue(&self) -> Vec<String> {
        names(&self.pending().await)
    }
}

pub fn names(urls: &[PendingUrl]) -> Vec<String> {
    let name = |url: &PendingUrl| url.address.rsplit('/').next().unwrap().to_owned();
    urls.iter().map(name).collect()
}

pub fn key(store: &dyn Store, name: &str) -> UrlKey {
    store.key_secret().key(HOST, name)
}

pub fn link(store: &dyn Store, name: &str) -> NewLink {
    NewLink {
        target: LinkTarget::new(
            &format!("https://{HOST}/{name}"),
            HOST,
            key(store, name),
            Ok(0),
        ),
        kind: LinkKind::Anchor,
        rel: LinkRel::default(),
        place: Place::Main,
        anchor: format!("to {name}").into(),
        chain: Vec::new(),
        mark: None,
    }
}

pub fn refused(store: &dyn Store, name: &str, code: ReasonCode) -> NewLink {
    judged(link(store, name), Err(Reason::new(code, "by a test")))
}

/// The link with another verdict.
pub fn judged(link: NewLink, verdict: Result<u8, Reason>) -> NewLink {
    let mut target = link.target;
    target.verdict = verdict.map_err(Box::new);
    NewLink { target, ..link }
}

pub fn redirect(store: &dyn Store, name: &str) -> NewLink {
    NewLink {
        kind: LinkKind::Redirect,
        ..link(store, name)
    }
}

pub fn fetched(page: PageId, links: Vec<NewLink>) -> Settlement {
    Settlement {
        links,
        ..ended(page, visit(OutcomeKind::Fetched))
    }
}

/// A visit that ended and found no links.
pub fn ended(page: PageId, visit: Visit) -> Settlement {
    Settlement {
        page,
        end: VisitEnd::Final(Box::new(visit)),
        links: Vec::new(),
        known: KnownLinks::default(),
    }
}

pub fn visit(kind: OutcomeKind) -> Visit {
    Visit {
        outcome: Outcome::new(kind, Some(200), ""),
        attempts: 1,
        final_url: None,
        redirect_to: None,
        canonical_url: None,
        title: Some("A title".into()),
        description: None,
        content_type: Some("text/html".into()),
        charset: None,
        language: None,
        content_length: Some(20_000),
        content_hash: Some([7; 32]),
        truncated: false,
        etag: None,
        last_modified: None,
        robots: None,
        links_total: 0,
        fetch_time_ms: 12,
        crawled_at: NOW,
        body: None,
        digest: None,
    }
}
