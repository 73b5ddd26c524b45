//! A crawl in the foreground: progress, output, signals and summary around an engine's crawl.

use std::{path::Path, process::ExitCode, sync::Arc};

use tokio::signal::unix::{SignalKind, signal};
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
    let end = wait(&mut handle, database, quiet).await?;
    if let Some(following) = following {
        following.await??;
    }
    line.finish();
    let counts = store.counts(end.crawl).await?;
    store.close().await?;
    if !quiet {
        summary(&end, &counts, database);
    }
    Ok(match end.state {
        CrawlState::Paused => ExitCode::from(exit::INTERRUPTED),
        _ if counts.pages == 0 => ExitCode::from(exit::NOTHING_FETCHED),
        _ => ExitCode::SUCCESS,
    })
}

/// Waits for the end; the first signal asks for a clean stop, the second leaves at once.
async fn wait(handle: &mut CrawlHandle, database: &Path, quiet: bool) -> anyhow::Result<CrawlEnd> {
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let mut asked = false;
    loop {
        tokio::select! {
            end = handle.ended() => return Ok(end?),
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        if asked {
            eprintln!("trawl: left at once; nothing committed is lost");
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        asked = true;
        handle.pause();
        if !quiet {
            let database = database.display();
            eprintln!(
                "\ntrawl: stopping; answers under way are awaited (again to leave at once). \
                 Go on with: trawl resume --database {database}"
            );
        }
    }
}
