//! `trawl users`: people who may use the server. Works while it runs. Passwords are asked for without
//! being shown, or come from standard input; never from the command line, which others can see.

use std::{
    io::{BufRead, IsTerminal, Write},
    process::ExitCode,
};

use trawl_api::auth::{
    Role,
    password::{check_choice, checked_name, hash},
    throttle::user_subject,
    user,
};
use trawl_types::UnixMillis;

use crate::{
    args::{RoleKind, UsersArgs, UsersCommand},
    database::Database,
    display::printable,
    exit::BadInput,
};

/// A line longer than any password.
const LONGEST_LINE: u64 = 4096;

pub(crate) async fn run(args: &UsersArgs) -> anyhow::Result<ExitCode> {
    let database = &args.database.find()?;
    match &args.command {
        UsersCommand::Create { name, role } => create(database, name, *role).await?,
        UsersCommand::List => list(database).await?,
        UsersCommand::Passwd { name } => change_password(database, name).await?,
        UsersCommand::Disable { name } => {
            let accounts = database.open_accounts(false).await?;
            let done = accounts.set_disabled(&known(name), Some(now())).await?;
            say(done, name, "is locked out")?;
        }
        UsersCommand::Enable { name } => {
            let accounts = database.open_accounts(false).await?;
            let done = accounts.set_disabled(&known(name), None).await?;
            say(done, name, "may log in")?;
        }
        UsersCommand::Delete { name } => {
            let accounts = database.open_accounts(false).await?;
            let done = accounts.delete_user(&known(name)).await?;
            say(done, name, "is forgotten")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn now() -> UnixMillis {
    UnixMillis(chrono::Utc::now().timestamp_millis())
}

fn known(name: &str) -> String {
    name.trim().to_lowercase()
}

fn say(done: bool, name: &str, what: &str) -> anyhow::Result<()> {
    let name = printable(&known(name));
    if !done {
        let message = format!("there is no user {name}: trawl users list shows them");
        return Err(BadInput(message).into());
    }
    println!("{name} {what}");
    Ok(())
}

async fn create(database: &Database, name: &str, role: RoleKind) -> anyhow::Result<()> {
    let name = checked_name(name).map_err(|why| BadInput(why.to_string()))?;
    let hashed = chosen_password(&name)?;
    let accounts = database.open_accounts(true).await?;
    let role = match role {
        RoleKind::User => Role::User,
        RoleKind::Admin => Role::Admin,
    };
    let row = user(&name, hashed, role, now());
    if !accounts.add_user(&row).await? {
        return Err(BadInput(format!("there is a user {name} already")).into());
    }
    println!("{name} may log in ({})", role.as_str());
    Ok(())
}

async fn change_password(database: &Database, name: &str) -> anyhow::Result<()> {
    let name = known(name);
    let accounts = database.open_accounts(false).await?;
    // Nobody should think of a password for a name that is not there.
    if !accounts.users().await?.iter().any(|user| user.name == name) {
        return say(false, &name, "");
    }
    let hashed = chosen_password(&name)?;
    let done = accounts.set_password(&name, &hashed, now()).await?;
    accounts.discharge(&user_subject(&name), "").await?;
    say(
        done,
        &name,
        "has another password; all their sessions have ended",
    )
}

async fn list(database: &Database) -> anyhow::Result<()> {
    let users = database.open_accounts(false).await?.users().await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<6} {:<26} {:<36} name", "role", "made", "state")?;
    for user in users {
        let state = match user.disabled_at {
            Some(at) => format!("locked out {}", at.iso()),
            None => "may log in".into(),
        };
        let (made, name) = (user.created_at.iso(), printable(&user.name));
        writeln!(out, "{:<6} {made:<26} {state:<36} {name}", user.role)?;
    }
    Ok(())
}

/// The hash of a password that was asked for.
fn chosen_password(name: &str) -> anyhow::Result<String> {
    let password = if std::io::stdin().is_terminal() {
        ask_twice(name)?
    } else {
        first_line(std::io::stdin().lock())?
    };
    let unusable = |why: trawl_api::auth::password::Unusable| BadInput(why.to_string());
    check_choice(name, &password).map_err(unusable)?;
    Ok(hash(&password).map_err(unusable)?)
}

fn ask_twice(name: &str) -> anyhow::Result<String> {
    let terminal = console::Term::stderr();
    let ask = |question: &str| -> std::io::Result<String> {
        terminal.write_str(question)?;
        terminal.flush()?;
        terminal.read_secure_line()
    };
    let first = ask(&format!("Password for {name}: "))?;
    if ask("The same again: ")? != first {
        return Err(BadInput("the two are not the same".into()).into());
    }
    Ok(first)
}

fn first_line(input: impl BufRead) -> anyhow::Result<String> {
    let mut line = String::new();
    input.take(LONGEST_LINE).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
