//! What may be typed about the content of pages.

use clap::{Args, ValueEnum};

use crate::units;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepArg {
    /// The body as it came
    Html,
    /// The main content as Markdown, with metadata
    Markdown,
    /// The main content as plain text, with metadata
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SitemapsArg {
    /// Those that robots.txt names
    Robots,
    /// /sitemap.xml too, where robots.txt names none
    Guess,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Content")]
pub(crate) struct ContentArgs {
    /// What to keep of each page beside its record and its links, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(crate) keep: Vec<KeepArg>,
    /// Cut longer Markdown and text
    #[arg(long, value_name = "SIZE", default_value = "1MB", value_parser = units::bytes)]
    pub(crate) max_content: u64,
    /// Read PDF, plain text, Markdown and feeds too (keeping Markdown or text implies it)
    #[arg(long)]
    pub(crate) documents: bool,
    /// Find pages whose content is nearly that of an earlier one
    #[arg(long)]
    pub(crate) near_duplicates: bool,
    /// In how many of 64 bits near-duplicates may differ
    #[arg(
        long,
        value_name = "BITS",
        default_value_t = 3,
        requires = "near_duplicates"
    )]
    pub(crate) near_distance: u32,
    /// Follow no links of pages that have more near-duplicates than this
    #[arg(long, value_name = "N", requires = "near_duplicates")]
    pub(crate) stop_at_near_duplicates: Option<u32>,
    /// Start from the pages that sitemaps list, too
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "robots"
    )]
    pub(crate) sitemaps: Option<SitemapsArg>,
}
