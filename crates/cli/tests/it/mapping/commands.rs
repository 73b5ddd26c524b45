//! What else `trawl map` does, and how it fails: a clear message, the right code, nothing lost.

use trawl_testweb::{Behaviour, Redirect, WebSpec};

use super::{MapData, MapFile};
use crate::harness::{Trawl, Web};

fn small(pages: u32) -> (Web, MapFile) {
    let web = Web::start(WebSpec::many_hosts(3, pages));
    let map = MapFile::new(&web)
        .max_depth(1)
        .quality("site0.test", &[web.url(0, "/")])
        .stub("site2.test");
    (web, map)
}

#[test]
fn init_writes_a_sample_that_is_valid_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.toml");
    Trawl::new("map")
        .arg("--init")
        .arg(&path)
        .run()
        .expect_code(0);
    Trawl::new("map")
        .arg(&path)
        .arg("--dry-run")
        .run()
        .expect_code(0);
    std::fs::write(&path, "mine").unwrap();
    let again = Trawl::new("map")
        .arg("--init")
        .arg(&path)
        .run()
        .expect_code(2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_dry_run_asks_nobody_and_says_what_would_be_done() {
    let (web, map) = small(6);
    let test = web.url(2, "/x");
    let done = map
        .map()
        .args([
            "--dry-run",
            "--test-url",
            &test,
            "--test-url",
            "ftp://x.test/",
        ])
        .run();
    let said = done.expect_code(0).stdout;
    for part in [
        "1 quality domains, 0 blacklisted, 1 stubbed",
        "site0.test is quality, by site0.test",
        "100 ms",
        "User-Agent      Trawl/",
        "recorded, not visited",
        "only http and https are crawled",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    assert!(web.log().is_empty());
    assert!(!map.database().exists());
}

#[test]
fn bad_configurations_name_file_line_field_and_what_is_allowed() {
    let (_web, map) = small(6);
    let path = map.write();
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, parts) in [
        (
            "max-depth = 1",
            "max-dept = 1",
            &["map.toml:2:", "max-dept", "max-depth"][..],
        ),
        (
            "minimum-time-on-page = 100",
            "minimum-time-on-page = 5",
            &["map.toml:4:", "minimum-time-on-page", "100"],
        ),
        (
            "max-concurrent-pages-open = 20",
            "max-concurrent-pages-open = \"x\"",
            &["map.toml:3:", "max-concurrent-pages-open"],
        ),
        (
            "domain = \"site0.test\"",
            "domain = \"no domain\"",
            &["map.toml:", "domain", "no domain"],
        ),
    ] {
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
        let done = Trawl::new("map").arg(&path).run().expect_code(2);
        for part in parts {
            assert!(
                done.stderr.contains(part),
                "{part:?} is missing in: {}",
                done.stderr
            );
        }
        assert!(!map.database().exists());
    }
    let missing = Trawl::new("map")
        .arg("/no/such/file.toml")
        .run()
        .expect_code(2);
    assert!(missing.stderr.contains("--init"), "{}", missing.stderr);
}

#[test]
fn output_that_cannot_be_written_is_found_before_anybody_is_asked() {
    let (web, map) = small(6);
    let path = map.write();
    let text = std::fs::read_to_string(&path).unwrap();
    let summary = map.summary().display().to_string();
    std::fs::write(&path, text.replace(&summary, "/no/such/folder/summary.md")).unwrap();
    let done = Trawl::new("map").arg(&path).run().expect_code(2);
    assert!(done.stderr.contains("summary-path"), "{}", done.stderr);
    assert!(web.log().is_empty());
}

#[test]
fn no_output_replaces_the_database_or_the_configuration() {
    let (web, map) = small(6);
    let path = map.write();
    let text = std::fs::read_to_string(&path).unwrap();
    let [summary, database] = [map.summary(), map.database()].map(|p| p.display().to_string());
    std::fs::write(&path, text.replace(&summary, &database)).unwrap();
    let done = Trawl::new("map").arg(&path).run().expect_code(2);
    assert!(done.stderr.contains("is the database"), "{}", done.stderr);
    assert!(web.log().is_empty() && !map.database().exists());

    map.map().run().expect_code(0);
    let before = std::fs::read(map.database()).unwrap();
    for flags in [
        &["--export-summary"][..],
        &["--export", "gexf"],
        &["--prospects"],
    ] {
        for target in [map.database(), map.file("map.toml")] {
            let done = map.map().args(flags).arg("--output").arg(&target).run();
            assert!(done.expect_code(2).stderr.contains("of the map"));
        }
    }
    assert_eq!(std::fs::read(map.database()).unwrap(), before);
}

#[test]
fn a_database_that_cannot_be_used_is_said_to_be_so_and_left_alone() {
    let (web, map) = small(6);
    for bytes in [
        &b"this is no database, and long enough to look like a file of its own"[..],
        &[0; 4096],
    ] {
        std::fs::write(map.database(), bytes).unwrap();
        map.map().run().expect_code(4);
        map.map().arg("--export-summary").run().expect_code(4);
        assert_eq!(std::fs::read(map.database()).unwrap(), bytes);
    }
    std::fs::remove_file(map.database()).unwrap();
    let none = map.map().arg("--stats").run().expect_code(2);
    assert!(
        none.stderr.contains("there is no database"),
        "{}",
        none.stderr
    );
    assert!(web.log().is_empty());
}

#[test]
fn a_seed_that_redirects_into_the_blacklist_is_recorded_and_nothing_more() {
    let web = Web::start(WebSpec::many_hosts(2, 4));
    web.on(
        0,
        "/start",
        Behaviour::Redirect(Redirect::to(&web.url(1, "/bad"))),
    );
    let map = MapFile::new(&web)
        .quality("site0.test", &[web.url(0, "/start")])
        .blacklist("site1.test");
    let done = map.map().run().expect_code(3);
    assert!(done.stderr.contains("not one page"), "{}", done.stderr);
    assert!(!done.stderr.contains("successfully"), "{}", done.stderr);
    let data = MapData::open(&map.database());
    assert_eq!(data.references("blacklisted_urls")[&web.url(1, "/bad")], 1);
    assert!(web.log().of_host(1).is_empty());
    assert!(map.summary().exists());
}

#[test]
fn an_interrupted_run_writes_its_summary_and_is_resumed() {
    let (web, map) = small(300);
    let run = map.map().start();
    web.wait_until(|log| log.len() > 10);
    run.signal("-INT");
    let done = run.finish().expect_code(130);
    assert!(
        done.stderr.contains("Go on with: trawl map"),
        "{}",
        done.stderr
    );
    let summary = std::fs::read_to_string(map.summary()).unwrap();
    assert!(summary.contains("**Status:** Interrupted"), "{summary}");
    let data = MapData::open(&map.database());
    assert_eq!(
        data.number("SELECT count(*) FROM runs WHERE status = 'interrupted'"),
        1
    );
    assert!(data.number("SELECT count(*) FROM frontier") > 0);

    // A changed configuration is noticed; the run ends as it began.
    let changed = map.max_depth(0);
    let done = changed.map().arg("--resume").run().expect_code(0);
    for part in [
        "Found interrupted run #1",
        "max-depth was 1, is now 0",
        "--fresh",
    ] {
        assert!(
            done.stderr.contains(part),
            "{part:?} is missing in: {}",
            done.stderr
        );
    }
    assert_eq!(
        data.number("SELECT count(*) FROM runs WHERE status = 'completed'"),
        1
    );
    assert!(data.number("SELECT max(depth) FROM page_depths") > 0);
}

#[test]
fn people_can_query_a_map_while_it_grows() {
    let (web, map) = small(300);
    let run = map.map().start();
    let mut seen = 0;
    for requests in [10, 20, 30, 40] {
        web.wait_until(|log| log.len() > requests);
        let data = MapData::open(&map.database());
        let pages = data.number("SELECT count(*) FROM pages WHERE state = 'Processed'");
        assert!(pages >= seen, "{pages} after {seen}");
        seen = pages;
        for view in [
            "page_depths",
            "links",
            "stubbed_urls",
            "domain_states",
            "frontier",
            "runs",
        ] {
            assert!(
                data.number(&format!("SELECT count(*) FROM {view}")) > 0,
                "{view}"
            );
        }
        assert_eq!(map.map().arg("--stats").run().expect_code(0).stderr, "");
    }
    run.signal("-INT");
    run.finish().expect_code(130);
}

#[test]
fn a_fresh_run_keeps_the_history_and_gives_up_the_interrupted_one() {
    let (web, map) = small(300);
    let run = map.map().start();
    web.wait_until(|log| log.len() > 10);
    run.signal("-INT");
    run.finish().expect_code(130);
    let run = map.map().arg("--fresh").start();
    let before = web.log().len();
    web.wait_until(|log| log.len() > before + 5);
    run.signal("-INT");
    run.finish().expect_code(130);
    let data = MapData::open(&map.database());
    assert_eq!(data.number("SELECT count(*) FROM runs"), 2);
    assert_eq!(
        data.number("SELECT count(DISTINCT discovered_run) FROM pages WHERE last_run = 2"),
        1
    );
    let done = map
        .map()
        .args(["--stats", "--run", "1"])
        .run()
        .expect_code(0);
    assert!(
        done.stdout.starts_with("Run #1 cancelled"),
        "{}",
        done.stdout
    );
}

#[test]
fn every_view_of_a_map_can_be_written() {
    let (_web, map) = small(30);
    map.map().run().expect_code(0);
    for format in ["graphml", "gexf", "json"] {
        for level in ["page", "host", "site"] {
            let path = map.file(&format!("{level}.{format}"));
            let args = ["--export", format, "--level", level, "--output"];
            map.map().args(args).arg(&path).run().expect_code(0);
            assert!(std::fs::metadata(&path).unwrap().len() > 200, "{path:?}");
        }
    }
    let folder = map.file("csv");
    map.map()
        .args(["--export", "csv", "--output"])
        .arg(&folder)
        .run()
        .expect_code(0);
    let nodes = std::fs::read_to_string(folder.join("nodes.csv")).unwrap();
    assert_eq!(nodes.lines().count(), 4, "{nodes}");
    let nodes = map
        .map()
        .args(["--export", "json", "--class", "stubbed", "--output", "-"])
        .run();
    let nodes: serde_json::Value = serde_json::from_str(&nodes.expect_code(0).stdout).unwrap();
    assert_eq!(nodes["nodes"].as_array().unwrap().len(), 1, "{nodes}");
    for format in ["markdown", "json", "html"] {
        map.map()
            .args(["--export-summary", "--format", format])
            .run()
            .expect_code(0);
    }
    assert!(map.file("summary.html").exists() && map.file("summary.json").exists());
    let found = map.map().args(["--prospects"]).run().expect_code(0).stdout;
    assert!(
        found.contains("site1.test") && found.contains("[[quality]]"),
        "{found}"
    );
    let wrong = map.map().args(["--diff", "1", "7"]).run().expect_code(2);
    assert!(
        wrong.stderr.starts_with("trawl: there is no run 7"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn piped_progress_is_lines_and_quiet_is_quiet() {
    let (_web, map) = small(12);
    let done = map.map().arg("-v").run().expect_code(0);
    for part in [
        "[INFO] Loaded configuration with 1 quality domains, 0 blacklisted, 1 stubbed",
        "[INFO] Starting run #1",
        "[INFO] Seeding frontier with 1 URLs",
        "[INFO] Discovered ",
        "[INFO] Run #1 completed successfully",
        "[INFO] Summary written to ",
    ] {
        assert!(
            done.stderr.contains(part),
            "{part:?} is missing in: {}",
            done.stderr
        );
    }
    let done = map.map().arg("-q").run().expect_code(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
}
