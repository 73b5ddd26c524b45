//! Pages go back into the queue, content is made anew, figures are counted anew.

use std::path::Path;

use serde_json::Value;
use trawl_testweb::{Behaviour, Behaviours, WebSpec};

use super::{admin, admin_on};
use crate::harness::{Snapshot, Trawl, Web, place, postgres};

fn crawl(database: &Path, url: &str, keep: &str) {
    let call = Trawl::crawl(database, "0").args(["--keep", keep, "--output", "none"]);
    let call = call.args(["--attempts", "1"]);
    call.arg(url).run().expect_code(0);
}

fn texts(database: &Path) -> Vec<Value> {
    let call = Trawl::on("export", database).args(["--fields", "url,seq,html,markdown,text"]);
    call.run().expect_code(0).json_lines()
}

#[test]
fn pages_that_failed_are_visited_again_and_the_log_keeps_both_visits() {
    let (_folder, database) = place();
    let flapping = Behaviour::Flapping {
        failures: 1,
        status: 500,
    };
    let behaviours = Behaviours::none().on(0, "/late", flapping);
    let web = Web::start_with(WebSpec::small_site(5), behaviours);
    let seeds = [web.url(0, "/"), web.url(0, "/late")];
    let call = Trawl::crawl(&database, "0").args(["--attempts", "1", "--output", "none"]);
    call.args(&seeds).run().expect_code(0);
    let requeue = |args: &[&str]| {
        let done = admin_on("requeue", &database).args(args).run();
        done.expect_code(0).stdout
    };
    let said = requeue(&["--dry-run"]);
    assert!(said.starts_with("1 pages"), "{said}");
    let none = requeue(&["--dry-run", "--since", "2100-01-01"]);
    assert!(none.starts_with("0 pages"), "{none}");
    let none = requeue(&["--dry-run", "--domain", "other.test"]);
    assert!(none.starts_with("0 pages"), "{none}");
    let all = requeue(&["--dry-run", "--state", "all"]);
    assert!(all.starts_with("6 pages"), "{all}");
    Trawl::on("resume", &database).run().expect_code(2);
    assert!(requeue(&["--crawl", "1"]).contains("trawl resume 1"));
    let resumed = Trawl::on("resume", &database).run().expect_code(0);
    let [again] = resumed.json_lines().try_into().unwrap();
    assert_eq!(again["outcome"], "fetched", "{again}");
    let log = texts(&database);
    assert_eq!(log.len(), 7);
    let done = admin_on("requeue", &database).args(["--crawl", "7"]).run();
    assert!(done.expect_code(2).stderr.contains("no crawl 7"));
}

#[test]
fn content_is_made_anew_of_stored_pages_without_asking_the_web() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(12));
    crawl(&database, &web.url(0, "/"), "html,markdown");
    Trawl::on("index", &database)
        .args(["--languages", "all", "--model", "none"])
        .run()
        .expect_code(0);
    let asked = web.log().len();
    let replay = |args: &[&str]| {
        let done = admin_on("replay", &database).args(args).run();
        done.expect_code(0).stdout
    };
    let same = replay(&[]);
    assert!(same.starts_with("0 pages got"), "{same}");
    assert_eq!(
        texts(&database).len(),
        12,
        "what is the same is not written"
    );
    let would = replay(&["--keep", "markdown,text", "--dry-run"]);
    assert!(would.starts_with("12 pages would get"), "{would}");
    assert_eq!(texts(&database).len(), 12);
    let done = replay(&["--keep", "markdown,text"]);
    assert!(done.starts_with("12 pages got"), "{done}");
    assert_eq!(web.log().len(), asked, "nothing was asked of the web");
    let log = texts(&database);
    assert_eq!(log.len(), 24);
    for (old, new) in log[..12].iter().zip(&log[12..]) {
        assert_eq!(old["url"], new["url"]);
        assert_eq!(old["html"], new["html"]);
        assert_eq!(old["markdown"], new["markdown"]);
        assert!(old["text"].is_null() && new["text"].is_string(), "{new}");
    }
    let done = Trawl::on("index", &database)
        .args(["--languages", "all", "--model", "none"])
        .run()
        .expect_code(0);
    assert!(done.stderr.contains("12 documents"), "{}", done.stderr);
    let check = admin_on("rebuild", &database).arg("--check").run();
    check.expect_code(0);
}

#[test]
fn a_crawl_that_kept_nothing_to_make_content_of_says_what_to_do() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(3));
    crawl(&database, &web.url(0, "/"), "html");
    let done = admin_on("replay", &database).run().expect_code(2);
    assert!(done.stderr.contains("--keep"), "{}", done.stderr);
}

#[test]
fn figures_that_are_wrong_are_found_and_put_right() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(12));
    crawl(&database, &web.url(0, "/"), "markdown");
    let rebuild = |args: &[&str]| admin_on("rebuild", &database).args(args).run();
    rebuild(&["--check"]).expect_code(0);
    {
        let conn = rusqlite::Connection::open(&database).unwrap();
        conn.execute_batch(
            "UPDATE crawls SET done = 5, pages = 99;
             UPDATE tallies SET total = 3 WHERE name = 'fetched'",
        )
        .unwrap();
    }
    let said = rebuild(&["--check"]).expect_code(1).stdout;
    assert!(said.contains("done is said to be 5, and is 12"), "{said}");
    assert!(
        said.contains("fetched is said to be 3, and is 12"),
        "{said}"
    );
    let said = rebuild(&[]).expect_code(0).stdout;
    assert!(said.contains("3 figures were put right"), "{said}");
    rebuild(&["--check"]).expect_code(0);
    Snapshot::of(&database).assert_sound();
}

#[test]
fn the_search_index_is_made_anew() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(12));
    crawl(&database, &web.url(0, "/"), "markdown");
    let index = format!("{}.search", database.display());
    std::fs::write(&index, "not an index").unwrap();
    let args = ["--index", "--languages", "all", "--model", "none"];
    admin_on("rebuild", &database)
        .args(args)
        .run()
        .expect_code(0);
    let hits = Trawl::on("search", &database)
        .args(["--json", "page"])
        .run();
    assert!(!hits.expect_code(0).stdout.is_empty());
    let done = admin_on("rebuild", "postgres://127.0.0.1:1/x")
        .arg("--index")
        .run();
    let done = done.expect_code(2);
    assert!(done.stderr.contains("--index"), "{}", done.stderr);
}

#[test]
fn the_search_index_beside_postgresql_is_made_anew() {
    let (folder, file) = place();
    let web = Web::start(WebSpec::small_site(12));
    crawl(&file, &web.url(0, "/"), "markdown");
    let database = postgres::database();
    let from = format!("sqlite:{}", file.display());
    let copied = admin("copy").args(["--from", &from, "--to", &database]);
    copied.run().expect_code(0);
    let index = folder.path().join("beside.search");
    let rebuild = |args: &[&str]| {
        let call = admin_on("rebuild", &database).args(["--index", "--search-index"]);
        let call = call
            .arg(&index)
            .args(["--languages", "all", "--model", "none"]);
        call.args(args).run()
    };
    let made = rebuild(&[]).expect_code(0).stdout;
    assert!(made.contains("made anew, of 12 documents"), "{made}");
    for check in ["--check", "--dry-run"] {
        let would = rebuild(&[check]).expect_code(0).stdout;
        assert!(would.contains("of 12 documents, would be"), "{would}");
    }
    let made = rebuild(&[]).expect_code(0).stdout;
    assert!(made.contains("made anew, of 12 documents"), "{made}");
    let other = postgres::database();
    let call = admin_on("rebuild", &other).args(["--index", "--search-index"]);
    let made = Trawl::on("keys", Path::new(&other)).args(["create", "somebody"]);
    made.run().expect_code(0);
    let call = call.arg(&index).args(["--model", "none"]).run();
    assert!(
        call.stderr.contains("made from another database"),
        "{}",
        call.stderr
    );
}
