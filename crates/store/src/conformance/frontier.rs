//! What is pending, refused, retried and admitted.

use trawl_types::{
    HostId, LinkKind, Outcome, OutcomeKind, PageState, ReasonCode, Scheme, UnixMillis, spec::Order,
};

use super::web::{Asked, Crawl, HOST, breadth, fetched, judged, link, names, refused, rules};
use crate::contract::{
    Store,
    known::KnownLinks,
    target::LinkTarget,
    write::{HostUpdate, Settlement, StoredRobots, Suspended, VisitEnd, WriteRules},
};

pub async fn seeds_are_pending_at_depth_zero(store: &dyn Store) {
    let mut other = link(store, "elsewhere");
    other.target = LinkTarget::new(
        other.target.address(),
        "b.test:8080",
        other.target.key,
        Ok(0),
    );
    let seeds = vec![
        link(store, "a"),
        link(store, "a"),
        other,
        refused(store, "x", ReasonCode::Excluded),
    ];
    let spec = trawl_types::CrawlSpec::default();
    let now = UnixMillis(5);
    let id = store
        .create_crawl(&spec, "", seeds, breadth(), None, now)
        .await;
    let crawl = Crawl {
        store,
        id: id.unwrap(),
    };
    assert_eq!(crawl.queue().await, ["a"]);
    assert_eq!(crawl.standing("x").await.state, PageState::Refused);
    let a = crawl.standing("a").await;
    assert_eq!((a.depth, a.discovered_at), (0, now));
    assert_eq!(a.chain, ["https://a.test/a"]);
    let hosts = store.pending_hosts(crawl.id, HostId(0), 10).await.unwrap();
    assert!(hosts.is_sorted_by_key(|host| host.id));
    let mut known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    known.sort_unstable();
    assert_eq!(known, [HOST, "b.test:8080"]);
    let rest = store.pending_hosts(crawl.id, hosts[0].id, 10).await;
    assert_eq!(rest.unwrap().len(), 1);
}

pub async fn pending_urls_come_by_rank_then_by_age(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    let scored = |name: &str, score| judged(link(store, name), Ok(score));
    let links = vec![scored("plain", 0), scored("plain2", 0), scored("good", 9)];
    let report = crawl.settle("a", links).await;
    assert_eq!(names(&report.admitted), ["plain", "plain2", "good"]);
    assert_eq!(crawl.queue().await, ["b", "good", "plain", "plain2"]);
    // What a commit reports is what is stored.
    let pending = crawl.pending().await;
    for url in &report.admitted {
        assert!(pending.contains(url), "{url:?} in {pending:?}");
    }
}

pub async fn depth_first_takes_the_links_of_the_newest_page(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], rules(Order::DepthFirst, None)).await;
    crawl.read("a", &["a1", "a2"]).await;
    crawl.read("b", &["b1", "b2"]).await;
    assert_eq!(crawl.queue().await, ["b1", "b2", "a1", "a2"]);
    crawl.read("a1", &["deep"]).await;
    assert_eq!(crawl.queue().await, ["deep", "b1", "b2", "a2"]);
}

pub async fn a_retry_stays_pending_with_its_time(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let page = crawl.page("a").await;
    let retry = VisitEnd::Retry {
        attempts: 2,
        not_before: UnixMillis(77),
        outcome: Outcome::new(OutcomeKind::ServerError, Some(503), "busy"),
    };
    let settlement = Settlement {
        page,
        end: retry,
        links: Vec::new(),
        known: KnownLinks::default(),
    };
    assert_eq!(crawl.commit(vec![settlement]).await.last_seq, None);
    let pending = crawl.pending().await;
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (pending[0].attempts, pending[0].not_before),
        (2, UnixMillis(77))
    );
    assert_eq!(crawl.standing("a").await.attempts, 2);
    assert_eq!(crawl.counts().await.pending, 1);
}

pub async fn a_late_refusal_takes_a_page_out(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let settlement = Settlement {
        page: crawl.page("a").await,
        end: VisitEnd::Refused(ReasonCode::RobotsDisallowed.into()),
        links: Vec::new(),
        known: KnownLinks::default(),
    };
    crawl.commit(vec![settlement]).await;
    assert!(crawl.pending().await.is_empty());
    let hosts = store.pending_hosts(crawl.id, HostId(0), 10).await.unwrap();
    assert!(hosts.is_empty());
    let counts = crawl.counts().await;
    assert_eq!((counts.refused, counts.pending, counts.done), (1, 0, 0));
    assert_eq!(counts.reasons[&ReasonCode::RobotsDisallowed], 1);
}

pub async fn only_new_urls_are_asked_of_the_admission(store: &dyn Store) {
    let asked = Asked::default();
    let admission = Box::new(asked.clone());
    let limited = WriteRules {
        order: Order::BreadthFirst,
        max_depth: None,
        max_pages: None,
        admission,
        terrain: None,
    };
    let crawl = Crawl::begin(store, &["a"], limited).await;
    let mut links = crawl.links(&["b", "trap", "a"]);
    links.push(refused(store, "x", ReasonCode::OtherHost));
    crawl.settle("a", links).await;
    crawl.read("b", &["b", "trap", "x", "a"]).await;
    assert_eq!(
        asked.addresses(),
        ["https://a.test/b", "https://a.test/trap"]
    );
}

pub async fn a_nofollow_refusal_is_lifted_by_another_link(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    let shy = vec![
        refused(store, "n", ReasonCode::Nofollow),
        refused(store, "trap", ReasonCode::Nofollow),
    ];
    crawl.settle("a", shy).await;
    assert_eq!(crawl.counts().await.reasons[&ReasonCode::Nofollow], 2);
    let report = crawl.read("b", &["n", "trap"]).await;
    assert_eq!(names(&report.admitted), ["n"]);
    assert_eq!(report.discovered, 0);
    let counts = crawl.counts().await;
    assert_eq!((counts.refused, counts.pending), (1, 1));
    assert!(!counts.reasons.contains_key(&ReasonCode::Nofollow));
    assert_eq!(counts.reasons[&ReasonCode::QueryVariants], 1);
}

pub async fn other_refusals_stand(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    crawl
        .settle("a", vec![refused(store, "x", ReasonCode::Excluded)])
        .await;
    assert!(crawl.read("b", &["x"]).await.admitted.is_empty());
    assert_eq!(crawl.standing("x").await.state, PageState::Refused);
}

pub async fn what_politeness_must_remember_is_kept(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let host = crawl.host().await;
    let robots = |scheme, status| StoredRobots {
        scheme,
        status,
        body: b"User-agent: *\0".to_vec(),
        fetched_at: UnixMillis(3),
    };
    let update = HostUpdate {
        host: Some(host),
        robots: Some(robots(Scheme::Https, 200)),
        next_allowed: Some(UnixMillis(9)),
        delay_ms: Some(250),
        failures: Some(2),
        suspended: Some(Suspended::GivenUp),
        requests: 3,
    };
    crawl.update_host(update).await;
    let again = HostUpdate {
        host: Some(host),
        robots: Some(robots(Scheme::Http, 0)),
        failures: Some(0),
        ..HostUpdate::default()
    };
    crawl.update_host(again).await;
    let hosts = store.pending_hosts(crawl.id, HostId(0), 1).await.unwrap();
    let kept = &hosts[0];
    assert_eq!((kept.next_allowed, kept.delay_ms), (UnixMillis(9), 250));
    let given_up = Some(Suspended::GivenUp);
    assert_eq!(
        (kept.failures, kept.suspended, kept.requests),
        (0, given_up, 3)
    );
    assert_eq!(
        kept.robots,
        [robots(Scheme::Http, 0), robots(Scheme::Https, 200)]
    );
    let page = crawl.page("a").await;
    let report = crawl.commit(vec![fetched(page, crawl.links(&["b"]))]).await;
    assert_eq!(names(&report.admitted), ["b"]);
    let hosts = store.pending_hosts(crawl.id, HostId(0), 1).await.unwrap();
    assert_eq!(hosts[0].pages_done, 1);
}

pub async fn a_redirect_chain_is_kept(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let mut hop = link(store, "b");
    hop.kind = LinkKind::Redirect;
    hop.chain = vec![1, u64::MAX];
    let report = crawl.settle("a", vec![hop]).await;
    assert_eq!(report.admitted[0].chain, [1, u64::MAX]);
    assert_eq!(crawl.pending().await[0].chain, [1, u64::MAX]);
}
