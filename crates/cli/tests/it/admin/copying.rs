//! A database file moved to PostgreSQL: nothing is lost on the way, whatever stops it.

use std::{collections::BTreeSet, path::Path, thread, time::Duration};

use trawl_store::{
    PostgresOptions, PostgresStore, SqliteStore, Store,
    contract::{jobs::JobStore, upkeep::Upkeep},
};
use trawl_testweb::WebSpec;
use trawl_types::{CrawlId, CrawlState, HostId, PageRecord, Sequence};

use super::admin;
use crate::{
    harness::{Dice, Trawl, Web, place, postgres},
    mapping::MapFile,
    scaling::fleet::{Worker, assert_at_rest, assert_true_graph},
};

fn copy(from: &Path, to: &str) -> Trawl {
    let from = format!("sqlite:{}", from.display());
    admin("copy").args(["--from", &from, "--to", to])
}

async fn open(url: &str) -> PostgresStore {
    let options = PostgresOptions::default();
    PostgresStore::open(url, options).await.unwrap()
}

/// What a visit says, whatever number its page has.
fn without_numbers(record: &PageRecord) -> PageRecord {
    PageRecord {
        page_id: trawl_types::PageId(0),
        ..record.clone()
    }
}

/// Everything of a crawl that can be asked of both.
async fn assert_same_crawl(one: &SqliteStore, other: &PostgresStore, crawl: CrawlId) {
    let (mut a, mut b) = (
        one.crawl(crawl).await.unwrap(),
        other.crawl(crawl).await.unwrap(),
    );
    for row in [&mut a, &mut b] {
        row.state = CrawlState::Running;
        row.why.clear();
    }
    assert_eq!(a, b);
    let counts = one.counts(crawl).await.unwrap();
    assert_eq!(counts, other.counts(crawl).await.unwrap());
    assert_eq!(counts, other.recount(crawl).await.unwrap());
    let mut after = Sequence(0);
    loop {
        let records = one.results(crawl, after, 500).await.unwrap();
        let others = other.results(crawl, after, 500).await.unwrap();
        assert_eq!(records.len(), others.len());
        let Some(last) = records.last() else { break };
        after = last.seq;
        for (record, copied) in records.iter().zip(&others) {
            assert_eq!(without_numbers(record), without_numbers(copied));
            let seq = record.seq;
            let bodies = (one.body(crawl, seq).await, other.body(crawl, seq).await);
            assert_eq!(bodies.0.unwrap(), bodies.1.unwrap(), "{}", record.url);
            let kept = (
                one.content(crawl, seq).await,
                other.content(crawl, seq).await,
            );
            assert_eq!(kept.0.unwrap(), kept.1.unwrap(), "{}", record.url);
            let links = |links: Vec<trawl_store::contract::read::StoredLink>| {
                let link = |l: &trawl_store::contract::read::StoredLink| {
                    format!(
                        "{} {:?} {:?} {:?} {}",
                        l.url, l.kind, l.rel, l.place, l.anchor
                    )
                };
                links.iter().map(link).collect::<BTreeSet<_>>()
            };
            let of = one.links_of(crawl, record.page_id).await.unwrap();
            let copied = other.links_of(crawl, copied.page_id).await.unwrap();
            assert_eq!(links(of), links(copied), "{}", record.url);
        }
    }
    assert_eq!(waiting(one, crawl).await, waiting(other, crawl).await);
}

/// URLs that wait, each with its host, place and attempts.
async fn waiting(store: &dyn Store, crawl: CrawlId) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut after = HostId(0);
    loop {
        let hosts = store.pending_hosts(crawl, after, 100).await.unwrap();
        let Some(last) = hosts.last() else { break };
        after = last.id;
        for host in &hosts {
            let urls = store.pending(crawl, host.id, 10_000).await.unwrap();
            for (at, url) in urls.iter().enumerate() {
                let (depth, tries) = (url.depth, url.attempts);
                all.insert(format!(
                    "{} {at} {} {depth} {tries}",
                    host.name, url.address
                ));
            }
        }
    }
    all
}

fn assert_same_store(file: &Path, url: &str, crawls: i64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let one = SqliteStore::open_read_only(file).unwrap();
        let other = open(url).await;
        assert_eq!(one.key_secret().0, other.key_secret().0);
        assert_eq!(other.crawls().await.unwrap().len() as i64, crawls);
        for crawl in 1..=crawls {
            assert_same_crawl(&one, &other, CrawlId(crawl)).await;
        }
        let keys = (one.keys().await.unwrap(), other.keys().await.unwrap());
        assert_eq!(keys.0, keys.1);
    });
}

fn crawl(database: &Path, web: &Web, delay: &str) -> Trawl {
    Trawl::crawl(database, delay)
        .args([
            "--scope",
            "any",
            "--keep",
            "html,markdown",
            "--output",
            "none",
        ])
        .arg(web.url(0, "/"))
}

#[test]
fn a_copy_goes_on_in_postgresql_to_the_same_end() {
    const PAGES: u32 = 250;
    let (_folder, database) = place();
    let web = Web::start(WebSpec::many_hosts(5, PAGES));
    let run = crawl(&database, &web, "10ms").start();
    web.wait_until(|log| log.len() > 80);
    run.signal("-INT");
    run.finish().expect_code(130);
    let url = postgres::database();
    let would = copy(&database, &url).arg("--dry-run").run().expect_code(0);
    assert!(would.stdout.contains("would be copied"), "{}", would.stdout);
    let done = copy(&database, &url).arg("--resume").run().expect_code(0);
    assert!(done.stdout.contains("read back"), "{}", done.stdout);
    assert_same_store(&database, &url, 1);
    let _worker = Worker::start(&url, &[]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let ended = runtime.block_on(async {
        let store = open(&url).await;
        for _ in 0..3_000 {
            let state = store.crawl(CrawlId(1)).await.unwrap().state;
            if state != CrawlState::Running {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the crawl does not end");
    });
    assert_eq!(ended, CrawlState::Completed);
    assert_true_graph(&web, &url, PAGES);
    assert_at_rest(&url);
}

#[test]
fn a_copy_that_is_killed_again_and_again_is_whole_in_the_end() {
    const PAGES: u32 = 1_500;
    let (_folder, database) = place();
    let spec = WebSpec {
        validators: true,
        ..WebSpec::many_hosts(20, PAGES)
    };
    let web = Web::start(spec);
    crawl(&database, &web, "0").run().expect_code(0);
    // Most pages of the second crawl have the bodies of the first.
    web.touch(7);
    crawl(&database, &web, "0").run().expect_code(0);
    Trawl::on("keys", &database)
        .args(["create", "x"])
        .run()
        .expect_code(0);
    let url = postgres::database();
    let mut dice = Dice::new(0x636f_7079);
    let mut kills = 0;
    let done = loop {
        let mut run = copy(&database, &url).arg("--quiet").start();
        // Each gets a little further than the one before.
        thread::sleep(Duration::from_millis(dice.below(60) + 40 * kills));
        if run.has_ended() {
            break Some(run.finish().expect_code(0));
        }
        run.kill();
        kills += 1;
        // Nobody takes what there is for a store before it is one.
        let call = Trawl::new("keys").args(["list", "--database", &url]).run();
        if call.status.success() {
            break None;
        }
        assert_eq!(call.status.code(), Some(4), "{}", call.stderr);
    };
    assert!(kills > 2, "it ends before it can be killed");
    if let Some(done) = done {
        let said = &done.stdout;
        assert!(said.contains("by an earlier attempt"), "{said}");
    }
    assert_same_store(&database, &url, 2);
    let again = copy(&database, &url).run().expect_code(0);
    assert!(
        again.stdout.contains("was copied before"),
        "{}",
        again.stdout
    );
    // A source that has changed since is another one.
    crawl(&database, &web, "0").run().expect_code(0);
    let again = copy(&database, &url).run().expect_code(2);
    assert!(again.stderr.contains("other data"), "{}", again.stderr);
}

#[test]
fn a_file_with_a_map_is_refused_before_anything_is_written() {
    let web = Web::start(WebSpec::small_site(5));
    let seeds = [web.url(0, "/")];
    let map = MapFile::new(&web).quality("site0.test", &seeds);
    map.map().run().expect_code(0);
    let url = postgres::database();
    for args in [&[][..], &["--dry-run"]] {
        let done = copy(&map.database(), &url).args(args).run().expect_code(2);
        let said = &done.stderr;
        assert!(said.contains("terrain maps (crawls 1)"), "{said}");
        assert!(said.contains("stay with it"), "it says what to do: {said}");
        assert_eq!(done.stdout, "");
    }
    // It is still a database with nothing in it.
    let (_folder, database) = place();
    crawl(&database, &web, "0").run().expect_code(0);
    copy(&database, &url).run().expect_code(0);
}

#[test]
fn what_cannot_be_copied_is_refused_with_what_to_do() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(200));
    let run = crawl(&database, &web, "20ms").start();
    web.wait_until(|log| log.len() > 20);
    let url = postgres::database();
    let done = copy(&database, &url).run().expect_code(4);
    assert!(done.stderr.contains("in use"), "{}", done.stderr);
    run.signal("-INT");
    run.finish().expect_code(130);

    let occupied = postgres::database();
    let call = Trawl::new("keys").args(["create", "x", "--database", &occupied]);
    call.run().expect_code(0);
    for args in [&[][..], &["--dry-run"]] {
        let done = copy(&database, &occupied).args(args).run().expect_code(2);
        assert!(done.stderr.contains("other data"), "{}", done.stderr);
        assert!(!done.stderr.contains("s3cret"), "{}", done.stderr);
    }
    let nowhere = folder.path().join("none.db");
    let done = copy(&nowhere, &url).run().expect_code(2);
    assert!(done.stderr.contains("no database"), "{}", done.stderr);
    let done = copy(&database, "other.db").run().expect_code(2);
    assert!(done.stderr.contains("postgres://"), "{}", done.stderr);
}
