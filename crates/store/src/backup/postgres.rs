//! A PostgreSQL database as a dump of its own program, and back. Counts and checksums are of the very
//! snapshot that is dumped, so that they hold while crawls run.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use super::{
    Output,
    error::BackupError,
    files::{self, Draft},
    manifest::{FORMAT, Kind, Manifest},
    tools::Tool,
    verify,
};
use crate::postgres::Backstage;

pub(super) const DUMP: &str = "database.dump";

/// Makes a backup of a database, also while others use it.
pub async fn backup_postgres(url: &str, output: Output<'_>) -> Result<Manifest, BackupError> {
    let database = Backstage::connect(url).await?;
    let (store_format, server) = database.versions().await?;
    let tool = Tool::connecting("pg_dump", database.environment());
    tool.must_serve(server.major)?;
    let draft = Draft::begin(output)?;
    let snapshot = database.hold_still().await?;
    let file = draft.folder.join(DUMP);
    let dumping = blocking(move || dump(&tool, &snapshot, &file));
    // Beside each other: what is counted does not change.
    let (dumped, tables) = tokio::join!(dumping, database.tables());
    dumped?;
    let manifest = Manifest {
        format: FORMAT,
        kind: Kind::Postgres,
        trawl: env!("CARGO_PKG_VERSION").to_owned(),
        store_format,
        server: Some(server.text),
        created_at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        tables: tables?,
        files: vec![files::facts_of(&draft.folder, DUMP)?],
    };
    database.let_go().await?;
    files::sync(&draft.folder.join(DUMP))?;
    manifest.write(&draft.folder)?;
    draft.keep()?;
    Ok(manifest)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(crate::StoreError::Stopped.into()))
}

fn dump(tool: &Tool, snapshot: &str, file: &Path) -> Result<(), BackupError> {
    let mut command = tool.command();
    command
        .args(["--format=custom", "--no-owner", "--no-privileges"])
        // Processes say anew that they crawl, and what else they are at.
        .args(["--no-password", "--exclude-table-data=workers"])
        .arg("--exclude-table-data=duties")
        .arg(format!("--snapshot={snapshot}"))
        .arg(option("--file=", file.as_os_str().to_owned()));
    tool.run(command)
}

fn option(name: &str, value: OsString) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

/// Fills a database of a backup. It must be empty, or hold a store of ours that `force` says to replace.
pub async fn restore_postgres(
    folder: &Path,
    url: &str,
    force: bool,
) -> Result<Manifest, BackupError> {
    let read = folder.to_owned();
    let manifest = blocking(move || {
        let manifest = Manifest::read(&read)?;
        manifest.must_be(Kind::Postgres, &read)?;
        verify::must_be_whole(&read, &manifest)?;
        Ok(manifest)
    });
    let manifest = manifest.await?;
    let database = Backstage::connect(url).await?;
    let tool = Tool::connecting("pg_restore", database.environment());
    tool.major()?;
    if !database.is_empty().await? {
        if !force {
            return Err(BackupError::Exists(database.place().to_owned()));
        }
        database.must_be_unused().await?;
        database.drop_everything().await?;
    }
    let (file, name) = (folder.join(DUMP), database.name());
    blocking(move || fill(&tool, &file, &name)).await?;
    let found: BTreeMap<_, _> = database.tables().await?;
    let problems = verify::differences(&manifest, &found);
    if !problems.is_empty() {
        let path = folder.display().to_string();
        return Err(BackupError::Damaged { path, problems });
    }
    database.end_loans().await?;
    Ok(manifest)
}

fn fill(tool: &Tool, file: &Path, database: &str) -> Result<(), BackupError> {
    let name = database.replace('\\', "\\\\").replace('\'', "\\'");
    let mut command = tool.command();
    command
        .args(["--exit-on-error", "--single-transaction", "--no-owner"])
        .args(["--no-privileges", "--no-password"])
        .arg(format!("--dbname=dbname='{name}'"))
        .arg(file);
    tool.run(command)
}
