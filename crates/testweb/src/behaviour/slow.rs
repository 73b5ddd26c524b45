//! Answers that take their time.

use std::time::Duration;

use bytes::Bytes;

use crate::body::Content;
use crate::reply::{HTML, Reply};

/// Kinds of slowness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Slow {
    /// A good page whose headers come after this time.
    Headers(Duration),
    /// The head of the answer comes byte by byte, so that the connection is never idle.
    DrippingHeaders { interval: Duration },
    /// Headers at once, then one byte of the body after each interval.
    DrippingBody { bytes: usize, interval: Duration },
    /// A body that never ends, as fast as the client takes it.
    EndlessBody,
    /// Headers and half of the body, then nothing and no end.
    StalledBody,
    /// The request is read and never answered.
    NoAnswer,
}

impl Slow {
    pub(crate) fn reply(self) -> Reply {
        match self {
            Self::Headers(wait) => Reply::html(page("Slow headers")).after(wait),
            Self::DrippingHeaders { interval } => {
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n";
                Reply::paced_wire(head, interval)
            }
            Self::DrippingBody { bytes, interval } => {
                let body: Bytes = page("Dripping")
                    .into_bytes()
                    .into_iter()
                    .cycle()
                    .take(bytes)
                    .collect();
                Reply::content(HTML, Content::drip(body, interval))
            }
            Self::EndlessBody => {
                let piece = Bytes::from("<p>and so on and so on</p>\n".repeat(600));
                Reply::content(HTML, Content::Endless(piece))
            }
            Self::StalledBody => {
                let half = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000\r\n\r\n\
                            <!doctype html><title>Stalled</title>";
                Reply::wire(half, crate::wire::WireEnd::Hang)
            }
            Self::NoAnswer => Reply::silence(),
        }
    }
}

fn page(title: &str) -> String {
    format!("<!doctype html><title>{title}</title><h1>{title}</h1><p><a href=\"/\">home</a></p>\n")
}
