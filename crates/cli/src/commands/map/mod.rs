//! `trawl map`: who links to whom around a list of domains.
//!
//! * `load`: the configuration file becomes a checked value and a crawl's spec
//! * `dry_run`: what would be done, without doing it
//! * `run`: a run from its start to its summary
//! * `watch`: how a run goes, on a terminal or line by line
//! * `table`: what is drawn on a terminal
//! * `source`: the rows of the database, as the views want them
//! * `views`: figures, summaries, graphs, prospects, differences
//! * `files`: output that is whole or not there

mod dry_run;
mod files;
mod load;
mod run;
mod source;
mod table;
mod views;
mod watch;

use std::{fs::OpenOptions, io::Write, path::Path, process::ExitCode};

use crate::{args::MapArgs, exit::BadInput};

/// Where `--init` writes unless it is told otherwise.
const SAMPLE_NAME: &str = "map.toml";

pub(crate) async fn run(args: MapArgs, verbose: u8) -> anyhow::Result<ExitCode> {
    if args.init {
        return init(args.config.as_deref().unwrap_or(Path::new(SAMPLE_NAME)));
    }
    let Some(config) = &args.config else {
        return Err(BadInput(
            "name a configuration, or write one to begin with: trawl map --init".into(),
        )
        .into());
    };
    let map = load::load(config, &args.network)?;
    if args.dry_run {
        return dry_run::show(&map, &args.test_url);
    }
    if views::wanted(&args) {
        return views::show(&map, &args).await;
    }
    run::run(map, &args, verbose).await
}

/// Writes the sample, over nothing that is there already.
fn init(path: &Path) -> anyhow::Result<ExitCode> {
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| {
        let path = path.display();
        BadInput(match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{path} exists already: name another file after --init")
            }
            _ => format!("{path} cannot be written: {error}"),
        })
    })?;
    file.write_all(trawl_terrain::config::SAMPLE.as_bytes())?;
    let path = path.display();
    println!("Wrote {path}. Put your domains in, then: trawl map {path} --dry-run");
    Ok(ExitCode::SUCCESS)
}
