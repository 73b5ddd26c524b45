//! Answers that break the protocol or the connection. Written past the HTTP library, byte by byte.

use std::fmt::Write as _;

use crate::reply::Reply;
use crate::wire::WireEnd;

/// Ways to break an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireFault {
    /// The connection is reset before anything is sent.
    ResetBeforeHeaders,
    /// The connection is closed in order before anything is sent.
    CloseBeforeHeaders,
    /// Half of the headers, then the end.
    CloseInHeaders,
    /// Half of the body, then a reset.
    ResetInBody,
    /// Content-Length promises more than comes before the end.
    LengthTooLong,
    /// Content-Length promises less than comes.
    LengthTooShort,
    /// Two different Content-Length headers.
    TwoLengths,
    /// A chunked body that ends in the middle of a chunk.
    ChunkCut,
    /// A chunk whose size is no number.
    ChunkGarbage,
    /// Bytes that are no HTTP.
    Garbage,
    /// A head with this many bytes of headers.
    HugeHeaders { bytes: usize },
    /// One header without end.
    EndlessHeader { bytes: usize },
    /// A status of four digits.
    BadStatus,
    /// A good page without Content-Length, ended by closing: legal, and to be accepted.
    UntilClose,
}

const BODY: &str = "<!doctype html><title>Fault</title><h1>Fault</h1><p>some text</p>";

impl WireFault {
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::ResetBeforeHeaders => Reply::wire("", WireEnd::Reset),
            Self::CloseBeforeHeaders => Reply::wire("", WireEnd::Close),
            Self::CloseInHeaders => Reply::wire("HTTP/1.1 200 OK\r\ncontent-ty", WireEnd::Close),
            Self::ResetInBody => Reply::wire(page("content-length: 5000"), WireEnd::Reset),
            Self::LengthTooLong => Reply::wire(page("content-length: 5000"), WireEnd::Close),
            Self::LengthTooShort => Reply::wire(page("content-length: 35"), WireEnd::Close),
            Self::TwoLengths => Reply::wire(
                page("content-length: 10\r\ncontent-length: 20"),
                WireEnd::Close,
            ),
            Self::ChunkCut => Reply::wire(chunked("fff\r\n"), WireEnd::Close),
            Self::ChunkGarbage => Reply::wire(chunked("not a size\r\n"), WireEnd::Close),
            Self::Garbage => Reply::wire(
                &b"\x00\x01\xfe\xff SSH-2.0-what?\r\n\r\n\x07\x07"[..],
                WireEnd::Close,
            ),
            Self::HugeHeaders { bytes } => Reply::wire(many_headers(bytes), WireEnd::Close),
            Self::EndlessHeader { bytes } => {
                let head = format!("HTTP/1.1 200 OK\r\nx-long: {}", "z".repeat(bytes));
                Reply::wire(head, WireEnd::Close)
            }
            Self::BadStatus => Reply::wire(
                "HTTP/1.1 2000 Fine\r\ncontent-length: 0\r\n\r\n",
                WireEnd::Close,
            ),
            Self::UntilClose => Reply::wire(page("connection: close"), WireEnd::Close),
        }
    }
}

fn page(header: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n{header}\r\n\r\n{BODY}")
}

fn chunked(piece: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n{piece}{BODY}"
    )
}

fn many_headers(bytes: usize) -> String {
    let mut head = String::with_capacity(bytes + 256);
    head.push_str("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n");
    let mut number = 0;
    while head.len() < bytes {
        let _ = write!(head, "x-filler-{number}: {}\r\n", "y".repeat(100));
        number += 1;
    }
    let _ = write!(head, "content-length: {}\r\n\r\n{BODY}", BODY.len());
    head
}
