//! Pages that are too much: too long, too deep, too many links.

use std::collections::VecDeque;
use std::fmt::Write as _;

use bytes::Bytes;

use crate::body::Content;
use crate::filler::Filler;
use crate::reply::{HTML, Reply};

/// Kinds of excess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bulk {
    /// A page of at least this many bytes; `announced` says its length beforehand.
    Long { bytes: usize, announced: bool },
    /// Elements nested this deep.
    Nested { depth: usize },
    /// This many distinct links.
    ManyLinks { count: usize },
    /// One tag with this many attributes.
    ManyAttributes { count: usize },
    /// One attribute of this many bytes, never closed.
    LongAttribute { bytes: usize },
    /// Links whose addresses have this many bytes.
    LongUrls { bytes: usize },
    /// No end to any comment, script or tag.
    Unclosed,
}

impl Bulk {
    pub(crate) fn reply(self, path: &str) -> Reply {
        match self {
            Self::Long { bytes, announced } => long(bytes, announced),
            Self::Nested { depth } => Reply::html(wrap(&format!(
                "{}deep{}",
                "<div>".repeat(depth),
                "</div>".repeat(depth)
            ))),
            Self::ManyLinks { count } => Reply::html(many_links(path, count)),
            Self::ManyAttributes { count } => {
                let attributes = (0..count).fold(String::new(), |mut out, n| {
                    let _ = write!(out, " a{n}=\"{n}\"");
                    out
                });
                Reply::html(wrap(&format!("<p{attributes}>text</p>")))
            }
            Self::LongAttribute { bytes } => {
                Reply::html(wrap(&format!("<a href=\"/{}", "x".repeat(bytes))))
            }
            Self::LongUrls { bytes } => {
                let long = "y".repeat(bytes);
                Reply::html(wrap(&format!(
                    "<a href=\"{path}/{long}\">a</a><a href=\"{path}?q={long}\">b</a>"
                )))
            }
            Self::Unclosed => {
                Reply::html(wrap("<p><a href=\"/\">home</a><!-- <script> <a href=\""))
            }
        }
    }
}

fn wrap(body: &str) -> String {
    format!("<!doctype html><html><head><title>Too much</title></head><body>{body}</body></html>\n")
}

fn long(bytes: usize, announced: bool) -> Reply {
    let mut text = String::new();
    Filler::shared().reader(9).push_upto(&mut text, 64 * 1024);
    let piece = Bytes::from(text);
    let mut pieces = VecDeque::from([Bytes::from_static(
        b"<!doctype html><title>Long page</title><p><a href=\"/\">home</a></p>\n",
    )]);
    // The pieces share their memory: the page costs the server nothing.
    pieces.extend(std::iter::repeat_n(
        piece.clone(),
        bytes.div_ceil(piece.len()),
    ));
    Reply::content(HTML, Content::Pieces { pieces, announced })
}

fn many_links(path: &str, count: usize) -> String {
    let mut links = String::with_capacity(count * (path.len() + 24));
    for n in 0..count {
        let _ = writeln!(links, "<a href=\"{path}/{n}\">{n}</a>");
    }
    wrap(&links)
}
