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
use crate::{clock::Clock, dispatch::Beginning};

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
    let beginning = Beginning {
        store: Arc::clone(&store) as Arc<dyn Store>,
        quick: Quick::here(),
        clock: Clock::start(),
        hold_off: false,
        most_hosts: 10,
        done: Arc::default(),
    };
    let mut dispatcher = Dispatcher::begin(beginning, inbox);
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

#[test]
fn whoever_finds_nothing_to_borrow_looks_again_soon_and_then_seldom() {
    let mut pace = Pace::default();
    let pauses: Vec<u64> = [0; 6].map(|hosts| pace.pause_after(hosts)).to_vec();
    assert_eq!(pauses, [25, 50, 100, 200, 250, 250]);
    assert_eq!(pace.pause_after(3), NEXT_GULP_MS);
    assert_eq!(pace.pause_after(0), NOTHING_THERE_MS, "as at first");
    pace.fruitless = u32::MAX;
    assert_eq!(pace.pause_after(0), STILL_NOTHING_MS);
}
