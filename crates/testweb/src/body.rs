//! Bodies of answers: one piece, many pieces, the same piece again and again, or a slow drip.
//! Holds the request's ticket, so that the log knows when the last piece was handed over.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};

use crate::log::Ticket;

/// What a body consists of.
#[derive(Debug)]
pub(crate) enum Content {
    Full(Bytes),
    /// Several pieces; `announced` says their length beforehand.
    Pieces {
        pieces: VecDeque<Bytes>,
        announced: bool,
    },
    /// The same piece for ever.
    Endless(Bytes),
    /// One byte after each interval.
    Drip {
        rest: Bytes,
        interval: Duration,
        timer: Option<Pin<Box<Sleep>>>,
    },
}

impl Content {
    pub(crate) const EMPTY: Self = Self::Full(Bytes::new());

    pub(crate) fn drip(rest: Bytes, interval: Duration) -> Self {
        Self::Drip {
            rest,
            interval,
            timer: None,
        }
    }

    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self {
            Self::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Self::Pieces { pieces, .. } => Poll::Ready(pieces.pop_front()),
            Self::Endless(piece) => Poll::Ready(Some(piece.clone())),
            Self::Drip {
                rest,
                interval,
                timer,
            } => {
                if rest.is_empty() {
                    return Poll::Ready(None);
                }
                let waiting = timer.get_or_insert_with(|| Box::pin(sleep(*interval)));
                ready!(waiting.as_mut().poll(context));
                *timer = None;
                Poll::Ready(Some(rest.split_to(1)))
            }
        }
    }

    /// Number of bytes still to come, where that is announced to the client.
    pub(crate) fn known_length(&self) -> Option<u64> {
        match self {
            Self::Full(bytes) => Some(bytes.len() as u64),
            Self::Drip { rest, .. } => Some(rest.len() as u64),
            Self::Pieces { pieces, announced } => {
                announced.then(|| pieces.iter().map(|piece| piece.len() as u64).sum())
            }
            Self::Endless(_) => None,
        }
    }
}

/// A body on its way to a client.
#[derive(Debug)]
pub(crate) struct ReplyBody {
    pub(crate) content: Content,
    /// Held only to be dropped with the body.
    pub(crate) _ticket: Option<Ticket>,
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.content
            .next(context)
            .map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.content.known_length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.content
            .known_length()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
