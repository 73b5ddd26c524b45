//! Sockets, timeouts, the end.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, http::Request};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto::Builder,
        graceful::{GracefulShutdown, Watcher},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tower_service::Service as _;
use trawl_engine::{Engine, EngineError, EngineOptions};
use trawl_quick::Quick;
use trawl_store::{
    Store, StoreError,
    contract::{accounts::AccountWriter, server::ServerStore},
};

use crate::{
    app::{App, Shared},
    auth::{client::Peer, password::Passwords},
    duties::{Duty, Retention, Roster, hosts},
    jobs::{Jobs, now, readers::Presence},
    routes,
    search::{Search, SearchParts, following::Following},
    settings::ServerSettings,
    tls::{Tls, TlsError},
};

/// A client that has not sent its headers by then is let go.
const HEADERS: Duration = Duration::from_secs(30);
/// A client that has not agreed on keys by then is let go.
const HANDSHAKE: Duration = Duration::from_secs(10);
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
        "{0} can be reached from other machines and nobody has a key or a password: make one with \
         `trawl keys create` or `trawl users create`, listen on 127.0.0.1, or say --insecure-no-auth"
    )]
    Unprotected(SocketAddr),
    #[error(transparent)]
    Tls(#[from] TlsError),
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
    tls: Option<Arc<Tls>>,
    pub address: SocketAddr,
    /// Jobs that an earlier process left running and that go on now.
    pub resumed: usize,
}

impl Server {
    /// Opens the socket and takes up what an earlier process left. `duties` are done in their order.
    pub async fn bind(
        store: Arc<dyn ServerStore>,
        accounts: Arc<dyn AccountWriter>,
        quick: Quick,
        settings: ServerSettings,
        search: Option<SearchParts>,
        mut duties: Vec<Duty>,
    ) -> Result<Self, ServeError> {
        let address = settings.listen;
        if !address.ip().is_loopback() && !settings.no_auth {
            let keys = accounts.keys().await?;
            let users = accounts.users().await?;
            let some_key = keys.iter().any(|key| key.revoked_at.is_none());
            if !some_key && !users.iter().any(|user| user.disabled_at.is_none()) {
                return Err(ServeError::Unprotected(address));
            }
        }
        let tls = settings.access.tls.as_ref().map(Tls::load).transpose()?;
        let cannot = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let shared: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
        let options = EngineOptions {
            quick: quick.clone(),
            ..EngineOptions::default()
        };
        let engine = Engine::start(shared, options).await?;
        duties.extend(hosts::of(&store));
        // Last, so that what others do with old data comes before it goes.
        duties.push(Duty {
            name: "retention",
            every: settings.upkeep.every,
            work: Arc::new(Retention {
                store: Arc::clone(&store),
                keeping: settings.upkeep.keeping.clone(),
            }),
        });
        let app = Arc::new(App {
            duties: Arc::new(Roster::new(Arc::clone(&store), duties, now)),
            store,
            accounts,
            engine,
            jobs: Jobs::default(),
            settings,
            quick,
            passwords: Passwords::default(),
            search: search.map(Search::new),
            started: Instant::now(),
        });
        let resumed = app.recover().await;
        let resumed = resumed.map_err(|error| ServeError::Recovery(error.message().to_owned()))?;
        Ok(Self {
            app,
            listener,
            tls: tls.map(Arc::new),
            address,
            resumed,
        })
    }

    /// The certificates, to be read anew.
    pub fn tls(&self) -> Option<Arc<Tls>> {
        self.tls.clone()
    }

    /// Answers until `stop` comes. Jobs stay `running`: the next start goes on with them.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let router = routes::router(&self.app);
        let presence = Presence::new(&self.app, self.address.to_string());
        let cleaning = [
            tokio::spawn(Arc::clone(&presence).last()),
            tokio::spawn(crate::jobs::cleaning::remove_old(Arc::clone(&self.app))),
            tokio::spawn(crate::auth::login::remove_old(Arc::clone(&self.app))),
        ];
        let duties = Arc::clone(&self.app.duties);
        let duties = tokio::spawn(async move { duties.keep().await });
        let following = Following::start(&self.app);
        let graceful = GracefulShutdown::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let peer = Peer {
                        address: peer.ip(),
                        tls: self.tls.is_some(),
                    };
                    let answering = Answering {
                        router: router.clone(),
                        peer,
                        watcher: graceful.watcher(),
                    };
                    tokio::spawn(take(stream, self.tls.clone(), answering));
                }
                Err(error) => {
                    // Too many open files, most likely: that passes.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
        for task in cleaning {
            task.abort();
        }
        duties.abort();
        let _ = duties.await;
        drop(self.listener);
        self.app.duties.let_go().await;
        presence.end().await;
        following.stop().await;
        self.app.jobs.suspend_all().await;
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
        self.app.store.close().await?;
        Ok(())
    }
}

/// What a connection is answered with.
struct Answering {
    router: Router,
    peer: Peer,
    watcher: Watcher,
}

/// A connection, from its first byte to its last.
async fn take(stream: TcpStream, tls: Option<Arc<Tls>>, answering: Answering) {
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else {
        return answering.serve(stream).await;
    };
    let handshake = tls.acceptor().accept(stream);
    match tokio::time::timeout(HANDSHAKE, handshake).await {
        Ok(Ok(stream)) => answering.serve(stream).await,
        Ok(Err(error)) => tracing::debug!(%error, "a connection has no TLS"),
        Err(_) => tracing::debug!("a connection has not agreed on keys in time"),
    }
}

impl Answering {
    async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            router,
            peer,
            watcher,
        } = self;
        // Not as a layer of the router, which would build all routes anew for every connection: eight
        // megabytes each.
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            router.clone().call(request)
        });
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS);
        builder.http2().timer(TokioTimer::new());
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection.into_owned()).await {
            tracing::debug!(%error, "a connection broke off");
        }
    }
}
