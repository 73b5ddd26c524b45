//! Figures, summaries, graphs, prospects and differences: what was found, in the form that was
//! asked for. Files are written beside and put in place when they are whole.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use trawl_store::TerrainRows;
use trawl_terrain::Summary;
use trawl_types::CrawlId;

use super::{load::Map, source::Database, with_ending};
use crate::{
    args::{MapArgs, ViewFormat},
    exit::BadInput,
};

/// True if something is to be shown rather than crawled.
pub(super) fn wanted(args: &MapArgs) -> bool {
    args.stats || args.export_summary
}

pub(super) fn show(map: &Map, args: &MapArgs) -> anyhow::Result<ExitCode> {
    let source = open(map.database())?;
    let run = pick(&source, args.views.run)?;
    if args.stats {
        let text = Summary::read(&source, run)?.to_markdown();
        io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = summary_path(map, args);
    put(&path, |out| summary(&source, run, args.views.format, out))?;
    if path != Path::new("-") && !args.quiet {
        eprintln!("[INFO] Generated summary at {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the summary of a run where the configuration or a flag says.
pub(super) fn write_summary(map: &Map, args: &MapArgs, run: CrawlId) -> anyhow::Result<PathBuf> {
    let source = open(map.database())?;
    let path = summary_path(map, args);
    put(&path, |out| summary(&source, run, args.views.format, out))?;
    Ok(path)
}

pub(super) fn summary_path(map: &Map, args: &MapArgs) -> PathBuf {
    match (&args.views.output, args.views.format) {
        (Some(path), _) => path.clone(),
        (None, ViewFormat::Markdown) => map.summary().to_owned(),
        (None, ViewFormat::Json) => with_ending(map.summary(), "json"),
        (None, ViewFormat::Html) => with_ending(map.summary(), "html"),
    }
}

fn summary(
    source: &Database,
    run: CrawlId,
    format: ViewFormat,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let summary = Summary::read(source, run)?;
    match format {
        ViewFormat::Markdown => out.write_all(summary.to_markdown().as_bytes())?,
        ViewFormat::Json | ViewFormat::Html => {
            serde_json::to_writer_pretty(&mut *out, &summary)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

fn open(database: &Path) -> anyhow::Result<Database> {
    if !database.exists() {
        return Err(BadInput(format!(
            "there is no database {} yet: run trawl map without this flag first",
            database.display()
        ))
        .into());
    }
    Ok(Database(TerrainRows::open(database)?))
}

/// The run that was named, or the last one.
fn pick(source: &Database, run: Option<i64>) -> anyhow::Result<CrawlId> {
    if let Some(run) = run {
        return Ok(CrawlId(run));
    }
    let last = source.0.runs()?.last().map(|run| run.id);
    last.ok_or_else(|| BadInput("the database holds no run of a map yet".into()).into())
}

/// Fails early, and with what to do, where the end of a run would fail.
pub(super) fn must_be_writable(path: &Path) -> anyhow::Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let attempt = || -> io::Result<()> {
        if path.is_dir() {
            return Err(io::Error::other("it is a folder"));
        }
        let beside = beside(path);
        File::create(&beside)?;
        std::fs::remove_file(&beside)
    };
    attempt().map_err(|error| {
        BadInput(format!(
            "the summary cannot be written to {}: {error}; change summary-path or --output",
            path.display()
        ))
        .into()
    })
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a whole file or none; `-` is standard output.
pub(super) fn put(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        out.flush()?;
        return Ok(());
    }
    let cannot = || format!("{} cannot be written", path.display());
    let part = beside(path);
    let mut out = BufWriter::new(File::create(&part).with_context(cannot)?);
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    if let Err(error) = written {
        let _ = std::fs::remove_file(&part);
        return Err(error.context(cannot()));
    }
    std::fs::rename(&part, path).with_context(cannot)
}
