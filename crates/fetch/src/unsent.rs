//! The body of a request: empty, but it knows when a connection asked for it. The pool says
//! nothing about when it is done waiting for a connection, and capturing that from it costs more
//! than the rest of a request; a connection asks for the body's end as it begins to send.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Instant;

/// When a request was sent, once it was.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentAt(Arc<OnceLock<Instant>>);

impl SentAt {
    pub(crate) fn get(&self) -> Option<Instant> {
        self.0.get().copied()
    }
}

/// No body at all.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    pub(crate) sent: SentAt,
}

impl Body for Unsent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.sent.0.get_or_init(Instant::now);
        true
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(0)
    }
}
