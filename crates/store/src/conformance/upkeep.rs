//! Looking after a store: what is old goes and nothing else does, figures agree with rows.

use trawl_types::{CrawlState, OutcomeKind, ReasonCode, Sequence, UnixMillis};

use super::web::{Crawl, NOW, breadth, fetched, link, refused, visit};
use crate::{
    contract::{
        Store,
        known::KnownLinks,
        overview::{Overview, Whose, Window},
        upkeep::{Ageing, Cutoff, Upkeep, clean, miscounts},
        write::{Digest, Settlement, Visit, VisitEnd},
    },
    segment::{encode, encode_content},
};

/// After everything that happens here.
const LATER: UnixMillis = UnixMillis(NOW.0 + 10 * 86_400_000);

fn with_records(name: &str, at: UnixMillis) -> Visit {
    let url = format!("https://a.test/{name}");
    let body = encode(&url, at, 200, [], name.to_owned().into());
    let content = encode_content(&url, at, format!("{{\"of\":\"{name}\"}}").into());
    Visit {
        body: Some(body),
        crawled_at: at,
        content_hash: Some([name.len() as u8; 32]),
        digest: Some(Digest {
            text_hash: Some([name.as_bytes()[0]; 32]),
            content: Some(content),
            ..Digest::default()
        }),
        ..visit(OutcomeKind::Fetched)
    }
}

async fn end(crawl: &Crawl<'_>, name: &str, visit: Visit) {
    let settlement = Settlement {
        page: crawl.page(name).await,
        end: VisitEnd::Final(Box::new(visit)),
        links: Vec::new(),
        known: KnownLinks::default(),
    };
    crawl.commit(vec![settlement]).await;
}

/// `a` and `b` were read, `c` failed, `d` was refused, `e` waits.
async fn mixed(store: &dyn Store) -> Crawl<'_> {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    let links = vec![refused(store, "d", ReasonCode::OtherHost), link(store, "e")];
    let page = crawl.page("a").await;
    let mut settlement = fetched(page, links);
    settlement.end = VisitEnd::Final(Box::new(with_records("a", NOW)));
    crawl.commit(vec![settlement]).await;
    end(&crawl, "b", with_records("b", UnixMillis(NOW.0 + 1000))).await;
    let failed = Visit {
        content_hash: None,
        ..visit(OutcomeKind::NotFound)
    };
    end(&crawl, "c", failed).await;
    crawl
}

async fn finish(crawl: &Crawl<'_>) {
    let state = CrawlState::Completed;
    crawl
        .store
        .set_state(crawl.id, state, "", NOW)
        .await
        .unwrap();
}

async fn assert_counts_agree(store: &(impl Store + Upkeep), crawl: &Crawl<'_>) {
    let (said, counted) = (crawl.counts().await, store.recount(crawl.id).await.unwrap());
    assert_eq!(miscounts(&said, &counted), [], "figures and rows differ");
}

pub async fn nothing_of_a_crawl_under_way_grows_old(store: &(impl Store + Overview + Upkeep)) {
    let crawl = mixed(store).await;
    let before = crawl.counts().await;
    for what in Ageing::ALL {
        if !matches!(what, Ageing::Minutes | Ageing::Hours) {
            let done = clean(store, what, LATER, false).await.unwrap();
            assert_eq!(done.rows, 0, "{what:?}");
        }
    }
    assert_eq!(crawl.counts().await, before);
    assert!(store.body(crawl.id, Sequence(1)).await.unwrap().is_some());
    assert_counts_agree(store, &crawl).await;
}

pub async fn old_bodies_go_and_what_is_known_of_their_visits_stays(
    store: &(impl Store + Overview + Upkeep),
) {
    let crawl = mixed(store).await;
    finish(&crawl).await;
    let before = UnixMillis(NOW.0 + 1);
    let would = clean(store, Ageing::Bodies, before, true).await.unwrap();
    assert_eq!(would.rows, 2, "a body and what was made of it");
    assert!(would.bytes > 0);
    assert!(store.body(crawl.id, Sequence(1)).await.unwrap().is_some());
    let done = clean(store, Ageing::Bodies, before, false).await.unwrap();
    assert_eq!(done, would);
    assert_eq!(store.body(crawl.id, Sequence(1)).await.unwrap(), None);
    assert_eq!(store.content(crawl.id, Sequence(1)).await.unwrap(), None);
    let young = store.body(crawl.id, Sequence(2)).await.unwrap();
    assert_eq!(young.as_deref(), Some(&b"b"[..]));
    let log = store.results(crawl.id, Sequence(0), 10).await.unwrap();
    assert_eq!(log.len(), 3);
    assert!(!log[0].has_body && !log[0].has_content);
    assert_eq!(log[0].title.as_deref(), Some("A title"));
    let again = clean(store, Ageing::Bodies, before, false).await.unwrap();
    assert_eq!(again.rows, 0, "twice is once");
    assert_counts_agree(store, &crawl).await;
}

pub async fn a_body_that_a_later_visit_refers_to_stays_for_it(
    store: &(impl Store + Overview + Upkeep),
) {
    let first = Crawl::begin(store, &["a"], breadth()).await;
    end(&first, "a", with_records("a", NOW)).await;
    finish(&first).await;
    let second = Crawl::begin(store, &["a"], breadth()).await;
    let unchanged = Visit {
        crawled_at: UnixMillis(NOW.0 + 5000),
        content_hash: None,
        ..visit(OutcomeKind::NotModified)
    };
    end(&second, "a", unchanged).await;
    finish(&second).await;
    let before = UnixMillis(NOW.0 + 1);
    clean(store, Ageing::Bodies, before, false).await.unwrap();
    assert_eq!(store.body(first.id, Sequence(1)).await.unwrap(), None);
    let kept = store.body(second.id, Sequence(1)).await.unwrap();
    assert_eq!(kept.as_deref(), Some(&b"a"[..]));
    assert!(
        store
            .content(second.id, Sequence(1))
            .await
            .unwrap()
            .is_some()
    );
    let done = clean(store, Ageing::Versions, LATER, false).await.unwrap();
    assert_eq!(done.rows, 1, "the page was visited again since");
    assert_eq!(store.counts(first.id).await.unwrap().done, 0);
    assert_eq!(store.counts(second.id).await.unwrap().done, 1);
    let kept = store.body(second.id, Sequence(1)).await.unwrap();
    assert_eq!(kept.as_deref(), Some(&b"a"[..]));
}

pub async fn failures_and_what_was_never_visited_go_by_themselves(
    store: &(impl Store + Overview + Upkeep),
) {
    let crawl = mixed(store).await;
    finish(&crawl).await;
    let early = clean(store, Ageing::Queue, NOW, false).await.unwrap();
    assert_eq!(early.rows, 0, "the crawl had not ended then");
    for (what, rows) in [(Ageing::Failures, 1), (Ageing::Queue, 2)] {
        for dry_run in [true, false] {
            let done = clean(store, what, LATER, dry_run).await.unwrap();
            assert_eq!(done.rows, rows, "{what:?}");
        }
        assert_counts_agree(store, &crawl).await;
    }
    let counts = crawl.counts().await;
    assert_eq!((counts.discovered, counts.done), (2, 2));
    assert_eq!((counts.pending, counts.refused), (0, 0));
    assert!(counts.reasons.is_empty(), "{counts:?}");
    let done = clean(store, Ageing::Visits, LATER, false).await.unwrap();
    assert_eq!(done.rows, 2);
    assert_counts_agree(store, &crawl).await;
}

pub async fn figures_of_minutes_become_those_of_hours_and_days(
    store: &(impl Store + Overview + Upkeep),
) {
    let crawl = Crawl::begin(store, &["a", "b", "c"], breadth()).await;
    for (name, minutes) in [("a", 1), ("b", 2), ("c", 70)] {
        let at = UnixMillis(NOW.0 + minutes * 60_000);
        end(&crawl, name, with_records(name, at)).await;
    }
    let figures = async || {
        let window = Window {
            whose: Whose::Everybody,
            crawl: None,
            from: UnixMillis(NOW.0 - 2 * 86_400_000),
            to: LATER,
            bucket_minutes: 1,
        };
        let buckets = store.activity(window).await.unwrap();
        let visits = |bucket: &crate::contract::overview::Bucket| {
            (bucket.outcomes.values().sum::<u64>(), bucket.bytes)
        };
        buckets.iter().map(visits).collect::<Vec<_>>()
    };
    let all = |figures: &[(u64, u64)]| {
        let sum = |a: (u64, u64), b: &(u64, u64)| (a.0 + b.0, a.1 + b.1);
        figures.iter().fold((0, 0), sum)
    };
    let minutes = figures().await;
    assert_eq!(minutes.len(), 3);
    clean(store, Ageing::Minutes, LATER, true).await.unwrap();
    assert_eq!(figures().await, minutes, "so far nothing has happened");
    clean(store, Ageing::Minutes, LATER, false).await.unwrap();
    let hours = figures().await;
    assert_eq!(hours.len(), 2);
    assert_eq!(all(&hours), all(&minutes));
    clean(store, Ageing::Hours, LATER, false).await.unwrap();
    let days = figures().await;
    assert!(days.len() <= 2, "{days:?}");
    assert_eq!(all(&days), all(&minutes));
    let again = clean(store, Ageing::Hours, LATER, false).await.unwrap();
    assert_eq!(again.rows, 0, "twice is once");
}

pub async fn what_is_stored_adds_up(store: &(impl Store + Overview + Upkeep)) {
    let crawl = mixed(store).await;
    let storage = store.storage(10).await.unwrap();
    let rows = |name: &str| {
        let table = storage.tables.iter().find(|table| table.name == name);
        table.unwrap_or_else(|| panic!("{name}")).rows
    };
    assert_eq!((rows("results"), rows("crawl_pages")), (3, 5));
    let [size] = storage.crawls.as_slice() else {
        panic!("{storage:?}");
    };
    assert_eq!((size.crawl, size.results), (crawl.id, 3));
    assert!(size.stored_bytes > 0 && storage.database_bytes > 0);
    assert_eq!(storage.hosts.len(), 1);
    assert_eq!(storage.hosts[0].host, super::web::HOST);
    assert_eq!(storage.hosts[0].pages, 2);
}

pub async fn a_revised_visit_is_the_newest_of_its_page(store: &(impl Store + Overview + Upkeep)) {
    let crawl = mixed(store).await;
    finish(&crawl).await;
    let content = encode_content("https://a.test/a", LATER, b"{\"of\":\"other\"}".to_vec());
    let digest = Digest {
        text_hash: Some([99; 32]),
        content: Some(content),
        ..Digest::default()
    };
    let revise = async |seq| {
        store
            .revise(crawl.id, Sequence(seq), digest.clone(), LATER)
            .await
    };
    assert_eq!(revise(1).await.unwrap(), Some(Sequence(4)));
    assert_eq!(
        revise(1).await.unwrap(),
        None,
        "it is not the newest any more"
    );
    let content = store.content(crawl.id, Sequence(4)).await.unwrap();
    assert_eq!(content.as_deref(), Some(&b"{\"of\":\"other\"}"[..]));
    let body = store.body(crawl.id, Sequence(4)).await.unwrap();
    assert_eq!(body.as_deref(), Some(&b"a"[..]), "the body is the same");
    let log = store.results(crawl.id, Sequence(3), 10).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].url, "https://a.test/a");
    assert_eq!(log[0].crawled_at, NOW, "nothing was asked of the web");
    assert_eq!(store.crawl(crawl.id).await.unwrap().last_seq, Sequence(4));
    assert_counts_agree(store, &crawl).await;
    // Both go together, and so does their body.
    let before = UnixMillis(NOW.0 + 1);
    clean(store, Ageing::Visits, before, false).await.unwrap();
    assert_eq!(store.body(crawl.id, Sequence(4)).await.unwrap(), None);
    assert_counts_agree(store, &crawl).await;
}

pub async fn what_must_be_archived_first_stays_until_it_is(
    store: &(impl Store + Overview + Upkeep),
) {
    let crawl = mixed(store).await;
    finish(&crawl).await;
    let old = Cutoff {
        before: LATER,
        archived: true,
    };
    let rows = async |what, dry_run| clean(store, what, old, dry_run).await.unwrap().rows;
    let visits = [Ageing::Bodies, Ageing::Failures, Ageing::Visits];
    assert_eq!(store.archived(crawl.id).await.unwrap(), Sequence(0));
    for what in visits {
        assert_eq!(rows(what, false).await, 0, "{what:?}: nothing is archived");
    }
    for through in [2, 1] {
        let noted = store.note_archived(crawl.id, Sequence(through)).await;
        noted.unwrap();
    }
    let archived = store.archived(crawl.id).await.unwrap();
    assert_eq!(archived, Sequence(2), "nothing is taken back");
    for (what, gone) in visits.into_iter().zip([4, 0, 2]) {
        assert_eq!(rows(what, true).await, gone, "{what:?}");
        assert_eq!(rows(what, false).await, gone, "{what:?}");
    }
    let left = store.results(crawl.id, Sequence(0), 9).await.unwrap();
    assert_eq!(left.len(), 1, "the third was not archived");
    assert_counts_agree(store, &crawl).await;
    store.note_archived(crawl.id, Sequence(3)).await.unwrap();
    assert_eq!(rows(Ageing::Failures, false).await, 1);
}
