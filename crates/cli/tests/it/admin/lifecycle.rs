//! What is old goes, archives hold what was removed, figures say how much there is.

use std::{fs, io::Read, path::Path};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use trawl_testweb::WebSpec;

use super::{admin_on, results};
use crate::harness::{Server, Snapshot, Trawl, Web, place};

pub(super) const PAGES: u32 = 20;

/// A crawl of a small site that keeps bodies and Markdown.
pub(super) fn crawled(database: &Path) -> Web {
    let web = Web::start(WebSpec::small_site(PAGES));
    let call = Trawl::crawl(database, "0").args(["--keep", "html,markdown"]);
    let call = call.args(["--output", "none"]).arg(web.url(0, "/"));
    call.run().expect_code(0);
    web
}

/// The first `some` visits, and what they belong to, are of long ago.
pub(super) fn age(database: &Path, some: u32, days: i64) {
    let conn = rusqlite::Connection::open(database).unwrap();
    let (long, minutes) = (days * 86_400_000, days * 1_440);
    conn.execute(
        "UPDATE results SET crawled_at = crawled_at - ?1 WHERE seq <= ?2",
        [long, i64::from(some)],
    )
    .unwrap();
    conn.execute("UPDATE crawls SET finished_at = finished_at - ?1", [long])
        .unwrap();
    conn.execute("UPDATE activity SET minute = minute - ?1", [minutes])
        .unwrap();
    conn.execute("UPDATE robots SET fetched_at = fetched_at - ?1", [long])
        .unwrap();
}

fn cleanup(database: &Path, args: &[&str]) -> Value {
    let call = admin_on("cleanup", database).arg("--json").args(args);
    call.run().expect_code(0).json_lines()[0].clone()
}

#[test]
fn what_is_old_goes_after_a_dry_run_that_said_so() {
    let (_folder, database) = place();
    let _web = crawled(&database);
    age(&database, 8, 100);
    let would = cleanup(&database, &["--dry-run"]);
    assert_eq!(would["cleaned"]["visits"]["rows"], 8);
    assert_eq!(
        would["cleaned"]["bodies"]["rows"], 16,
        "each with its content"
    );
    assert_eq!(would["cleaned"]["robots"]["rows"], 1);
    assert_eq!(results(&database).len(), PAGES as usize);
    let only = cleanup(&database, &["--only", "bodies", "--days", "99"]);
    assert_eq!(
        only["cleaned"],
        json!({ "bodies": would["cleaned"]["bodies"] })
    );
    let all = results(&database);
    assert_eq!(all.len(), PAGES as usize, "only bodies went");
    let bodies = all.iter().filter(|page| !page["html"].is_null()).count();
    assert_eq!(bodies, PAGES as usize - 8);
    let done = cleanup(&database, &[]);
    assert_eq!(done["cleaned"]["visits"], would["cleaned"]["visits"]);
    assert_eq!(results(&database).len(), PAGES as usize - 8);
    let again = cleanup(&database, &[]);
    let rows = |kind: &Value| kind["rows"].as_u64().unwrap();
    let cleaned = again["cleaned"].as_object().unwrap();
    assert!(cleaned.values().all(|kind| rows(kind) == 0), "{again}");
}

#[test]
fn a_kind_that_there_is_not_is_named_with_those_that_there_are() {
    let (_folder, database) = place();
    let _web = crawled(&database);
    let done = admin_on("cleanup", &database)
        .args(["--only", "cookies"])
        .run();
    let done = done.expect_code(2);
    assert!(done.stderr.contains("\"cookies\""), "{}", done.stderr);
    assert!(done.stderr.contains("failures"), "{}", done.stderr);
}

#[test]
fn a_server_cleans_up_by_itself_if_it_is_told_to() {
    let (_folder, database) = place();
    let _web = crawled(&database);
    age(&database, 8, 100);
    let left = |server: &Server| {
        let pages = server.client().get("/pages?limit=100").expect(200).json();
        pages["pages"].as_array().unwrap().len()
    };
    let idle = Server::start(&database, &["--insecure-no-auth"]);
    assert_eq!(left(&idle), PAGES as usize);
    assert_eq!(idle.stop(), Some(0));
    let args = ["--insecure-no-auth", "--retention-every", "1h"];
    let server = Server::start(&database, &args);
    for _ in 0..1_000 {
        if left(&server) == PAGES as usize - 8 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(left(&server), PAGES as usize - 8);
    assert_eq!(server.stop(), Some(0));
    Snapshot::of(&database);
}

/// The only folder in a folder.
pub(super) fn inside(folder: &Path) -> std::path::PathBuf {
    let mut entries = fs::read_dir(folder).unwrap();
    let entry = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    entry
}

pub(super) fn unpacked(path: &Path) -> Vec<u8> {
    let file = fs::File::open(path).unwrap();
    let mut plain = Vec::new();
    if path.extension().unwrap() == "gz" {
        let mut decoder = flate2::read::GzDecoder::new(file);
        decoder.read_to_end(&mut plain).unwrap();
    } else {
        zstd::Decoder::new(file)
            .unwrap()
            .read_to_end(&mut plain)
            .unwrap();
    }
    plain
}

fn assert_checksums(folder: &Path) {
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert!(!sums.is_empty());
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let hash = Sha256::digest(fs::read(folder.join(name)).unwrap());
        let digits = hash.iter().map(|byte| format!("{byte:02x}"));
        let hash = digits.collect::<Vec<_>>().concat();
        assert_eq!(hash, sum, "{name}");
    }
}

#[test]
fn what_an_archive_removes_is_in_it_first() {
    let (folder, database) = place();
    let _web = crawled(&database);
    age(&database, 8, 100);
    let all = results(&database);
    let output = folder.path().join("cold");
    let archive = |args: &[&str]| {
        let call = admin_on("archive", &database).arg("--output").arg(&output);
        call.args(["--before", "2000-01-01T00:00:00Z"])
            .args(args)
            .run()
    };
    assert!(
        archive(&["--dry-run"])
            .expect_code(0)
            .stdout
            .contains(" 0 pages")
    );
    let recent = chrono_days_ago(50);
    let archive = |args: &[&str]| {
        let call = admin_on("archive", &database).arg("--output").arg(&output);
        call.args(["--before", &recent])
            .args(args)
            .run()
            .expect_code(0)
    };
    assert!(archive(&["--dry-run"]).stdout.contains(" 8 pages"));
    assert!(!output.exists(), "a dry run writes nothing");
    archive(&["--delete"]);
    let made = inside(&output);
    assert_checksums(&made);
    let lines = unpacked(&made.join("crawl-000001.ndjson.zst"));
    let lines: Vec<Value> = lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 8);
    for (line, page) in lines.iter().zip(&all) {
        for field in ["url", "outcome", "title", "content_hash", "html"] {
            assert_eq!(line[field], page[field], "{field}");
        }
        assert!(line["markdown"].is_string() && line["links"].is_array());
    }
    assert_eq!(results(&database), all[8..]);
    Snapshot::of(&database);
}

/// A moment in the past as people write it.
fn chrono_days_ago(days: u64) -> String {
    let now = std::time::SystemTime::now();
    let then = now - std::time::Duration::from_secs(days * 86_400);
    let millis = then
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    trawl_types::UnixMillis(i64::try_from(millis).unwrap()).iso()
}

#[test]
fn an_archive_may_be_tables_for_spreadsheets() {
    let (folder, database) = place();
    let _web = crawled(&database);
    let output = folder.path().join("cold");
    let call = admin_on("archive", &database).arg("--output").arg(&output);
    let call = call.args(["--crawl", "1", "--format", "csv", "--compress", "gzip"]);
    call.args(["--fields", "url,title,status_code"])
        .run()
        .expect_code(0);
    let made = inside(&output);
    assert_checksums(&made);
    let text = unpacked(&made.join("crawl-000001.csv.gz"));
    let text = String::from_utf8(text).unwrap();
    let header = "\"url\",\"title\",\"status_code\"\n";
    assert!(text.starts_with(header), "{text}");
    assert_eq!(text.lines().count(), PAGES as usize + 1);
    assert_eq!(
        results(&database).len(),
        PAGES as usize,
        "nothing was removed"
    );
    let bad = [
        (&["--output", "x"][..], "--before"),
        (&["--output", "x", "--crawl", "9"], "no crawl 9"),
        (&["--output", "x", "--before", "soon"], "soon"),
        (&["--output", "x", "--crawl", "1", "--fields", "hue"], "hue"),
        (&["--output", "/proc/x", "--crawl", "1"], "/proc/x"),
    ];
    for (args, names) in bad {
        let done = admin_on("archive", &database)
            .args(args)
            .run()
            .expect_code(2);
        assert!(done.stderr.contains(names), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn a_crawl_under_way_is_neither_archived_nor_cleaned() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(200));
    let call = Trawl::crawl(&database, "20ms").args(["--output", "none"]);
    let run = call.arg(web.url(0, "/")).start();
    web.wait_until(|log| log.len() > 20);
    run.signal("-INT");
    run.finish().expect_code(130);
    let call = admin_on("archive", &database).args(["--crawl", "1", "--output"]);
    let done = call.arg(folder.path()).run().expect_code(2);
    assert!(done.stderr.contains("is paused"), "{}", done.stderr);
    let before = results(&database);
    age(&database, 10, 400);
    cleanup(&database, &[]);
    assert_eq!(results(&database), before);
}

#[test]
fn the_report_adds_up_what_is_stored() {
    let (_folder, database) = place();
    let _web = crawled(&database);
    let report = admin_on("report", &database)
        .arg("--json")
        .run()
        .expect_code(0);
    let report = &report.json_lines()[0];
    let rows = |name: &str| {
        let tables = report["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["name"] == name).unwrap();
        table["rows"].as_u64().unwrap()
    };
    assert_eq!(rows("results"), u64::from(PAGES));
    assert_eq!(report["crawls"][0]["results"], PAGES);
    let stored = report["crawls"][0]["stored_bytes"].as_u64().unwrap();
    assert!(stored > 0 && report["body_file_bytes"].as_u64().unwrap() >= stored);
    assert_eq!(report["hosts"][0]["pages"], PAGES);
    let text = admin_on("report", &database).run().expect_code(0).stdout;
    assert!(text.contains("crawl_pages"), "{text}");
}
