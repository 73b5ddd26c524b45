//! What may be typed after `trawl serve`, `trawl keys`, `trawl users` and `trawl config`. The flags
//! of the settings stand in `settings::table`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, builder::NonEmptyStringValueParser};

use crate::{
    database::Database,
    settings::{Flags, Settings},
};

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) config: ConfigFile,
    #[command(flatten)]
    pub(crate) flags: Flags,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigFile {
    /// Read settings from this file; trawl.toml in this folder if there is one [env: TRAWL_CONFIG]
    #[arg(long = "config", value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every setting as it holds, and where it came from
    Show(Box<ServeArgs>),
    /// Write a commented sample
    Init {
        /// Where to
        #[arg(value_name = "FILE", default_value = crate::settings::USUAL_FILE)]
        path: PathBuf,
        /// Replace a file that is there
        #[arg(long)]
        force: bool,
    },
}

/// The database of a server, which its settings may name.
#[derive(Debug, Args)]
pub(crate) struct ServerDatabase {
    /// The server's database: a file or postgres://… [env: TRAWL_DATABASE] [default: trawl.db]
    #[arg(short, long, global = true, value_name = "FILE")]
    database: Option<String>,
    /// Read the place of the database from this file [env: TRAWL_DATABASE_FILE]
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "database")]
    database_file: Option<PathBuf>,
    /// Read the place of the database from this settings file [env: TRAWL_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ServerDatabase {
    pub(crate) fn find(&self) -> anyhow::Result<Database> {
        if let Some(name) = &self.database {
            return Ok(Database::parse(name));
        }
        if let Some(path) = &self.database_file {
            return Ok(Database::from_file(path)?);
        }
        self.settings()?.database()
    }

    /// The server's settings, without its flags.
    pub(crate) fn settings(&self) -> anyhow::Result<Settings> {
        let environment = &crate::settings::environment;
        Settings::load(self.config.as_deref(), &Flags::default(), environment)
    }
}

#[derive(Debug, Args)]
pub(crate) struct UsersArgs {
    #[command(subcommand)]
    pub(crate) command: UsersCommand,
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Make a user; the password is asked for, or read from standard input
    Create {
        /// Letters, digits and . _ @ + -
        name: String,
        /// What they may do
        #[arg(long, value_enum, default_value = "user")]
        role: RoleKind,
    },
    /// List users
    List,
    /// Give a user another password, which ends their sessions and the wait after bad logins
    Passwd { name: String },
    /// Lock a user out at once
    Disable { name: String },
    /// Let a user in again
    Enable { name: String },
    /// Forget a user; their jobs stay, for administrators to see
    Delete { name: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleKind {
    /// Has jobs of their own
    User,
    /// May do everything
    Admin,
}

#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
    #[command(flatten)]
    pub(crate) database: ServerDatabase,
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
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,
    /// What it may do; each scope includes those before it
    #[arg(long, value_enum, default_value = "write")]
    pub(crate) scope: ScopeKind,
    /// Requests a minute, instead of what the scope allows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
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
