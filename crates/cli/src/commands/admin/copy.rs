//! `trawl admin copy`: a database file moved to PostgreSQL.

use std::{io::IsTerminal, path::Path, process::ExitCode};

use trawl_store::copy::{CopiedTable, CopyOptions, copy_to_postgres};

use crate::{args::CopyArgs, database::Database, display::number, exit::BadInput};

pub(crate) async fn run(args: &CopyArgs) -> anyhow::Result<ExitCode> {
    let from = args.from.strip_prefix("sqlite:").unwrap_or(&args.from);
    let from = from.strip_prefix("//").unwrap_or(from);
    if !Path::new(from).exists() {
        return Err(BadInput(format!("--from: there is no database {from}")).into());
    }
    let to = match (&args.to, &args.to_file) {
        (Some(name), _) => Database::parse(name),
        (None, Some(path)) => Database::from_file(path)?,
        (None, None) => Database::parse(""),
    };
    let Database::Url(to) = to else {
        let why = "--to: name a PostgreSQL database, such as postgres://user@host/name";
        return Err(BadInput(why.into()).into());
    };
    let options = CopyOptions {
        dry_run: args.dry_run,
        resume_paused: args.resume,
    };
    let shows = !args.quiet && std::io::stderr().is_terminal();
    let progress = |table: &CopiedTable| {
        if shows {
            eprint!("\r\x1b[K{}: {} rows", table.name, number(table.rows));
        } else if !args.quiet {
            eprintln!("{}: {} rows", table.name, number(table.rows));
        }
    };
    let done = copy_to_postgres(Path::new(from), &to, options, &progress).await;
    if shows {
        eprintln!();
    }
    let done = done?;
    if done.already {
        println!("the database was copied before, and has not changed since");
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if args.dry_run { "would be" } else { "were" };
    for table in &done.tables {
        println!(
            "{:<16} {:>14} rows {verb} copied",
            table.name,
            number(table.rows)
        );
    }
    if done.found > 0 {
        println!("{} of them by an earlier attempt", number(done.found));
    }
    if done.lost > 0 {
        let lost = number(done.lost);
        println!("{lost} bodies and contents were lost before, and are not in the copy");
    }
    if !args.dry_run {
        println!("every table was read back and is what was sent");
    }
    Ok(ExitCode::SUCCESS)
}
