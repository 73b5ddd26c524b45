//! A crawl in the foreground: progress, output, signals and summary around an engine's crawl.

use std::{path::Path, process::ExitCode, sync::Arc};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
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
    let following = follower.map(|follower| {
        let follow = follower.follow(Arc::clone(&store), handle.progress.clone());
        // On a thread of its own: a pipe that nobody reads would block a worker of the runtime, and
        // with it perhaps the one that listens for answers and signals.
        let runtime = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || runtime.block_on(follow))
    });
    let go_on = format!("trawl resume --database {}", database.display());
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

/// Ctrl-C and requests to end: the first asks for a clean stop, the second leaves at once.
pub(super) struct Signals {
    interrupts: Signal,
    terminations: Signal,
    asked: bool,
}

impl Signals {
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            interrupts: signal(SignalKind::interrupt())?,
            terminations: signal(SignalKind::terminate())?,
            asked: false,
        })
    }

    /// Returns at the first signal, and never at a second one.
    async fn first(&mut self) {
        tokio::select! {
            _ = self.interrupts.recv() => {}
            _ = self.terminations.recv() => {}
        }
        if self.asked {
            eprintln!("trawl: left at once; nothing committed is lost");
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        self.asked = true;
    }

    /// Waits for what ends by itself, though perhaps not soon: a pipe that nobody reads.
    pub(super) async fn unless_twice<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.first() => {
                    eprintln!("trawl: the crawl has ended and is being written (again to leave at once)");
                }
            }
        }
    }
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
