//! `trawl admin backup`, `verify` and `restore`: a whole database as a folder of files, and back.

use std::{io::Write, path::Path, process::ExitCode};

use serde_json::json;
use trawl_store::backup::{
    BackupError, Manifest, Output, backup_postgres, backup_sqlite, restore_postgres,
    restore_sqlite, verify as verify_backup,
};

use super::blocking;
use crate::{
    args::{BackupArgs, RestoreArgs, VerifyArgs},
    commands::index::index_path,
    database::Database,
    display::number,
};

pub(crate) async fn backup(args: &BackupArgs) -> anyhow::Result<ExitCode> {
    let manifest = match args.database.find()? {
        Database::File(path) => {
            let (folder, force) = (args.output.clone(), args.force);
            blocking(move || {
                let search = index_path(None, &path);
                let folder = &folder;
                backup_sqlite(&path, Some(&search), Output { folder, force })
            })
            .await??
        }
        Database::Url(url) => {
            let output = Output {
                folder: &args.output,
                force: args.force,
            };
            backup_postgres(&url, output).await?
        }
    };
    if args.json {
        println!("{}", serde_json::to_string(&manifest)?);
    } else {
        say(&manifest, "written to", &args.output)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn verify(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let folder = args.backup.clone();
    let found = blocking(move || verify_backup(&folder)).await?;
    if args.json {
        return verify_as_json(found);
    }
    let found = found?;
    say(&found.manifest, "is whole:", &args.backup)?;
    println!("{} bodies and contents were read", number(found.records));
    if found.lost > 0 {
        println!(
            "{} of them cannot be read: the database had lost them before the backup was made",
            number(found.lost)
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn verify_as_json(
    found: Result<trawl_store::backup::Verified, BackupError>,
) -> anyhow::Result<ExitCode> {
    let value = match &found {
        Ok(found) => json!({
            "whole": true,
            "problems": [],
            "records": found.records,
            "lost": found.lost,
            "manifest": found.manifest,
        }),
        Err(BackupError::Damaged { problems, .. }) => json!({
            "whole": false,
            "problems": problems,
        }),
        Err(_) => serde_json::Value::Null,
    };
    if !value.is_null() {
        println!("{value}");
    }
    found?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restore(args: RestoreArgs) -> anyhow::Result<ExitCode> {
    let (folder, force) = (args.backup.clone(), args.force);
    let manifest = match args.database.find()? {
        Database::File(path) => {
            blocking(move || {
                let search = index_path(None, &path);
                restore_sqlite(&folder, &path, &search, force)
            })
            .await??
        }
        Database::Url(url) => restore_postgres(&folder, &url, force).await?,
    };
    say(&manifest, "restored from", &args.backup)?;
    println!("`trawl resume` (or `trawl serve`, `trawl worker`) goes on with unfinished crawls");
    Ok(ExitCode::SUCCESS)
}

fn say(manifest: &Manifest, what: &str, place: &Path) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let rows = |table: &str| manifest.tables.get(table).map_or(0, |facts| facts.rows);
    let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
    writeln!(
        out,
        "{what} {}: {} crawls, {} URLs, {} results; {} files, {} bytes; made {}",
        place.display(),
        number(rows("crawls")),
        number(rows("urls")),
        number(rows("results")),
        number(manifest.files.len() as u64),
        number(bytes),
        manifest.created_at,
    )?;
    Ok(())
}
