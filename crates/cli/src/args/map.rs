//! What may be typed after `trawl map`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::NetworkArgs;

#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// The configuration: quality, blacklist and stub domains (`--init` writes one to begin with)
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Write a commented sample to CONFIG (map.toml if left out)
    #[arg(long, group = "task")]
    pub(crate) init: bool,
    /// Go on with an interrupted run (what happens anyway)
    #[arg(long, group = "task")]
    pub(crate) resume: bool,
    /// Start a new run; what earlier ones found is kept
    #[arg(long, group = "task")]
    pub(crate) fresh: bool,
    /// Check the configuration and show what would be done
    #[arg(long, group = "task")]
    pub(crate) dry_run: bool,
    /// With --dry-run: what would become of this URL
    #[arg(long, value_name = "URL", requires = "dry_run")]
    pub(crate) test_url: Vec<String>,
    /// Show the figures of the last run
    #[arg(long, group = "task")]
    pub(crate) stats: bool,
    /// Write the summary of the last run
    #[arg(long, group = "task")]
    pub(crate) export_summary: bool,
    /// Rank the domains that were found by how many quality domains cite them
    #[arg(long, group = "task")]
    pub(crate) prospects: bool,
    /// Say what appeared, vanished and changed between two runs
    #[arg(long, group = "task", num_args = 2, value_names = ["RUN", "RUN"])]
    pub(crate) diff: Vec<i64>,
    /// Write the graph
    #[arg(long, group = "task", value_name = "FORMAT")]
    pub(crate) export: Option<GraphFormat>,
    /// Only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) views: ViewArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Graphml,
    Gexf,
    Csv,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelArg {
    Page,
    Host,
    Site,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewFormat {
    Markdown,
    Json,
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassArg {
    Quality,
    Blacklisted,
    Stubbed,
    Discovered,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Views")]
pub(crate) struct ViewArgs {
    /// How summaries, prospects and differences are written
    #[arg(short, long, value_enum, default_value = "markdown")]
    pub(crate) format: ViewFormat,
    /// Write to this file (`-` for standard output); for CSV a folder
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Number of the run; the last one if left out
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<i64>,
    /// With --prospects and --diff: at most this many rows of each kind
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    /// What a node of an exported graph is
    #[arg(long, value_enum, default_value = "host")]
    pub(crate) level: LevelArg,
    /// Only nodes of these classes
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) class: Vec<ClassArg>,
    /// Only nodes at most this far from a quality domain
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Only edges that stand for at least this many links
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_weight: u64,
}
