//! A crawl in the foreground: progress, output, signals and summary around an engine's crawl.

use std::{io, path::Path, process::ExitCode, sync::Arc};

use tokio::task::JoinHandle;
use trawl_engine::{CrawlEnd, CrawlHandle};
use trawl_store::Store;
use trawl_types::CrawlState;

use super::signals::Signals;
use crate::{
    display::{ProgressLine, say, summary},
    exit, hint,
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
    // Results and a line that is drawn in place would write over each other.
    let shows_results = follower.as_ref().is_some_and(Follower::is_on_terminal);
    let line = ProgressLine::start(&handle, quiet || shows_results);
    let following = follower.map(|follower| {
        let follow = follower.follow(Arc::clone(&store), handle.progress.clone());
        // On a thread of its own: a pipe that nobody reads would block a worker of the runtime, and
        // with it perhaps the one that listens for answers and signals.
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(follow))
    });
    let go_on = hint::resume(handle.crawl, database);
    let tell = |text: &str| {
        if !quiet {
            line.tell(text);
        }
    };
    let mut signals = Signals::listen()?;
    let (end, written) = wait(&mut handle, following, &go_on, tell, &mut signals).await?;
    line.finish();
    let counts = store.counts(end.crawl).await?;
    signals.unless_twice(store.close()).await?;
    if !quiet {
        summary(&end, &counts, &handle.plan, database);
    }
    if let Err(error) = written {
        return unwritten(error, end.state, quiet.then_some(&go_on));
    }
    Ok(match end.state {
        CrawlState::Paused => ExitCode::from(exit::INTERRUPTED),
        _ if counts.pages == 0 => ExitCode::from(exit::NOTHING_FETCHED),
        _ => ExitCode::SUCCESS,
    })
}

/// What follows from output that could not be written: nothing is lost, but a crawl that was stopped
/// for it is not done. `go_on` is what no summary has said.
fn unwritten(
    error: anyhow::Error,
    state: CrawlState,
    go_on: Option<&String>,
) -> anyhow::Result<ExitCode> {
    let is_paused = state == CrawlState::Paused;
    if let Some(go_on) = go_on.filter(|_| is_paused) {
        say(&format!("trawl: the crawl is paused. Go on with: {go_on}"));
    }
    let io = error.downcast_ref::<io::Error>();
    if is_paused && io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe) {
        return Ok(ExitCode::from(exit::INTERRUPTED));
    }
    Err(error)
}

pub(super) type Following = Option<JoinHandle<anyhow::Result<()>>>;

/// Waits for the end of the crawl and of its output. The first signal asks for a clean stop, the
/// second leaves at once; output that can no longer be written stops the crawl as well.
pub(super) async fn wait(
    handle: &mut CrawlHandle,
    mut following: Following,
    go_on: &str,
    tell: impl Fn(&str),
    signals: &mut Signals,
) -> anyhow::Result<(CrawlEnd, anyhow::Result<()>)> {
    let mut written = Ok(());
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
            () = signals.first() => {}
        }
        handle.pause();
        tell(&format!(
            "\ntrawl: stopping; answers under way are awaited (again to leave at once). \
             Go on with: {go_on}"
        ));
    };
    if let Some(following) = following {
        written = signals.unless_twice(following).await?;
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
