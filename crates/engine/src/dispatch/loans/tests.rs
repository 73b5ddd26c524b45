//! Loans of the real store, in an order that hardly ever comes about by itself.

use std::{path::PathBuf, time::Duration};

use tokio::sync::mpsc::unbounded_channel;
use trawl_quick::Quick;
use trawl_store::{
    LoanOptions, PostgresOptions, PostgresStore, Store,
    conformance::web::{NOW, breadth, link},
};
use trawl_testdb::Server;
use trawl_types::CrawlSpec;

use super::*;
use crate::{
    clock::Clock,
    dispatch::{Beginning, Start},
    plan::CrawlPlan,
    progress::Progress,
};

/// Where integration tests keep what they share.
fn cache() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.ancestors().nth(3).unwrap().join("tmp");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

async fn worker(url: &str) -> Arc<PostgresStore> {
    let options = PostgresOptions {
        loans: Some(LoanOptions {
            renewed_every: Duration::from_millis(30),
            ..LoanOptions::new("one")
        }),
        ..PostgresOptions::default()
    };
    Arc::new(PostgresStore::open(url, options).await.unwrap())
}

fn beginning(store: &Arc<PostgresStore>, most_hosts: usize) -> Beginning {
    Beginning {
        store: Arc::clone(store) as Arc<dyn Store>,
        quick: Quick::here(),
        clock: Clock::start(),
        hold_off: false,
        most_hosts,
        done: Arc::default(),
    }
}

async fn borrow_soon(lender: &dyn HostLoans, crawl: CrawlId) -> Vec<LoanedHost> {
    for _ in 0..1_500 {
        let lent = lender.borrow_hosts(&[crawl], 1).await.unwrap();
        if !lent.is_empty() {
            return lent;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing to borrow");
}

#[tokio::test]
async fn a_loan_that_was_lost_and_is_lent_again_is_not_let_go_with_the_old_one() {
    let server = Server::start(&cache());
    let url = server.empty_database().await;
    let store = worker(&url).await;
    let spec = CrawlSpec::default();
    let seeds = vec![link(&*store, "a")];
    let crawl = store.create_crawl(&spec, "", seeds, breadth(), None, NOW);
    let crawl = crawl.await.unwrap();
    let (_commands, inbox) = unbounded_channel();
    let mut dispatcher = Dispatcher::begin(beginning(&store, 10), inbox);
    let lender = store.loans().unwrap();
    let lent = borrow_soon(lender, crawl).await;
    let host = lent[0].host.id;
    dispatcher.take_loans(&lent);

    // Another process takes the host over, and gives it back.
    let name = url.rsplit_once('/').unwrap().1.split_once('?').unwrap().0;
    let taken = "UPDATE hosts SET epoch = epoch + 2, holder = NULL, ready_at = clock_timestamp()";
    server.sql(name, taken).await;
    while lender.may_ask(host, 0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The renewal has noticed it, nobody has asked for what was lost yet, and it is lent here anew.
    let again = borrow_soon(lender, crawl).await;
    assert_eq!(again[0].host.id, host);
    dispatcher.take_loans(&again);
    dispatcher.drop_lost(dispatcher.clock.now());

    let held = &dispatcher.loans.as_ref().unwrap().since;
    assert!(held.contains_key(&host), "the new loan is nobody's");
    assert!(lender.may_ask(host, 0), "and would be renewed for ever");
}

/// A crawl of these hosts that runs in the store and here.
async fn begin(dispatcher: &mut Dispatcher, hosts: impl Iterator<Item = String>) -> CrawlId {
    let mut spec = CrawlSpec {
        seeds: hosts.map(|host| format!("http://{host}/")).collect(),
        ..CrawlSpec::default()
    };
    spec.scope.max_pages = Some(5);
    let store = Arc::clone(&dispatcher.store);
    let plan = CrawlPlan::compile(spec, store.key_secret(), 2026).unwrap();
    let (seeds, rules) = (plan.seed_links(), plan.write_rules());
    let begun = store.create_crawl(&plan.spec, "", seeds, rules, None, NOW);
    let crawl = begun.await.unwrap();
    let (ended, _) = tokio::sync::oneshot::channel();
    dispatcher.start(Start {
        crawl,
        plan: Arc::new(plan),
        progress: watch::Sender::new(Progress::default()),
        ended,
        pages: 0,
    });
    crawl
}

/// Borrows as the loop does, if it is time; gives how many hosts came.
async fn borrow_once(dispatcher: &mut Dispatcher) -> usize {
    dispatcher.borrow_more(dispatcher.clock.now());
    if !dispatcher.loans.as_ref().unwrap().borrowing {
        return 0;
    }
    let before = dispatcher.frontier.host_count();
    let found = dispatcher.found.1.recv().await.unwrap();
    dispatcher.take_found(found);
    dispatcher.frontier.host_count() - before
}

#[tokio::test]
async fn a_crawl_without_hosts_borrows_its_own_while_another_has_plenty() {
    let server = Server::start(&cache());
    let url = server.empty_database().await;
    let (_commands, inbox) = unbounded_channel();
    let store = worker(&url).await;
    let mut dispatcher = Dispatcher::begin(beginning(&store, 10_000), inbox);
    let many = (0..500).map(|n| format!("h{n}.test"));
    let large = begin(&mut dispatcher, many).await;
    assert_eq!(borrow_once(&mut dispatcher).await, GULP as usize);
    assert!(!dispatcher.frontier.is_idle(large));
    // It comes later, and hundreds of hosts have been ready for longer than its own.
    let small = begin(&mut dispatcher, ["small.test".to_owned()].into_iter()).await;
    let mut lent = 0;
    for _ in 0..1_000 {
        lent += borrow_once(&mut dispatcher).await;
        if !dispatcher.frontier.is_idle(small) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(!dispatcher.frontier.is_idle(small), "it got its host");
    // In the order in which they became ready, all others would have come first.
    assert!(lent <= 1 + 4 * GULP as usize, "after {lent} hosts");
}

#[tokio::test]
async fn pages_that_were_read_for_nothing_use_up_no_budget() {
    let server = Server::start(&cache());
    let store = worker(&server.empty_database().await).await;
    let (_commands, inbox) = unbounded_channel();
    let mut dispatcher = Dispatcher::begin(beginning(&store, 10), inbox);
    let crawl = begin(&mut dispatcher, ["a.test".to_owned()].into_iter()).await;
    // As many were settled here, and the store took none: others had taken the host over.
    dispatcher.frontier.pages_at_least(crawl, 5);
    assert!(dispatcher.frontier.budget_is_used(crawl));
    dispatcher.ask_whether_complete(crawl, "the budget is used up");
    let found = dispatcher.found.1.recv().await.unwrap();
    dispatcher.take_found(found);
    assert!(
        !dispatcher.frontier.budget_is_used(crawl),
        "the crawl goes on"
    );
}

#[test]
fn whoever_finds_nothing_to_borrow_looks_again_soon_and_then_seldom() {
    let mut pace = Pace::default();
    let mut pauses: Vec<u64> = [0; 24].map(|hosts| pace.pause_after(hosts)).to_vec();
    assert_eq!(pauses[..5], [10, 10, 10, 10, 20]);
    pauses.dedup();
    assert_eq!(pauses, [10, 20, 40, 80, 160, 250]);
    assert_eq!(pace.pause_after(3), NEXT_GULP_MS);
    assert_eq!(pace.pause_after(0), NOTHING_THERE_MS, "as at first");
    pace.fruitless = u32::MAX;
    assert_eq!(pace.pause_after(0), STILL_NOTHING_MS);
}
