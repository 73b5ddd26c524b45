//! `trawl admin`: looking after a store as a whole. One file for each command.

mod backup;

use std::process::ExitCode;

use crate::args::{AdminArgs, AdminCommand};

pub(crate) async fn run(args: AdminArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        AdminCommand::Backup(args) => Box::pin(backup::backup(&args)).await,
        AdminCommand::Verify(args) => backup::verify(args).await,
        AdminCommand::Restore(args) => Box::pin(backup::restore(args)).await,
    }
}

/// Work that keeps a thread busy, beside the runtime's own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> anyhow::Result<T> {
    Ok(tokio::task::spawn_blocking(work).await?)
}
