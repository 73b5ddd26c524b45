//! `trawl resume`: go on where an interruption or a crash left off.

use std::process::ExitCode;

use trawl_engine::{Engine, EngineOptions};
use trawl_store::Store;
use trawl_types::CrawlId;

use super::{last_unfinished, open, session};
use crate::{args::ResumeArgs, exit::BadInput, output::Sink};

pub(crate) async fn run(args: ResumeArgs) -> anyhow::Result<ExitCode> {
    let database = &args.database.database;
    crate::database::must_be_a_file(database)?;
    if !database.exists() {
        let message = format!(
            "there is no database {}: nothing to resume",
            database.display()
        );
        return Err(BadInput(message).into());
    }
    let sink = Sink::chosen(&args.output)?;
    let store = open(database)?;
    let crawl = match args.crawl {
        Some(id) => CrawlId(id),
        None => unfinished(store.as_ref()).await?,
    };
    let row = store.crawl(crawl).await?;
    let output = sink.map(|sink| sink.showing(row.spec.keep, &args.output));
    let output = output.map(|sink| sink.open(database)).transpose()?;
    let engine = Engine::start(store.clone(), EngineOptions::default()).await?;
    let before = row.last_seq.0;
    let handle = engine.resume(crawl).await?;
    // A file is written anew from the log, so that it ends up whole; a pipe gets what is new.
    let follower = output.map(|output| {
        let after = if output.is_stdout() { before } else { 0 };
        output.follower(crawl, after)
    });
    let follower = follower.transpose()?;
    session::run(store, handle, follower, database, args.quiet).await
}

async fn unfinished(store: &dyn Store) -> anyhow::Result<CrawlId> {
    let row = last_unfinished(store).await?;
    row.map(|row| row.id).ok_or_else(|| {
        BadInput("every crawl of the database is finished: nothing to resume".into()).into()
    })
}
