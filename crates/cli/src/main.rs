//! The `trawl` command: what was typed becomes a spec, and the only place that picks adapters.
//!
//! * `args`: what may be typed
//! * `units`: durations and sizes as people write them
//! * `spec`: typed arguments to a crawl's spec
//! * `flags`: which flag sets which field of a spec
//! * `commands`: one file for each command
//! * `database`: where a server remembers everything, and the adapters for it
//! * `duties`: what a server does by itself
//! * `settings`: those of the server, from file, environment and flags
//! * `logs`: log lines without secrets
//! * `output`: results as NDJSON, JSON, CSV or URLs
//! * `display`: progress and summaries on the terminal
//! * `hint`: what to type next
//! * `exit`: what the process says to scripts

mod args;
mod commands;
mod database;
mod display;
mod duties;
mod exit;
mod flags;
mod hint;
mod logs;
mod output;
mod settings;
mod spec;
mod units;

use std::{
    cell::Cell,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;

use args::{Cli, Command};

/// Pages are made in one thread and given back in another, which the system's allocator is slow at.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Every host holds a connection or two; the usual 1,024 files are soon used up.
    let _ = rlimit::increase_nofile_limit(1 << 16);
    // The server's settings say how it logs: it starts that itself.
    if !matches!(cli.command, Command::Serve(_) | Command::Worker(_)) {
        logs::start(cli.verbose, "warn", false);
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = cli.threads {
        builder.worker_threads(usize::from(threads));
    }
    let runtime = match builder.on_thread_park(hesitate).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&anyhow::Error::new(error)),
    };
    let result = runtime.block_on(run(cli));
    // Do not wait for look-ups that nobody needs any more.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}

/// Whoever keeps a processor for so long has much to do: letting them go first would mean to wait for them.
const LONG: Duration = Duration::from_micros(500);

/// A thread without work lets others go first before it sleeps: mostly there is an answer by then, and waking
/// up takes longer. Measured: 4 to 5 % less time for a crawl of a quick site, and no more processor time. On a
/// machine that is busy with something else it would take twice the time or more, so it is not done there.
fn hesitate() {
    thread_local! {
        /// How many times more it is not done.
        static WITHOUT: Cell<u32> = const { Cell::new(0) };
    }
    if let Some(fewer) = WITHOUT.get().checked_sub(1) {
        return WITHOUT.set(fewer);
    }
    let mut before = Instant::now();
    for _ in 0..16 {
        std::thread::yield_now();
        let now = Instant::now();
        if now - before > LONG {
            return WITHOUT.set(1000);
        }
        before = now;
    }
}

async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Crawl(args) => Box::pin(commands::crawl::run(*args)).await,
        Command::Map(args) => Box::pin(commands::map::run(*args, cli.verbose)).await,
        Command::Serve(args) => Box::pin(commands::serve::run(&args, cli.verbose)).await,
        Command::Worker(args) => Box::pin(commands::worker::run(&args, cli.verbose)).await,
        Command::Keys(args) => commands::keys::run(&args).await,
        Command::Users(args) => commands::users::run(&args).await,
        Command::Admin(args) => commands::admin::run(*args).await,
        Command::Config(args) => commands::config::run(&args),
        Command::Resume(args) => Box::pin(commands::resume::run(args)).await,
        Command::Status(args) => commands::status::run(&args).await,
        Command::Explain(args) => commands::explain::run(&args).await,
        Command::Export(args) => commands::export::run(&args).await,
        Command::Extract(args) => Box::pin(commands::extract::run(&args)).await,
        Command::Index(args) => Box::pin(commands::index::run(&args)).await,
        Command::Search(args) => Box::pin(commands::search::run(&args)).await,
        Command::Models(args) => commands::models::run(&args),
        Command::EmbedServer(args) => Box::pin(commands::embed_server::run(&args)).await,
        Command::Demo(args) => Box::pin(commands::demo::run(args)).await,
    }
}
