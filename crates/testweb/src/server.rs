//! Sockets: accept, perhaps a TLS handshake, then HTTP/1.1 or HTTP/2 as the client wishes.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::service::{Connection, World};
use crate::wire::{Resettable, WireControl, WireStream};

/// Serves a listener until the task is aborted; its connections end with it.
pub(crate) async fn serve(listener: TcpListener, world: Arc<World>, tls: Option<TlsAcceptor>) {
    let builder = Arc::new(http_builder());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // An error here is a client that went away, or no descriptors for a moment.
                let Ok((stream, peer)) = accepted else {
                    tokio::task::yield_now().await;
                    continue;
                };
                let (world, builder, tls) = (Arc::clone(&world), Arc::clone(&builder), tls.clone());
                connections.spawn(serve_stream(stream, peer, world, builder, tls));
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

type HttpBuilder = auto::Builder<TokioExecutor>;

// `pipeline_flush` stays off: with it hyper buffers endless bodies without bound.
fn http_builder() -> HttpBuilder {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(256);
    builder
}

async fn serve_stream(
    stream: TcpStream,
    peer: SocketAddr,
    world: Arc<World>,
    builder: Arc<HttpBuilder>,
    tls: Option<TlsAcceptor>,
) {
    // Without it small answers would wait for the client's acknowledgement.
    let _ = stream.set_nodelay(true);
    match tls {
        None => serve_http(stream, peer, world, &builder, false).await,
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve_http(stream, peer, world, &builder, true).await;
            }
        }
    }
}

async fn serve_http<S>(
    stream: S,
    peer: SocketAddr,
    world: Arc<World>,
    builder: &HttpBuilder,
    tls: bool,
) where
    S: AsyncRead + AsyncWrite + Resettable + Unpin + Send + 'static,
{
    let control = Arc::new(WireControl::default());
    let io = TokioIo::new(WireStream::new(stream, Arc::clone(&control)));
    let service = Connection {
        world,
        control,
        peer,
        tls,
    };
    // Clients that misbehave or leave are everyday life here.
    let _ = builder.serve_connection(io, service).await;
}
