//! Figures, summaries, graphs, prospects and differences: what was found, in the form that was
//! asked for.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use trawl_store::{StoreError, TerrainRows};
use trawl_terrain::{
    Diff, Prospects, Summary, ViewError,
    export::{Filter, Format, Level, write_graph},
    html::write_html,
};
use trawl_types::{CrawlId, UnixMillis, terrain::DomainClass};

use super::{
    files::{STDOUT, must_be_spare, put},
    load::Map,
    source::Database,
};
use crate::{
    args::{ClassArg, GraphFormat, LevelArg, MapArgs, ViewArgs, ViewFormat},
    commands::{open_to_read, pick as pick_crawl},
    display,
    exit::BadInput,
};

/// True if something is to be shown rather than crawled.
pub(super) fn wanted(args: &MapArgs) -> bool {
    let views = [args.stats, args.export_summary, args.prospects];
    views.contains(&true) || !args.diff.is_empty() || args.export.is_some()
}

pub(super) async fn show(map: &Map, args: &MapArgs) -> anyhow::Result<ExitCode> {
    if args.stats {
        return stats(map, args.views.run).await;
    }
    if let Some(path) = &args.views.output {
        must_be_spare(path, map)?;
    }
    let source = open(map.database())?;
    if let [from, to] = *args.diff {
        return diff(&source, CrawlId(from), CrawlId(to), &args.views);
    }
    let run = pick(&source, args.views.run)?;
    if args.prospects {
        return prospects(&source, run, &args.views);
    }
    if let Some(format) = args.export {
        return export(&source, run, format, map, args);
    }
    let path = summary_path(map, args);
    must_be_spare(&path, map)?;
    put(&path, |out| summary(&source, run, args.views.format, out))?;
    tell(args, "summary", &path);
    Ok(ExitCode::SUCCESS)
}

fn tell(args: &MapArgs, what: &str, path: &Path) {
    if path != Path::new(STDOUT) && !args.quiet {
        eprintln!("[INFO] Generated {what} at {}", path.display());
    }
}

/// From counters that are kept as the run goes on: however large it is, this is there at once.
async fn stats(map: &Map, run: Option<i64>) -> anyhow::Result<ExitCode> {
    must_exist(map.database())?;
    let store = open_to_read(map.database())?;
    let row = if run.is_some() {
        pick_crawl(store.as_ref(), run).await?
    } else {
        let rows = store.crawls().await?.into_iter();
        let last = rows
            .filter(|row| row.spec.terrain.is_some())
            .max_by_key(|row| row.id);
        last.ok_or_else(no_run)?
    };
    let counts = store.counts(row.id).await?;
    let mut out = io::stdout().lock();
    let finished = row.finished_at.map(UnixMillis::iso);
    writeln!(
        out,
        "Run #{} {}: started {}, {}",
        row.id,
        row.state.as_str(),
        row.started_at.iso(),
        finished.map_or("not finished".into(), |at| format!("finished {at}"))
    )?;
    out.write_all(display::counts_text(&counts).as_bytes())?;
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
        (None, ViewFormat::Json) => map.summary().with_extension("json"),
        (None, ViewFormat::Html) => map.summary().with_extension("html"),
    }
}

fn summary(
    source: &Database,
    run: CrawlId,
    format: ViewFormat,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let read = || Summary::read(source, run).map_err(unseen);
    match format {
        ViewFormat::Markdown => out.write_all(read()?.to_markdown().as_bytes())?,
        ViewFormat::Json => writeln!(out, "{}", read()?.to_json()?)?,
        ViewFormat::Html => write_html(source, run, &mut &mut *out).map_err(unseen)?,
    }
    Ok(())
}

fn prospects(source: &Database, run: CrawlId, views: &ViewArgs) -> anyhow::Result<ExitCode> {
    let found = Prospects::read(source, run, views.limit).map_err(unseen)?;
    let text = match views.format {
        ViewFormat::Markdown => found.to_markdown(),
        ViewFormat::Json => found.to_json()? + "\n",
        ViewFormat::Html => return Err(only_two_formats("--prospects")),
    };
    print(&text, views)
}

fn diff(
    source: &Database,
    from: CrawlId,
    to: CrawlId,
    views: &ViewArgs,
) -> anyhow::Result<ExitCode> {
    let found = Diff::read(source, from, to, views.limit).map_err(unseen)?;
    let text = match views.format {
        ViewFormat::Markdown => found.to_markdown(),
        ViewFormat::Json => found.to_json()? + "\n",
        ViewFormat::Html => return Err(only_two_formats("--diff")),
    };
    print(&text, views)
}

fn only_two_formats(flag: &str) -> anyhow::Error {
    BadInput(format!("{flag} is written as markdown or json")).into()
}

fn print(text: &str, views: &ViewArgs) -> anyhow::Result<ExitCode> {
    let path = views.output.as_deref().unwrap_or(Path::new(STDOUT));
    put(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitCode::SUCCESS)
}

/// One file, or a folder with nodes.csv and edges.csv.
fn export(
    source: &Database,
    run: CrawlId,
    format: GraphFormat,
    map: &Map,
    args: &MapArgs,
) -> anyhow::Result<ExitCode> {
    let views = &args.views;
    let level = match views.level {
        LevelArg::Page => Level::Page,
        LevelArg::Host => Level::Host,
        LevelArg::Site => Level::Site,
    };
    let filter = Filter {
        classes: views.class.iter().copied().map(class).collect(),
        max_depth: views.max_depth,
        min_weight: views.min_weight,
    };
    let write = |path: &Path, format: Format| {
        must_be_spare(path, map)?;
        put(path, |out| {
            write_graph(source, run, level, format, &filter, out).map_err(unseen)
        })
    };
    let ending = match format {
        GraphFormat::Graphml => "graphml",
        GraphFormat::Gexf => "gexf",
        GraphFormat::Csv => "graph",
        GraphFormat::Json => "graph.json",
    };
    let path = match &views.output {
        Some(path) => path.clone(),
        None => map.database().with_extension(ending),
    };
    match format {
        GraphFormat::Graphml => write(&path, Format::GraphMl)?,
        GraphFormat::Gexf => write(&path, Format::Gexf)?,
        GraphFormat::Json => write(&path, Format::Json)?,
        GraphFormat::Csv if path == Path::new(STDOUT) => {
            return Err(BadInput("CSV takes two files: name a folder with --output".into()).into());
        }
        GraphFormat::Csv => {
            std::fs::create_dir_all(&path)?;
            write(&path.join("nodes.csv"), Format::CsvNodes)?;
            write(&path.join("edges.csv"), Format::CsvEdges)?;
        }
    }
    tell(args, "graph", &path);
    Ok(ExitCode::SUCCESS)
}

fn class(arg: ClassArg) -> DomainClass {
    match arg {
        ClassArg::Quality => DomainClass::Quality,
        ClassArg::Blacklisted => DomainClass::Blacklisted,
        ClassArg::Stubbed => DomainClass::Stubbed,
        ClassArg::Discovered => DomainClass::Discovered,
    }
}

fn open(database: &Path) -> anyhow::Result<Database> {
    must_exist(database)?;
    Ok(Database(TerrainRows::open(database)?))
}

fn must_exist(database: &Path) -> anyhow::Result<()> {
    crate::database::must_be_a_file(database)?;
    if database.exists() {
        return Ok(());
    }
    Err(BadInput(format!(
        "there is no database {} yet: run trawl map without this flag first",
        database.display()
    ))
    .into())
}

/// The run that was named, or the last one.
fn pick(source: &Database, run: Option<i64>) -> anyhow::Result<CrawlId> {
    if let Some(run) = run {
        return Ok(CrawlId(run));
    }
    let last = source.0.runs()?.last().map(|run| run.id);
    last.ok_or_else(no_run)
}

fn no_run() -> anyhow::Error {
    BadInput("the database holds no run of a map yet".into()).into()
}

/// A view that cannot be made, in the words and with the code of whoever is to blame.
fn unseen(error: ViewError<StoreError>) -> anyhow::Error {
    match error {
        ViewError::Source(error) => error.into(),
        ViewError::Write(error) => error.into(),
        ViewError::NoSuchRun { .. } => BadInput(error.to_string()).into(),
    }
}
