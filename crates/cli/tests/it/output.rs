//! Results in every format, in pipes, files and folders: one record for each page, nothing else.

use std::{collections::HashSet, fs};

use serde_json::Value;
use trawl_testweb::{Behaviour, Behaviours, Slow, WebSpec};

use crate::harness::{Done, Trawl, Web, place};

const PAGES: usize = 40;

fn urls(records: &[Value]) -> HashSet<String> {
    let url = |record: &Value| record["url"].as_str().unwrap().to_owned();
    records.iter().map(url).collect()
}

fn crawl_with(web: &Web, args: &[&str]) -> Done {
    let (_folder, database) = place();
    let call = Trawl::crawl(&database, "0").args(args).arg(web.url(0, "/"));
    call.run().expect_code(0)
}

#[test]
fn a_pipe_gets_one_json_object_on_a_line_for_each_page_and_nothing_else() {
    let web = Web::start(WebSpec::small_site(PAGES as u32));
    let records = crawl_with(&web, &[]).json_lines();
    assert_eq!((records.len(), urls(&records).len()), (PAGES, PAGES));
    for (at, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], at as u64 + 1);
        assert_eq!(record["outcome"], "fetched");
        assert_eq!(record["status_code"], 200);
        assert!(record["title"].is_string() && record["crawled_at"].is_string());
        assert!(record.get("links").is_none(), "links are for those who ask");
    }
}

#[test]
fn quiet_means_silence_on_standard_error() {
    let web = Web::start(WebSpec::small_site(5));
    let done = crawl_with(&web, &["--quiet"]);
    assert_eq!(done.stderr, "");
    assert_eq!(done.json_lines().len(), 5);
}

#[test]
fn without_a_terminal_no_control_characters_are_written() {
    let web = Web::start(WebSpec::small_site(5));
    let done = crawl_with(&web, &[]);
    assert!(!done.stderr.contains('\x1b') && !done.stdout.contains('\x1b'));
    assert!(done.stderr.contains("5  pages"), "{}", done.stderr);
}

#[test]
fn each_format_holds_every_page() {
    let web = Web::start(WebSpec::small_site(PAGES as u32));
    let json = crawl_with(&web, &["--format", "json"]);
    let json: Vec<Value> = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(urls(&json).len(), PAGES);
    let lines = crawl_with(&web, &["--format", "urls"]);
    let lines: HashSet<&str> = lines.stdout.lines().collect();
    assert_eq!(lines.len(), PAGES);
    assert!(lines.iter().all(|line| web.page_of(line).is_some()));
    let csv = crawl_with(&web, &["--format", "csv", "--fields", "url,status_code"]);
    let mut rows: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(rows.remove(0), r#""url","status_code""#);
    assert_eq!(rows.len(), PAGES);
    let whole = |row: &&str| row.starts_with(r#""http"#) && row.ends_with(r#"","200""#);
    assert!(rows.iter().all(whole), "every cell is quoted");
}

#[test]
fn fields_choose_and_never_rename() {
    let web = Web::start(WebSpec::small_site(10));
    let records = crawl_with(&web, &["--fields", "depth,url,links"]).json_lines();
    let graph = web.graph();
    for record in &records {
        let names: Vec<&String> = record.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 3, "{names:?}");
        let page = web.page_of(record["url"].as_str().unwrap()).unwrap();
        let links: HashSet<u32> = record["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| web.page_of(link["url"].as_str().unwrap()).unwrap())
            .collect();
        assert_eq!(links, graph.links(page).iter().copied().collect());
    }
}

#[test]
fn a_file_takes_its_format_from_its_ending_and_standard_output_stays_empty() {
    let web = Web::start(WebSpec::small_site(10));
    let (folder, _) = place();
    for (name, begins) in [
        ("pages.ndjson", "{\""),
        ("pages.json", "[\n{\""),
        ("pages.csv", "\"url\",\"final_url\","),
        ("pages.txt", "http://site0.test:"),
    ] {
        let path = folder.path().join(name);
        let done = crawl_with(&web, &["--output", path.to_str().unwrap()]);
        assert_eq!(done.stdout, "");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(begins), "{name}: {text}");
    }
}

#[test]
fn a_folder_gets_pages_and_links() {
    let web = Web::start(WebSpec::small_site(30));
    let (folder, _) = place();
    let results = format!("{}/results/", folder.path().display());
    crawl_with(&web, &["--output", &results]);
    let read = |name: &str| fs::read_to_string(format!("{results}{name}")).unwrap();
    assert_eq!(read("pages.ndjson").lines().count(), 30);
    let edge = |line: &str| {
        let link: Value = serde_json::from_str(line).unwrap();
        let page = |end: &str| web.page_of(link[end].as_str().unwrap()).unwrap();
        (page("from"), page("to"))
    };
    let edges: HashSet<(u32, u32)> = read("links.ndjson").lines().map(edge).collect();
    assert_eq!(edges, web.graph().edges().collect());
}

#[test]
fn nothing_of_the_database_is_written_over() {
    let web = Web::start(WebSpec::small_site(5));
    let (folder, database) = place();
    let call = Trawl::crawl(&database, "0").args(["--keep", "html"]);
    call.arg(web.url(0, "/")).run().expect_code(0);
    let name = |ending: &str| format!("{}{ending}", database.display());
    let whole = fs::read(&database).unwrap();
    let again = web.url(0, "/");
    for ending in [
        "",
        "-wal",
        "-shm",
        ".lock",
        "-bodies",
        "-bodies/",
        "-bodies/x.csv",
    ] {
        let output = name(ending);
        for (command, url) in [("export", None), ("crawl", Some(&again)), ("resume", None)] {
            let call = Trawl::on(command, &database).args(["--output", &output]);
            let done = call.args(url).run().expect_code(2);
            let right = done.stderr.contains("belongs to the database")
                // Every crawl is finished, which is found first.
                || command == "resume" && done.stderr.contains("nothing to resume");
            assert!(right, "{command} {ending}: {}", done.stderr);
        }
    }
    assert_eq!(fs::read(&database).unwrap(), whole);
    let bodies = fs::read_dir(name("-bodies")).unwrap();
    assert!(
        bodies
            .flatten()
            .all(|file| file.metadata().unwrap().len() > 0)
    );
    let spare = folder.path().join("crawl.db.csv");
    let call = Trawl::on("export", &database).arg("--output").arg(&spare);
    call.run().expect_code(0);
    assert_eq!(fs::read_to_string(&spare).unwrap().lines().count(), 6);
}

#[test]
fn a_crawl_that_is_refused_leaves_the_output_of_the_one_that_runs_as_it_is() {
    let silence = Behaviour::Slow(Slow::NoAnswer);
    let behaviours = Behaviours::none().on(0, "/p/1", silence);
    let web = Web::start_with(WebSpec::small_site(20), behaviours);
    let (folder, database) = place();
    let file = folder.path().join("pages.ndjson");
    fs::write(&file, "old\n").unwrap();
    let crawl = |url| {
        Trawl::crawl(&database, "0")
            .arg("--output")
            .arg(&file)
            .arg(url)
    };
    let run = crawl(web.url(0, "/")).start();
    // Its output has begun once something is in it.
    web.wait_until(|log| log.count(0, "/p/1") > 0);
    web.wait_until(|_| fs::read(&file).is_ok_and(|text| text.starts_with(b"{")));
    let before = fs::read(&file).unwrap();
    crawl(web.url(0, "/")).run().expect_code(4);
    let after = fs::read(&file).unwrap();
    assert!(after.starts_with(&before), "nothing was cut off");
    run.signal("-KILL");
    run.finish();
}

#[test]
fn an_output_that_cannot_be_written_is_bad_input() {
    let web = Web::start(WebSpec::small_site(5));
    let (_folder, database) = place();
    let call = Trawl::crawl(&database, "0").args(["--output", "/nowhere/at/all.ndjson"]);
    let done = call.arg(web.url(0, "/")).run().expect_code(2);
    assert!(
        done.stderr.contains("/nowhere/at/all.ndjson"),
        "{}",
        done.stderr
    );
    assert!(web.log().is_empty(), "nothing is asked for in vain");
}

#[test]
fn output_that_fails_is_named_and_the_crawl_can_go_on() {
    for quiet in [false, true] {
        let web = Web::start(WebSpec::small_site(60));
        let (_folder, database) = place();
        let call = Trawl::crawl(&database, "10ms").args(["--output", "/dev/full"]);
        let call = call.args(quiet.then_some("--quiet"));
        let done = call.arg(web.url(0, "/")).run().expect_code(1);
        let go_on = format!("trawl resume 1 --database {}", database.display());
        for part in ["cannot write to /dev/full: No space left", &go_on] {
            assert!(done.stderr.contains(part), "{}", done.stderr);
        }
        let call = Trawl::on("resume", &database).args(["1", "--output", "none"]);
        call.run().expect_code(0);
        assert_eq!(web.pages_asked().len(), 60);
    }
}

#[test]
fn a_reader_that_leaves_pauses_the_crawl_and_is_no_error_of_an_export() {
    for format in ["ndjson", "csv"] {
        let web = Web::start(WebSpec::small_site(400));
        let (_folder, database) = place();
        let call = Trawl::crawl(&database, "1ms").args(["--format", format]);
        let done = call.arg(web.url(0, "/")).run_unheard().expect_code(130);
        let go_on = format!("trawl resume 1 --database {}", database.display());
        assert!(done.stderr.contains(&go_on), "{}", done.stderr);
        Trawl::on("resume", &database).run().expect_code(0);
        let call = Trawl::on("export", &database).args(["--format", format]);
        let done = call.run_unheard().expect_code(0);
        assert_eq!(done.stderr, "", "more than any buffer holds, for nobody");
    }
}

#[test]
fn nowhere_is_no_file() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(5));
    let nowhere = |call: Trawl| call.args(["--output", "none"]).inside(folder.path());
    let crawl = nowhere(Trawl::crawl(&database, "0")).arg(web.url(0, "/"));
    let crawl = crawl.run().expect_code(0);
    let export = nowhere(Trawl::on("export", &database)).run().expect_code(0);
    assert_eq!(
        (crawl.stdout, export.stdout),
        (String::new(), String::new())
    );
    assert!(!folder.path().join("none").exists());
}

#[test]
fn export_writes_what_the_crawl_wrote() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::many_hosts(3, 60));
    let crawl = Trawl::crawl(&database, "0").args(["--scope", "any"]);
    let crawl = crawl.arg(web.url(0, "/")).run().expect_code(0);
    let export = Trawl::on("export", &database).run().expect_code(0);
    assert_eq!(sorted(&export), sorted(&crawl));
    assert_eq!(sorted(&export).len(), 60);
}

/// Depths and parents may have become shorter since a line was written.
fn sorted(done: &Done) -> Vec<(u64, String)> {
    let key = |record: &Value| {
        let url = record["url"].as_str().unwrap().to_owned();
        (record["seq"].as_u64().unwrap(), url)
    };
    let mut keys: Vec<_> = done.json_lines().iter().map(key).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn status_counts_what_was_found() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::many_hosts(3, 60));
    let crawl = Trawl::crawl(&database, "0").args(["--scope", "any", "--name", "three hosts"]);
    crawl.arg(web.url(0, "/")).run().expect_code(0);
    let status = Trawl::on("status", &database).arg("--json").run();
    let status = &status.expect_code(0).json_lines()[0];
    assert_eq!(status["name"], "three hosts");
    assert_eq!(status["state"], "completed");
    assert_eq!(status["results"], 60);
    let counts = &status["counts"];
    assert_eq!(counts["pages"], 60);
    assert_eq!(counts["hosts"], 3);
    assert_eq!(counts["pending"], 0);
    assert_eq!(counts["edges"], web.graph().edge_count());
    assert_eq!(counts["outcomes"]["fetched"], 60);
    let text = Trawl::on("status", &database).run().expect_code(0).stdout;
    assert!(
        text.contains("completed") && text.contains("three hosts"),
        "{text}"
    );
    let full = Trawl::on("status", &database).arg("1").run().expect_code(0);
    let why = "completed: nothing is left to visit";
    assert!(full.stdout.contains(why), "{}", full.stdout);
}

#[test]
fn what_a_page_says_cannot_act_on_the_terminal() {
    let (_folder, database) = place();
    let evil = "<!doctype html><title>\x1b[2Jgone\x07</title><p>x";
    let behaviours =
        trawl_testweb::Behaviours::none().on(0, "/", trawl_testweb::Behaviour::page(evil));
    let web = Web::start_with(WebSpec::small_site(1), behaviours);
    let done = Trawl::crawl(&database, "0")
        .arg(web.url(0, "/"))
        .run()
        .expect_code(0);
    assert!(!done.stdout.contains('\x1b') && !done.stderr.contains('\x1b'));
    let explain = Trawl::on("explain", &database).arg(web.url(0, "/")).run();
    let text = explain.expect_code(0).stdout;
    assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
}
