//! Crawl, index, search: by words, without a model, on the real binary.

use std::path::Path;

use serde_json::Value;
use trawl_testweb::{Behaviours, WebSpec};

use crate::harness::{
    Trawl, Web,
    harbour::{NETS, STORMS, TIDES, page},
    place,
};

fn web(extra: Behaviours) -> Web {
    let links = "<a href='/nets'>nets</a> <a href='/tides'>tides</a> <a href='/storms'>storms</a>";
    let behaviours = extra
        .on(0, "/", page("The harbour", &format!("Read about the harbour here, in this small guide of three pages for visitors. {links}")))
        .on(0, "/tides", page("Tides", TIDES))
        .on(0, "/storms", page("Storms", STORMS));
    Web::start_with(WebSpec::many_hosts(1, 1), behaviours)
}

fn crawl(web: &Web, database: &Path, keep: &[&str]) {
    let command = Trawl::crawl(database, "0").args(["--output", "none"]);
    let command = command.args(keep).arg(web.url(0, "/"));
    command.run().expect_code(0);
}

fn index(database: &Path) -> String {
    let done = Trawl::on("index", database).args(["--model", "none"]).run();
    done.expect_code(0).stderr
}

fn search(database: &Path, query: &str) -> Vec<Value> {
    let done = Trawl::on("search", database)
        .args(["--json", "--model", "none", query])
        .run();
    let lines = done.json_lines();
    lines[0]["results"].as_array().unwrap().clone()
}

fn urls(results: &[Value]) -> Vec<String> {
    let path = |hit: &Value| {
        let url = hit["url"].as_str().unwrap();
        format!("/{}", url.rsplit('/').next().unwrap())
    };
    results.iter().map(path).collect()
}

#[test]
fn what_was_crawled_can_be_searched() {
    let web = web(Behaviours::none().on(0, "/nets", page("Nets", NETS)));
    for keep in ["markdown", "html"] {
        let (_folder, database) = place();
        crawl(&web, &database, &["--keep", keep]);
        index(&database);
        let hits = search(&database, "mending a fishing net");
        assert_eq!(urls(&hits)[0], "/nets", "{keep}");
        let content: Vec<char> = hits[0]["content"].as_str().unwrap().chars().collect();
        let range = &hits[0]["highlights"][0];
        let (from, to) = (
            range[0].as_u64().unwrap() as usize,
            range[1].as_u64().unwrap() as usize,
        );
        let word: String = content[from..to].iter().collect();
        assert!(
            ["Nets", "Fishing", "nets", "mended"].contains(&word.as_str()),
            "{word}"
        );
        assert_eq!(urls(&search(&database, "\"high water\"")), ["/tides"]);
        assert!(search(&database, "\"water high\"").is_empty());
        assert!(!urls(&search(&database, "harbour -tide")).contains(&"/tides".to_owned()));
    }
}

#[test]
fn without_content_it_is_said_what_to_do() {
    let web = web(Behaviours::none().on(0, "/nets", page("Nets", NETS)));
    let (_folder, database) = place();
    crawl(&web, &database, &[]);
    let said = index(&database);
    assert!(said.contains("--keep markdown"), "{said}");
    let missing = Trawl::on("search", Path::new("nowhere.db"))
        .arg("word")
        .run();
    assert!(missing.expect_code(2).stderr.contains("trawl index"));
}

#[test]
fn a_second_index_run_reads_only_what_is_new() {
    let first = web(Behaviours::none().on(0, "/nets", page("Nets", NETS)));
    let (_folder, database) = place();
    crawl(&first, &database, &["--keep", "markdown"]);
    index(&database);
    let again = index(&database);
    assert!(again.contains("0 added, 0 changed"), "{again}");
    assert_eq!(search(&database, "twine").len(), 1);
}
