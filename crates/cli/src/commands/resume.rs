//! `trawl resume`: go on where an interruption or a crash left off.

use std::process::ExitCode;

use trawl_engine::{Engine, EngineOptions};
use trawl_types::CrawlId;

use super::{last_unfinished, open, session};
use crate::{args::ResumeArgs, exit::BadInput, output::Sink};

pub(crate) async fn run(args: ResumeArgs) -> anyhow::Result<ExitCode> {
    let database = &args.database.database;
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
        None => match last_unfinished(store.as_ref()).await? {
            Some(row) => row.id,
            None => {
                let message = "every crawl of the database is finished: nothing to resume";
                return Err(BadInput(message.into()).into());
            }
        },
    };
    let engine = Engine::start(store.clone(), EngineOptions::default()).await?;
    let before = store.crawl(crawl).await?.last_seq.0;
    let handle = engine.resume(crawl).await?;
    let follower = match sink {
        // A file is written anew from the log, so that it ends up whole; a pipe gets what is new.
        Some(sink) => {
            let after = if sink.is_stdout() { before } else { 0 };
            Some(sink.follower(crawl, after)?)
        }
        None => None,
    };
    session::run(store, handle, follower, database, args.quiet).await
}
