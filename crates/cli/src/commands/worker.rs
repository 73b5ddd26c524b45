//! `trawl worker`: takes part in whatever crawls run in a database that many processes share.

use std::{process::ExitCode, sync::Arc, time::Duration};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use trawl_api::ServerSettings;
use trawl_engine::{Engine, EngineError, EngineOptions, Joined, work};
use trawl_store::{
    LoanOptions, PostgresOptions, PostgresStore, Store, StoreError,
    contract::workers::{WorkerRegistry, WorkerRow},
};
use trawl_types::UnixMillis;

use crate::{
    args::ServeArgs,
    database::Database,
    exit::BadInput,
    logs,
    settings::{Settings, environment},
};

/// How often a worker gives a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(30);

pub(crate) async fn run(args: &ServeArgs, verbose: u8) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(args.config.path.as_deref(), &args.flags, &environment)?;
    logs::start(verbose, settings.log_level(), settings.json_logs());
    let Database::Url(url) = settings.database()? else {
        let why = "a worker needs a database that it can share: --database postgres://…";
        return Err(BadInput(why.into()).into());
    };
    let store = Arc::new(open(&url, settings.loan()).await?);
    let (tell, stop) = watch::channel(false);
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        eprintln!("trawl: stopping; what is under way is finished (again to leave at once)");
        let _ = tell.send(true);
        tokio::select! {
            _ = interrupts.recv() => {}
            _ = terminations.recv() => {}
        }
        std::process::exit(i32::from(crate::exit::INTERRUPTED));
    });
    let part = take_part(&store, Arc::new(settings.server()?), stop).await?;
    println!("Worker {} takes part; Ctrl-C to stop", part.id);
    part.ended.await?;
    store.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// A store from which this process crawls.
pub(crate) async fn open(url: &str, loan: Duration) -> Result<PostgresStore, StoreError> {
    let options = PostgresOptions {
        loans: Some(LoanOptions::new(new_id()).lasting(loan)),
        ..PostgresOptions::default()
    };
    PostgresStore::open(url, options).await
}

/// Machine, process and moment: nobody else has it, and people can find the process.
fn new_id() -> String {
    let name = machine();
    let (pid, now) = (std::process::id(), now().0);
    format!("{name}-{pid}-{:x}", now & 0x00ff_ffff)
}

fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "machine" } else { name }.to_owned()
}

fn now() -> UnixMillis {
    UnixMillis(chrono::Utc::now().timestamp_millis())
}

/// This process among those that crawl.
pub(crate) struct Part {
    pub(crate) id: String,
    pub(crate) ended: tokio::task::JoinHandle<()>,
}

/// Begins to crawl, until `stop` says so.
pub(crate) async fn take_part(
    store: &Arc<PostgresStore>,
    settings: Arc<ServerSettings>,
    stop: watch::Receiver<bool>,
) -> Result<Part, EngineError> {
    let id = store.worker_id().unwrap_or_default().to_owned();
    let shared: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    let engine = Arc::new(Engine::start(Arc::clone(&shared), EngineOptions::default()).await?);
    let row = WorkerRow {
        id: id.clone(),
        host: machine(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: now(),
        heartbeat_at: now(),
        doing: "{}".to_owned(),
    };
    store.register_worker(row.clone()).await?;
    let joined = Joined::default();
    let store = Arc::clone(store);
    let ended = tokio::spawn(async move {
        let beating = tokio::spawn(beat(Arc::clone(&store), row.clone(), joined.clone()));
        let change = move |spec: &mut _| settings.govern(spec);
        work(engine, shared, joined, change, stop).await;
        beating.abort();
        if let Err(error) = store.remove_worker(&row.id).await {
            tracing::warn!(%error, "this worker could not take its leave");
        }
    });
    Ok(Part { id, ended })
}

async fn beat(store: Arc<PostgresStore>, row: WorkerRow, joined: Joined) {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let crawls: Vec<_> = joined
            .controls()
            .iter()
            .map(|control| {
                let progress = *control.progress.borrow();
                serde_json::json!({ "crawl": control.crawl.0, "in_flight": progress.in_flight })
            })
            .collect();
        let doing = serde_json::json!({ "crawls": crawls }).to_string();
        match store.beat(&row.id, &doing, now()).await {
            Ok(true) => {}
            Ok(false) => {
                let row = WorkerRow {
                    heartbeat_at: now(),
                    doing,
                    ..row.clone()
                };
                let _ = store.register_worker(row).await;
            }
            Err(error) => tracing::warn!(%error, "no sign of life could be given"),
        }
    }
}
