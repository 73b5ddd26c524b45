//! `trawl worker`: takes part in whatever crawls run in a database that many processes share.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::watch;
use trawl_api::ServerSettings;
use trawl_engine::{Engine, EngineError, EngineOptions, Joined, work};
use trawl_quick::{
    Quick,
    beats::{Beat, Done},
};
use trawl_store::{
    LoanOptions, PostgresOptions, PostgresStore, Store, StoreError,
    contract::workers::{WorkerRegistry, WorkerRow},
};
use trawl_types::UnixMillis;

use crate::{
    args::ServeArgs,
    commands::signals::Signals,
    database::Database,
    exit::BadInput,
    logs,
    settings::{Settings, environment},
};

/// How often a worker gives a sign of life: in the database, and in Redis, where it costs less.
const HEARTBEAT: Duration = Duration::from_secs(30);
const QUICK_HEARTBEAT: Duration = Duration::from_secs(5);

pub(crate) async fn run(args: &ServeArgs, verbose: u8) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(args.config.path.as_deref(), &args.flags, &environment)?;
    logs::start(verbose, settings.log_level(), settings.json_logs());
    let Database::Url(url) = settings.database()? else {
        let why = "a worker needs a database that it can share: --database postgres://…";
        return Err(BadInput(why.into()).into());
    };
    let store = Arc::new(open(&url, settings.loan()).await?);
    let (tell, stop) = watch::channel(false);
    let mut signals = Signals::listen()?;
    tokio::spawn(async move {
        signals.first().await;
        eprintln!("trawl: stopping; what is under way is finished (again to leave at once)");
        let _ = tell.send(true);
        signals.first().await;
    });
    let quick = settings.quick()?;
    let part = take_part(&store, quick, Arc::new(settings.server()?), stop).await?;
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
    quick: Quick,
    settings: Arc<ServerSettings>,
    stop: watch::Receiver<bool>,
) -> Result<Part, EngineError> {
    let id = store.worker_id().unwrap_or_default().to_owned();
    if let Err(error) = store.rehearse().await {
        tracing::debug!(%error, "statements were not planned ahead");
    }
    let shared: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    let options = EngineOptions {
        quick: quick.clone(),
        ..EngineOptions::default()
    };
    let engine = Arc::new(Engine::start(Arc::clone(&shared), options).await?);
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
        let pulse = Pulse {
            store: Arc::clone(&store),
            quick: quick.clone(),
            engine: Arc::clone(&engine),
            row: row.clone(),
            joined: joined.clone(),
        };
        let beating = tokio::spawn(pulse.beat());
        let change = move |spec: &mut _| settings.govern(spec);
        work(engine, shared, joined, change, stop).await;
        beating.abort();
        quick.leave(std::slice::from_ref(&row.id)).await;
        if let Err(error) = store.remove_worker(&row.id).await {
            tracing::warn!(%error, "this worker could not take its leave");
        }
    });
    Ok(Part { id, ended })
}

/// Gives signs of life.
struct Pulse {
    store: Arc<PostgresStore>,
    quick: Quick,
    engine: Arc<Engine>,
    row: WorkerRow,
    joined: Joined,
}

impl Pulse {
    async fn beat(self) {
        let mut last = Instant::now();
        let mut told = Done::default();
        loop {
            let done = self.engine.done();
            let doing = self.doing(done);
            let beat = Beat {
                at: now().0,
                doing: doing.clone(),
            };
            if self.quick.beat(&self.row.id, &beat, done.since(told)).await {
                told = done;
            }
            if last.elapsed() >= HEARTBEAT {
                last = Instant::now();
                self.record(doing).await;
            }
            tokio::time::sleep(QUICK_HEARTBEAT).await;
        }
    }

    fn doing(&self, done: Done) -> String {
        let crawls: Vec<_> = self
            .joined
            .controls()
            .iter()
            .map(|control| {
                let progress = *control.progress.borrow();
                serde_json::json!({ "crawl": control.crawl.0, "in_flight": progress.in_flight })
            })
            .collect();
        let (pages, failed, bytes) = (done.pages, done.failed, done.bytes);
        serde_json::json!({ "crawls": crawls, "pages": pages, "failed": failed, "bytes": bytes })
            .to_string()
    }

    async fn record(&self, doing: String) {
        match self.store.beat(&self.row.id, &doing, now()).await {
            Ok(true) => {}
            Ok(false) => {
                let row = WorkerRow {
                    heartbeat_at: now(),
                    doing,
                    ..self.row.clone()
                };
                let _ = self.store.register_worker(row).await;
            }
            Err(error) => tracing::warn!(%error, "no sign of life could be given"),
        }
    }
}
