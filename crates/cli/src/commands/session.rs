//! A crawl in the foreground: progress, output, signals and summary around an engine's crawl.

use std::{path::Path, process::ExitCode, sync::Arc};

use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use trawl_engine::{CrawlEnd, CrawlHandle};
use trawl_store::Store;
use trawl_types::CrawlState;

use crate::{
    display::{ProgressLine, summary},
    exit,
    output::Follower,
};

/// Runs a crawl to its end and says how it went.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    mut handle: CrawlHandle,
    follower: Option<Follower>,
    database: &Path,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let line = ProgressLine::start(&handle, quiet);
    let following = follower
        .map(|follower| tokio::spawn(follower.follow(Arc::clone(&store), handle.progress.clone())));
    let go_on = format!("trawl resume --database {}", database.display());
    let tell = |text: &str| {
        if !quiet {
            line.tell(text);
        }
    };
    let (end, written) = wait(&mut handle, following, &go_on, tell).await?;
    line.finish();
    let counts = store.counts(end.crawl).await?;
    store.close().await?;
    written?;
    if !quiet {
        summary(&end, &counts, database);
    }
    Ok(match end.state {
        CrawlState::Paused => ExitCode::from(exit::INTERRUPTED),
        _ if counts.pages == 0 => ExitCode::from(exit::NOTHING_FETCHED),
        _ => ExitCode::SUCCESS,
    })
}

pub(super) type Following = Option<JoinHandle<anyhow::Result<()>>>;

/// Waits for the end of the crawl and of its output. The first signal asks for a clean stop, the
/// second leaves at once; output that can no longer be written stops the crawl as well.
pub(super) async fn wait(
    handle: &mut CrawlHandle,
    mut following: Following,
    go_on: &str,
    tell: impl Fn(&str),
) -> anyhow::Result<(CrawlEnd, anyhow::Result<()>)> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let mut written = Ok(());
    let mut asked = false;
    let end = loop {
        tokio::select! {
            end = handle.ended() => break end?,
            result = finished(&mut following) => {
                following = None;
                if result.is_err() {
                    handle.pause();
                }
                written = result;
                continue;
            }
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        if asked {
            eprintln!("trawl: left at once; nothing committed is lost");
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        asked = true;
        handle.pause();
        tell(&format!(
            "\ntrawl: stopping; answers under way are awaited (again to leave at once). \
             Go on with: {go_on}"
        ));
    };
    if let Some(following) = following {
        written = following.await?;
    }
    Ok((end, written))
}

/// The result of the output, once it ends; never, if there is none.
async fn finished(following: &mut Following) -> anyhow::Result<()> {
    match following {
        Some(following) => following.await?,
        None => std::future::pending().await,
    }
}
