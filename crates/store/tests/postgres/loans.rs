//! Hosts on loan: one borrower at a time, politeness across borrowers, and the fence.

use std::{
    collections::HashSet,
    sync::Mutex,
    time::{Duration, Instant},
};

use trawl_store::{
    LoanOptions, Store,
    conformance::web::{breadth, fetched},
    contract::{
        known::KnownLinks,
        write::{CommitBatch, HostUpdate, Settlement, VisitEnd},
    },
};
use trawl_types::{HostId, Outcome, OutcomeKind, Sequence, UnixMillis};

use crate::{
    rows::number,
    server,
    web::{
        begin, borrow, borrow_soon, commit, give_back, link, loans, page, plain_store, unrenewed,
        worker,
    },
};

const SECOND: Duration = Duration::from_secs(1);

fn wall() -> UnixMillis {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixMillis(since.as_millis() as i64)
}

#[tokio::test]
async fn two_borrowers_never_hold_the_same_host_at_once() {
    let url = server::shared().database().await;
    let (one, two) = (
        worker(&url, LoanOptions::new("one")).await,
        worker(&url, LoanOptions::new("two")).await,
    );
    let seeds = (0..12).map(|n| link(&one, &format!("h{n}.test"), 0));
    let crawl = begin(&one, seeds.collect(), breadth()).await;
    let held: Mutex<HashSet<HostId>> = Mutex::default();
    let turns = async |store, pause: u64| {
        let mut seen = HashSet::new();
        for _ in 0..60 {
            let lent = borrow(store, crawl, 4).await;
            for host in &lent {
                let is_new = held.lock().unwrap().insert(host.host.id);
                assert!(is_new, "{} has two borrowers", host.host.name);
                seen.insert(host.host.id);
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
            for host in lent {
                held.lock().unwrap().remove(&host.host.id);
                give_back(store, host.host.id, 0).await;
            }
        }
        seen.len()
    };
    let (first, second) = tokio::join!(turns(&one, 1), turns(&two, 2));
    assert_eq!((first, second), (12, 12), "all hosts go round");
}

#[tokio::test]
async fn to_rehearse_borrows_nothing_and_changes_nothing() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let epochs = "SELECT sum(epoch)::int8 FROM hosts";
    let before = number(&url, epochs).await;
    one.rehearse().await.unwrap();
    assert_eq!(number(&url, epochs).await, before);
    let host = borrow_soon(&one, crawl).await.host.id;
    one.rehearse().await.unwrap();
    assert_eq!(number(&url, epochs).await, before + 1);
    assert!(loans(&one).may_ask(host, 0));
}

#[tokio::test]
async fn many_hosts_are_borrowed_from_all_partitions_and_from_one() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let seeds = (0..160).map(|n| link(&one, &format!("h{n}.test"), 0));
    let crawl = begin(&one, seeds.collect(), breadth()).await;
    let mut seen = HashSet::new();
    for _ in 0..80 {
        let lent = borrow(&one, crawl, 2).await;
        assert_eq!(lent.len(), 2, "after {}", seen.len());
        seen.extend(lent.iter().map(|host| host.host.id));
    }
    assert_eq!(seen.len(), 160, "each once");
    assert!(borrow(&one, crawl, 2).await.is_empty());
}

#[tokio::test]
async fn a_host_that_is_given_back_is_left_alone_for_its_wait() {
    let url = server::shared().database().await;
    let (one, two) = (
        worker(&url, LoanOptions::new("one")).await,
        worker(&url, LoanOptions::new("two")).await,
    );
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    assert!(borrow(&two, crawl, 5).await.is_empty());
    let given_back = Instant::now();
    give_back(&one, host, 700).await;
    assert!(!loans(&one).may_ask(host, 0));
    assert_eq!(borrow_soon(&two, crawl).await.host.id, host);
    assert!(given_back.elapsed() >= Duration::from_millis(700));
}

#[tokio::test]
async fn a_loan_that_ends_leaves_time_for_the_last_delay() {
    let url = server::shared().database().await;
    let one = worker(&url, unrenewed("one", SECOND)).await;
    let two = worker(&url, LoanOptions::new("two")).await;
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let (delay, mut last_allowed) = (300, None);
    let borrowed = Instant::now();
    let host = borrow_soon(&one, crawl).await.host.id;
    assert!(loans(&one).may_ask(host, delay));
    assert!(!loans(&one).may_ask(host, 1000), "longer than the loan");
    while borrow(&two, crawl, 1).await.is_empty() {
        let now = Instant::now();
        if loans(&one).may_ask(host, delay) {
            last_allowed = Some(now);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(borrowed.elapsed() >= SECOND);
    assert!(!loans(&one).may_ask(host, 0));
    let after = last_allowed.unwrap().elapsed();
    assert!(
        after >= Duration::from_millis(delay),
        "only {after:?} after the last request"
    );
}

#[tokio::test]
async fn loans_are_renewed_for_as_long_as_they_are_held() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one").lasting(SECOND)).await;
    let two = worker(&url, LoanOptions::new("two")).await;
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    let began = Instant::now();
    while began.elapsed() < 3 * SECOND {
        assert!(borrow(&two, crawl, 1).await.is_empty());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(loans(&one).lost().is_empty());
    give_back(&one, host, 0).await;
    assert_eq!(borrow_soon(&two, crawl).await.host.id, host);
}

#[tokio::test]
async fn a_loan_that_ended_and_that_nobody_took_goes_on() {
    let url = server::shared().database().await;
    let options = LoanOptions {
        renewed_every: 2 * SECOND,
        ..LoanOptions::new("one").lasting(SECOND)
    };
    let one = worker(&url, options).await;
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    let mut ended = false;
    for _ in 0..2000 {
        let may_ask = loans(&one).may_ask(host, 0);
        if ended && may_ask {
            assert!(loans(&one).lost().is_empty());
            return;
        }
        ended |= !may_ask;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the loan was not renewed (ended: {ended})");
}

#[tokio::test]
async fn whoever_lost_a_loan_cannot_write_what_was_fetched_under_it() {
    let url = server::shared().database().await;
    let options = LoanOptions {
        renewed_every: 2 * SECOND,
        ..LoanOptions::new("one").lasting(SECOND)
    };
    let one = worker(&url, options).await;
    let two = worker(&url, LoanOptions::new("two")).await;
    let seed = link(&one, "a.test", 0);
    let crawl = begin(&one, vec![seed.clone()], breadth()).await;
    two.reopen_crawl(crawl, breadth()).await.unwrap();
    let page = page(&one, crawl, &seed).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    assert_eq!(borrow_soon(&two, crawl).await.host.id, host);
    let late = commit(&one, crawl, vec![fetched(page, Vec::new())]).await;
    assert_eq!((late.counts.done, late.last_seq), (0, None));
    let done = commit(&two, crawl, vec![fetched(page, Vec::new())]).await;
    assert_eq!((done.counts.done, done.last_seq), (1, Some(Sequence(1))));
    for _ in 0..500 {
        if loans(&one).lost() == [host] {
            assert!(loans(&one).lost().is_empty(), "told once");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody says that the loan was lost");
}

#[tokio::test]
async fn what_was_fetched_may_be_written_after_the_host_was_given_back() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let seed = link(&one, "a.test", 0);
    let crawl = begin(&one, vec![seed.clone()], breadth()).await;
    let page = page(&one, crawl, &seed).await;
    let host = borrow_soon(&one, crawl).await.host.id;
    give_back(&one, host, 0).await;
    let done = commit(&one, crawl, vec![fetched(page, Vec::new())]).await;
    assert_eq!(done.counts.done, 1);
}

#[tokio::test]
async fn a_single_host_is_borrowed_by_name_and_says_when_it_may_be_asked() {
    let url = server::shared().database().await;
    let (one, two) = (
        worker(&url, LoanOptions::new("one")).await,
        worker(&url, LoanOptions::new("two")).await,
    );
    let crawl = begin(&one, vec![link(&one, "a.test", 0)], breadth()).await;
    let name = "elsewhere.test";
    let host = loans(&one).borrow_host(crawl, name).await.unwrap().unwrap();
    assert_eq!(
        (host.name.as_str(), host.next_allowed),
        (name, UnixMillis(0))
    );
    assert!(
        loans(&two)
            .borrow_host(crawl, name)
            .await
            .unwrap()
            .is_none()
    );
    let again = loans(&one).borrow_host(crawl, name).await.unwrap();
    assert_eq!(again.unwrap().id, host.id);
    let given_back = wall();
    give_back(&one, host.id, 60_000).await;
    let other = loans(&two).borrow_host(crawl, name).await.unwrap().unwrap();
    assert!(other.next_allowed.0 >= given_back.0 + 60_000);
    assert!(
        loans(&one)
            .borrow_host(crawl, name)
            .await
            .unwrap()
            .is_none()
    );
}

/// Entries that were read of the indices of pages that are not for what is pending.
async fn entries_read(url: &str) -> i64 {
    let others = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    // What a connection has read is known for certain when it is gone.
    for _ in 0..100 {
        if number(url, others).await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let read = "SELECT coalesce(sum(idx_tup_read), 0)::int8 FROM pg_stat_user_indexes
        WHERE relname LIKE 'crawl_pages_%' AND indexrelname LIKE '%_pkey'";
    number(url, read).await
}

#[tokio::test]
async fn to_borrow_from_a_crawl_that_grew_quickly_its_pages_are_not_gone_through() {
    let url = server::shared().database().await;
    let store = worker(&url, LoanOptions::new("one")).await;
    let seed = link(&store, "h0.test", 0);
    let crawl = begin(&store, vec![seed.clone()], breadth()).await;
    // Statements are planned now, when nothing is known of the tables.
    let first = borrow_soon(&store, crawl).await.host.id;
    let found = (1..=2_000).map(|n| link(&store, &format!("h{}.test", n % 20), n));
    let root = page(&store, crawl, &seed).await;
    commit(&store, crawl, vec![fetched(root, found.collect())]).await;
    give_back(&store, first, 0).await;
    let mut lent = 0;
    for _ in 0..5 {
        for host in borrow(&store, crawl, 20).await {
            give_back(&store, host.host.id, 0).await;
            lent += 1;
        }
    }
    assert!(lent >= 20, "{lent} hosts were lent");
    drop(store);
    let read = entries_read(&url).await;
    assert!(read < 2_000, "{read} entries were read for {lent} loans");
}

/// From now on the database's clock is wrong by this many hours.
async fn set_clock(url: &str, hours: i32) {
    let name = url.rsplit_once('/').unwrap().1.split('?').next().unwrap();
    let sql = format!(
        "CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
           $$ SELECT pg_catalog.clock_timestamp() + {hours} * interval '1 h' $$;
         ALTER DATABASE {name} SET search_path = public, pg_catalog"
    );
    server::shared().sql(name, &sql).await;
}

#[tokio::test]
async fn a_wait_is_kept_whatever_the_clock_of_the_database_says() {
    for hours in [-3, 3] {
        let url = server::shared().database().await;
        set_clock(&url, hours).await;
        let (one, two) = (
            worker(&url, LoanOptions::new("one")).await,
            worker(&url, LoanOptions::new("two")).await,
        );
        let seed = link(&one, "a.test", 0);
        let crawl = begin(&one, vec![seed.clone()], breadth()).await;
        two.reopen_crawl(crawl, breadth()).await.unwrap();
        let page = page(&one, crawl, &seed).await;
        let host = borrow_soon(&one, crawl).await.host.id;
        assert!(loans(&one).may_ask(host, 0));
        // The host asks to be left alone for a while, and its page to be tried later.
        let asked = Instant::now();
        let (soon, later) = (wall().0 + 1_500, UnixMillis(wall().0 + 600_000));
        let settlement = Settlement {
            page,
            end: VisitEnd::Retry {
                attempts: 1,
                not_before: later,
                outcome: Outcome::new(OutcomeKind::RateLimited, Some(429), ""),
            },
            links: Vec::new(),
            known: KnownLinks::default(),
        };
        let update = HostUpdate {
            host: Some(host),
            next_allowed: Some(UnixMillis(soon)),
            ..HostUpdate::default()
        };
        let batch = CommitBatch {
            crawl,
            now: wall(),
            settlements: vec![settlement],
            hosts: vec![update],
            seeds: Vec::new(),
        };
        one.commit(batch).await.unwrap();
        give_back(&one, host, 0).await;
        let lent = borrow_soon(&two, crawl).await.host;
        // Clocks are known to within some hundredths of a second.
        assert!(asked.elapsed() >= Duration::from_millis(1_400), "{hours} h");
        assert!((lent.next_allowed.0 - soon).abs() < 100, "{hours} h");
        let url = &two.pending(crawl, host, 1).await.unwrap()[0];
        assert!((url.not_before.0 - later.0).abs() < 100, "{hours} h");
    }
}

#[tokio::test]
async fn a_crawl_in_need_gets_its_host_before_those_that_were_ready_for_longer() {
    let url = server::shared().database().await;
    let one = worker(&url, LoanOptions::new("one")).await;
    let seeds = (0..400).map(|n| link(&one, &format!("h{n}.test"), 0));
    let large = begin(&one, seeds.collect(), breadth()).await;
    let small = begin(&one, vec![link(&one, "small.test", 0)], breadth()).await;
    let both = [large, small];
    let lent = loans(&one).borrow_hosts_of(small, &both, 16).await.unwrap();
    let names: Vec<_> = lent
        .iter()
        .map(|lent| (lent.crawl, lent.host.name.as_str()))
        .collect();
    assert_eq!(names, [(small, "small.test")]);
    let later = "SELECT count(*) FROM hosts WHERE ready_at > clock_timestamp()";
    assert_eq!(
        number(&url, later).await,
        1,
        "others are not put back for it"
    );
    let again = loans(&one).borrow_hosts_of(small, &both, 16).await.unwrap();
    assert!(again.is_empty(), "nobody gets a host twice");
    // Of a crawl with many hosts some are lent, each time others.
    let mut seen = HashSet::new();
    for _ in 0..400 {
        let lent = loans(&one).borrow_hosts_of(large, &both, 16).await.unwrap();
        seen.extend(lent.iter().map(|lent| lent.host.id));
    }
    assert_eq!(seen.len(), 400);
}

#[tokio::test]
async fn a_store_without_loans_has_none() {
    let url = server::shared().database().await;
    assert!(plain_store(&url).await.loans().is_none());
}
