//! Sockets, timeouts, the end.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Extension, Router};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto::Builder, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use trawl_engine::{Engine, EngineError, EngineOptions};
use trawl_store::{SqliteStore, Store, StoreError, contract::jobs::JobStore};

use crate::{
    app::{App, Shared},
    auth::{Peer, rate::RateLimiter},
    jobs::Jobs,
    routes,
    settings::ServerSettings,
};

/// A client that has not sent its headers by then is let go.
const HEADERS: Duration = Duration::from_secs(30);
/// How long answers under way may take when the server stops.
const GRACE: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error(
        "{0} can be reached from other machines and nobody has a key: make one with `trawl keys \
         create`, listen on 127.0.0.1, or say --insecure-no-auth"
    )]
    Unprotected(SocketAddr),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("jobs could not be taken up again: {0}")]
    Recovery(String),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    app: Shared,
    listener: TcpListener,
    pub address: SocketAddr,
    /// Jobs that an earlier process left running and that go on now.
    pub resumed: usize,
}

impl Server {
    /// Opens the socket and takes up what an earlier process left.
    pub async fn bind(
        store: Arc<SqliteStore>,
        database: &Path,
        settings: ServerSettings,
    ) -> Result<Self, ServeError> {
        let address = settings.listen;
        if !address.ip().is_loopback() && !settings.no_auth {
            let keys = store.keys().await?;
            if !keys.iter().any(|key| key.revoked_at.is_none()) {
                return Err(ServeError::Unprotected(address));
            }
        }
        let cannot = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let engine = Engine::start(shared, EngineOptions::default()).await?;
        let app = Arc::new(App {
            store,
            engine,
            jobs: Jobs::default(),
            settings,
            rates: RateLimiter::default(),
            started: Instant::now(),
            database: PathBuf::from(database),
        });
        let resumed = app.recover().await;
        let resumed = resumed.map_err(|error| ServeError::Recovery(error.message().to_owned()))?;
        Ok(Self {
            app,
            listener,
            address,
            resumed,
        })
    }

    /// Answers until `stop` comes. Jobs stay `running`: the next start goes on with them.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let router = routes::router(&self.app);
        let cleaning = tokio::spawn(crate::jobs::cleaning::remove_old(Arc::clone(&self.app)));
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let router = router.clone().layer(Extension(Peer(peer.ip())));
                    answer(stream, router, &graceful);
                }
                Err(error) => {
                    // Too many open files, most likely: that passes.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        cleaning.abort();
        drop(self.listener);
        self.app.jobs.suspend_all().await;
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
        self.app.store.close().await?;
        Ok(())
    }
}

fn answer(stream: TcpStream, router: Router, graceful: &GracefulShutdown) {
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS);
    builder.http2().timer(TokioTimer::new());
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    let connection = graceful.watch(connection.into_owned());
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke off");
        }
    });
}
