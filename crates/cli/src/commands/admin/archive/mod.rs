//! `trawl admin archive`: pages of crawls as compressed files. Nothing is removed from the database
//! before its file was made durable, read back and found to hold exactly what will be removed.
//!
//! * `packed`: a compressed file with its checksum, written and read back
//! * `bucket`, `signature`: an S3-compatible store to send the files to

mod bucket;
mod packed;
mod signature;

use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde_json::json;
use trawl_store::contract::{overview::Purge, read::CrawlRow, server::ServerStore};
use trawl_types::{CrawlState, Sequence};

use self::{
    bucket::Bucket,
    packed::{Facts, Packed},
};
use super::now;
use crate::{
    args::{ArchiveArgs, ArchiveCompression, ArchiveFormat, Format},
    commands::pick,
    display::number,
    exit::BadInput,
    output::{Fields, Rows, write_record},
};

const PAGE: u32 = 500;

/// What was written of one crawl.
struct Written {
    crawl: CrawlRow,
    rows: u64,
    file: Facts,
}

pub(crate) async fn run(args: &ArchiveArgs) -> anyhow::Result<ExitCode> {
    let fields = match args.fields.as_slice() {
        [] => Fields::all(),
        names => Fields::parse(names)?,
    };
    let target = Target::parse(&args.output)?;
    let database = args.database.find()?;
    let only_looks = args.dry_run || !args.delete;
    let store = database.open_to_look_after("archive", only_looks).await?;
    let crawls = crawls(store.as_ref(), args).await?;
    if args.dry_run {
        for crawl in &crawls {
            let rows = count(store.as_ref(), crawl, args).await?;
            println!(
                "crawl {}: {} pages would be written",
                crawl.id,
                number(rows)
            );
        }
        store.close().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let (folder, name) = target.new_folder()?;
    let mut all = Vec::new();
    for crawl in crawls {
        let written = write(store.as_ref(), crawl, args, &fields, &folder).await?;
        all.extend(written);
    }
    finish(&folder, args, &all)?;
    target.send(&folder, &name, &all).await?;
    for written in &all {
        println!(
            "crawl {}: {} pages in {}",
            written.crawl.id,
            number(written.rows),
            target.shown(&name, &written.file.name)
        );
    }
    if args.delete {
        delete(store.as_ref(), args, &all).await?;
    }
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// Crawls of which nobody writes: those that ended, and those that never do, up to a moment.
async fn crawls(store: &dyn ServerStore, args: &ArchiveArgs) -> anyhow::Result<Vec<CrawlRow>> {
    let free = |row: &CrawlRow| {
        let runs = matches!(row.state, CrawlState::Running | CrawlState::Paused);
        !runs || (row.spec.standing && args.before.is_some())
    };
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

/// Where an archive goes.
enum Target {
    Folder(PathBuf),
    /// By way of a folder on this machine, which goes when it has been sent.
    Bucket(Box<Bucket>, tempfile::TempDir),
}

impl Target {
    fn parse(output: &str) -> anyhow::Result<Self> {
        let Some((bucket, prefix)) = Bucket::parse(output) else {
            return Ok(Self::Folder(PathBuf::from(output)));
        };
        let bucket = Bucket::open(bucket, prefix)?;
        Ok(Self::Bucket(Box::new(bucket), tempfile::tempdir()?))
    }

    /// A folder of its own for each archive, so that none is ever overwritten.
    fn new_folder(&self) -> anyhow::Result<(PathBuf, String)> {
        let name = chrono::Utc::now().format("%Y%m%dT%H%M%S%3fZ").to_string();
        let folder = match self {
            Self::Folder(folder) => folder.join(&name),
            Self::Bucket(_, folder) => folder.path().join(&name),
        };
        fs::create_dir_all(&folder).map_err(|error| {
            let folder = folder.display();
            BadInput(format!("--output: cannot make {folder}: {error}"))
        })?;
        Ok((folder, name))
    }

    /// Every file, and at last what stands beside them.
    async fn send(&self, folder: &Path, name: &str, all: &[Written]) -> anyhow::Result<()> {
        let Self::Bucket(bucket, _) = self else {
            return Ok(());
        };
        let mut files: Vec<Facts> = all.iter().map(|written| written.file.clone()).collect();
        for beside in ["SHA256SUMS", "archive.json"] {
            files.push(packed::facts_of(&folder.join(beside), beside)?);
        }
        for file in &files {
            bucket.put(folder, name, file).await?;
        }
        Ok(())
    }

    fn shown(&self, folder: &str, file: &str) -> String {
        match self {
            Self::Folder(output) => output.join(folder).join(file).display().to_string(),
            Self::Bucket(bucket, _) => format!("{}/{folder}/{file}", bucket.name()),
        }
    }
}

fn file_name(crawl: &CrawlRow, args: &ArchiveArgs) -> String {
    let format = match args.format {
        ArchiveFormat::Ndjson => "ndjson",
        ArchiveFormat::Csv => "csv",
    };
    let ending = match args.compress {
        ArchiveCompression::Zstd => "zst",
        ArchiveCompression::Gzip => "gz",
    };
    format!("crawl-{:06}.{format}.{ending}", crawl.id.0)
}

/// Nothing where the crawl has nothing to write.
async fn write(
    store: &dyn ServerStore,
    crawl: CrawlRow,
    args: &ArchiveArgs,
    fields: &Fields,
    folder: &Path,
) -> anyhow::Result<Option<Written>> {
    let name = file_name(&crawl, args);
    let packed = Packed::create(folder, &name, args.compress)?;
    let format = match args.format {
        ArchiveFormat::Ndjson => Format::Ndjson,
        ArchiveFormat::Csv => Format::Csv,
    };
    let out: Box<dyn Write + Send> = Box::new(packed.clone());
    let mut rows = Rows::new(format, fields.clone(), BufWriter::new(out))?;
    let (mut count, mut after) = (0, Sequence(0));
    loop {
        let records = store.results(crawl.id, after, PAGE).await?;
        let Some(last) = records.last() else { break };
        after = last.seq;
        for record in &records {
            if args.before.is_none_or(|before| record.crawled_at < before) {
                write_record(&mut rows, store, crawl.id, record).await?;
                count += 1;
            }
        }
    }
    rows.finish()?;
    let file = packed.finish()?;
    if count == 0 {
        fs::remove_file(folder.join(&name))?;
        return Ok(None);
    }
    packed::must_hold(folder, &file, args.compress, args.format, count)?;
    Ok(Some(Written {
        crawl,
        rows: count,
        file,
    }))
}

/// What stands beside the files: checksums that `sha256sum -c` reads, and what the archive is of.
fn finish(folder: &Path, args: &ArchiveArgs, all: &[Written]) -> anyhow::Result<()> {
    let sums = all.iter().map(|written| {
        let Facts { name, sha256, .. } = &written.file;
        format!("{sha256}  {name}\n")
    });
    packed::write_durably(folder, "SHA256SUMS", sums.collect::<String>().as_bytes())?;
    let crawls = all.iter().map(|written| {
        json!({
            "crawl": written.crawl.id.0,
            "name": written.crawl.name,
            "pages": written.rows,
            "file": written.file.name,
            "bytes": written.file.bytes,
            "sha256": written.file.sha256,
        })
    });
    let about = json!({
        "trawl": env!("CARGO_PKG_VERSION"),
        "created_at": now().iso(),
        "before": args.before.map(trawl_types::UnixMillis::iso),
        "crawls": crawls.collect::<Vec<_>>(),
    });
    packed::write_durably(folder, "archive.json", &serde_json::to_vec_pretty(&about)?)?;
    fs::File::open(folder)?.sync_all()?;
    Ok(())
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
