//! `trawl crawl`: a new crawl in the foreground.

use std::process::ExitCode;

use trawl_engine::{Engine, EngineOptions};

use super::{last_unfinished, open, session};
use crate::{args::CrawlArgs, output::Sink, spec::spec_of};

pub(crate) async fn run(args: CrawlArgs) -> anyhow::Result<ExitCode> {
    let spec = spec_of(&args)?;
    // All that can be wrong with the input is found before a file is made.
    spec.validate()?;
    let sink = Sink::chosen(&args.output)?;
    let database = &args.database.database;
    let store = open(database)?;
    let left = last_unfinished(store.as_ref()).await?;
    let engine = Engine::start(store.clone(), EngineOptions::default()).await?;
    let name = args
        .name
        .clone()
        .unwrap_or_else(|| spec.seeds.first().cloned().unwrap_or_default());
    let handle = engine.crawl(spec, &name).await?;
    if !args.quiet {
        for (text, reason) in handle.plan.bad_seeds() {
            eprintln!("trawl: {text:?} is left out: {reason}");
        }
        if let Some(row) = left {
            eprintln!(
                "trawl: crawl {} ({}) in this database is unfinished: trawl resume {} goes on with it",
                row.id, row.name, row.id
            );
        }
    }
    let follower = match sink {
        Some(sink) => Some(sink.follower(handle.crawl, 0)?),
        None => None,
    };
    session::run(store, handle, follower, database, args.quiet).await
}
