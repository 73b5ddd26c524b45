//! ARCHITECTURE.md against the truth: crates use only what its table allows, crates that call
//! themselves pure are, and every file says what it is for.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Crates without a runtime, a clock or chance: time and secrets are arguments.
const PURE: [&str; 5] = ["types", "rules", "extract", "terrain", "frontier"];

/// What a pure crate cannot do without giving that up.
const IMPURE_CRATES: [&str; 8] = [
    "async-trait",
    "chrono",
    "futures-util",
    "hyper",
    "rand",
    "rusqlite",
    "tokio",
    "tracing",
];

/// Calls that read a clock. Clippy knows them too, but only where no example measures anything.
const CLOCKS: [&str; 2] = ["Instant::now", "SystemTime::now"];

/// One crate of the workspace as cargo sees it.
struct Member {
    /// Its path from the root, as the table names it: `crates/types`.
    folder: String,
    ours: BTreeSet<String>,
    others: BTreeSet<String>,
}

/// What a row of the table allows.
enum MayUse {
    Everything,
    Only(BTreeSet<String>),
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

fn short(name: &str) -> Option<String> {
    name.strip_prefix("trawl-").map(str::to_owned)
}

fn members() -> Vec<Member> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().map(member).collect()
}

fn member(package: &Value) -> Member {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let folder = manifest.parent().unwrap().strip_prefix(root()).unwrap();
    let dependencies = package["dependencies"].as_array().unwrap();
    let normal = dependencies.iter().filter(|d| d["kind"].is_null());
    let (mut ours, mut others) = (BTreeSet::new(), BTreeSet::new());
    for dependency in normal {
        let name = dependency["name"].as_str().unwrap();
        match short(name).filter(|_| dependency["path"].is_string()) {
            Some(short) => ours.insert(short),
            None => others.insert(name.to_owned()),
        };
    }
    Member {
        folder: folder.to_str().unwrap().to_owned(),
        ours,
        others,
    }
}

/// The rows of the crate table: folder to what it may use.
fn table() -> BTreeMap<String, MayUse> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text
        .lines()
        .skip_while(|line| !line.ends_with("| may use |"));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let folder = quoted(cells[0])
            .pop()
            .expect("the first cell names a folder");
        (folder, may_use(cells[cells.len() - 1]))
    })
    .collect()
}

fn may_use(cell: &str) -> MayUse {
    match cell {
        "everything" => MayUse::Everything,
        "nothing of ours" => MayUse::Only(BTreeSet::new()),
        list => {
            let names: BTreeSet<String> = quoted(list).into_iter().collect();
            assert!(
                !names.is_empty(),
                "{list:?} allows nothing that can be read"
            );
            MayUse::Only(names)
        }
    }
}

/// The words between backticks.
fn quoted(cell: &str) -> Vec<String> {
    let pieces = cell.split('`').skip(1).step_by(2);
    pieces.map(str::to_owned).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn the_table_has_a_row_for_each_crate_and_no_other() {
    let table = table();
    let rows: BTreeSet<&str> = table.keys().map(String::as_str).collect();
    let members = members();
    let crates: BTreeSet<&str> = members.iter().map(|m| m.folder.as_str()).collect();
    assert_eq!(
        rows, crates,
        "rows of the table, then crates of the workspace"
    );
}

#[test]
fn crates_use_only_what_the_table_allows() {
    let table = table();
    for member in members() {
        let Some(MayUse::Only(allowed)) = table.get(&member.folder) else {
            continue;
        };
        let more: Vec<&String> = member.ours.difference(allowed).collect();
        assert!(
            more.is_empty(),
            "{} uses {more:?}, which ARCHITECTURE.md does not allow: \
             change the table in the same commit, or do without",
            member.folder
        );
    }
}

#[test]
fn pure_crates_have_no_runtime_no_clock_and_no_chance() {
    let members = members();
    for name in PURE {
        let folder = format!("crates/{name}");
        let member = members.iter().find(|m| m.folder == folder).unwrap();
        for impure in IMPURE_CRATES {
            assert!(!member.others.contains(impure), "{folder} uses {impure}");
        }
        for file in sources(&root().join(&folder).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            for clock in CLOCKS {
                assert!(!text.contains(clock), "{} reads a clock", file.display());
            }
        }
    }
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for member in members() {
        for file in sources(&root().join(member.folder).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let is_library = file.ends_with("src/lib.rs");
            let begins_well = text.starts_with("//!") || (!is_library && text.starts_with("#!"));
            assert!(begins_well, "{} does not begin with //!", file.display());
        }
    }
}

#[test]
fn every_test_named_in_the_guarantees_exists() {
    let guarantees = fs::read_to_string(root().join("docs/guarantees.md")).unwrap();
    let mut found = 0;
    for word in quoted(&guarantees) {
        let Some((file, name)) = word.split_once(".rs::") else {
            continue;
        };
        let source = fs::read_to_string(root().join(format!("{file}.rs"))).unwrap_or_default();
        assert!(source.contains(&format!("fn {name}(")), "no test {word}");
        found += 1;
    }
    assert!(found > 50, "only {found} tests are named");
}
