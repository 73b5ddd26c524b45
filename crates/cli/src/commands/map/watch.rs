//! How a run goes: a table of domains on a terminal, lines elsewhere. All of it goes to standard
//! error.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::watch, task::JoinHandle};
use trawl_engine::{CrawlHandle, Progress};
use trawl_store::{Store, TerrainRows};
use trawl_types::{CrawlId, PageRecord, Sequence};

use super::table::{MOST_DOMAINS, Room, figures_line, picture};
use crate::display::{Rate, printable};

/// Between two looks at the database.
const EVERY: Duration = Duration::from_secs(1);
/// Between two lines where there is no terminal.
const LINE_EVERY: u32 = 10;
const RECORDS: u32 = 200;

/// Says things unless it should be quiet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Say {
    quiet: bool,
}

impl Say {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    pub(super) fn info(self, text: &str) {
        if !self.quiet {
            eprintln!("[INFO] {}", printable(text));
        }
    }

    pub(super) fn warn(self, text: &str) {
        if !self.quiet {
            eprintln!("[WARN] {}", printable(text));
        }
    }
}

/// Shows how a run goes until it is finished.
pub(super) struct Watch {
    bar: ProgressBar,
    watching: Option<JoinHandle<()>>,
}

impl Watch {
    /// Where every page is told of, a table would only be in the way.
    pub(super) fn start(handle: &CrawlHandle, database: &Path, quiet: bool, verbose: u8) -> Self {
        if quiet {
            return Self {
                bar: ProgressBar::hidden(),
                watching: None,
            };
        }
        let (progress, run, path) = (handle.progress.clone(), handle.crawl, database.to_owned());
        if verbose > 0 || !std::io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
                watching: Some(tokio::spawn(tell_progress(progress))),
            };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {elapsed_precise}  {msg}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self {
            watching: Some(tokio::spawn(draw(
                bar.clone(),
                progress,
                run,
                path,
                handle.plan.spec().politeness.delay_ms,
            ))),
            bar,
        }
    }

    /// Says something above what is drawn.
    pub(super) fn tell(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    pub(super) fn finish(self) {
        if let Some(watching) = self.watching {
            watching.abort();
        }
        self.bar.finish_and_clear();
    }
}

async fn draw(
    bar: ProgressBar,
    progress: watch::Receiver<Progress>,
    run: CrawlId,
    path: PathBuf,
    least_delay_ms: u64,
) {
    let mut rate = Rate::start(progress.borrow().pages);
    loop {
        let now = *progress.borrow();
        let path = path.clone();
        let busy = tokio::task::spawn_blocking(move || {
            TerrainRows::open(&path)
                .and_then(|rows| rows.busiest(run, MOST_DOMAINS))
                .unwrap_or_default()
        })
        .await
        .unwrap_or_default();
        let pace = rate.measure(now.pages);
        bar.set_message(picture(&now, pace, &busy, least_delay_ms, room()));
        tokio::time::sleep(EVERY).await;
    }
}

/// Asked each time: terminals change their size.
fn room() -> Room {
    let (lines, columns) = console::Term::stderr().size();
    Room {
        lines: usize::from(lines),
        columns: usize::from(columns),
    }
}

async fn tell_progress(progress: watch::Receiver<Progress>) {
    let mut rate = Rate::start(progress.borrow().pages);
    loop {
        tokio::time::sleep(EVERY * LINE_EVERY).await;
        let now = *progress.borrow();
        eprintln!("[INFO] {}", figures_line(&now, rate.measure(now.pages)));
    }
}

/// Tells of every page as it is done, for `--verbose`.
pub(super) async fn tell_pages(
    store: Arc<dyn Store>,
    run: CrawlId,
    mut progress: watch::Receiver<Progress>,
) -> anyhow::Result<()> {
    let mut after = Sequence(progress.borrow().last_seq);
    loop {
        let goes_on = progress.changed().await.is_ok();
        loop {
            let records = store.results(run, after, RECORDS).await?;
            for record in &records {
                eprintln!("{}", printable(&page_line(record)));
                after = record.seq;
            }
            if records.len() < RECORDS as usize {
                break;
            }
        }
        if !goes_on {
            return Ok(());
        }
    }
}

fn page_line(record: &PageRecord) -> String {
    if record.outcome.is_error() {
        let detail = record.error.as_deref().unwrap_or_default();
        let outcome = record.outcome.as_str();
        return format!("[WARN] {}: {outcome} {detail}", record.url);
    }
    match &record.redirect_to {
        Some(to) => format!("[INFO] {} leads to {to}", record.url),
        None => format!(
            "[INFO] Discovered {} links on {}",
            record.links_total, record.url
        ),
    }
}
