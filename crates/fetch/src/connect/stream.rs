//! A connection as the HTTP client sees it: plain or TLS, counted while it lives.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

enum Transport {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

/// An open connection.
pub(crate) struct Stream {
    transport: Transport,
    /// Requests are spoken to a proxy and name their target in full.
    to_proxy: bool,
    live: Live,
}

impl Stream {
    pub(crate) fn plain(tcp: TcpStream, to_proxy: bool, live: Live) -> Self {
        Self::new(Transport::Plain(TokioIo::new(tcp)), to_proxy, live)
    }

    pub(crate) fn tls(tls: TlsStream<TcpStream>, live: Live) -> Self {
        Self::new(Transport::Tls(Box::new(TokioIo::new(tls))), false, live)
    }

    fn new(transport: Transport, to_proxy: bool, live: Live) -> Self {
        Self {
            transport,
            to_proxy,
            live,
        }
    }

    fn speaks_h2(&self) -> bool {
        match &self.transport {
            Transport::Plain(_) => false,
            Transport::Tls(tls) => tls.inner().get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.to_proxy);
        if self.live.is_one_too_many() {
            connected.poison();
        }
        if self.speaks_h2() {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(io) => Pin::new(io).poll_read(cx, buf),
            // Many servers hang up without saying so in TLS. Where that matters, HTTP's own
            // lengths show it; a body that ends with the connection is taken as browsers take it.
            Transport::Tls(io) => match Pin::new(io).poll_read(cx, buf) {
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Poll::Ready(Ok(()))
                }
                other => other,
            },
        }
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Plain(io) => Pin::new(io).poll_write(cx, buf),
            Transport::Tls(io) => Pin::new(io).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(io) => Pin::new(io).poll_flush(cx),
            Transport::Tls(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(io) => Pin::new(io).poll_shutdown(cx),
            Transport::Tls(io) => Pin::new(io).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(io) => io.is_write_vectored(),
            Transport::Tls(io) => io.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.transport {
            Transport::Plain(io) => Pin::new(io).poll_write_vectored(cx, bufs),
            Transport::Tls(io) => Pin::new(io).poll_write_vectored(cx, bufs),
        }
    }
}

/// Counts open connections. The pool only limits idle ones per host, which over thousands of
/// hosts is no limit, so a connection beyond this one serves a single request.
#[derive(Debug)]
pub(crate) struct Live {
    count: Arc<AtomicUsize>,
    keep: usize,
    position: usize,
}

impl Live {
    pub(crate) fn count(count: &Arc<AtomicUsize>, keep: usize) -> Self {
        let position = count.fetch_add(1, Ordering::Relaxed) + 1;
        Self {
            count: Arc::clone(count),
            keep,
            position,
        }
    }

    fn is_one_too_many(&self) -> bool {
        self.position > self.keep
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}
