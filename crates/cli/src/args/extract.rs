//! What may be typed after `trawl extract`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::RequestArgs;
use crate::units;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractFormat {
    Markdown,
    Text,
    Html,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// A URL, a file, or - for standard input
    #[arg(value_name = "URL|FILE|-", conflicts_with = "batch")]
    pub(crate) input: Option<String>,
    /// How the content is written
    #[arg(short, long, value_enum, default_value = "markdown")]
    pub(crate) format: ExtractFormat,
    /// Resolve links against this address
    #[arg(long, value_name = "URL")]
    pub(crate) base: Option<String>,
    /// Read many: URLs, files, folders, text files that list URLs; a line of JSON for each
    #[arg(long, value_name = "URL|FILE|DIR", num_args = 1.., conflicts_with = "format")]
    pub(crate) batch: Vec<String>,
    /// Write the lines of --batch to this file
    #[arg(short, long, value_name = "FILE", requires = "batch")]
    pub(crate) output: Option<PathBuf>,
    /// Cut longer content
    #[arg(long, value_name = "SIZE", default_value = "1MB", value_parser = units::bytes)]
    pub(crate) max_content: u64,
    /// Least time between two requests to one host (a longer Crawl-delay wins)
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration)]
    pub(crate) delay: Duration,
    /// Do not ask for robots.txt: for your own sites only
    #[arg(long)]
    pub(crate) ignore_robots: bool,
    /// Neither progress nor summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
}
