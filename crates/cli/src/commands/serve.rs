//! `trawl serve`: crawl jobs over HTTP.

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use tokio::signal::unix::{SignalKind, signal};
use trawl_api::{
    Server, ServerSettings,
    auth::key::{Scope, make},
    settings::Limits,
};
use trawl_store::{OpenOptions, SqliteKeys, SqliteStore};
use trawl_types::{UnixMillis, spec::FetchSpec, spec::UserAgent};

use crate::{args::ServeArgs, spec::allow};

pub(crate) async fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let settings = settings(args)?;
    settings.fetch.validate()?;
    let database = &args.database.database;
    let options = OpenOptions {
        command: "trawl serve".into(),
        ..OpenOptions::default()
    };
    let store = Arc::new(SqliteStore::open(database, &options)?);
    if !args.insecure_no_auth {
        first_key(database)?;
    }
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    let server = Server::bind(store, database, settings).await?;
    println!("Listening on http://{}", server.address);
    println!("Documentation: http://{}/api/v1/docs", server.address);
    if server.resumed > 0 {
        println!("{} jobs of an earlier process go on", server.resumed);
    }
    let stop = async move {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        eprintln!("trawl: stopping; jobs go on with the next start (again to leave at once)");
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupts.recv() => {}
                _ = terminations.recv() => {}
            }
            std::process::exit(i32::from(crate::exit::INTERRUPTED));
        });
    };
    server.run(stop).await?;
    Ok(ExitCode::SUCCESS)
}

fn settings(args: &ServeArgs) -> anyhow::Result<ServerSettings> {
    let mut fetch = FetchSpec {
        user_agent: UserAgent {
            contact_url: args.contact_url.clone(),
            contact_email: args.contact_email.clone(),
            ..UserAgent::default()
        },
        ..FetchSpec::default()
    };
    allow(&mut fetch, &args.network)?;
    Ok(ServerSettings {
        listen: args.listen,
        no_auth: args.insecure_no_auth,
        fetch,
        delay: args.delay,
        stop_when_reader_leaves: !args.keep_unread,
        limits: Limits {
            retention: Duration::from_hours(24 * u64::from(args.retention_days)),
            keep_alive: args.keep_alive,
            frontier_depth: args.frontier_depth,
            ..Limits::default()
        },
        cors_origins: args.cors_origin.clone(),
    })
}

/// A server that nobody has a key to gets one, which is shown this once.
fn first_key(database: &Path) -> anyhow::Result<()> {
    let keys = SqliteKeys::open(database)?;
    if !keys.all()?.is_empty() {
        return Ok(());
    }
    let now = UnixMillis(chrono::Utc::now().timestamp_millis());
    let (text, row) = make("first administrator", Scope::Admin, None, None, now);
    keys.add(&row)?;
    println!("Admin key (shown this once): {text}");
    Ok(())
}
