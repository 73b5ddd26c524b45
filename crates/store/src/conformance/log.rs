//! Crawls, the result log and the counters.

use trawl_types::{
    CrawlId, CrawlState, OutcomeKind, PageState, Reason, ReasonCode, Sequence, UnixMillis,
};

use super::web::{Crawl, NOW, breadth, fetched, refused, visit};
use crate::contract::{
    Store, StoreError,
    known::KnownLinks,
    write::{CommitBatch, Settlement, VisitEnd},
};

pub async fn results_are_numbered_without_gaps(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    crawl.read("b", &["d"]).await;
    let both = vec![
        fetched(crawl.page("a").await, Vec::new()),
        fetched(crawl.page("d").await, Vec::new()),
    ];
    assert_eq!(crawl.commit(both).await.last_seq, Some(Sequence(3)));
    crawl.read("c", &[]).await;
    let log = store.results(crawl.id, Sequence(0), 100).await.unwrap();
    let seqs: Vec<i64> = log.iter().map(|record| record.seq.0).collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    let urls: Vec<&str> = log
        .iter()
        .map(|r| r.url.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(urls, ["b", "a", "d", "c"]);
    assert_eq!(log[2].parent.as_deref(), Some("https://a.test/b"));
    let rest = store.results(crawl.id, Sequence(2), 1).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].seq, Sequence(3));
}

pub async fn a_page_settled_twice_has_one_result(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let page = crawl.page("a").await;
    let twice = vec![
        fetched(page, crawl.links(&["b"])),
        fetched(page, crawl.links(&["c"])),
    ];
    crawl.commit(twice).await;
    crawl.commit(vec![fetched(page, Vec::new())]).await;
    let log = store.results(crawl.id, Sequence(0), 100).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!(crawl.queue().await, ["b"]);
    assert_eq!(crawl.counts().await.done, 1);
}

pub async fn counters_follow_what_happened(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let mut links = crawl.links(&["b", "c"]);
    links.push(refused(store, "x", ReasonCode::Excluded));
    links.push(crawl.links(&["trap"]).remove(0));
    let report = crawl.settle("a", links).await;
    assert_eq!((report.discovered, report.edges), (4, 4));
    let page = crawl.page("b").await;
    let missing = visit(OutcomeKind::NotFound);
    crawl
        .commit(vec![Settlement {
            page,
            end: VisitEnd::Final(Box::new(missing)),
            links: Vec::new(),
            known: KnownLinks::default(),
        }])
        .await;
    let counts = crawl.counts().await;
    assert_eq!((counts.discovered, counts.pending), (5, 1));
    assert_eq!((counts.done, counts.refused), (2, 2));
    assert_eq!((counts.hosts, counts.edges, counts.pages), (1, 4, 1));
    assert_eq!(counts.outcomes[&OutcomeKind::Fetched], 1);
    assert_eq!(counts.outcomes[&OutcomeKind::NotFound], 1);
    assert_eq!(counts.reasons[&ReasonCode::Excluded], 1);
    assert_eq!(counts.reasons[&ReasonCode::QueryVariants], 1);
    let x = crawl.standing("x").await;
    assert_eq!(x.state, PageState::Refused);
    assert_eq!(
        x.reason,
        Some(Reason::new(ReasonCode::Excluded, "by a test"))
    );
}

pub async fn a_crawl_lives_from_running_to_completed(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let row = store.crawl(crawl.id).await.unwrap();
    assert_eq!(
        (row.state, row.name.as_str()),
        (CrawlState::Running, "test")
    );
    let later = UnixMillis(NOW.0 + 5);
    let set = store.set_state(crawl.id, CrawlState::Paused, "asked to", later);
    set.await.unwrap();
    store.reopen_crawl(crawl.id, breadth()).await.unwrap();
    crawl.read("a", &[]).await;
    let set = store.set_state(crawl.id, CrawlState::Completed, "", later);
    set.await.unwrap();
    let rows = store.crawls().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].state, CrawlState::Completed);
    assert_eq!(rows[0].finished_at, Some(later));
    assert_eq!(rows[0].last_seq, Sequence(1));
}

pub async fn commits_from_many_tasks_all_land(store: &dyn Store) {
    let seeds: Vec<String> = (0..40).map(|n| format!("s{n}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let crawl = Crawl::begin(store, &seeds, breadth()).await;
    let some = async |seeds: &[&str]| {
        for seed in seeds {
            crawl.read(seed, &["shared"]).await;
        }
    };
    // Joined, so that several commits are under way at once.
    tokio::join!(
        some(&seeds[..10]),
        some(&seeds[10..20]),
        some(&seeds[20..30]),
        some(&seeds[30..]),
    );
    let counts = crawl.counts().await;
    assert_eq!((counts.done, counts.pending, counts.edges), (40, 1, 40));
}

pub async fn a_closed_store_says_so(store: &dyn Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    store.close().await.unwrap();
    let batch = CommitBatch {
        crawl: crawl.id,
        now: NOW,
        settlements: Vec::new(),
        hosts: Vec::new(),
        seeds: Vec::new(),
    };
    let commit = store.commit(batch).await;
    assert!(matches!(commit, Err(StoreError::Stopped)));
    let read = store.crawl(CrawlId(1)).await;
    assert!(matches!(read, Err(StoreError::Stopped)));
}
