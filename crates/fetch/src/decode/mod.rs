//! Turns the bytes on the wire into the body: decompression into a capped sink. Knows nothing of
//! sockets or HTTP beyond the `Content-Encoding` header.
//!
//! * [`sink`]: where decoded bytes end up, with the size and ratio caps
//! * [`gzip`], [`deflate`], [`brotli`], [`zstd`]: one step-wise decoder each
//! * [`pipeline`]: decoders in a row, with at most one buffer's worth between them

mod brotli;
mod deflate;
mod gzip;
mod pipeline;
mod sink;
mod zstd;

use bytes::Bytes;
use trawl_types::OutcomeKind;

use crate::ended::End;
use pipeline::Pipeline;
pub(crate) use sink::Caps;
use sink::{Sink, Stop};

/// Encodings applied one after another; more than this is nobody's honest answer.
const MAX_ENCODINGS: usize = 3;

/// Whether more input is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    More,
    /// The cap is reached and the rest is not wanted: hang up.
    Enough,
}

/// One step of a decoder: what it took and what it gave.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    read: usize,
    written: usize,
}

/// The stream is not what its encoding says.
#[derive(Debug)]
struct Corrupt;

/// A decoder that never does more than fill the buffer it is given.
trait Decoder: Send {
    /// Decodes some of `input` into `output`. Neither reading nor writing anything means that
    /// more input is needed.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Corrupt>;

    /// The stream came to its proper end.
    fn is_complete(&self) -> bool;
}

/// Collects a body.
pub(crate) struct BodyReader {
    sink: Sink,
    pipeline: Option<Pipeline>,
    wire: u64,
}

impl BodyReader {
    /// `length_hint` is what the server announced; it only sizes the first allocation.
    pub(crate) fn new(
        encoding: Option<&str>,
        caps: Caps,
        length_hint: Option<u64>,
    ) -> Result<Self, End> {
        let pipeline = match encoding {
            Some(list) => Pipeline::of(list, caps.body)?,
            None => None,
        };
        Ok(Self {
            sink: Sink::new(caps, length_hint.unwrap_or(0)),
            pipeline,
            wire: 0,
        })
    }

    pub(crate) fn push(&mut self, chunk: Bytes) -> Result<Push, End> {
        self.wire += chunk.len() as u64;
        let taken = match &mut self.pipeline {
            None => self.sink.accept(chunk),
            Some(_) if self.wire > self.sink.caps().wire() => self.sink.overflow(),
            Some(pipeline) => pipeline.push(&chunk, &mut self.sink),
        };
        match taken {
            Ok(()) => Ok(Push::More),
            Err(Stop::Full) => Ok(Push::Enough),
            Err(Stop::TooLarge) => Err(End::new(
                OutcomeKind::BodyTooLarge,
                "the body is larger than the limit",
            )),
            Err(Stop::Bomb) => Err(End::new(
                OutcomeKind::DecompressionBomb,
                "the body grows beyond the allowed ratio when decompressed",
            )),
            Err(Stop::Corrupt) => Err(End::new(
                OutcomeKind::BadEncoding,
                "the compressed body is corrupt",
            )),
        }
    }

    /// Ends the body. A compressed stream that broke off keeps what it gave, marked as cut, as a
    /// browser would show it; one that gave nothing is an end of its own.
    pub(crate) fn finish(self) -> Result<Body, End> {
        let complete = match &self.pipeline {
            Some(pipeline) => self.wire == 0 || pipeline.is_complete(),
            None => true,
        };
        let truncated = self.sink.is_full() || !complete;
        let bytes = self.sink.into_bytes();
        if !complete && bytes.is_empty() {
            return Err(End::new(
                OutcomeKind::BadEncoding,
                "the compressed body breaks off before it gives anything",
            ));
        }
        Ok(Body {
            bytes,
            truncated,
            wire_bytes: self.wire,
        })
    }
}

/// A body, decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    pub bytes: Bytes,
    /// The body was longer than the limit, or its compressed stream broke off.
    pub truncated: bool,
    /// Bytes that arrived, before decompression and without transfer framing.
    pub wire_bytes: u64,
}

#[cfg(test)]
mod tests;
