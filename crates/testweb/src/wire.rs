//! A connection that can be made to lie: once armed, it sends scripted bytes in place of what the
//! HTTP library writes, and then closes, resets or hangs. Unarmed it costs one atomic load.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;

/// How a scripted connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireEnd {
    /// An orderly end of the stream.
    Close,
    /// A TCP reset.
    Reset,
    /// Nothing more, and no end.
    Hang,
}

/// Bytes to send in place of an HTTP answer.
#[derive(Debug, Clone)]
pub(crate) struct WireScript {
    pub(crate) bytes: Bytes,
    pub(crate) end: WireEnd,
    /// Sends one byte after each such interval.
    pub(crate) pace: Option<Duration>,
}

/// The trigger shared by a connection and the service that answers on it.
#[derive(Debug, Default)]
pub(crate) struct WireControl {
    armed: AtomicBool,
    script: Mutex<Option<WireScript>>,
}

impl WireControl {
    /// From now on the connection follows the script.
    pub(crate) fn arm(&self, script: WireScript) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Some(script);
        self.armed.store(true, Ordering::Release);
    }

    fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    fn take(&self) -> Option<WireScript> {
        self.script
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Streams whose socket can be told to end with a reset.
pub(crate) trait Resettable {
    fn reset_on_close(&self);
}

impl Resettable for TcpStream {
    fn reset_on_close(&self) {
        // Where this fails the stream ends in order, which tests will notice.
        let _ = self.set_zero_linger();
    }
}

impl Resettable for TlsStream<TcpStream> {
    fn reset_on_close(&self) {
        self.get_ref().0.reset_on_close();
    }
}

/// A stream that follows its control.
#[derive(Debug)]
pub(crate) struct WireStream<S> {
    inner: S,
    control: Arc<WireControl>,
    sending: Option<WireScript>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Resettable + Unpin> WireStream<S> {
    pub(crate) fn new(inner: S, control: Arc<WireControl>) -> Self {
        Self {
            inner,
            control,
            sending: None,
            timer: None,
        }
    }

    /// Sends the script; ends in an error, so that the HTTP library drops the connection.
    fn follow_script(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.sending.is_none() {
            self.sending = self.control.take();
        }
        let Some(script) = &mut self.sending else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        while !script.bytes.is_empty() {
            if let Some(pace) = script.pace {
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(pace)));
                ready!(timer.as_mut().poll(context));
            }
            let most = if script.pace.is_some() {
                1
            } else {
                script.bytes.len()
            };
            let written =
                ready!(Pin::new(&mut self.inner).poll_write(context, &script.bytes[..most]))?;
            let _ = script.bytes.split_to(written.min(most));
            self.timer = None;
        }
        ready!(Pin::new(&mut self.inner).poll_flush(context))?;
        match script.end {
            WireEnd::Hang => return Poll::Pending,
            WireEnd::Reset => self.inner.reset_on_close(),
            WireEnd::Close => ready!(Pin::new(&mut self.inner).poll_shutdown(context))?,
        }
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::BrokenPipe,
            "end of the script",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WireStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Resettable + Unpin> AsyncWrite for WireStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.control.is_armed() {
            return self.follow_script(context);
        }
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.control.is_armed() {
            return self.follow_script(context);
        }
        Pin::new(&mut self.inner).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
