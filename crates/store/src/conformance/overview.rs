//! Questions across crawls, and what is cleaned up.

use trawl_types::{CrawlId, CrawlState, OutcomeKind, Sequence, UnixMillis};

use super::web::{Crawl, HOST, NOW, breadth, ended, visit};
use crate::contract::{
    Store,
    overview::{FoundPage, HostFilter, HostOrder, Overview, PageFilter, Purge, Whose, Window},
    write::Visit,
};

fn everything() -> PageFilter {
    PageFilter {
        whose: Whose::Everybody,
        crawl: None,
        host: None,
        outcomes: Vec::new(),
        status: None,
        depth: None,
        from: None,
        to: None,
        content_type: None,
        duplicate: None,
        text: None,
        after: None,
        limit: 100,
    }
}

fn named(pages: &[FoundPage]) -> Vec<&str> {
    let name = |url: &str| url.rfind('/').map_or(0, |at| at + 1);
    let url = |page: &'_ FoundPage| name(&page.record.url);
    pages
        .iter()
        .map(|page| &page.record.url[url(page)..])
        .collect()
}

async fn end(crawl: &Crawl<'_>, name: &str, visit: Visit) {
    let page = crawl.page(name).await;
    crawl.commit(vec![ended(page, visit)]).await;
}

/// Two crawls: `a`, then a copy of it and a failure; then `a` again.
async fn two<S: Store>(store: &S) -> (Crawl<'_>, Crawl<'_>) {
    let first = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    end(&first, "a", visit(OutcomeKind::Fetched)).await;
    let copy = Visit {
        title: Some("Another".into()),
        crawled_at: UnixMillis(NOW.0 + 61_000),
        ..visit(OutcomeKind::Fetched)
    };
    end(&first, "b", copy).await;
    let mut missing = visit(OutcomeKind::NotFound);
    missing.outcome.status = Some(404);
    missing.content_length = None;
    missing.content_hash = None;
    end(&first, "c", missing).await;
    let set = store.set_state(
        first.id,
        CrawlState::Completed,
        "",
        UnixMillis(NOW.0 + 70_000),
    );
    set.await.unwrap();
    let second = Crawl::begin(store, &["a"], breadth()).await;
    end(&second, "a", visit(OutcomeKind::Fetched)).await;
    (first, second)
}

pub async fn visits_are_listed_newest_first_and_by_what_they_are(store: &(impl Store + Overview)) {
    let (first, _) = two(store).await;
    let ask = async |filter: PageFilter| store.pages(filter).await.unwrap();
    let all = ask(everything()).await;
    assert_eq!(named(&all.items), ["a", "c", "b", "a"]);
    let (mut one_by_one, mut after) = (Vec::new(), None);
    loop {
        let filter = PageFilter {
            limit: 1,
            after,
            ..everything()
        };
        let listed = ask(filter).await;
        one_by_one.extend(listed.items);
        after = listed.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(one_by_one, all.items);
    let cases: Vec<(PageFilter, Vec<&str>)> = vec![
        (
            PageFilter {
                crawl: Some(first.id),
                ..everything()
            },
            vec!["c", "b", "a"],
        ),
        (
            PageFilter {
                outcomes: vec![OutcomeKind::NotFound],
                ..everything()
            },
            vec!["c"],
        ),
        (
            PageFilter {
                status: Some((400, 499)),
                ..everything()
            },
            vec!["c"],
        ),
        (
            PageFilter {
                depth: Some((1, 9)),
                ..everything()
            },
            vec![],
        ),
        (
            PageFilter {
                from: Some(UnixMillis(NOW.0 + 1)),
                ..everything()
            },
            vec!["b"],
        ),
        (
            PageFilter {
                to: Some(NOW),
                ..everything()
            },
            vec![],
        ),
        (
            PageFilter {
                content_type: Some("text/".into()),
                ..everything()
            },
            vec!["a", "c", "b", "a"],
        ),
        (
            PageFilter {
                duplicate: Some(true),
                ..everything()
            },
            vec!["b"],
        ),
        (
            PageFilter {
                text: Some("anoth".into()),
                ..everything()
            },
            vec!["b"],
        ),
        (
            PageFilter {
                text: Some("%".into()),
                ..everything()
            },
            vec![],
        ),
        (
            PageFilter {
                whose: Whose::Owners(vec!["nobody".into()]),
                ..everything()
            },
            vec![],
        ),
        (
            PageFilter {
                host: Some("elsewhere.test".into()),
                ..everything()
            },
            vec![],
        ),
    ];
    for (filter, names) in cases {
        let what = format!("{filter:?}");
        assert_eq!(named(&ask(filter).await.items), names, "{what}");
    }
}

pub async fn visits_of_a_host_are_listed_one_page_after_the_other(store: &(impl Store + Overview)) {
    two(store).await;
    let of_host = || PageFilter {
        host: Some(HOST.into()),
        ..everything()
    };
    let all = store.pages(of_host()).await.unwrap();
    let mut names = named(&all.items);
    names.sort_unstable();
    assert_eq!(names, ["a", "a", "b", "c"]);
    let (mut one_by_one, mut after) = (Vec::new(), None);
    loop {
        let filter = PageFilter {
            limit: 1,
            after,
            ..of_host()
        };
        let listed = store.pages(filter).await.unwrap();
        one_by_one.extend(listed.items);
        after = listed.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(one_by_one, all.items);
}

pub async fn hosts_and_totals_add_crawls_up(store: &(impl Store + Overview)) {
    two(store).await;
    for order in [HostOrder::Name, HostOrder::Pages, HostOrder::LastCrawled] {
        let filter = HostFilter {
            whose: Whose::Everybody,
            name: None,
            suspended: None,
            order,
            after: None,
            limit: 1,
        };
        let listed = store.hosts(filter.clone()).await.unwrap();
        let [host] = listed.items.as_slice() else {
            panic!("{listed:?}");
        };
        assert_eq!(host.name, HOST);
        assert_eq!((host.pages, host.errors, host.crawls), (3, 1, 2));
        assert_eq!(host.bytes, 60_000);
        assert_eq!(host.last_crawled, Some(UnixMillis(NOW.0 + 61_000)));
        let rest = HostFilter {
            after: listed.next,
            ..filter
        };
        assert!(store.hosts(rest).await.unwrap().items.is_empty());
    }
    let totals = store.totals(Whose::Everybody).await.unwrap();
    assert_eq!((totals.crawls, totals.pages, totals.visits), (2, 3, 4));
    assert_eq!((totals.bytes, totals.duplicates), (60_000, 1));
    assert_eq!(totals.outcomes[&OutcomeKind::Fetched], 3);
    let nobody = Whose::Owners(vec!["nobody".into()]);
    assert_eq!(store.totals(nobody).await.unwrap().visits, 0);
}

pub async fn activity_comes_in_buckets_of_time(store: &(impl Store + Overview)) {
    two(store).await;
    let window = Window {
        whose: Whose::Everybody,
        crawl: None,
        from: UnixMillis(NOW.0 - 3_600_000),
        to: UnixMillis(NOW.0 + 3_600_000),
        bucket_minutes: 1,
    };
    let buckets = store.activity(window.clone()).await.unwrap();
    let visits: Vec<u64> = buckets
        .iter()
        .map(|bucket| bucket.outcomes.values().sum())
        .collect();
    assert_eq!(visits, [3, 1]);
    assert_eq!(buckets[0].outcomes[&OutcomeKind::NotFound], 1);
    assert_eq!(buckets[0].bytes, 40_000);
    let one = Window {
        crawl: Some(CrawlId(2)),
        bucket_minutes: 1440,
        ..window
    };
    let day = store.activity(one).await.unwrap();
    assert_eq!(day.len(), 1);
    assert_eq!(day[0].outcomes[&OutcomeKind::Fetched], 1);
}

pub async fn what_is_purged_leaves_every_cursor_valid(store: &(impl Store + Overview)) {
    let (first, second) = two(store).await;
    let purge = Purge {
        before: Some(UnixMillis(NOW.0 + 1)),
        dry_run: true,
        ..Purge::default()
    };
    let would = store.purge(purge.clone()).await.unwrap();
    assert_eq!(
        (would.visits, would.skipped_crawls),
        (2, 1),
        "a crawl under way is left alone"
    );
    let log = async || {
        let log = store.results(first.id, Sequence(0), 100).await.unwrap();
        log.iter().map(|record| record.seq.0).collect::<Vec<_>>()
    };
    assert_eq!(log().await, [1, 2, 3], "so far nothing has happened");
    let purge = Purge {
        dry_run: false,
        ..purge
    };
    let done = store.purge(purge.clone()).await.unwrap();
    assert_eq!(done, would);
    assert_eq!(log().await, [2]);
    let after = store.results(first.id, Sequence(1), 100).await.unwrap();
    assert_eq!(after.len(), 1, "a cursor from before still works");
    assert!(
        store
            .results(first.id, Sequence(3), 1)
            .await
            .unwrap()
            .is_empty()
    );
    let counts = store.counts(first.id).await.unwrap();
    assert_eq!((counts.discovered, counts.done, counts.pages), (1, 1, 1));
    assert_eq!(store.counts(second.id).await.unwrap().done, 1);
    assert_eq!(store.purge(purge).await.unwrap().visits, 0, "twice is once");
}
