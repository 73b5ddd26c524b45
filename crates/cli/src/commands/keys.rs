//! `trawl keys`: who may use the server. Works while it runs.

use std::{io::Write, process::ExitCode};

use trawl_api::auth::key::{Scope, make};
use trawl_types::UnixMillis;

use crate::{
    args::{KeysArgs, KeysCommand, NewKeyArgs, ScopeKind},
    database::Database,
    display::printable,
    exit::BadInput,
};

pub(crate) async fn run(args: &KeysArgs) -> anyhow::Result<ExitCode> {
    let database = &args.database.find()?;
    match &args.command {
        KeysCommand::Create(new) => create(database, new).await,
        KeysCommand::List => list(database).await,
        KeysCommand::Revoke { id } => revoke(database, id).await,
    }
}

fn now() -> UnixMillis {
    UnixMillis(chrono::Utc::now().timestamp_millis())
}

async fn create(database: &Database, new: &NewKeyArgs) -> anyhow::Result<ExitCode> {
    let name = new.name.trim();
    if name.is_empty() || name.len() > 100 {
        return Err(BadInput("a key needs a name of 1 to 100 characters".into()).into());
    }
    let accounts = database.open_accounts(true).await?;
    let scope = match new.scope {
        ScopeKind::Read => Scope::Read,
        ScopeKind::Write => Scope::Write,
        ScopeKind::Admin => Scope::Admin,
    };
    let expires = new
        .expires
        .map(|days| UnixMillis(now().0 + i64::from(days) * 86_400_000));
    let (text, row) = make(name, scope, new.rate, expires, now());
    accounts.add_key(&row).await?;
    println!("{text}");
    eprintln!(
        "trawl: this is the only time it is shown; its id is {}",
        row.id
    );
    Ok(ExitCode::SUCCESS)
}

async fn list(database: &Database) -> anyhow::Result<ExitCode> {
    let keys = database.open_accounts(false).await?.keys().await?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:<14} {:<6} {:<26} {:<26} name",
        "id", "scope", "made", "ends"
    )?;
    for key in keys {
        let ends = match (key.revoked_at, key.expires_at) {
            (Some(at), _) => format!("revoked {}", at.iso()),
            (None, Some(at)) => at.iso(),
            (None, None) => "never".into(),
        };
        let made = key.created_at.iso();
        let name = printable(&key.name);
        writeln!(
            out,
            "{:<14} {:<6} {made:<26} {ends:<26} {name}",
            key.id, key.scope
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(database: &Database, id: &str) -> anyhow::Result<ExitCode> {
    let accounts = database.open_accounts(false).await?;
    if accounts.revoke_key(id, now()).await? {
        println!("revoked {id}");
        return Ok(ExitCode::SUCCESS);
    }
    Err(BadInput(format!(
        "there is no valid key {id}: trawl keys list shows them"
    ))
    .into())
}
