//! The queue of a crawl, looked at and changed.

use trawl_types::{HostId, Outcome, OutcomeKind, PageState, ReasonCode, UnixMillis};

use super::web::{Crawl, HOST, NOW, breadth, ended, refused, visit};
use crate::contract::{
    Store,
    known::KnownLinks,
    overview::Overview,
    queue::{Planted, QueueChange, QueueFilter, QueueState, QueuedUrl, Requeue},
    write::{CommitBatch, HostUpdate, Settlement, Suspended, VisitEnd},
};

fn named(urls: &[QueuedUrl]) -> Vec<&str> {
    let name = |url: &'_ QueuedUrl| url.url.rfind('/').map_or(0, |at| at + 1);
    urls.iter().map(|url| &url.url[name(url)..]).collect()
}

async fn end(crawl: &Crawl<'_>, name: &str, kind: OutcomeKind) {
    let page = crawl.page(name).await;
    crawl.commit(vec![ended(page, visit(kind))]).await;
}

fn failed() -> Requeue {
    let kinds = OutcomeKind::ALL.iter().copied();
    Requeue {
        outcomes: kinds.filter(|kind| kind.is_error()).collect(),
        ..Requeue::default()
    }
}

pub async fn urls_are_listed_by_state_and_by_pages_of_a_list(store: &(impl Store + Overview)) {
    let crawl = Crawl::begin(store, &["a", "b", "c", "d", "e"], breadth()).await;
    crawl
        .settle("a", vec![refused(store, "x", ReasonCode::Excluded)])
        .await;
    end(&crawl, "b", OutcomeKind::NotFound).await;
    let ask = async |state, limit, after| {
        let filter = QueueFilter {
            state,
            after,
            limit,
            ..QueueFilter::default()
        };
        store.queue(crawl.id, filter).await.unwrap()
    };
    for (state, names) in [
        (QueueState::Pending, vec!["c", "d", "e"]),
        (QueueState::Completed, vec!["a"]),
        (QueueState::Failed, vec!["b"]),
        (QueueState::Refused, vec!["x"]),
    ] {
        let listed = ask(Some(state), 100, None).await;
        assert_eq!(named(&listed.items), names, "{state:?}");
        assert_eq!(listed.next, None);
        let (mut one_by_one, mut after) = (Vec::new(), None);
        loop {
            let listed = ask(Some(state), 1, after).await;
            one_by_one.extend(listed.items);
            after = listed.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(named(&one_by_one), names, "{state:?}");
    }
    let all = ask(None, 100, None).await.items;
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|url| url.host == HOST));
    let x = all.iter().find(|url| url.state == PageState::Refused);
    assert_eq!(
        x.unwrap().reason.as_ref().unwrap().code,
        ReasonCode::Excluded
    );
}

pub async fn what_failed_is_tried_again_and_the_log_keeps_both(store: &(impl Store + Overview)) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    crawl.read("a", &[]).await;
    end(&crawl, "b", OutcomeKind::ServerError).await;
    let change = QueueChange::Requeue(Requeue {
        host: Some("elsewhere.test".into()),
        ..failed()
    });
    let changed = store.change_queue(crawl.id, change).await.unwrap();
    assert_eq!((changed.requeued, changed.host), (0, None));
    let early = QueueChange::Requeue(Requeue {
        ended_before: Some(NOW),
        ..failed()
    });
    assert_eq!(
        store.change_queue(crawl.id, early).await.unwrap().requeued,
        0
    );
    let change = QueueChange::Requeue(Requeue {
        host: Some(HOST.into()),
        ..failed()
    });
    let changed = store.change_queue(crawl.id, change).await.unwrap();
    assert_eq!(
        (changed.requeued, changed.host),
        (1, Some(crawl.host().await))
    );
    assert_eq!(crawl.queue().await, ["b", "c"]);
    let counts = crawl.counts().await;
    assert_eq!((counts.pending, counts.done), (2, 1));
    crawl.read("b", &[]).await;
    let log = store.results(crawl.id, trawl_types::Sequence(0), 9).await;
    let outcomes: Vec<_> = log.unwrap().iter().map(|record| record.outcome).collect();
    assert_eq!(
        outcomes,
        [
            OutcomeKind::Fetched,
            OutcomeKind::ServerError,
            OutcomeKind::Fetched
        ]
    );
    assert_eq!(crawl.counts().await.done, 2);
}

pub async fn waits_and_suspensions_end_when_somebody_says_so(store: &(impl Store + Overview)) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    let later = UnixMillis(NOW.0 + 1_000_000);
    crawl
        .commit(vec![Settlement {
            page: crawl.page("a").await,
            end: VisitEnd::Retry {
                attempts: 2,
                not_before: later,
                outcome: Outcome::new(OutcomeKind::ServerError, Some(500), ""),
            },
            links: Vec::new(),
            known: KnownLinks::default(),
        }])
        .await;
    let host: HostId = crawl.host().await;
    crawl
        .update_host(HostUpdate {
            host: Some(host),
            next_allowed: Some(later),
            failures: Some(7),
            suspended: Some(Suspended::GivenUp),
            ..HostUpdate::default()
        })
        .await;
    assert_eq!(
        store.crawls_on_host(HOST).await.unwrap(),
        [crawl.id],
        "it is under way"
    );
    let change = QueueChange::Requeue(Requeue {
        delayed: true,
        suspended: true,
        ..Requeue::default()
    });
    let changed = store.change_queue(crawl.id, change).await.unwrap();
    assert_eq!((changed.hurried, changed.hosts), (1, 1));
    let stored = store.host_by_name(crawl.id, HOST).await.unwrap().unwrap();
    assert_eq!((stored.failures, stored.suspended), (0, None));
    assert!(stored.next_allowed < NOW);
    let pending = crawl.pending().await;
    assert!(pending.iter().all(|url| url.not_before < NOW));
}

pub async fn what_is_cleared_can_be_found_again(store: &(impl Store + Overview)) {
    let crawl = Crawl::begin(store, &["a", "b"], breadth()).await;
    crawl.read("a", &["c"]).await;
    let gone = store.change_queue(crawl.id, QueueChange::Clear { host: None });
    assert_eq!(gone.await.unwrap().cleared, 2);
    let counts = crawl.counts().await;
    assert_eq!((counts.discovered, counts.pending, counts.done), (1, 0, 1));
    assert!(crawl.queue().await.is_empty());
    let seeds = crawl.links(&["c", "a", "c"]);
    let batch = CommitBatch {
        crawl: crawl.id,
        now: NOW,
        settlements: Vec::new(),
        hosts: Vec::new(),
        seeds,
    };
    let report = store.commit(batch).await.unwrap();
    assert_eq!(
        report.planted,
        [Planted::Admitted, Planted::Known, Planted::Known]
    );
    assert_eq!(crawl.queue().await, ["c"]);
}

pub async fn a_url_that_somebody_names_is_no_longer_too_deep(store: &(impl Store + Overview)) {
    let shallow = super::web::rules(trawl_types::spec::Order::BreadthFirst, Some(0));
    let crawl = Crawl::begin(store, &["a"], shallow).await;
    crawl.read("a", &["deep"]).await;
    assert_eq!(crawl.standing("deep").await.state, PageState::Refused);
    let mut seeds = crawl.links(&["deep"]);
    seeds.push(refused(store, "x", ReasonCode::Excluded));
    let batch = CommitBatch {
        crawl: crawl.id,
        now: NOW,
        settlements: Vec::new(),
        hosts: Vec::new(),
        seeds,
    };
    let report = store.commit(batch).await.unwrap();
    assert_eq!(report.planted, [Planted::Admitted, Planted::Refused]);
    assert_eq!(crawl.depth("deep").await, 0);
    assert_eq!(crawl.queue().await, ["deep"]);
}
