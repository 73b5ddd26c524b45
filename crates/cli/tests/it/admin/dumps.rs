//! Backups of PostgreSQL databases.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, thread, time::Duration};

use trawl_store::{PostgresOptions, PostgresStore, Store};
use trawl_testweb::WebSpec;
use trawl_types::CrawlId;

use super::{admin, admin_on};
use crate::{
    harness::{Web, place, postgres},
    scaling::fleet::{Worker, assert_at_rest, assert_true_graph, everything, server, wait_for_end},
};

const HOSTS: u32 = 8;
const PAGES: u32 = 400;

#[test]
fn a_backup_made_while_workers_crawl_is_a_store_that_goes_on_to_the_same_end() {
    let (url, restored) = (postgres::database(), postgres::database());
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let job = {
        let front = server(&url, &[]);
        let worker = Worker::start(&url, &[]);
        let api = front.client();
        let job = api.post("/spider/crawl?result_mode=store", &everything(&web, 20));
        let job = job.expect(202).json()["job_id"]
            .as_str()
            .unwrap()
            .to_owned();
        web.wait_until(|log| log.len() > 100);
        let (folder, _) = place();
        let backup = folder.path().join("backup");
        let call = admin_on("backup", &url).arg("--output").arg(&backup);
        call.run().expect_code(0);
        assert!(web.log().len() < PAGES as usize, "the crawl ran meanwhile");
        worker.kill();

        let said = admin("verify")
            .arg(&backup)
            .arg("--json")
            .run()
            .expect_code(0);
        let said = &said.json_lines()[0];
        let visited = said["manifest"]["tables"]["results"]["rows"].as_u64();
        assert!((1..u64::from(PAGES)).contains(&visited.unwrap()), "{said}");
        assert_eq!(said["lost"], 0);

        // Checked against the manifest, table by table, by the command itself.
        let restore = || {
            admin("restore")
                .arg(&backup)
                .arg("--database")
                .arg(&restored)
        };
        restore().run().expect_code(0);
        let again = restore().run().expect_code(2);
        assert!(again.stderr.contains("--force"), "{}", again.stderr);
        assert!(!again.stderr.contains("s3cret"), "{}", again.stderr);
        restore().arg("--force").run().expect_code(0);
        job
    };
    let front = server(&restored, &[]);
    let _worker = Worker::start(&restored, &[]);
    let end = wait_for_end(&front.client(), &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_true_graph(&web, &restored, PAGES);
    assert_at_rest(&restored);

    let said = |command: &str, args: &[&str]| {
        let call = admin_on(command, &restored).args(args);
        call.run().expect_code(0).stdout
    };
    let report: serde_json::Value = serde_json::from_str(&said("report", &["--json"])).unwrap();
    assert_eq!(report["crawls"][0]["results"], PAGES);
    assert!(said("rebuild", &["--check"]).contains("0 figures differ"));
    assert!(said("requeue", &["--state", "all", "--dry-run"]).starts_with("400 pages"));
    let cleaned: serde_json::Value = serde_json::from_str(&said("cleanup", &["--json"])).unwrap();
    assert_eq!(cleaned["cleaned"]["visits"]["rows"], 0, "{cleaned}");
    let (folder, _) = place();
    let output = folder.path().to_str().unwrap();
    let archived = said("archive", &["--crawl", "1", "--delete", "--output", output]);
    assert!(archived.contains("400 pages were removed"), "{archived}");
}

#[test]
fn a_damaged_dump_is_refused_before_anything_is_touched() {
    let url = postgres::database();
    drop(postgres::block_on(PostgresStore::open(&url, PostgresOptions::default())).unwrap());
    let (folder, _) = place();
    let backup = folder.path().join("backup");
    let call = admin_on("backup", &url).arg("--output").arg(&backup);
    call.run().expect_code(0);
    let dump = backup.join("database.dump");
    let mut bytes = fs::read(&dump).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&dump, bytes).unwrap();
    let empty = postgres::database();
    for call in [
        admin("verify").arg(&backup),
        admin("restore").arg(&backup).arg("--database").arg(&empty),
    ] {
        let done = call.run().expect_code(4);
        assert!(done.stderr.contains("checksum"), "{}", done.stderr);
    }
    let file = folder.path().join("new.db");
    let call = admin("restore").arg(&backup).arg("--database").arg(&file);
    let done = call.run().expect_code(2);
    assert!(done.stderr.contains("postgres://"), "{}", done.stderr);
}

/// A program that says what it was called with.
fn pretend(folder: &Path, version: &str) {
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'pg_dump (PostgreSQL) {version}'; exit; fi\n\
         echo \"called: $* password: ${{#PGPASSWORD}} user: $PGUSER\" >&2\nexit 1\n"
    );
    let path = folder.join("pg_dump");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_programs_of_the_server_are_found_checked_and_told_no_password_openly() {
    let url = postgres::database();
    drop(postgres::block_on(PostgresStore::open(&url, PostgresOptions::default())).unwrap());
    let (folder, _) = place();
    let backup = folder.path().join("backup");
    let with_path = |path: &str| {
        let call = admin_on("backup", &url).env("PATH", path);
        call.arg("--output").arg(&backup).run()
    };
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let done = with_path(bin.to_str().unwrap()).expect_code(2);
    assert!(done.stderr.contains("postgresql-client"), "{}", done.stderr);

    let path = format!("{}:/usr/bin:/bin", bin.display());
    pretend(&bin, "9.6.1");
    let done = with_path(&path).expect_code(2);
    assert!(done.stderr.contains("of version 9"), "{}", done.stderr);

    pretend(&bin, "99.1");
    let done = with_path(&path).expect_code(2);
    assert!(
        done.stderr.contains("password: 6 user: trawl"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("s3cret"), "{}", done.stderr);
    assert!(!backup.exists());
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let url = postgres::database();
    let (folder, _) = place();
    let backup = folder.path().join("backup");
    let options = PostgresOptions::default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime
        .block_on(PostgresStore::open(&url, options))
        .unwrap();
    let call = admin_on("backup", &url).arg("--output").arg(&backup);
    call.run().expect_code(0);
    let restore = || {
        let call = admin("restore").arg(&backup).arg("--database").arg(&url);
        call.arg("--force").run()
    };
    let done = restore().expect_code(4);
    assert!(done.stderr.contains("in use"), "{}", done.stderr);
    assert!(runtime.block_on(store.crawl(CrawlId(1))).is_err());
    runtime.block_on(store.close()).unwrap();
    drop(store);
    drop(runtime);
    // The server notices a moment later that a connection is gone.
    for _ in 0..100 {
        let done = restore();
        if done.status.success() {
            return;
        }
        done.expect_code(4);
        thread::sleep(Duration::from_millis(50));
    }
    panic!("the database is never free");
}
