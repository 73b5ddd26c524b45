//! `trawl crawl`: a new crawl in the foreground.

use std::process::ExitCode;

use trawl_engine::{CrawlPlan, Engine, EngineOptions};
use trawl_types::KeySecret;

use super::{last_unfinished, open, session};
use crate::{args::CrawlArgs, display, flags::by_flag, hint, output::Sink, spec::spec_of};

pub(crate) async fn run(args: CrawlArgs) -> anyhow::Result<ExitCode> {
    let spec = spec_of(&args)?;
    // All that can be wrong with the input is found before a database is made.
    CrawlPlan::compile(spec.clone(), KeySecret([0; 16]), display::this_year()).map_err(by_flag)?;
    let output = Sink::chosen(&args.output)?.map(|sink| sink.showing(spec.keep, &args.output));
    let database = &args.database.database;
    let output = output.map(|sink| sink.open(database)).transpose()?;
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
                "trawl: crawl {} ({}) in this database is unfinished: {} goes on with it",
                row.id,
                display::printable(&row.name),
                hint::resume(row.id, database)
            );
        }
    }
    let follower = output.map(|output| output.follower(handle.crawl, 0));
    let follower = follower.transpose()?;
    session::run(store, handle, follower, database, args.quiet).await
}
