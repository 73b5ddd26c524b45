//! A run from its start, or from where the last one stopped, to its summary.

use std::{path::Path, process::ExitCode, sync::Arc};

use trawl_engine::{CrawlEnd, CrawlHandle, Engine, EngineOptions};
use trawl_store::{Store, contract::read::CrawlRow};
use trawl_terrain::config::explain_change;
use trawl_types::{CrawlState, UnixMillis};

use super::{
    files::{must_be_spare, must_be_writable},
    load::Map,
    views,
    watch::{Say, Watch},
};
use crate::{
    args::MapArgs,
    commands::{open, session, signals::Signals},
    display, exit, hint,
};

pub(super) async fn run(map: Map, args: &MapArgs, verbose: u8) -> anyhow::Result<ExitCode> {
    let say = Say::new(args.quiet);
    let summary = views::summary_path(&map, args);
    must_be_spare(&summary, &map)?;
    must_be_writable(&summary)?;
    say.info(&format!(
        "Loaded configuration with {} quality domains, {} blacklisted, {} stubbed",
        map.config.quality.len(),
        map.config.blacklist.len(),
        map.config.stub.len()
    ));
    let database = map.database();
    let verb = if database.exists() {
        "Opening"
    } else {
        "Creating new"
    };
    say.info(&format!("{verb} database at {}", database.display()));
    let store = open(database)?;
    let engine = Engine::start(Arc::clone(&store), EngineOptions::default()).await?;
    let mut handle = begin(&map, args, &engine, store.as_ref(), say).await?;
    let watch = Watch::start(&handle, database, args.quiet, verbose);
    let following = (verbose > 0 && !args.quiet).then(|| {
        tokio::spawn(super::watch::tell_pages(
            Arc::clone(&store),
            handle.crawl,
            handle.progress.clone(),
        ))
    });
    let go_on = format!("trawl map {}", hint::quoted(&map.file));
    let tell = |text: &str| {
        if !args.quiet {
            watch.tell(text);
        }
    };
    let mut signals = Signals::listen()?;
    let (end, written) = session::wait(&mut handle, following, &go_on, tell, &mut signals).await?;
    watch.finish();
    let counts = store.counts(end.crawl).await?;
    signals.unless_twice(store.close()).await?;
    written?;
    finish(&map, args, &end, counts.pages, say)
}

/// Goes on with an interrupted run, or starts a new one.
async fn begin(
    map: &Map,
    args: &MapArgs,
    engine: &Engine,
    store: &dyn Store,
    say: Say,
) -> anyhow::Result<CrawlHandle> {
    let last = last_run(store).await?;
    if let Some(row) = last.filter(|row| row.state != CrawlState::Completed) {
        if !args.fresh {
            say.info(&format!("Found interrupted run #{}, resuming...", row.id));
            explain_differences(map, &row, say);
            let handle = engine.resume(row.id).await?;
            let waiting = handle.progress.borrow().pending;
            say.info(&format!(
                "Loaded {} URLs from frontier",
                display::number(waiting)
            ));
            return Ok(handle);
        }
        let now = UnixMillis(chrono::Utc::now().timestamp_millis());
        let why = "a fresh run was started";
        store
            .set_state(row.id, CrawlState::Cancelled, why, now)
            .await?;
    }
    let name = map.file.display().to_string();
    let handle = engine.crawl(map.spec.clone(), &name).await?;
    say.info(&format!("Starting run #{}", handle.crawl));
    say.info(&format!(
        "Seeding frontier with {} URLs",
        map.spec.seeds.len()
    ));
    Ok(handle)
}

/// The newest run of a map in the file that was not given up.
async fn last_run(store: &dyn Store) -> anyhow::Result<Option<CrawlRow>> {
    let rows = store.crawls().await?.into_iter();
    let last = rows
        .filter(|row| row.spec.terrain.is_some())
        .max_by_key(|row| row.id);
    Ok(last.filter(|row| row.state != CrawlState::Cancelled))
}

/// A run ends as it began: under the configuration it was started with.
fn explain_differences(map: &Map, row: &CrawlRow, say: Say) {
    let hash = |spec: &trawl_types::CrawlSpec| spec.terrain.as_ref().map(|t| t.config_hash.clone());
    if hash(&row.spec) == hash(&map.spec) {
        return;
    }
    say.warn(&format!(
        "{} has changed since run #{} began:",
        map.file.display(),
        row.id
    ));
    for change in explain_change(&row.spec, &map.spec) {
        say.warn(&format!("  {change}"));
    }
    say.warn(&format!(
        "run #{} goes on with the configuration it began with; --fresh starts a run with the new one",
        row.id
    ));
}

fn finish(
    map: &Map,
    args: &MapArgs,
    end: &CrawlEnd,
    pages: u64,
    say: Say,
) -> anyhow::Result<ExitCode> {
    let interrupted = end.state == CrawlState::Paused;
    match end.state {
        CrawlState::Completed if pages == 0 => {
            say.info(&format!("Run #{} completed without a page", end.crawl));
        }
        CrawlState::Completed => say.info(&format!("Run #{} completed successfully", end.crawl)),
        CrawlState::Paused => say.info(&format!("Run #{} interrupted", end.crawl)),
        _ => say.info(&format!("Run #{} ended: {}", end.crawl, end.why)),
    }
    let path = views::write_summary(map, args, end.crawl)?;
    say.info(&format!("Summary written to {}", path.display()));
    if interrupted {
        say.info(&format!(
            "Go on with: trawl map {}",
            hint::quoted(&map.file)
        ));
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    if pages == 0 {
        say.warn(&nothing_found(map.database()));
        return Ok(ExitCode::from(exit::NOTHING_FETCHED));
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing_found(database: &Path) -> String {
    format!(
        "not one page could be fetched; trawl explain --database {} <URL> says why",
        hint::quoted(database)
    )
}
