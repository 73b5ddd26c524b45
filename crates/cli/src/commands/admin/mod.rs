//! `trawl admin`: looking after a store as a whole. One file for each command.

mod archive;
mod backup;
mod cleanup;
mod copy;
mod rebuild;
mod reindex;
mod replay;
mod report;
mod requeue;

pub(crate) use archive::{ArchivePlan, Archives};

use std::process::ExitCode;

use trawl_types::{CrawlState, UnixMillis};

use crate::args::{AdminArgs, AdminCommand};

pub(crate) async fn run(args: AdminArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        AdminCommand::Backup(args) => Box::pin(backup::backup(&args)).await,
        AdminCommand::Verify(args) => backup::verify(args).await,
        AdminCommand::Restore(args) => Box::pin(backup::restore(args)).await,
        AdminCommand::Cleanup(args) => cleanup::run(&args).await,
        AdminCommand::Archive(args) => Box::pin(archive::run(&args)).await,
        AdminCommand::Report(args) => report::run(&args).await,
        AdminCommand::Requeue(args) => requeue::run(&args).await,
        AdminCommand::Replay(args) => Box::pin(replay::run(&args)).await,
        AdminCommand::Copy(args) => Box::pin(copy::run(&args)).await,
        AdminCommand::Rebuild(args) => Box::pin(rebuild::run(&args)).await,
    }
}

/// Work that keeps a thread busy, beside the runtime's own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> anyhow::Result<T> {
    Ok(tokio::task::spawn_blocking(work).await?)
}

fn now() -> UnixMillis {
    UnixMillis(chrono::Utc::now().timestamp_millis())
}

/// Whether nobody works on a crawl in this state, and nobody will unless told to.
fn ended(state: CrawlState) -> bool {
    matches!(
        state,
        CrawlState::Completed | CrawlState::Cancelled | CrawlState::Failed
    )
}
