//! Strings from strangers, and questions about what is not there.

use trawl_types::{CrawlId, HostId, OutcomeKind, PageId, Sequence, UrlKey};

use super::web::{Crawl, breadth, link, visit};
use crate::contract::{
    Store, StoreError,
    known::KnownLinks,
    target::LinkTarget,
    write::{NewLink, Settlement, Visit, VisitEnd},
};

fn nasty() -> Vec<String> {
    vec![
        "'; DROP TABLE pages; --".into(),
        "\"quoted\" `and` [bracketed]".into(),
        "nul \0 in the middle".into(),
        "\u{fffd}\u{feff}\u{202e}\u{10ffff}".into(),
        "\r\n\r\nWARC/1.1\r\n".into(),
        "%00%ff%C3%28".into(),
        "é".repeat(1024),
        String::new(),
    ]
}

pub async fn strings_come_back_as_they_went_in(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let secret = store.key_secret();
    let links: Vec<NewLink> = nasty()
        .into_iter()
        .enumerate()
        .map(|(n, text)| NewLink {
            target: LinkTarget::new(
                &text,
                &format!("host {text}"),
                secret.key("h", &n.to_string()),
                Ok(0),
            ),
            anchor: text.into(),
            ..link(store, "")
        })
        .collect();
    let visit = Visit {
        title: Some(nasty().concat()),
        robots: Some("nul \0".into()),
        ..visit(OutcomeKind::Fetched)
    };
    let page = crawl.page("a").await;
    let settlement = Settlement {
        page,
        end: VisitEnd::Final(Box::new(visit)),
        links,
        known: KnownLinks::default(),
    };
    let report = crawl.commit(vec![settlement]).await;
    let addresses: Vec<&str> = report.admitted.iter().map(|u| u.address.as_str()).collect();
    assert_eq!(addresses, nasty());
    assert_eq!(report.hosts.len(), nasty().len());
    let links = store.links_of(crawl.id, page).await.unwrap();
    let anchors: Vec<&str> = links.iter().map(|link| link.anchor.as_str()).collect();
    assert_eq!(anchors, nasty());
    let record = store
        .results(crawl.id, Sequence(0), 1)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(record.title, Some(nasty().concat()));
    assert_eq!(record.robots.as_deref(), Some("nul \0"));
    for text in nasty() {
        let host = store
            .host_by_name(crawl.id, &format!("host {text}"))
            .await
            .unwrap();
        let host = host.expect("the host is known");
        let urls = store.pending(crawl.id, host.id, 9).await.unwrap();
        assert_eq!(urls[0].address, text);
    }
}

pub async fn nothing_is_found_where_nothing_is(store: &dyn Store) {
    let nobody = CrawlId(99);
    assert!(store.crawls().await.unwrap().is_empty());
    assert!(matches!(
        store.crawl(nobody).await,
        Err(StoreError::NoCrawl(_))
    ));
    assert!(matches!(
        store.counts(nobody).await,
        Err(StoreError::NoCrawl(_))
    ));
    let reopened = store.reopen_crawl(nobody, breadth()).await;
    assert!(matches!(reopened, Err(StoreError::NoCrawl(_))));
    assert!(
        store
            .host_by_name(nobody, "nobody.test")
            .await
            .unwrap()
            .is_none()
    );
    let links = store.links_of(nobody, PageId(1)).await.unwrap();
    assert!(links.is_empty());
    let key = UrlKey { host: 1, url: 2 };
    assert!(store.standing(nobody, key).await.unwrap().is_none());
    assert!(
        store
            .pending(nobody, HostId(1), 5)
            .await
            .unwrap()
            .is_empty()
    );
    let results = store.results(nobody, Sequence(0), 5).await;
    assert!(results.unwrap().is_empty());
}
