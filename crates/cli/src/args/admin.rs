//! What may be typed after `trawl admin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::server::ServerDatabase;

#[derive(Debug, Args)]
pub(crate) struct AdminArgs {
    #[command(subcommand)]
    pub(crate) command: AdminCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Copy a whole database to a folder, also while crawls run
    Backup(BackupArgs),
    /// Read all of a backup and say whether it is whole
    Verify(VerifyArgs),
    /// Make a database of a backup
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// The folder of the backup
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace a backup that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The folder of the backup
    #[arg(value_name = "BACKUP")]
    pub(crate) backup: PathBuf,
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Replace what the database holds
    #[arg(long)]
    pub(crate) force: bool,
}
