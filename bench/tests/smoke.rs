//! The benchmark itself runs: its smallest case, from end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{fs, path::Path};

use assert_cmd::Command;
use serde_json::Value;

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_trawl-bench"))
}

/// The other programs are there when the whole workspace is tested, and may be missing when this
/// package is tested alone.
fn programs_are_built() -> bool {
    let folder = Path::new(env!("CARGO_BIN_EXE_trawl-bench"))
        .parent()
        .unwrap();
    ["trawl", "trawl-testweb"]
        .iter()
        .all(|name| folder.join(name).is_file())
}

#[test]
fn the_smallest_case_runs_or_says_what_to_build() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let run = bench()
        .args(["smoke", "--rounds", "2", "--json"])
        .arg(&json)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    if !programs_are_built() {
        assert!(!run.status.success());
        assert!(errors.contains("cargo build"), "{errors}");
        return;
    }
    assert!(run.status.success(), "{errors}");
    let table = String::from_utf8_lossy(&run.stdout);
    for word in ["baseline", "byte scan", "trawl", "CPU s/1000", "peak MB"] {
        assert!(table.contains(word), "{word} is missing in {table}");
    }
    let figures: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let contenders = figures["cases"][0]["contenders"].as_array().unwrap();
    assert_eq!(contenders.len(), 3);
    for contender in contenders {
        assert_eq!(contender["runs"].as_array().unwrap().len(), 2);
        assert!(contender["peak_bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn an_unknown_case_is_refused_with_the_known_ones() {
    let run = bench().arg("sight").output().unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success());
    assert!(errors.contains("site-kept"), "{errors}");
}
