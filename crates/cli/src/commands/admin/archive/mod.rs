//! `trawl admin archive`: pages of crawls as compressed files. Nothing is removed from the database
//! before its file was made durable, read back and found to hold exactly what will be removed.
//!
//! * `due`: what has grown old and is not archived yet, for the command and for servers
//! * `writing`: the pages of one crawl in a file, and what stands beside it
//! * `target`: a folder on this machine, or a place in a bucket
//! * `packed`: a compressed file with its checksum, written and read back
//! * `bucket`, `parts`, `signature`: an S3-compatible store to send the files to, large ones in parts

mod bucket;
mod due;
mod packed;
mod parts;
mod signature;
mod target;
mod writing;

use std::process::ExitCode;

use trawl_store::contract::{overview::Purge, read::CrawlRow, server::ServerStore};
use trawl_types::CrawlState;

pub(crate) use self::due::{ArchivePlan, Archives};
use self::{
    target::Target,
    writing::{Part, Style, Written, finish, write},
};
use super::now;
use crate::{args::ArchiveArgs, commands::pick, display::number, exit::BadInput, output::Fields};

pub(crate) async fn run(args: &ArchiveArgs) -> anyhow::Result<ExitCode> {
    if args.due {
        return run_due(args).await;
    }
    let style = Style {
        format: args.format,
        compress: args.compress,
        fields: match args.fields.as_slice() {
            [] => Fields::all(),
            names => Fields::parse(names)?,
        },
    };
    let target = Target::parse(args.output.as_deref().unwrap_or_default())?;
    let database = args.database.find()?;
    let only_looks = args.dry_run || !args.delete;
    let store = database.open_to_look_after("archive", only_looks).await?;
    let crawls = crawls(store.as_ref(), args).await?;
    if args.dry_run {
        for crawl in &crawls {
            say_would(crawl, count(store.as_ref(), crawl, args).await?);
        }
        store.close().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let (folder, name) = target.new_folder(now())?;
    let mut all = Vec::new();
    for crawl in crawls {
        let part = Part::All {
            before: args.before,
        };
        let written = write(store.as_ref(), crawl, part, &style, &folder).await?;
        all.extend(Some(written).filter(|written| written.rows > 0));
    }
    finish(&folder, args.before, &all)?;
    target.send(&folder, &name, &all).await?;
    say_written(&target, &name, &all);
    if args.delete {
        delete(store.as_ref(), args, &all).await?;
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// What a server would archive by itself, now.
async fn run_due(args: &ArchiveArgs) -> anyhow::Result<ExitCode> {
    let settings = args.database.settings()?;
    let mut plan = settings.archive_plan();
    if let Some(output) = &args.output {
        plan.output = Some(output.clone());
    }
    let database = args.database.find()?;
    let store = database.open_to_look_after("archive", args.dry_run).await?;
    if args.dry_run {
        for (crawl, rows) in due::count(store.as_ref(), &plan, now()).await? {
            say_would(&crawl, rows);
        }
    } else {
        let done = due::write_due(store.as_ref(), &plan, now()).await?;
        match done {
            Some(done) => say_written(&done.target, &done.name, &done.written),
            None => println!("nothing is due"),
        }
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

fn say_would(crawl: &CrawlRow, rows: u64) {
    let rows = number(rows);
    println!("crawl {}: {rows} pages would be written", crawl.id);
}

fn say_written(target: &Target, name: &str, all: &[Written]) {
    for written in all {
        println!(
            "crawl {}: {} pages in {}",
            written.crawl.id,
            number(written.rows),
            target.shown(name, &written.file.name)
        );
    }
}

/// Whether nobody writes to a crawl: it has ended, or never does and only what is past is asked for.
fn is_free(row: &CrawlRow, up_to_a_moment: bool) -> bool {
    let runs = matches!(row.state, CrawlState::Running | CrawlState::Paused);
    !runs || (row.spec.standing && up_to_a_moment)
}

async fn crawls(store: &dyn ServerStore, args: &ArchiveArgs) -> anyhow::Result<Vec<CrawlRow>> {
    let free = |row: &CrawlRow| is_free(row, args.before.is_some());
    let rows = match args.crawl {
        Some(_) => {
            let row = pick(store, args.crawl).await?;
            if !free(&row) {
                return Err(BadInput(format!(
                    "crawl {} is {}: wait for its end, or cancel it",
                    row.id,
                    row.state.as_str()
                ))
                .into());
            }
            vec![row]
        }
        None => store.crawls().await?.into_iter().filter(free).collect(),
    };
    // A map is its graph, which is not archived and must not be torn apart.
    Ok(rows
        .into_iter()
        .filter(|row| !args.delete || row.spec.terrain.is_none())
        .collect())
}

fn purge(crawl: &CrawlRow, args: &ArchiveArgs, dry_run: bool) -> Purge {
    Purge {
        crawl: Some(crawl.id),
        before: args.before,
        dry_run,
        ..Purge::default()
    }
}

async fn count(
    store: &dyn ServerStore,
    crawl: &CrawlRow,
    args: &ArchiveArgs,
) -> anyhow::Result<u64> {
    Ok(store.purge(purge(crawl, args, true)).await?.visits)
}

/// Removes what was written, and only if it is exactly that.
async fn delete(
    store: &dyn ServerStore,
    args: &ArchiveArgs,
    all: &[Written],
) -> anyhow::Result<()> {
    for written in all {
        let found = count(store, &written.crawl, args).await?;
        if found != written.rows {
            anyhow::bail!(
                "crawl {} has {found} pages now and {} were written: nothing of it was removed",
                written.crawl.id,
                written.rows
            );
        }
        let gone = store.purge(purge(&written.crawl, args, false)).await?;
        println!(
            "crawl {}: {} pages were removed from the database",
            written.crawl.id,
            number(gone.visits)
        );
    }
    store.sweep().await?;
    Ok(())
}
