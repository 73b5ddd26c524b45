//! `trawl serve`: crawl jobs over HTTP.

use std::{process::ExitCode, sync::Arc};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};
use trawl_api::{
    Server, Tls,
    auth::key::{Scope, make},
};
use trawl_store::contract::accounts::AccountWriter;
use trawl_types::UnixMillis;

use crate::{
    args::ServeArgs,
    commands::{search_parts, signals::Signals, worker},
    database::{Database, ServerDatabaseParts},
    duties,
    exit::BadInput,
    logs,
    settings::{Settings, environment, misspelt},
};

pub(crate) async fn run(args: &ServeArgs, verbose: u8) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(args.config.path.as_deref(), &args.flags, &environment)?;
    logs::start(verbose, settings.log_level(), settings.json_logs());
    for (name, meant) in misspelt(std::env::vars_os().map(|(name, _)| name)) {
        tracing::warn!("{name} is no setting: did you mean {meant}?");
    }
    let database = settings.database()?;
    let loan = (!settings.no_worker()).then(|| settings.loan());
    if loan.is_none() && matches!(database, Database::File(_)) {
        let why = "no-worker: nobody else can crawl from a file; use --database postgres://…";
        return Err(BadInput(why.into()).into());
    }
    let searching = settings.search(&database, &environment)?;
    let quick = settings.quick()?;
    let server_settings = settings.server()?;
    let parts = database.open_server_store(loan).await?;
    let ServerDatabaseParts {
        store,
        accounts,
        shared,
    } = parts;
    let index = searching.as_ref().map(|searching| searching.index.clone());
    let duties = duties::of(&settings, &database, index, &store)?;
    let settings = server_settings;
    let search = match searching {
        Some(searching) => Some(search_parts::open(searching).await?),
        None => None,
    };
    if !settings.no_auth {
        first_key(accounts.as_ref()).await?;
    }
    let mut signals = Signals::listen()?;
    let (leave, left) = watch::channel(false);
    let part = match &shared {
        Some(shared) => {
            let settings = Arc::new(settings.clone());
            Some(worker::take_part(shared, quick.clone(), settings, left).await?)
        }
        None => None,
    };
    let server = Server::bind(store, accounts, quick, settings, search, duties).await?;
    let scheme = if server.tls().is_some() {
        "https"
    } else {
        "http"
    };
    println!("Listening on {scheme}://{}", server.address);
    println!("Documentation: {scheme}://{}/api/v1/docs", server.address);
    if let Some(tls) = server.tls() {
        tokio::spawn(reload(tls, signal(SignalKind::hangup())?));
    }
    if server.resumed > 0 {
        println!("{} jobs of an earlier process go on", server.resumed);
    }
    let stop = async move {
        signals.first().await;
        eprintln!("trawl: stopping; jobs go on with the next start (again to leave at once)");
        tokio::spawn(async move { signals.first().await });
    };
    let stop = async move {
        stop.await;
        // What is under way is finished before the store is closed.
        let _ = leave.send(true);
        if let Some(part) = part {
            let _ = part.ended.await;
        }
    };
    server.run(stop).await?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the certificates anew whenever it is told to.
async fn reload(tls: Arc<Tls>, mut hangups: Signal) {
    while hangups.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => tracing::info!("certificates were read anew"),
            Err(error) => tracing::error!(%error, "the certificates before are kept"),
        }
    }
}

/// A server that nobody has a key or a password for gets one, which is shown this once.
async fn first_key(accounts: &dyn AccountWriter) -> anyhow::Result<()> {
    let now = UnixMillis(chrono::Utc::now().timestamp_millis());
    let (text, row) = make("first administrator", Scope::Admin, None, None, now);
    if accounts.add_first_key(&row).await? {
        println!("Admin key (shown this once): {text}");
    }
    Ok(())
}
