//! `trawl export`: write the results of a crawl, also while it runs.

use std::process::ExitCode;

use super::{open_to_read, pick};
use crate::{args::ExportArgs, output::Sink};

pub(crate) async fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let row = pick(store.as_ref(), args.crawl).await?;
    let sink = Sink::chosen(&args.output)?.map_or_else(|| Sink::stdout(&args.output), Ok)?;
    sink.follower(row.id, 0)?.write_all(store.as_ref()).await?;
    Ok(ExitCode::SUCCESS)
}
