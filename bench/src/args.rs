//! What may be typed. The hidden commands are this program calling itself.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures trawl against a minimal fetch-and-find-links loop in the same run.
#[derive(Debug, Parser)]
#[command(name = "trawl-bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) inner: Option<Inner>,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// smoke, site, site-kept, site-rich, site-rich-kept, site-ndjson, hosts, long, memory or all;
    /// site, site-kept and hosts if none is named
    pub(crate) cases: Vec<String>,
    /// How often each contender runs (each case has its own number)
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<usize>,
    /// Write the figures to this file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Exit with 1 if a target is missed
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Inner {
    #[command(hide = true)]
    Baseline(BaselineArguments),
    #[command(hide = true)]
    Measured(MeasuredArguments),
}

/// The baseline as a process, so that its CPU time and memory can be told apart.
#[derive(Debug, Args)]
pub(crate) struct BaselineArguments {
    /// File with one URL on a line
    #[arg(long)]
    pub(crate) urls: PathBuf,
    #[arg(long)]
    pub(crate) concurrency: usize,
    #[arg(long)]
    pub(crate) per_host: usize,
    #[arg(long, value_enum)]
    pub(crate) finder: Finder,
}

/// How the baseline finds links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Finder {
    /// A streaming parser with a selector.
    LolHtml,
    /// A search for `<a`, for comparison: it is no correct reading of HTML.
    ByteScan,
}

#[derive(Debug, Args)]
pub(crate) struct MeasuredArguments {
    /// Where the figures go
    #[arg(long)]
    pub(crate) to: PathBuf,
    /// Program and arguments
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<String>,
}
