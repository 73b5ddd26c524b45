//! A second crawl of the same pages, and the bodies of the first.

use trawl_types::{CrawlSpec, HostId, OutcomeKind, Sequence, spec::SitemapPolicy};

use super::web::{Crawl, NOW, breadth, fetched, link, visit};
use crate::{
    contract::{
        Store,
        known::KnownLinks,
        read::StoredLink,
        write::{HostUpdate, Settlement, Suspended, Visit, VisitEnd},
    },
    segment::encode,
};

async fn end(crawl: &Crawl<'_>, name: &str, visit: Visit) {
    let settlement = Settlement {
        page: crawl.page(name).await,
        end: VisitEnd::Final(Box::new(visit)),
        links: Vec::new(),
        known: KnownLinks::default(),
    };
    crawl.commit(vec![settlement]).await;
}

fn with_validators() -> Visit {
    Visit {
        etag: Some("\"v1\"".into()),
        last_modified: Some("yesterday".into()),
        ..visit(OutcomeKind::Fetched)
    }
}

pub async fn earlier_validators_are_offered(store: &dyn Store) {
    let first = Crawl::begin(store, &["a", "b"], breadth()).await;
    end(&first, "a", with_validators()).await;
    end(&first, "b", with_validators()).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    let seed = second.pending().await.remove(0);
    assert_eq!(seed.etag.as_deref(), Some("\"v1\""));
    assert_eq!(seed.last_modified.as_deref(), Some("yesterday"));
    let page = second.page("a").await;
    let report = second
        .commit(vec![fetched(page, second.links(&["b"]))])
        .await;
    assert_eq!(report.admitted[0].etag.as_deref(), Some("\"v1\""));
    let third = Crawl::begin(store, &["c"], breadth()).await;
    assert_eq!(third.pending().await[0].etag, None);
}

/// Whether each pending page is asked for conditionally.
async fn conditional(crawl: &Crawl<'_>) -> Vec<bool> {
    let pending = crawl.pending().await;
    pending.iter().map(|url| url.etag.is_some()).collect()
}

pub async fn a_body_that_was_cut_or_not_read_is_asked_for_anew(store: &dyn Store) {
    let first = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    end(&first, "a", with_validators()).await;
    let cut = Visit {
        truncated: true,
        ..with_validators()
    };
    end(&first, "b", cut).await;
    let unread = Visit {
        content_hash: None,
        ..with_validators()
    };
    end(&first, "c", unread).await;
    let second = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    assert_eq!(conditional(&second).await, [true, false, false]);
}

async fn begin_reading(store: &dyn Store, documents: bool, sitemaps: SitemapPolicy) -> Crawl<'_> {
    let mut spec = CrawlSpec::default();
    spec.content.documents = documents;
    spec.content.sitemaps = sitemaps;
    let seeds = vec![link(store, "page"), link(store, "feed")];
    let id = store.create_crawl(&spec, "test", seeds, breadth(), None, NOW);
    Crawl::of(store, id.await.unwrap()).await
}

pub async fn what_another_crawl_did_not_read_is_asked_for_anew(store: &dyn Store) {
    let html = || Visit {
        charset: Some("UTF-8".into()),
        ..with_validators()
    };
    let feed = |kind, content_hash| Visit {
        outcome: visit(kind).outcome,
        content_hash,
        ..with_validators()
    };
    let unread = || feed(OutcomeKind::NotHtml, None);
    let unchanged = || feed(OutcomeKind::NotModified, None);
    let plain = begin_reading(store, false, SitemapPolicy::None).await;
    end(&plain, "page", html()).await;
    end(&plain, "feed", unread()).await;
    let plain = begin_reading(store, false, SitemapPolicy::None).await;
    assert_eq!(conditional(&plain).await, [true, true], "read as before");
    end(&plain, "page", unchanged()).await;
    end(&plain, "feed", unchanged()).await;
    let documents = begin_reading(store, true, SitemapPolicy::None).await;
    assert_eq!(conditional(&documents).await, [true, false]);
    end(&documents, "page", unchanged()).await;
    end(
        &documents,
        "feed",
        feed(OutcomeKind::Fetched, Some([3; 32])),
    )
    .await;
    for _ in 0..2 {
        let documents = begin_reading(store, true, SitemapPolicy::None).await;
        assert_eq!(conditional(&documents).await, [true, true]);
        end(&documents, "page", unchanged()).await;
        end(&documents, "feed", unchanged()).await;
    }
    let sitemaps = begin_reading(store, true, SitemapPolicy::Robots).await;
    assert_eq!(conditional(&sitemaps).await, [true, false]);
    end(&sitemaps, "page", unchanged()).await;
    end(&sitemaps, "feed", unread()).await;
    let sitemaps = begin_reading(store, true, SitemapPolicy::Guess).await;
    assert_eq!(conditional(&sitemaps).await, [true, true]);
}

pub async fn not_modified_inherits_what_the_earlier_visit_saw(store: &dyn Store) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    let body = encode("https://a.test/a", NOW, 200, [], b"hello".to_vec().into());
    let seen = Visit {
        body: Some(body),
        ..with_validators()
    };
    end(&first, "a", seen).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    let unchanged = Visit {
        title: None,
        content_hash: None,
        ..visit(OutcomeKind::NotModified)
    };
    end(&second, "a", unchanged).await;
    let record = store
        .results(second.id, Sequence(0), 1)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(record.outcome, OutcomeKind::NotModified);
    assert_eq!(record.title.as_deref(), Some("A title"));
    assert_eq!(record.etag.as_deref(), Some("\"v1\""));
    assert_eq!(record.content_hash, Some("07".repeat(32)));
    assert!(record.has_body);
    let body = store.body(second.id, Sequence(1)).await.unwrap();
    assert_eq!(body.as_deref(), Some(&b"hello"[..]));
}

pub async fn edges_know_their_first_and_last_crawl(store: &dyn Store) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    first.read("a", &["a", "b", "c"]).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    let report = second.read("a", &["a", "c", "d"]).await;
    assert_eq!((report.edges, report.discovered), (1, 2));
    assert_eq!(second.counts().await.edges, 3);
    let seen = |links: Vec<StoredLink>| -> Vec<(String, i64, i64)> {
        let links = links.into_iter();
        links
            .map(|l| (l.anchor, l.first_crawl.0, l.last_crawl.0))
            .collect()
    };
    let page = second.page("a").await;
    let (one, two) = (first.id.0, second.id.0);
    let [a, b] = [("to a".into(), one, two), ("to b".into(), one, one)];
    let [c, d] = [("to c".into(), one, two), ("to d".into(), two, two)];
    let now = store.links_of(second.id, page).await.unwrap();
    assert_eq!(seen(now), [a.clone(), c.clone(), d]);
    let then = store.links_of(first.id, page).await.unwrap();
    assert_eq!(seen(then), [a, b, c]);
}

/// The names to which `a` leads.
fn targets(links: &[StoredLink]) -> String {
    let names = links.iter().filter_map(|link| link.url.rsplit('/').next());
    names.collect()
}

pub async fn a_crawl_has_the_links_that_it_saw(store: &dyn Store) {
    let visits = ["bc", "c", "", "", "c", "c", "b"];
    let mut crawls = Vec::new();
    for links in visits {
        let crawl = Crawl::begin(store, &["a"], breadth()).await;
        let names: Vec<&str> = links.split("").filter(|name| !name.is_empty()).collect();
        let report = crawl.read("a", &names).await;
        let new = if crawls.is_empty() { 2 } else { 0 };
        assert_eq!(report.edges, new, "nobody has seen them before");
        assert_eq!(crawl.counts().await.edges, names.len() as u64);
        crawls.push(crawl);
    }
    for (crawl, links) in crawls.iter().zip(visits) {
        let page = crawl.page("a").await;
        let seen = store.links_of(crawl.id, page).await.unwrap();
        assert_eq!(targets(&seen), links, "crawl {}", crawl.id.0);
    }
}

pub async fn an_unchanged_page_has_the_links_of_its_last_usable_visit(store: &dyn Store) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    let page = first.page("a").await;
    let none = store.earlier_links(first.id, page).await.unwrap();
    assert_eq!(targets(&none), "");
    first.read("a", &["b", "c"]).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    end(&second, "a", visit(OutcomeKind::ServerError)).await;
    let third = Crawl::begin(store, &["a"], breadth()).await;
    let links = store.earlier_links(third.id, page).await.unwrap();
    assert_eq!(targets(&links), "bc", "a failure says nothing of them");
    third.read("a", &["b", "c"]).await;
    let failed = store.links_of(second.id, page).await.unwrap();
    assert_eq!(targets(&failed), "", "nothing was read then");
    let fourth = Crawl::begin(store, &["a"], breadth()).await;
    fourth.read("a", &[]).await;
    for _ in 0..2 {
        let later = Crawl::begin(store, &["a"], breadth()).await;
        let links = store.earlier_links(later.id, page).await.unwrap();
        assert_eq!(targets(&links), "", "it has lost them");
        end(&later, "a", visit(OutcomeKind::NotModified)).await;
    }
}

pub async fn stale_edges_of_an_earlier_crawl_do_not_shorten_paths(store: &dyn Store) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    first.read("a", &["b", "d"]).await;
    first.read("b", &["c", "d"]).await;
    let second = Crawl::begin(store, &["a", "z"], breadth()).await;
    second.read("a", &["x"]).await;
    second.read("x", &["b"]).await;
    second.read("b", &["c"]).await;
    second.read("c", &["d"]).await;
    assert_eq!(second.depth("d").await, 4);
    // b comes nearer, and with it c and d, but not over the link from b to d, which is gone.
    second.read("z", &["b"]).await;
    assert_eq!(second.depth("c").await, 2);
    assert_eq!(second.depth("d").await, 3);
}

pub async fn suspension_and_budgets_belong_to_one_crawl(store: &dyn Store) {
    let first = Crawl::begin(store, &["a", "b"], breadth()).await;
    first.read("a", &[]).await;
    let suspend = HostUpdate {
        host: Some(first.host().await),
        suspended: Some(Suspended::GivenUp),
        ..HostUpdate::default()
    };
    first.update_host(suspend).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    let mut seen = Vec::new();
    for crawl in [&first, &second] {
        let hosts = store.pending_hosts(crawl.id, HostId(0), 1).await.unwrap();
        seen.push((hosts[0].suspended.is_some(), hosts[0].pages_done));
    }
    assert_eq!(seen, [(true, 1), (false, 0)]);
}

pub async fn bodies_are_read_back(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    for name in ["a", "b"] {
        let text = name.repeat(5000);
        let record = encode("https://a.test/", NOW, 200, [], text.into());
        let kept = Visit {
            body: Some(record),
            ..visit(OutcomeKind::Fetched)
        };
        end(&crawl, name, kept).await;
    }
    end(&crawl, "c", visit(OutcomeKind::Fetched)).await;
    let body = store.body(crawl.id, Sequence(2)).await.unwrap();
    assert_eq!(body, Some("b".repeat(5000).into_bytes()));
    assert_eq!(store.body(crawl.id, Sequence(3)).await.unwrap(), None);
    assert_eq!(store.body(crawl.id, Sequence(4)).await.unwrap(), None);
}
