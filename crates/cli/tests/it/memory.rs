//! Hostile pages end in their named outcomes without making the process grow.

use std::{
    fs,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use trawl_testweb::{Behaviours, GalleryEntry, WebSpec, hostile_gallery};

use crate::harness::{Trawl, Web, place};

/// The process itself and four bodies under way; what is sent would be gigabytes when unpacked.
const MOST_KILOBYTES: u64 = 300 * 1024;

/// What is large, endless, or becomes so when it is unpacked.
fn is_heavy(entry: &GalleryEntry) -> bool {
    [
        "bomb",
        "huge",
        "endless",
        "links",
        "nested",
        "long-",
        "attribute",
        "unclosed",
    ]
    .iter()
    .any(|part| entry.path.contains(part))
}

#[test]
fn bombs_and_endless_pages_do_not_make_the_process_grow() {
    let (_folder, database) = place();
    let heavy: Vec<GalleryEntry> = hostile_gallery().into_iter().filter(is_heavy).collect();
    assert!(heavy.len() > 12, "{}", heavy.len());
    let web = Web::start_with(WebSpec::many_hosts(4, 4), Behaviours::none().with_gallery());
    let seeds = (0..4).flat_map(|host| heavy.iter().map(move |entry| (host, entry)));
    let seeds = seeds.map(|(host, entry)| web.url(host, &entry.path));
    let run = Trawl::crawl(&database, "0")
        .args([
            "--max-depth",
            "0",
            "--per-host",
            "1",
            "--attempts",
            "1",
            "--keep",
            "html",
        ])
        .args(["--timeout", "30s", "--fields", "url,outcome"])
        .args(seeds)
        .start();
    let (over, ended) = mpsc::channel::<()>();
    let status = format!("/proc/{}/status", run.id());
    let watching = thread::spawn(move || {
        let mut peak = 0;
        while ended.recv_timeout(Duration::from_millis(5)) == Err(RecvTimeoutError::Timeout) {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let number = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
            peak = peak.max(number.unwrap_or(0));
        }
        peak
    });
    let done = run.finish().expect_code(0);
    drop(over);
    let peak: u64 = watching.join().unwrap();
    println!("peak {} MB", peak / 1024);
    assert!(peak > 0 && peak < MOST_KILOBYTES, "{peak} kB");
    let records = done.json_lines();
    assert_eq!(records.len(), heavy.len() * 4);
    for record in records {
        let (url, outcome) = (record["url"].as_str().unwrap(), &record["outcome"]);
        let entry = heavy
            .iter()
            .find(|entry| url.ends_with(&entry.path))
            .unwrap();
        assert!(entry.expects(outcome.as_str().unwrap()), "{url}: {outcome}");
    }
}
