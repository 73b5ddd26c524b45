//! `trawl resume`: go on where an interruption or a crash left off.

use std::process::ExitCode;

use trawl_engine::{Engine, EngineOptions};
use trawl_store::{Store, contract::read::CrawlRow};
use trawl_types::{CrawlId, CrawlState};

use super::{last_unfinished, open, session};
use crate::{args::ResumeArgs, display::number, exit::BadInput, output::Sink};

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
    if let Some(why) = left_over(store.as_ref(), &row).await? {
        return Err(BadInput(why).into());
    }
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
    if let Some(row) = last_unfinished(store).await? {
        return Ok(row.id);
    }
    let last = store.crawls().await?.into_iter().max_by_key(|row| row.id);
    let Some(last) = last else {
        let message = "the database holds no crawl yet: nothing to resume";
        return Err(BadInput(message.into()).into());
    };
    let mut message = "every crawl of the database is finished: nothing to resume".to_owned();
    if let Some(why) = left_over(store, &last).await? {
        message = format!("{message}. The last one, {why}");
    }
    Err(BadInput(message).into())
}

/// Why a crawl that is over does not go on, though URLs wait.
async fn left_over(store: &dyn Store, row: &CrawlRow) -> anyhow::Result<Option<String>> {
    if row.state != CrawlState::Completed {
        return Ok(None);
    }
    let counts = store.counts(row.id).await?;
    if counts.pending == 0 {
        return Ok(None);
    }
    let (crawl, waiting) = (row.id, number(counts.pending));
    let most = row.spec.scope.max_pages;
    Ok(Some(match most.filter(|most| counts.pages >= *most) {
        Some(most) => format!(
            "crawl {crawl} is completed: its budget of {} pages is used up while {waiting} URLs \
             wait; a new crawl with a larger --max-pages visits them",
            number(most)
        ),
        None => format!(
            "crawl {crawl} is completed: {waiting} URLs wait for hosts that were given up or whose \
             budget is used up; a new crawl asks them again"
        ),
    }))
}
