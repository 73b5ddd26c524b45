//! The web as a process of its own: it says where it is, serves, and ends with its parent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use support::get;

fn start(arguments: &[&str]) -> (Child, serde_json::Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trawl-testweb"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    (child, serde_json::from_str(&line).unwrap())
}

#[tokio::test]
async fn it_prints_one_line_when_ready_and_ends_when_its_input_closes() {
    let (mut child, ready) = start(&[
        "--pages",
        "30",
        "--page-bytes",
        "2000",
        "--log",
        "--hostile",
    ]);
    let addr = ready["addr"].as_str().unwrap().parse().unwrap();
    assert_eq!(ready["root"], format!("http://{addr}/"));
    assert_eq!(get(addr, "127.0.0.1", "/").await.status, 200);
    assert_eq!(get(addr, "127.0.0.1", "/hostile/410").await.status, 410);
    assert_eq!(
        get(addr, "127.0.0.1", "/.testweb/log")
            .await
            .text()
            .lines()
            .count(),
        2
    );
    assert_eq!(
        get(addr, "127.0.0.1", "/.testweb/graph")
            .await
            .text()
            .lines()
            .count(),
        30
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn without_the_flag_nothing_is_logged_and_many_hosts_are_known_by_name() {
    let (mut child, ready) = start(&["--hosts", "3", "--pages", "9"]);
    let addr = ready["addr"].as_str().unwrap().parse().unwrap();
    assert!(
        ready["root"]
            .as_str()
            .unwrap()
            .starts_with("http://site0.test:")
    );
    assert!(
        get(addr, "site2.test", "/")
            .await
            .text()
            .contains("of site 2:")
    );
    assert!(
        get(addr, "site2.test", "/.testweb/log")
            .await
            .body
            .is_empty()
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_flag_it_does_not_know_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_trawl-testweb"))
        .arg("--what")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown argument --what"));
}
