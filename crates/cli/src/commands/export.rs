//! `trawl export`: write the results of a crawl, also while it runs.

use std::process::ExitCode;

use super::{open_to_read, pick};
use crate::{
    args::{ExportArgs, Format},
    exit::BadInput,
    output::Sink,
};

pub(crate) async fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let store = open_to_read(&args.database.database)?;
    let row = pick(store.as_ref(), args.crawl).await?;
    let keep = row.spec.keep;
    if args.output.format == Some(Format::Markdown) && !keep.html && !keep.markdown {
        let message = format!(
            "crawl {} kept neither Markdown nor HTML to make it of: crawl with --keep markdown",
            row.id
        );
        return Err(BadInput(message).into());
    }
    if Sink::is_nowhere(&args.output) {
        return Ok(ExitCode::SUCCESS);
    }
    let output = Sink::stdout(&args.output)?
        .showing(keep, &args.output)
        .open(&args.database.database)?;
    output
        .follower(row.id, 0)?
        .write_all(store.as_ref())
        .await?;
    Ok(ExitCode::SUCCESS)
}
