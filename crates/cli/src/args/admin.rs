//! What may be typed after `trawl admin`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trawl_types::UnixMillis;

use super::{
    search::{LanguageArgs, ModelArgs},
    server::ServerDatabase,
};
use crate::units;

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
    /// Remove what is older than the settings keep it
    Cleanup(CleanupArgs),
    /// Write pages to compressed files, and remove them from the database if asked to
    Archive(Box<ArchiveArgs>),
    /// Say how much of what there is
    Report(ReportArgs),
    /// Put pages back into the queue of their crawl
    Requeue(RequeueArgs),
    /// Make content anew of stored pages, without asking the web
    Replay(ReplayArgs),
    /// Count anew what is kept in numbers, and make the search index anew
    Rebuild(RebuildArgs),
    /// Move a database file to PostgreSQL; goes on where an earlier attempt stopped
    Copy(CopyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// The database file (`sqlite:` may stand before it)
    #[arg(long, value_name = "FILE")]
    pub(crate) from: String,
    /// The database: postgres://…
    #[arg(long, value_name = "URL", required_unless_present = "to_file")]
    pub(crate) to: Option<String>,
    /// Read the address of the database from this file, so that no command line holds a password
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) to_file: Option<PathBuf>,
    /// Let crawls that are paused go on as soon as a worker is there
    #[arg(long)]
    pub(crate) resume: bool,
    /// Only say what would be copied
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CleanupArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Only these kinds, separated by commas: jobs, visits, failures, versions, bodies, queue,
    /// minutes, hours, robots, unused
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Keep for this many days, whatever the settings say
    #[arg(long, value_name = "DAYS", requires = "only")]
    pub(crate) days: Option<u32>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchiveFormat {
    Ndjson,
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchiveCompression {
    Zstd,
    Gzip,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Visits before this day or moment (2026-01-31, 2026-01-31T12:00:00Z)
    #[arg(long, value_name = "DATE", value_parser = units::moment,
        required_unless_present_any = ["crawl", "due"])]
    pub(crate) before: Option<UnixMillis>,
    /// What a server would archive by itself: pages that are as old as the settings say, each once
    #[arg(long, conflicts_with_all = ["before", "crawl", "delete", "fields", "format", "compress"])]
    pub(crate) due: bool,
    /// Only those of this crawl
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    /// How they are written
    #[arg(long, value_enum, default_value = "ndjson")]
    pub(crate) format: ArchiveFormat,
    /// How files are compressed
    #[arg(long, value_enum, default_value = "zstd")]
    pub(crate) compress: ArchiveCompression,
    /// Only these fields, separated by commas; all of them if left out
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
    /// The folder in which a folder for this archive is made, or s3://bucket/prefix
    #[arg(short, long, value_name = "DIR", required_unless_present = "due")]
    pub(crate) output: Option<String>,
    /// Remove from the database what was written, once it has been read back
    #[arg(long)]
    pub(crate) delete: bool,
    /// Only say what would be written
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// How many hosts to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: u32,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndedArg {
    /// Visits that ended in vain
    Failed,
    /// Visits that did not
    Completed,
    All,
}

#[derive(Debug, Args)]
pub(crate) struct RequeueArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Number of the crawl; the last one if left out
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    /// Which visits
    #[arg(long, value_enum, default_value = "failed")]
    pub(crate) state: EndedArg,
    /// Only pages of this host
    #[arg(long, value_name = "HOST", value_parser = units::host)]
    pub(crate) domain: Option<String>,
    /// Only visits at this moment or later
    #[arg(long, value_name = "DATE", value_parser = units::moment)]
    pub(crate) since: Option<UnixMillis>,
    /// Only visits before this moment
    #[arg(long, value_name = "DATE", value_parser = units::moment)]
    pub(crate) before: Option<UnixMillis>,
    /// Only say how many
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Number of the crawl; the last one if left out
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    /// Only pages of this host
    #[arg(long, value_name = "HOST", value_parser = units::host)]
    pub(crate) domain: Option<String>,
    /// Only visits at this moment or later
    #[arg(long, value_name = "DATE", value_parser = units::moment)]
    pub(crate) since: Option<UnixMillis>,
    /// Only visits before this moment
    #[arg(long, value_name = "DATE", value_parser = units::moment)]
    pub(crate) before: Option<UnixMillis>,
    /// What to keep, separated by commas (markdown, text); what the crawl keeps if left out
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) keep: Vec<ReplayKeep>,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayKeep {
    Markdown,
    Text,
}

#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
    /// Only this crawl
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    /// Make the search index anew as well
    #[arg(long)]
    pub(crate) index: bool,
    /// The file with the index, if it is not where the settings say
    #[arg(long, value_name = "FILE", requires = "index")]
    pub(crate) search_index: Option<PathBuf>,
    /// Also if it holds uploads, collections, tags or deletions, which are lost then
    #[arg(long, requires = "index")]
    pub(crate) discard_uploads: bool,
    #[command(flatten)]
    pub(crate) languages: LanguageArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Only compare, and say what would be made anew; ends with code 1 if a figure differs
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) check: bool,
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
