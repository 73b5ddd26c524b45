//! Where the programs under test are: beside this one, as cargo puts them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

#[derive(Debug)]
pub(crate) struct Binaries {
    pub(crate) bench: PathBuf,
    pub(crate) trawl: PathBuf,
    pub(crate) testweb: PathBuf,
}

impl Binaries {
    pub(crate) fn beside_this_one() -> anyhow::Result<Self> {
        let bench = std::env::current_exe().context("cannot find the running program")?;
        let folder = bench
            .parent()
            .context("the running program has no folder")?;
        Ok(Self {
            trawl: existing(folder, "trawl")?,
            testweb: existing(folder, "trawl-testweb")?,
            bench,
        })
    }
}

fn existing(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    if !path.is_file() {
        let flag = if folder.ends_with("release") {
            " --release"
        } else {
            ""
        };
        bail!(
            "{} is missing; build it with: cargo build{flag} -p trawl-cli -p trawl-testweb",
            path.display()
        );
    }
    Ok(path)
}
