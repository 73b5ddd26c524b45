//! Ctrl-C once stops cleanly and loses nothing; twice leaves at once.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use trawl_testweb::{Behaviour, Behaviours, Slow, WebSpec};

use crate::harness::{Snapshot, Trawl, Web, place};

#[test]
fn the_first_signal_stops_cleanly_and_resume_asks_for_nothing_twice() {
    for signal in ["-INT", "-TERM"] {
        let (_folder, database) = place();
        let web = Web::start(WebSpec::many_hosts(4, 200));
        let call = Trawl::crawl(&database, "15ms").args(["--scope", "any"]);
        let run = call.arg(web.url(0, "/")).start();
        web.wait_until(|log| log.len() > 40);
        run.signal(signal);
        let first = run.finish().expect_code(130);
        assert!(first.stderr.contains("trawl resume"), "{}", first.stderr);
        let status = Trawl::on("status", &database).arg("--json").run();
        assert_eq!(status.expect_code(0).json_lines()[0]["state"], "paused");
        let asked = web.pages_asked().len();
        assert!(asked < 200, "it stopped before the end");
        assert_eq!(
            first.json_lines().len(),
            asked,
            "what was asked for is written"
        );
        let second = Trawl::on("resume", &database).run().expect_code(0);
        assert_eq!(
            second.json_lines().len(),
            200 - asked,
            "the pipe gets the rest"
        );
        let pages = web.pages_asked();
        let distinct: HashSet<_> = pages.iter().map(|r| (r.host, r.path())).collect();
        assert_eq!((pages.len(), distinct.len()), (200, 200));
        for host in 0..4 {
            let gap = web.log().min_gap(host).unwrap();
            assert!(gap >= Duration::from_millis(15), "{gap:?}");
        }
    }
}

#[test]
fn the_command_to_go_on_names_the_crawl_and_a_shell_can_read_it() {
    let (folder, _) = place();
    let database = folder.path().join("my crawl's.db");
    let word = format!(
        "'{}'",
        database.display().to_string().replace('\'', r"'\''")
    );
    let go_on = format!("trawl resume 1 --database {word}");
    let web = Web::start(WebSpec::small_site(400));
    let interrupted = |call: Trawl| {
        let before = web.log().len();
        let run = call.start();
        web.wait_until(|log| log.len() > before + 5);
        run.signal("-INT");
        run.finish().expect_code(130)
    };
    let crawl = || Trawl::crawl(&database, "15ms").arg(web.url(0, "/"));
    let first = interrupted(crawl());
    let wanted = format!("Go on with: {go_on}\n");
    assert!(first.stderr.ends_with(&wanted), "{}", first.stderr);
    let second = interrupted(crawl());
    let other = format!("{go_on} goes on with it");
    assert!(second.stderr.contains(&other), "{}", second.stderr);
    // The last unfinished crawl is another one by now.
    let again = interrupted(Trawl::on("resume", &database).arg("1"));
    assert!(again.stderr.ends_with(&wanted), "{}", again.stderr);
    assert!(!again.stderr.contains("resume 2"), "{}", again.stderr);
}

#[test]
fn a_signal_that_arrives_twice_at_once_was_meant_once() {
    let (_folder, database) = place();
    let web = Web::start(WebSpec {
        latency: Duration::from_millis(900),
        ..WebSpec::small_site(20)
    });
    let run = Trawl::crawl(&database, "0").arg(web.url(0, "/")).start();
    web.wait_until(|log| log.count(0, "/") > 0);
    run.signal("-INT");
    thread::sleep(Duration::from_millis(20));
    run.signal("-INT");
    let done = run.finish().expect_code(130);
    assert!(!done.stderr.contains("left at once"), "{}", done.stderr);
    assert_eq!(done.json_lines().len(), 1, "the answer was awaited");
}

#[test]
fn an_interrupted_file_is_whole_after_resume() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(60));
    let file = folder.path().join("pages.json");
    let call = Trawl::crawl(&database, "10ms").arg("--output").arg(&file);
    let run = call.arg(web.url(0, "/")).start();
    web.wait_until(|log| log.len() > 15);
    run.signal("-INT");
    run.finish().expect_code(130);
    let call = Trawl::on("resume", &database).arg("--output").arg(&file);
    call.run().expect_code(0);
    let records: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(records.len(), 60);
}

#[test]
fn the_second_signal_leaves_at_once_also_when_only_the_output_is_left() {
    let (_folder, database) = place();
    // More than a pipe holds, and nobody reads it.
    let web = Web::start(WebSpec::small_site(600));
    let call = Trawl::crawl(&database, "0").args(["--per-host", "4"]);
    let run = call.arg(web.url(0, "/")).start_unread();
    let state = || {
        let status = Trawl::on("status", &database).arg("--json").run();
        status.json_lines()[0]["state"].clone()
    };
    web.wait_until(|log| log.len() > 600);
    while state() != "completed" {
        thread::sleep(Duration::from_millis(20));
    }
    let code = run.signalled_until_gone("-INT");
    assert_eq!(code, Some(130));
    let export = Trawl::on("export", &database).run().expect_code(0);
    assert_eq!(export.json_lines().len(), 600);
}

#[test]
fn the_second_signal_leaves_at_once_and_what_was_committed_is_safe() {
    let (_folder, database) = place();
    let silence = Behaviour::Slow(Slow::NoAnswer);
    let behaviours = Behaviours::none().on(0, "/p/1", silence);
    let web = Web::start_with(WebSpec::many_hosts(2, 40), behaviours);
    let call = Trawl::crawl(&database, "0").args(["--scope", "any"]);
    let run = call.arg(web.url(0, "/")).start();
    web.wait_until(|log| log.count(0, "/p/1") > 0);
    // Signals that arrive together count once, so they are sent until the process is gone.
    let gone = Arc::new(AtomicBool::new(false));
    let (id, stop) = (run.id(), Arc::clone(&gone));
    let sending = thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            Trawl::signal(id, "-INT");
            thread::sleep(Duration::from_millis(30));
        }
    });
    let done = run.finish();
    gone.store(true, Ordering::Relaxed);
    sending.join().unwrap();
    let done = done.expect_code(130);
    assert!(done.stderr.contains("at once"), "{}", done.stderr);
    let left = Snapshot::of(&database);
    left.assert_sound();
    web.off(0, "/p/1");
    Trawl::on("resume", &database).run().expect_code(0);
    assert_eq!(Snapshot::of(&database).done().len(), 40);
}
