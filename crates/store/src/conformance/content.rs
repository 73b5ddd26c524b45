//! Copies, near-duplicates and content made of pages.

use trawl_types::{CrawlSpec, LinkKind, OutcomeKind, PageRecord, PageState, ReasonCode, Sequence};

use super::web::{Crawl, NOW, breadth, judged, link, refused, visit};
use crate::{
    contract::{
        Store,
        known::KnownLinks,
        write::{CommitBatch, Digest, Settlement, Visit, VisitEnd},
    },
    segment::encode_content,
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

fn with_hash(byte: u8) -> Visit {
    Visit {
        content_hash: Some([byte; 32]),
        etag: Some("v".into()),
        ..visit(OutcomeKind::Fetched)
    }
}

fn digested(content: u8, digest: Digest) -> Visit {
    Visit {
        digest: Some(digest),
        ..with_hash(content)
    }
}

async fn records(crawl: &Crawl<'_>) -> Vec<PageRecord> {
    let found = crawl.store.results(crawl.id, Sequence(0), 100).await;
    found.unwrap()
}

/// The pages that results name as their originals.
async fn originals(crawl: &Crawl<'_>) -> Vec<Option<String>> {
    let found = records(crawl).await;
    found.into_iter().map(|r| r.duplicate_of).collect()
}

fn at(name: &str) -> String {
    format!("https://a.test/{name}")
}

pub async fn copies_name_the_first_page_with_their_content(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b", "c", "d"], breadth()).await;
    end(&crawl, "a", with_hash(1)).await;
    end(&crawl, "b", with_hash(2)).await;
    end(&crawl, "c", with_hash(1)).await;
    let nothing_read = Visit {
        content_hash: None,
        ..visit(OutcomeKind::NotHtml)
    };
    end(&crawl, "d", nothing_read).await;
    assert_eq!(originals(&crawl).await, [None, None, Some(at("a")), None]);
    assert_eq!(crawl.counts().await.duplicates, 1);
    let other = Crawl::begin(store, &["c"], breadth()).await;
    end(&other, "c", with_hash(1)).await;
    assert_eq!(records(&other).await[0].duplicate_of, None);
}

pub async fn where_text_is_known_it_decides_what_a_copy_is(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    let text = |byte| Digest {
        text_hash: Some([byte; 32]),
        ..Digest::default()
    };
    end(&crawl, "a", digested(1, text(9))).await;
    end(&crawl, "b", digested(2, text(9))).await;
    end(&crawl, "c", digested(1, text(8))).await;
    assert_eq!(originals(&crawl).await, [None, Some(at("a")), None]);
}

pub async fn fingerprints_come_back_in_order(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    let first = crawl.page("a").await;
    let near = |near, of| Digest {
        near: Some(near),
        near_duplicate_of: of,
        ..Digest::default()
    };
    end(&crawl, "a", digested(1, near(u64::MAX, None))).await;
    end(&crawl, "b", digested(2, near(7, Some(first)))).await;
    end(&crawl, "c", with_hash(3)).await;
    let found = store.near_prints(crawl.id, Sequence(0), 10).await.unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|p| (p.seq.0, p.near, p.near_duplicate_of))
        .collect();
    assert_eq!(seen, [(1, u64::MAX, None), (2, 7, Some(first))]);
    assert_eq!(found[0].page, first);
    let rest = store.near_prints(crawl.id, Sequence(1), 10).await.unwrap();
    assert_eq!(rest, found[1..]);
    assert_eq!(records(&crawl).await[1].near_duplicate_of, Some(at("a")));
    assert_eq!(crawl.counts().await.near_duplicates, 1);
}

pub async fn content_is_read_back(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    let json = br#"{"markdown":"one"}"#;
    let kept = Digest {
        content: Some(encode_content("https://a.test/a", NOW, json.to_vec())),
        ..Digest::default()
    };
    end(&crawl, "a", digested(1, kept)).await;
    end(&crawl, "b", with_hash(2)).await;
    let found = records(&crawl).await;
    assert_eq!((found[0].has_content, found[1].has_content), (true, false));
    let content = store.content(crawl.id, Sequence(1)).await.unwrap();
    assert_eq!(content.as_deref(), Some(&json[..]));
    assert_eq!(store.content(crawl.id, Sequence(2)).await.unwrap(), None);
}

async fn begin_keeping(store: &dyn Store, markdown: bool) -> Crawl<'_> {
    let mut spec = CrawlSpec::default();
    spec.keep.markdown = markdown;
    let seeds = vec![link(store, "a"), link(store, "b")];
    let id = store.create_crawl(&spec, "test", seeds, breadth(), None, NOW);
    Crawl::of(store, id.await.unwrap()).await
}

pub async fn an_unchanged_page_has_the_content_of_its_earlier_visit(store: &dyn Store) {
    let first = begin_keeping(store, true).await;
    let json = br#"{"markdown":"one"}"#;
    let kept = || Digest {
        text_hash: Some([5; 32]),
        near: Some(77),
        content: Some(encode_content("https://a.test/a", NOW, json.to_vec())),
        ..Digest::default()
    };
    end(&first, "a", digested(1, kept())).await;
    end(&first, "b", digested(2, kept())).await;
    let second = begin_keeping(store, true).await;
    assert!(second.pending().await.iter().all(|url| url.etag.is_some()));
    let first_page = second.page("a").await;
    let near = store.earlier_print(second.id, first_page).await.unwrap();
    assert_eq!(near, Some(77));
    for (name, near_of) in [("a", None), ("b", Some(first_page))] {
        let unchanged = Visit {
            content_hash: None,
            digest: Some(Digest {
                near,
                near_duplicate_of: near_of,
                ..Digest::default()
            }),
            ..visit(OutcomeKind::NotModified)
        };
        end(&second, name, unchanged).await;
    }
    assert_eq!(
        store
            .near_prints(second.id, Sequence(0), 9)
            .await
            .unwrap()
            .len(),
        2
    );
    assert_eq!(records(&second).await[1].near_duplicate_of, Some(at("a")));
    let content = store.content(second.id, Sequence(1)).await.unwrap();
    assert_eq!(content.as_deref(), Some(&json[..]));
    assert_eq!(records(&second).await[1].duplicate_of, Some(at("a")));
}

pub async fn a_page_without_what_is_kept_is_asked_for_anew(store: &dyn Store) {
    let first = begin_keeping(store, false).await;
    end(&first, "a", with_hash(1)).await;
    let second = begin_keeping(store, true).await;
    assert!(second.pending().await.iter().all(|url| url.etag.is_none()));
    let third = begin_keeping(store, false).await;
    assert_eq!(third.pending().await[0].etag.as_deref(), Some("v"));
}

pub async fn a_refusal_for_near_duplicates_is_lifted_by_another_link(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    let links = vec![refused(store, "x", ReasonCode::NearDuplicates)];
    crawl.settle("a", links).await;
    assert_eq!(crawl.standing("x").await.state, PageState::Refused);
    let report = crawl
        .settle("b", vec![judged(link(store, "x"), Ok(0))])
        .await;
    assert_eq!(report.admitted.len(), 1);
    assert_eq!(crawl.standing("x").await.state, PageState::Pending);
}

pub async fn seeds_may_come_later_and_their_sitemaps_lead_no_further(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let batch = CommitBatch {
        crawl: crawl.id,
        now: NOW,
        settlements: Vec::new(),
        hosts: Vec::new(),
        seeds: crawl.links(&["sitemap", "a"]),
    };
    let report = store.commit(batch).await.unwrap();
    assert_eq!(report.admitted.len(), 1);
    let mut listed = link(store, "deep");
    listed.kind = LinkKind::Sitemap;
    crawl.settle("sitemap", vec![listed]).await;
    assert_eq!(crawl.depth("deep").await, 0);
    assert_eq!(crawl.standing("deep").await.chain.len(), 2);
}
