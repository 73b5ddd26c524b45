//! One run of one program, measured from the outside and checked: a run that did not visit every
//! page is an error, not a fast run.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::{
    args::Finder, baseline::Found, binaries::Binaries, cases::Case, growth, growth::Quarters,
    measured::Use, web::Web,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contender {
    Baseline(Finder),
    Trawl,
}

/// What one run came to.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) pages: u64,
    pub(crate) used: Use,
    pub(crate) database_bytes: Option<u64>,
    pub(crate) quarters: Option<Quarters>,
}

impl Sample {
    pub(crate) fn pages_per_second(&self) -> f64 {
        self.pages as f64 / self.used.wall_seconds
    }

    pub(crate) fn cpu_per_thousand(&self) -> f64 {
        self.used.cpu_seconds() * 1000.0 / self.pages as f64
    }
}

impl Contender {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Baseline(Finder::LolHtml) => "baseline",
            Self::Baseline(Finder::ByteScan) => "byte scan",
            Self::Trawl => "trawl",
        }
    }

    pub(crate) fn run(
        self,
        case: &Case,
        web: &Web,
        binaries: &Binaries,
        folder: &Path,
    ) -> anyhow::Result<Sample> {
        match self {
            Self::Baseline(finder) => run_baseline(finder, case, web, binaries, folder),
            Self::Trawl => run_trawl(case, web, binaries, folder),
        }
    }
}

fn run_baseline(
    finder: Finder,
    case: &Case,
    web: &Web,
    binaries: &Binaries,
    folder: &Path,
) -> anyhow::Result<Sample> {
    let finder = match finder {
        Finder::LolHtml => "lol-html",
        Finder::ByteScan => "byte-scan",
    };
    let mut command = vec![text(&binaries.bench), "baseline".to_owned()];
    for (flag, value) in [
        ("--urls", text(&web.list)),
        ("--concurrency", case.concurrency.to_string()),
        ("--per-host", case.per_host.to_string()),
        ("--finder", finder.to_owned()),
    ] {
        command.extend([flag.to_owned(), value]);
    }
    let (used, out) = measured(&command, binaries, folder)?;
    let found: Found = serde_json::from_str(out.trim()).context("the baseline said nothing")?;
    ensure!(
        found.pages == case.expect.pages,
        "the baseline read {} pages of {}",
        found.pages,
        case.expect.pages
    );
    Ok(Sample {
        pages: found.pages,
        used,
        database_bytes: None,
        quarters: None,
    })
}

fn run_trawl(case: &Case, web: &Web, binaries: &Binaries, folder: &Path) -> anyhow::Result<Sample> {
    let place = tempfile::tempdir_in(folder)?;
    let database = place.path().join("crawl.db");
    let mut command = vec![text(&binaries.trawl), "crawl".to_owned(), web.root.clone()];
    for (flag, value) in [
        ("--database", text(&database)),
        ("--concurrency", case.concurrency.to_string()),
        ("--per-host", case.per_host.to_string()),
        ("--delay", "0s".to_owned()),
        ("--allow-network", "127.0.0.0/8".to_owned()),
        ("--allow-port", web.address.port().to_string()),
    ] {
        command.extend([flag.to_owned(), value]);
    }
    if case.web.hosts > 1 {
        let hosts = ["--host", "*.test", "--resolve", "*.test=127.0.0.1"];
        command.extend(hosts.map(str::to_owned));
    }
    command.push("--quiet".to_owned());
    command.extend(case.flags.iter().map(|flag| (*flag).to_owned()));
    let (used, _) = measured(&command, binaries, folder)?;
    let pages = checked(case, &status(binaries, &database)?)?;
    let quarters = case
        .watch_growth
        .then(|| growth::quarters(binaries, &database))
        .transpose()?;
    Ok(Sample {
        pages,
        used,
        database_bytes: Some(size_of(place.path())?),
        quarters,
    })
}

/// Runs a program under the process that measures it; gives its figures and what it printed.
fn measured(
    command: &[String],
    binaries: &Binaries,
    folder: &Path,
) -> anyhow::Result<(Use, String)> {
    let figures = folder.join("used.json");
    let output = Command::new(&binaries.bench)
        .arg("measured")
        .arg("--to")
        .arg(&figures)
        .arg("--")
        .args(command)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "failed: {}", command.join(" "));
    let used = serde_json::from_slice(&fs::read(&figures)?)?;
    Ok((used, String::from_utf8(output.stdout)?))
}

/// What the crawl's own database says about it.
fn status(binaries: &Binaries, database: &Path) -> anyhow::Result<Value> {
    let output = Command::new(&binaries.trawl)
        .args(["status", "--json", "--database"])
        .arg(database)
        .stderr(Stdio::inherit())
        .output()?;
    serde_json::from_slice(&output.stdout).context("trawl status gave no JSON")
}

fn checked(case: &Case, status: &Value) -> anyhow::Result<u64> {
    let count = |name: &str| status["counts"][name].as_u64().unwrap_or(0);
    let (pages, discovered) = (count("pages"), count("discovered"));
    ensure!(
        pages == case.expect.pages && discovered >= case.expect.discovered,
        "trawl visited {pages} pages of {} and discovered {discovered} URLs of {}: {status}",
        case.expect.pages,
        case.expect.discovered,
    );
    Ok(pages)
}

/// Everything that the crawl left: database, log and segments.
fn size_of(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            size_of(&entry.path())?
        } else {
            entry.metadata()?.len()
        };
    }
    Ok(bytes)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
