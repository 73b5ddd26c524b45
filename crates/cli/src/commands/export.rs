//! `trawl export`: write the results of a crawl, also while it runs.

use std::process::ExitCode;

use super::{open_to_read, pick};
use crate::{args::ExportArgs, output::Sink};

pub(crate) async fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let row = pick(store.as_ref(), args.crawl).await?;
    let output = Sink::stdout(&args.output)?.open()?;
    output.follower(row.id, 0).write_all(store.as_ref()).await?;
    Ok(ExitCode::SUCCESS)
}
