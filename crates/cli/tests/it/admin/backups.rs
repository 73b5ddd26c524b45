//! Backups of database files.

use std::{
    collections::HashSet,
    fs,
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use trawl_testweb::WebSpec;

use super::{admin, admin_on, results};
use crate::harness::{Snapshot, Trawl, Web, place};

const PAGES: u32 = 300;

/// A crawl that keeps bodies and content, up to some pages.
fn crawl(database: &Path, web: &Web) -> Trawl {
    Trawl::crawl(database, "4ms")
        .args(["--scope", "any", "--keep", "html,markdown"])
        .args(["--output", "none"])
        .arg(web.url(0, "/"))
}

#[test]
fn a_backup_made_while_a_crawl_runs_is_a_store_that_goes_on_to_the_same_end() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::many_hosts(4, PAGES));
    let run = crawl(&database, &web).start();
    web.wait_until(|log| log.len() > 60);
    let backup = folder.path().join("backup");
    admin_on("backup", &database)
        .arg("--output")
        .arg(&backup)
        .run()
        .expect_code(0);
    assert!(web.log().len() < PAGES as usize, "the crawl ran meanwhile");
    run.finish().expect_code(0);

    let said = admin("verify")
        .arg(&backup)
        .arg("--json")
        .run()
        .expect_code(0);
    let said = &said.json_lines()[0];
    assert_eq!(said["whole"], true);
    assert_eq!(said["lost"], 0);
    let tables = &said["manifest"]["tables"];
    let visited = tables["results"]["rows"].as_u64().unwrap();
    assert!((1..u64::from(PAGES)).contains(&visited), "{visited}");
    assert!(said["records"].as_u64().unwrap() >= visited);

    let restored = folder.path().join("restored.db");
    let restoring = admin("restore")
        .arg(&backup)
        .arg("--database")
        .arg(&restored);
    restoring.run().expect_code(0);
    let left = Snapshot::of(&restored);
    left.assert_sound();
    for (table, facts) in tables.as_object().unwrap() {
        let found = left.number(&format!("SELECT count(*) FROM \"{table}\""));
        assert_eq!(Some(found), facts["rows"].as_i64(), "{table}");
    }
    let all = results(&database);
    assert_eq!(results(&restored), all[..visited as usize], "also bodies");

    Trawl::on("resume", &restored)
        .args(["--output", "none"])
        .run()
        .expect_code(0);
    let texts = |all: &[serde_json::Value]| -> HashSet<String> {
        // Under which spelling a page is met first depends on the order of answers.
        let page = |value: &serde_json::Value| {
            let url = value["url"].as_str().unwrap();
            let (url, _) = url.split_once('?').unwrap_or((url, ""));
            format!("{url} {} {}", value["outcome"], value["html"])
        };
        all.iter().map(page).collect()
    };
    let again = results(&restored);
    assert_eq!(again.len(), PAGES as usize);
    assert_eq!(texts(&again), texts(&all));
}

#[test]
fn a_search_index_is_part_of_the_backup() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(20));
    crawl(&database, &web).run().expect_code(0);
    Trawl::on("index", &database)
        .args(["--languages", "all"])
        .run()
        .expect_code(0);
    let (backup, restored) = (folder.path().join("b"), folder.path().join("r.db"));
    let output = |call: Trawl| call.arg("--output").arg(&backup);
    output(admin_on("backup", &database)).run().expect_code(0);
    let restoring = admin("restore")
        .arg(&backup)
        .arg("--database")
        .arg(&restored);
    restoring.run().expect_code(0);
    let hits = |database: &Path| {
        let search = Trawl::on("search", database).args(["--json", "page"]);
        let found = search.run().expect_code(0).json_lines();
        found[0]["results"].as_array().unwrap().clone()
    };
    assert!(!hits(&database).is_empty());
    assert_eq!(hits(&restored), hits(&database));
}

#[test]
fn nothing_is_overwritten_unless_somebody_says_so() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(5));
    crawl(&database, &web).run().expect_code(0);
    let backup = folder.path().join("backup");
    let again = || admin_on("backup", &database).arg("--output").arg(&backup);
    again().run().expect_code(0);
    let done = again().run().expect_code(2);
    assert!(done.stderr.contains("--force"), "{}", done.stderr);
    again().arg("--force").run().expect_code(0);

    let restore = || {
        admin("restore")
            .arg(&backup)
            .arg("--database")
            .arg(&database)
    };
    let done = restore().run().expect_code(2);
    assert!(done.stderr.contains("--force"), "{}", done.stderr);
    restore().arg("--force").run().expect_code(0);
    assert_eq!(results(&database).len(), 5);

    let other = folder.path().join("photographs");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("cat.jpg"), "").unwrap();
    let call = admin_on("backup", &database).arg("--output").arg(&other);
    let done = call.arg("--force").run().expect_code(2);
    assert!(done.stderr.contains("no backup"), "{}", done.stderr);
    assert!(other.join("cat.jpg").exists());
}

/// What is said of a backup, and what was done to it.
type Damage = (&'static str, fn(&Path));

#[test]
fn a_damaged_backup_is_refused_and_says_what_is_wrong() {
    let (folder, database) = place();
    let web = Web::start(WebSpec::small_site(10));
    crawl(&database, &web).run().expect_code(0);
    let backup = folder.path().join("backup");
    let damages: [Damage; 4] = [
        ("bodies/000001.warc.zst does not have its checksum", |to| {
            flip(&to.join("bodies/000001.warc.zst"));
        }),
        ("bytes instead of", |to| {
            let path = to.join("database.db.zst");
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_len(100).unwrap();
        }),
        ("000001.warc.zst", |to| {
            fs::remove_file(to.join("bodies/000001.warc.zst")).unwrap();
        }),
        ("table results has 10 rows instead of 11", |to| {
            let path = to.join("manifest.json");
            let text = fs::read_to_string(&path).unwrap();
            let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
            manifest["tables"]["results"]["rows"] = 11.into();
            fs::write(&path, manifest.to_string()).unwrap();
        }),
    ];
    for (words, damage) in damages {
        let call = admin_on("backup", &database).arg("--output").arg(&backup);
        call.arg("--force").run().expect_code(0);
        damage(&backup);
        let verified = admin("verify").arg(&backup).run().expect_code(4);
        assert!(verified.stderr.contains(words), "{}", verified.stderr);
        let new = folder.path().join("new.db");
        let restored = admin("restore").arg(&backup).arg("--database").arg(&new);
        let restored = restored.run().expect_code(4);
        assert!(restored.stderr.contains(words), "{}", restored.stderr);
        assert!(!new.exists(), "{words}");
    }
    let done = admin("verify").arg(folder.path()).run().expect_code(2);
    assert!(done.stderr.contains("no backup"), "{}", done.stderr);
}

/// One byte in the middle of a file becomes another.
fn flip(path: &Path) {
    let bytes = fs::read(path).unwrap();
    let at = bytes.len() / 2;
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(&[bytes[at] ^ 1]).unwrap();
}
