//! What servers do by themselves: archives, backups, and removing what is old.

use std::{path::Path, time::Duration};

use serde_json::Value;

use super::{
    admin, admin_on,
    lifecycle::{PAGES, age, crawled, inside, unpacked},
    results,
};
use crate::harness::{Api, Server, Snapshot, place, postgres};

const OLD: u32 = 8;

/// Waits until each of these has come to an end; gives them by their names.
#[track_caller]
fn ended(api: &Api, names: &[&str]) -> Vec<Value> {
    for _ in 0..3_000 {
        let all = api.get("/admin/duties").expect(200).json();
        let duty = |name: &&str| {
            let duties = all["duties"].as_array().unwrap();
            let duty = duties.iter().find(|duty| duty["name"] == **name);
            duty.filter(|duty| duty["ended_at"].is_string() && duty["status"] != "running")
        };
        let found: Vec<Value> = names.iter().filter_map(duty).cloned().collect();
        if found.len() == names.len() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{}", api.get("/admin/duties").text());
}

fn whole(backup: &Path) -> Value {
    let said = admin("verify").arg(backup).arg("--json").run();
    said.expect_code(0).json_lines()[0].clone()
}

#[test]
fn a_server_archives_and_backs_up_before_it_removes_and_not_again_after_a_restart() {
    let (folder, database) = place();
    let _web = crawled(&database);
    age(&database, OLD, 100);
    let all = results(&database);
    let (cold, backups) = (folder.path().join("cold"), folder.path().join("backups"));
    let args = [
        "--insecure-no-auth",
        "--archive-every",
        "24h",
        "--archive-output",
        cold.to_str().unwrap(),
        "--archive-after",
        "10",
        "--backup-every",
        "24h",
        "--backup-output",
        backups.to_str().unwrap(),
        "--retention-every",
        "24h",
    ];
    let names = ["archive", "backup", "retention"];
    let server = Server::start(&database, &args);
    let first = ended(&server.client(), &names);
    for duty in &first {
        assert_eq!(duty["status"], "waiting", "{duty}");
        assert_eq!(duty["every_seconds"], 86_400);
        assert_eq!(duty["succeeded_at"], duty["ended_at"]);
        assert!(duty["next_at"].as_str() > duty["ended_at"].as_str());
    }
    let said = first[2]["result"].as_str().unwrap();
    assert!(said.contains(&format!("{OLD} visits")), "{said}");
    assert_eq!(server.stop(), Some(0));

    let lines = unpacked(&inside(&cold).join("crawl-000001.ndjson.zst"));
    let lines = String::from_utf8(lines).unwrap();
    let lines = lines.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.collect::<Result<_, _>>().unwrap();
    assert_eq!(lines.len(), OLD as usize);
    for (line, page) in lines.iter().zip(&all) {
        assert_eq!((&line["url"], &line["html"]), (&page["url"], &page["html"]));
    }
    let report = admin_on("report", &database).run().expect_code(0).stdout;
    assert!(
        report.contains(&format!("removed: {OLD} visits")),
        "{report}"
    );
    let backup = whole(&inside(&backups));
    let rows = &backup["manifest"]["tables"]["results"]["rows"];
    assert_eq!(*rows, u64::from(PAGES), "made before anything was removed");
    assert_eq!(results(&database), all[OLD as usize..]);
    Snapshot::of(&database);

    let server = Server::start(&database, &args);
    let again = ended(&server.client(), &names);
    assert_eq!(again, first, "nothing was due yet");
    inside(&backups);
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn what_could_not_be_archived_is_not_removed() {
    let (folder, database) = place();
    let _web = crawled(&database);
    age(&database, OLD, 100);
    let args = [
        "--insecure-no-auth",
        "--archive-every",
        "24h",
        "--archive-output",
        "/proc/self",
        "--retention-every",
        "24h",
        "--log-level",
        "error",
    ];
    let server = Server::start(&database, &args);
    let duties = ended(&server.client(), &["archive", "retention"]);
    let (archive, retention) = (&duties[0], &duties[1]);
    assert_eq!(archive["status"], "failed");
    let why = archive["error"].as_str().unwrap();
    assert!(why.contains("/proc/self/"), "{why}");
    assert!(archive["next_at"].is_string() && archive["succeeded_at"].is_null());
    assert_eq!(retention["status"], "waiting", "{retention}");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(results(&database).len(), PAGES as usize);

    // The commands do the same, by the same settings.
    let cold = folder.path().join("cold");
    let call = |command| {
        let call = admin_on(command, &database).env("TRAWL_ARCHIVE_EVERY", "1h");
        call.env("TRAWL_ARCHIVE_AFTER", "10")
            .env("TRAWL_ARCHIVE_OUTPUT", cold.to_str().unwrap())
    };
    let cleanup = || {
        let done = call("cleanup").arg("--json").run().expect_code(0);
        done.json_lines()[0]["cleaned"]["visits"]["rows"].clone()
    };
    assert_eq!(cleanup(), 0);
    let due = |more: &[&str]| {
        let done = call("archive").arg("--due").args(more).run();
        done.expect_code(0).stdout
    };
    let would = due(&["--dry-run"]);
    assert!(would.contains(" 8 pages would"), "{would}");
    assert!(!cold.exists(), "a dry run writes nothing");
    let done = due(&[]);
    assert!(done.contains(" 8 pages in "), "{done}");
    assert_eq!(due(&[]), "nothing is due\n");
    inside(&cold);
    assert_eq!(cleanup(), OLD);
    assert_eq!(results(&database).len(), (PAGES - OLD) as usize);
}

#[test]
fn of_servers_that_share_a_database_one_makes_the_backup() {
    let (folder, _) = place();
    let url = postgres::database();
    let backups = folder.path().join("backups");
    let args = [
        "--no-worker",
        "--backup-every",
        "24h",
        "--backup-output",
        backups.to_str().unwrap(),
        "--backup-keep",
        "3",
    ];
    let start = || Server::start(Path::new(&url), &args);
    let servers = [start(), start()];
    let key = servers.iter().find_map(|server| server.key.clone());
    for server in &servers {
        let api = Api::new(&server.base, key.as_deref());
        let duty = &ended(&api, &["backup"])[0];
        assert_eq!(duty["status"], "waiting", "{duty}");
        let said = duty["result"].as_str().unwrap();
        assert!(!said.contains("s3cret"), "{said}");
    }
    assert_eq!(whole(&inside(&backups))["whole"], true);
}

#[test]
fn a_duty_without_a_place_for_its_files_is_refused_at_the_start() {
    let (_folder, database) = place();
    let serve = |args: &[&str]| {
        let call = crate::harness::Trawl::on("serve", &database);
        let call = call.args(["--listen", "127.0.0.1:0"]).args(args);
        call.run().expect_code(2).stderr
    };
    for (args, names) in [
        (&["--backup-every", "1h"][..], "backup.output"),
        (&["--archive-every", "1h"], "archive.output"),
        (
            &["--backup-every", "1h", "--backup-output", "/proc/x/y"],
            "/proc/x/y",
        ),
        (
            &["--archive-every", "1h", "--archive-output", "s3://bucket"],
            "AWS_ACCESS_KEY_ID",
        ),
        (&["--backup-keep", "0"], "backup-keep"),
    ] {
        let said = serve(args);
        assert!(said.contains(names), "{args:?}: {said}");
    }
}
