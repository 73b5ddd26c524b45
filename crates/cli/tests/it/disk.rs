//! A disk without space and a file that cannot be written: a clear message, code 4, and a database
//! that opens again and goes on. Uses a small file system in a namespace of its own; where the
//! system does not allow that, the tests say so and pass.

use std::{path::Path, process::Command};

use trawl_testweb::WebSpec;

use crate::harness::{Web, place};

/// Runs a script with the folder as an empty file system of this size; `$trawl` is the binary,
/// `$url` where to start, `$net` the flags for the test web. `None` if that is not allowed here.
fn in_small_file_system(folder: &Path, size: &str, web: &Web, script: &str) -> Option<String> {
    let mount = format!("mount -t tmpfs -o size={size} tmpfs \"$dir\"");
    let unshare = |script: &str| {
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .env("dir", folder)
            .env("trawl", env!("CARGO_BIN_EXE_trawl"))
            .env("url", web.url(0, "/"))
            .env(
                "net",
                "--allow-network 127.0.0.0/8 --resolve *.test=127.0.0.1 --delay 0 --scope any",
            )
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Some((output.status.success(), text + &errors))
    };
    let Some((true, _)) = unshare(&mount) else {
        println!("skipped: this system allows no file systems of one's own");
        return None;
    };
    unshare(&format!("set -f; {mount}; {script}")).map(|(_, text)| text)
}

#[test]
fn a_full_disk_stops_the_crawl_with_a_clear_message_and_it_goes_on_when_there_is_space() {
    let (folder, _) = place();
    let web = Web::start(WebSpec::many_hosts(4, 3000));
    let script = r#"
        $trawl crawl $net --keep html --quiet --format urls -o /dev/null \
            --database "$dir/crawl.db" "$url" 2>&1
        echo "first code $?"
        $trawl status --json --database "$dir/crawl.db"
        mount -o remount,size=200m "$dir"
        $trawl resume --quiet -o /dev/null --database "$dir/crawl.db" 2>&1
        echo "second code $?"
        $trawl status --json --database "$dir/crawl.db"
        echo "lines $($trawl export --format urls --database "$dir/crawl.db" | sort -u | wc -l)"
    "#;
    let Some(said) = in_small_file_system(folder.path(), "2m", &web, script) else {
        return;
    };
    println!("{said}");
    assert!(said.contains("no space is left"), "{said}");
    assert!(said.contains("first code 4"), "{said}");
    assert!(said.contains("second code 0"), "{said}");
    assert!(said.contains("\"state\":\"completed\""), "{said}");
    assert!(said.contains("lines 3000"), "{said}");
}

#[test]
fn a_file_system_that_cannot_be_written_gives_a_clear_message_and_can_be_looked_at() {
    let (folder, _) = place();
    let web = Web::start(WebSpec::small_site(20));
    let script = r#"
        $trawl crawl $net --max-pages 5 --quiet --database "$dir/crawl.db" "$url" > /dev/null 2>&1
        echo "first code $?"
        mount -o remount,ro "$dir"
        $trawl crawl $net --database "$dir/crawl.db" "$url" 2>&1
        echo "second code $?"
        $trawl crawl $net --database "$dir/new.db" "$url" 2>&1
        echo "third code $?"
        $trawl status --database "$dir/crawl.db"
        echo "fourth code $?"
        mount -o remount,rw "$dir"
        $trawl crawl $net --quiet --database "$dir/crawl.db" "$url" > /dev/null 2>&1
        echo "fifth code $?"
    "#;
    let Some(said) = in_small_file_system(folder.path(), "20m", &web, script) else {
        return;
    };
    println!("{said}");
    assert!(said.contains("first code 0"), "{said}");
    assert!(said.contains("second code 4"), "{said}");
    assert!(said.contains("third code 4"), "{said}");
    assert_eq!(said.matches("cannot be written").count(), 2, "{said}");
    assert!(
        said.contains("completed") && said.contains("fourth code 0"),
        "{said}"
    );
    assert!(said.contains("fifth code 0"), "{said}");
}
