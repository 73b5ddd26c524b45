//! An answer whose headers are in: its body is read under the clock and the caps, or dropped.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use trawl_types::OutcomeKind;

use crate::{
    Body, Ended, Head,
    clock::Clock,
    decode::{BodyReader, Caps, Push},
    ended::End,
    failure,
};

/// Status and headers, with the body still to come. Dropping it hangs up where the body has not
/// all arrived.
pub struct Answer {
    pub(crate) head: Head,
    pub(crate) incoming: Incoming,
    pub(crate) clock: Clock,
    pub(crate) caps: Caps,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

impl Answer {
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads and decodes the whole body.
    pub async fn body(mut self) -> Result<Body, Ended> {
        match self.read().await {
            Ok(body) => Ok(body),
            Err(end) => Err(Ended::in_answer(end, self.head)),
        }
    }

    /// Ends the fetch without reading the body.
    pub fn discard(self) {}

    /// Like [`Answer::body`], for callers that want to keep the head.
    pub async fn into_parts(mut self) -> Result<(Head, Body), Ended> {
        match self.read().await {
            Ok(body) => Ok((self.head, body)),
            Err(end) => Err(Ended::in_answer(end, self.head)),
        }
    }

    async fn read(&mut self) -> Result<Body, End> {
        if self.incoming.is_end_stream() {
            return Ok(Body::default());
        }
        let announced = self.incoming.size_hint().exact();
        if self.caps.refuse && announced.is_some_and(|length| length > self.caps.body) {
            return Err(End::new(
                OutcomeKind::BodyTooLarge,
                "the announced body is larger than the limit",
            ));
        }
        let encoding = self.head.content_encoding.as_deref();
        let mut reader = BodyReader::new(encoding, self.caps, announced)?;
        self.clock.progressed();
        while let Some(chunk) = self.next_chunk(announced.is_some()).await? {
            if reader.push(chunk)? == Push::Enough {
                break;
            }
        }
        reader.finish()
    }

    async fn next_chunk(&mut self, announced: bool) -> Result<Option<Bytes>, End> {
        poll_fn(|cx| self.poll_chunk(cx, announced)).await
    }

    fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
        announced: bool,
    ) -> Poll<Result<Option<Bytes>, End>> {
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing we want.
                    if let Ok(data) = frame.into_data() {
                        self.clock.progressed();
                        return Poll::Ready(Ok(Some(data)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(failure::in_body(&error, announced)));
                }
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return self.clock.poll_body_late(cx).map(Err),
            }
        }
    }
}
