//! What may be typed. Meaning is given to it in `spec` and in the commands.

mod admin;
mod content;
mod extract;
mod map;
mod network;
mod search;
mod server;

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub(crate) use admin::{
    AdminArgs, AdminCommand, ArchiveArgs, ArchiveCompression, ArchiveFormat, BackupArgs,
    CleanupArgs, CopyArgs, EndedArg, RebuildArgs, ReplayArgs, ReplayKeep, ReportArgs, RequeueArgs,
    RestoreArgs, VerifyArgs,
};
pub(crate) use content::{ContentArgs, KeepArg, SitemapsArg};
pub(crate) use extract::{ExtractArgs, ExtractFormat};

use crate::units;
pub(crate) use map::{ClassArg, GraphFormat, LevelArg, MapArgs, ViewArgs, ViewFormat};
pub(crate) use network::NetworkArgs;
pub(crate) use search::{
    EmbedServerArgs, HubArgs, IndexArgs, ModeArg, ModelArgs, ModelsArgs, ModelsCommand,
    ProtocolArg, QdrantArgs, RegistryArg, RerankArgs, SearchArgs,
};
pub(crate) use server::{
    ConfigArgs, ConfigCommand, KeysArgs, KeysCommand, NewKeyArgs, RoleKind, ScopeKind, ServeArgs,
    UsersArgs, UsersCommand,
};

/// Where `trawl demo` keeps what it found unless it is told otherwise.
pub(crate) const DEMO_DATABASE: &str = "trawl-demo.db";

/// A polite web crawler that remembers everything it saw and loses nothing.
#[derive(Debug, Parser)]
#[command(
    name = "trawl",
    version,
    max_term_width = 100,
    propagate_version = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more (repeat for still more)
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Work with so many threads instead of one for each core: processes that share a machine share
    /// its cores
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl the web from one or more URLs
    Crawl(Box<CrawlArgs>),
    /// Map the web around a list of domains: who links to whom
    Map(Box<MapArgs>),
    /// Serve crawl jobs over HTTP
    Serve(Box<ServeArgs>),
    /// Take part in the crawls of a database that many processes share
    Worker(Box<ServeArgs>),
    /// Make, list and revoke keys of the server
    Keys(KeysArgs),
    /// Make, list and lock out users of the server
    Users(UsersArgs),
    /// Look after a database: back up, restore, clean up, archive, move
    Admin(Box<AdminArgs>),
    /// Show the settings of the server, or write a sample
    Config(ConfigArgs),
    /// Go on with a crawl that was interrupted, by Ctrl-C or by a crash
    Resume(ResumeArgs),
    /// List the crawls of a database and how they stand
    Status(StatusArgs),
    /// Say why a URL was or was not crawled, or what would happen to it
    Explain(ExplainArgs),
    /// Write the results of a crawl
    Export(ExportArgs),
    /// Print the main content of a page or another document as Markdown, text, HTML or JSON
    Extract(Box<ExtractArgs>),
    /// Make what was crawled searchable
    Index(Box<IndexArgs>),
    /// Search what was crawled, by words and by meaning
    Search(Box<SearchArgs>),
    /// Get and list models for search by meaning
    Models(ModelsArgs),
    /// Serve local models to other programs over HTTP
    EmbedServer(Box<EmbedServerArgs>),
    /// Crawl a small made-up web on this machine, to see how it looks
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// The file that remembers everything
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "trawl.db",
        env = "TRAWL_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Ndjson,
    Json,
    Csv,
    Urls,
    /// A file for each page, in a folder; keeps the pages' Markdown
    Markdown,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Write results to this file, to a folder if the path is one or ends in a slash, or nowhere
    /// (`none`)
    #[arg(short, long, value_name = "FILE|DIR|none")]
    pub(crate) output: Option<PathBuf>,
    /// How results are written
    #[arg(short, long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Only these fields, separated by commas (url, status_code, title, links, ...)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// The hosts of the start URLs
    Host,
    /// Their registrable domains, with all subdomains
    Site,
    /// The whole web
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyArg {
    #[value(name = "breadth-first")]
    Breadth,
    #[value(name = "depth-first")]
    Depth,
    #[value(name = "best-first")]
    Best,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeadArg {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OversizeArg {
    Truncate,
    Refuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnreachableArg {
    Disallow,
    Allow,
}

#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Where to start
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Read further start URLs from a file, one on a line (`-` for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) seeds: Option<PathBuf>,
    /// A name for the crawl, shown by `trawl status`
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) politeness: PolitenessArgs,
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    /// Neither progress nor summary
    #[arg(short, long, help_heading = "Options")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which pages")]
pub(crate) struct LimitArgs {
    /// Stop after this many pages
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) max_pages: Option<u64>,
    /// Visit at most this many pages of one host
    #[arg(long, value_name = "N")]
    pub(crate) max_pages_per_host: Option<u64>,
    /// Follow links at most this far from the start URLs
    #[arg(long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Which hosts may be visited
    #[arg(long, value_enum, default_value = "host")]
    pub(crate) scope: ScopeArg,
    /// Visit only these hosts (`example.org` or `*.example.org`); replaces --scope
    #[arg(long = "host", value_name = "PATTERN")]
    pub(crate) hosts: Vec<String>,
    /// Visit only URLs that match: a glob, or `regex:` and an expression
    #[arg(long, value_name = "PATTERN")]
    pub(crate) include: Vec<String>,
    /// Do not visit URLs that match
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Which pages first
    #[arg(long, value_enum, default_value = "breadth-first")]
    pub(crate) strategy: StrategyArg,
    /// What best-first looks for, separated by commas; otherwise the order of pages of one depth
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(crate) keywords: Vec<String>,
    /// Do not follow links marked nofollow
    #[arg(long)]
    pub(crate) respect_nofollow: bool,
    /// Ask for https where a link says http
    #[arg(long)]
    pub(crate) upgrade_https: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "How politely")]
pub(crate) struct PolitenessArgs {
    /// Requests at once in all
    #[arg(short, long, value_name = "N", default_value_t = 64)]
    pub(crate) concurrency: u32,
    /// Least time between two requests to one host (a longer Crawl-delay wins)
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration)]
    pub(crate) delay: Duration,
    /// Requests to one host at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) per_host: u32,
    /// How often a failed request is tried in all
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) attempts: u32,
    /// First pause before another attempt; doubles each time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration)]
    pub(crate) retry_delay: Duration,
    /// What follows when robots.txt cannot be read
    #[arg(long, value_enum, default_value = "disallow")]
    pub(crate) robots_unreachable: UnreachableArg,
    /// Do not ask for robots.txt: for your own sites only
    #[arg(long)]
    pub(crate) ignore_robots: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub(crate) struct RequestArgs {
    /// Send this User-Agent instead of the one built from name and contact
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
    /// Where site owners can read about this crawl
    #[arg(long, value_name = "URL", env = "TRAWL_CONTACT_URL")]
    pub(crate) contact_url: Option<String>,
    /// Where site owners can complain
    #[arg(long, value_name = "MAIL", env = "TRAWL_CONTACT_EMAIL")]
    pub(crate) contact_email: Option<String>,
    /// Send a header to the start URLs' origins (`Name: value`); repeat it for other names
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Keep cookies
    #[arg(long)]
    pub(crate) cookies: bool,
    /// http://, socks5:// or socks5h:// with optional user:password
    #[arg(long, value_name = "URL", env = "TRAWL_PROXY", hide_env_values = true)]
    pub(crate) proxy: Option<String>,
    /// Give up on a page after this long in all
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::duration)]
    pub(crate) timeout: Duration,
    /// Read at most this much of a page
    #[arg(long, value_name = "SIZE", default_value = "10MiB", value_parser = units::bytes)]
    pub(crate) max_body: u64,
    /// What happens to larger pages
    #[arg(long, value_enum, default_value = "truncate")]
    pub(crate) oversize: OversizeArg,
    /// When HEAD is sent before GET
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) head: HeadArg,
    /// Speak HTTP/1.1 only
    #[arg(long)]
    pub(crate) no_http2: bool,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Number of the crawl; the last unfinished one if left out
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Neither progress nor summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Number of a crawl to show in full
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Number of the crawl; the last one if left out
    #[arg(long, value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Number of the crawl; the last one if left out
    #[arg(value_name = "CRAWL")]
    pub(crate) crawl: Option<i64>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Pages of the made-up web
    #[arg(long, default_value_t = 2000)]
    pub(crate) pages: u32,
    /// Hosts of the made-up web
    #[arg(long, default_value_t = 8)]
    pub(crate) hosts: u32,
    /// Where to keep what was found
    #[arg(short, long, value_name = "FILE", default_value = DEMO_DATABASE)]
    pub(crate) database: PathBuf,
}
