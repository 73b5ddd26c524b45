//! Exit codes that scripts can rely on, with a message that says what to do; bad input is found
//! before anything is written or asked for.

use std::fs;

use trawl_testweb::{Behaviour, Behaviours, RobotsKind, Slow, WebSpec};

use crate::harness::{Trawl, Web, place};

/// A URL for calls that must fail before it is asked for: no public address.
const NOWHERE: &str = "http://192.0.2.1/";

#[test]
fn a_crawl_that_ends_by_itself_is_a_success() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(5));
    let done = Trawl::crawl(&database, "0").arg(web.url(0, "/")).run();
    let done = done.expect_code(0);
    assert!(done.stderr.contains("completed"), "{}", done.stderr);
}

#[test]
fn bad_input_is_named_before_a_file_is_made_or_a_server_asked() {
    let web = Web::start(WebSpec::small_site(5));
    let url = web.url(0, "/");
    for (args, names) in [
        (&[][..], "URL"),
        (&["--exclude", "regex:(", &url], "exclude"),
        (&["--include", "regex:[z-a]", &url], "include"),
        (&["--fields", "url,colour", &url], "colour"),
        (&["--seeds", "/nowhere/seeds.txt"], "/nowhere/seeds.txt"),
        (&["--delay", "2 fortnights", &url], "2 fortnights"),
        (&["--timeout", "soon", &url], "soon"),
        (&["--max-body", "big", &url], "big"),
        (&["--max-pages", "0", &url], "max_pages"),
        (&["--concurrency", "0", &url], "concurrency"),
        (&["--strategy", "best-first", &url], "--keywords"),
        (&["--strategy", "sideways", &url], "sideways"),
        (&["--format", "xml", &url], "xml"),
        (&["--header", "no colon", &url], "--header"),
        (&["--allow-network", "127.0.0.0/99", &url], "127.0.0.0/99"),
        (&["--resolve", "nonsense", &url], "nonsense"),
        (&["--timeout", "0s", &url], "--timeout"),
        (&["--delay", "99999h", &url], "--delay"),
        (&["-H", "user-agent: other/1", &url], "--user-agent"),
        (&["-H", "X-A: 1", "-H", "x-a: 2", &url], "twice"),
        (&["--proxy", "gopher://x", &url], "proxy"),
        (&["--ca-cert", "/nowhere/ca.pem", &url], "/nowhere/ca.pem"),
        (&["--user-agent", "/", &url], "user_agent"),
        (&["ftp://example.org/"], "ftp"),
        (&["http://"], "http://"),
        (&["--no-such-flag", &url], "--no-such-flag"),
    ] {
        let (_folder, database) = place();
        let done = Trawl::on("crawl", &database)
            .args(args)
            .run()
            .expect_code(2);
        assert!(done.stderr.contains(names), "{args:?}: {}", done.stderr);
        assert!(done.stdout.is_empty(), "{args:?}: {}", done.stdout);
        assert!(!database.exists(), "{args:?} made a database");
    }
    assert!(web.log().is_empty());
}

#[test]
fn a_crawl_without_a_single_page_says_so() {
    let missing = Behaviours::none().on(0, "/", Behaviour::Status(404));
    let forbidden = Behaviours::none().robots(0, RobotsKind::DisallowAll);
    for behaviours in [missing, forbidden] {
        let (_folder, database) = place();
        let web = Web::start_with(WebSpec::small_site(5), behaviours);
        let done = Trawl::crawl(&database, "0").arg(web.url(0, "/")).run();
        let done = done.expect_code(3);
        assert!(done.stderr.contains("trawl explain"), "{}", done.stderr);
    }
}

#[test]
fn a_list_of_seeds_may_begin_with_a_byte_order_mark_and_must_be_utf_8() {
    let web = Web::start(WebSpec::many_hosts(2, 2));
    let seeds = format!("\u{feff}{}\r\n{}\r\n", web.url(0, "/"), web.url(1, "/"));
    let (folder, database) = place();
    let file = folder.path().join("seeds.txt");
    fs::write(&file, &seeds).unwrap();
    let crawl = || Trawl::crawl(&database, "0").args(["--max-depth", "0"]);
    let from_file = crawl().arg("--seeds").arg(&file).run().expect_code(0);
    assert_eq!(from_file.json_lines().len(), 2, "{}", from_file.stderr);
    let from_pipe = crawl().args(["--seeds", "-"]).input(&seeds);
    assert_eq!(from_pipe.run().expect_code(0).json_lines().len(), 2);
    let latin = b"https://example.org/caf\xe9\n";
    fs::write(&file, latin).unwrap();
    let from_file = crawl().arg("--seeds").arg(&file);
    for call in [from_file, crawl().args(["--seeds", "-"]).input(latin)] {
        let done = call.run().expect_code(2);
        assert!(done.stderr.contains("save it as UTF-8"), "{}", done.stderr);
    }
}

#[test]
fn what_is_refused_for_its_address_or_port_says_which_flag_allows_it() {
    for (url, flag) in [
        ("http://localhost/", "--allow-network"),
        (NOWHERE, "--allow-network"),
        ("http://example.org:81/", "--allow-port 81"),
    ] {
        let (_folder, database) = place();
        let crawl = Trawl::on("crawl", &database).arg(url).run().expect_code(3);
        assert!(crawl.stderr.contains(flag), "{url}: {}", crawl.stderr);
        let explain = Trawl::on("explain", &database).arg(url).run();
        let text = explain.expect_code(0).stdout;
        assert!(text.contains(flag), "{url}: {text}");
    }
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let (_folder, database) = place();
    let text = "not a database, and rather long for a header of one: ".repeat(40);
    fs::write(&database, &text).unwrap();
    for command in ["crawl", "resume", "status", "export"] {
        let mut call = Trawl::on(command, &database);
        if command == "crawl" {
            call = call.arg(NOWHERE);
        }
        let done = call.run().expect_code(4);
        assert!(done.stderr.contains("crawl.db"), "{}", done.stderr);
    }
    assert_eq!(fs::read_to_string(&database).unwrap(), text);
}

#[test]
fn the_database_of_another_program_is_left_as_it_is() {
    let (_folder, database) = place();
    let conn = rusqlite::Connection::open(&database).unwrap();
    conn.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")
        .unwrap();
    drop(conn);
    let before = fs::read(&database).unwrap();
    let done = Trawl::on("crawl", &database).arg(NOWHERE).run();
    let done = done.expect_code(4);
    assert!(
        done.stderr.contains("not a trawl database"),
        "{}",
        done.stderr
    );
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_database_of_a_newer_version_is_left_as_it_is() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(3));
    Trawl::crawl(&database, "0")
        .arg(web.url(0, "/"))
        .run()
        .expect_code(0);
    let conn = rusqlite::Connection::open(&database).unwrap();
    conn.pragma_update(None, "user_version", 999).unwrap();
    drop(conn);
    for command in ["resume", "status", "export"] {
        let done = Trawl::on(command, &database).run().expect_code(4);
        assert!(done.stderr.contains("newer"), "{}", done.stderr);
    }
}

#[test]
fn what_is_not_there_is_bad_input() {
    let (_folder, database) = place();
    for command in ["resume", "status", "export"] {
        let done = Trawl::on(command, &database).run().expect_code(2);
        assert!(done.stderr.contains("no database"), "{}", done.stderr);
    }
    let web = Web::start(WebSpec::small_site(3));
    Trawl::crawl(&database, "0")
        .arg(web.url(0, "/"))
        .run()
        .expect_code(0);
    for command in ["resume", "status", "export"] {
        let done = Trawl::on(command, &database).arg("77").run().expect_code(2);
        assert!(done.stderr.contains("77"), "{}", done.stderr);
    }
}

#[test]
fn a_finished_crawl_cannot_be_resumed() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(3));
    Trawl::crawl(&database, "0")
        .arg(web.url(0, "/"))
        .run()
        .expect_code(0);
    let done = Trawl::on("resume", &database).run().expect_code(2);
    assert!(done.stderr.contains("finished"), "{}", done.stderr);
    let done = Trawl::on("resume", &database).arg("1").run().expect_code(2);
    assert!(done.stderr.contains("completed"), "{}", done.stderr);
    assert_eq!(web.pages_asked().len(), 3);
}

#[test]
fn a_crawl_whose_budget_is_used_up_says_that_a_new_one_is_needed() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec::small_site(30));
    let crawl = Trawl::crawl(&database, "0").args(["--max-pages", "3"]);
    crawl.arg(web.url(0, "/")).run().expect_code(0);
    for number in [None, Some("1")] {
        let done = Trawl::on("resume", &database).args(number).run();
        let done = done.expect_code(2);
        for part in ["completed", "budget of 3 pages", "--max-pages"] {
            assert!(done.stderr.contains(part), "{}", done.stderr);
        }
    }
}

#[test]
fn a_database_without_crawls_says_that_there_is_none() {
    let (_folder, database) = place();
    let keys = Trawl::on("keys", &database).args(["create", "somebody"]);
    keys.run().expect_code(0);
    let done = Trawl::on("resume", &database).run().expect_code(2);
    assert!(done.stderr.contains("no crawl yet"), "{}", done.stderr);
}

#[test]
fn the_second_process_on_a_database_says_who_holds_it() {
    let (_folder, database) = place();
    let silence = Behaviour::Slow(Slow::NoAnswer);
    let web = Web::start_with(
        WebSpec::small_site(5),
        Behaviours::none().on(0, "/", silence),
    );
    let first = Trawl::crawl(&database, "0").arg(web.url(0, "/")).start();
    web.wait_until(|log| log.count(0, "/") > 0);
    for command in ["resume", "crawl"] {
        let mut call = Trawl::on(command, &database);
        if command == "crawl" {
            call = call.arg(NOWHERE);
        }
        let done = call.run().expect_code(4);
        let holder = format!("process {}", first.id());
        assert!(done.stderr.contains(&holder), "{}", done.stderr);
    }
    // Looking is allowed.
    let status = Trawl::on("status", &database).arg("--json").run();
    let status = status.expect_code(0).json_lines();
    assert_eq!(status[0]["state"], "running");
    assert_eq!(status[0]["interrupted"], false);
    Trawl::on("export", &database).run().expect_code(0);
    first.kill();
    // Nobody crawls any more, and nobody could say so.
    let status = Trawl::on("status", &database).run().expect_code(0);
    assert!(status.stdout.contains("interrupted"), "{}", status.stdout);
}
