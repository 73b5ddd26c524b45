//! What may be typed after `trawl serve` and `trawl keys`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

use super::{DatabaseArgs, NetworkArgs};
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080",
        env = "TRAWL_LISTEN"
    )]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Let everybody do everything: for closed networks only
    #[arg(long)]
    pub(crate) insecure_no_auth: bool,
    /// Least time between two requests to one host; jobs may ask for more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::duration, env = "TRAWL_DELAY")]
    pub(crate) delay: Duration,
    /// Let web pages of this origin read answers (`*` for all)
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors_origin: Vec<String>,
    /// Remove jobs this many days after they ended
    #[arg(
        long,
        value_name = "DAYS",
        default_value_t = 30,
        env = "TRAWL_RETENTION_DAYS"
    )]
    pub(crate) retention_days: u32,
    /// A stream in which nothing happens gives a sign of life this often
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = units::duration, env = "TRAWL_KEEP_ALIVE")]
    pub(crate) keep_alive: Duration,
    /// Links away from what was added that the open frontier follows
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        env = "TRAWL_FRONTIER_DEPTH"
    )]
    pub(crate) frontier_depth: u32,
    /// Go on with crawls whose reader has left
    #[arg(long)]
    pub(crate) keep_unread: bool,
    /// Where site owners can read about these crawls
    #[arg(long, value_name = "URL", env = "TRAWL_CONTACT_URL")]
    pub(crate) contact_url: Option<String>,
    /// Where site owners can complain
    #[arg(long, value_name = "MAIL", env = "TRAWL_CONTACT_EMAIL")]
    pub(crate) contact_email: Option<String>,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
    /// The server's database
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        default_value = "trawl.db",
        env = "TRAWL_DATABASE"
    )]
    pub(crate) database: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key and show it, this once
    Create(NewKeyArgs),
    /// List keys, without their secrets
    List,
    /// End a key at once
    Revoke {
        /// Its id, as `trawl keys list` shows it
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// Who or what it is for
    pub(crate) name: String,
    /// What it may do; each scope includes those before it
    #[arg(long, value_enum, default_value = "write")]
    pub(crate) scope: ScopeKind,
    /// Requests a minute, instead of what the scope allows
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// Days until it ends
    #[arg(long, value_name = "DAYS")]
    pub(crate) expires: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeKind {
    Read,
    Write,
    Admin,
}
