//! robots.txt of every kind. Unless a kind says otherwise, `/private/` is disallowed in it.

use std::fmt::Write as _;

use http::HeaderValue;
use http::header::CONTENT_ENCODING;

use super::encoding::{self, Coding, Damage};
use super::fault::WireFault;
use crate::reply::{Ask, Reply};
use crate::wire::WireEnd;

/// The size that crawlers must read at least (RFC 9309).
const LIMIT: usize = 500 * 1024;

/// Kinds of robots.txt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RobotsKind {
    /// Everything is allowed.
    AllowAll,
    /// Nothing is allowed.
    DisallowAll,
    /// 404: everything is allowed.
    Missing,
    /// Any other status, with a page.
    Status(u16),
    /// Never answered.
    Timeout,
    /// The connection is reset.
    Reset,
    /// The connection is reset within the body.
    ResetInBody,
    /// The body begins and does not go on.
    Stalled,
    /// A compressed body, whole or damaged. `/private/` is disallowed at its end.
    Packed(Damage),
    /// Nothing is allowed but `/public`, by a line of which 500 KiB hold `Allow: /` alone.
    CutAtLimit,
    /// A redirect to this address.
    MovedTo(String),
    /// Above 500 KiB, with `/private/` before the limit and `/beyond-limit/` after it.
    Huge,
    /// A page in place of rules, with status 200.
    Html,
    /// `*` and `$`: `/*.pdf$`, `/search*q=`, and an allowed exception `/private/open/`.
    Wildcards,
    /// A Crawl-delay in seconds.
    CrawlDelay(f64),
    /// Groups for several agents, split and repeated: `*`, `trawl`, `otherbot`.
    SeveralGroups,
    /// Sitemap lines with these addresses.
    Sitemaps(Vec<String>),
    /// Reached after this many redirects.
    Redirect { hops: u32 },
    /// Lines with bytes that are no UTF-8, around good rules.
    InvalidUtf8,
    /// Begins with a byte order mark.
    Mark,
    /// Lines end in a bare carriage return.
    OldLineEnds,
    /// An empty file: everything is allowed.
    Empty,
    /// Rules written by the test.
    Custom(String),
}

const PRIVATE: &str = "User-agent: *\nDisallow: /private/\n";

impl RobotsKind {
    pub(crate) fn reply(&self, ask: &Ask<'_>) -> Reply {
        match self {
            Self::Missing => Reply::status(404),
            Self::Status(status) => Reply::status(*status),
            Self::Timeout => Reply::silence(),
            Self::Reset => WireFault::ResetBeforeHeaders.reply(),
            Self::ResetInBody => Reply::wire(begun(), WireEnd::Reset),
            Self::Stalled => Reply::wire(begun(), WireEnd::Hang),
            Self::Packed(damage) => packed(*damage),
            Self::MovedTo(address) => Reply::redirect(302, address),
            Self::Html => Reply::html(
                "<!doctype html><title>Welcome</title><p>User-agent: * <br>\nDisallow: /</p>\n",
            ),
            Self::Redirect { hops } => {
                let left = ask.parameter("left").and_then(|n| n.parse().ok()).unwrap_or(*hops);
                match left {
                    0 => text(PRIVATE),
                    _ => Reply::redirect(302, &format!("{}?left={}", ask.path(), left - 1)),
                }
            }
            Self::InvalidUtf8 => text(
                &b"# caf\xe9 \xff\xfe\nUser-agent: *\nDisallow: /caf\xe9/\nDisallow: /private/\n\x80\x81: x\n"[..],
            ),
            _ => text(self.rules()),
        }
    }

    fn rules(&self) -> String {
        match self {
            Self::AllowAll => "User-agent: *\nAllow: /\n".to_owned(),
            Self::DisallowAll => "User-agent: *\nDisallow: /\n".to_owned(),
            Self::Huge => huge(),
            Self::CutAtLimit => cut_at_limit(),
            Self::Wildcards => "User-agent: *\nDisallow: /*.pdf$\nDisallow: /search*q=\n\
                                Disallow: /private/\nAllow: /private/open/\n"
                .to_owned(),
            Self::CrawlDelay(seconds) => format!("{PRIVATE}Crawl-delay: {seconds}\n"),
            Self::SeveralGroups => "User-agent: otherbot\nDisallow: /\n\n\
                                    User-agent: Trawl\nUser-agent: thirdbot\nDisallow: /private/\n\n\
                                    User-agent: *\nDisallow: /for-named-bots/\n\n\
                                    # the first group goes on here\n\
                                    user-AGENT: TRAWL\ndisallow: /also-private/\n"
                .to_owned(),
            Self::Sitemaps(urls) => urls.iter().fold(PRIVATE.to_owned(), |mut out, url| {
                let _ = writeln!(out, "Sitemap: {url}");
                out
            }),
            Self::Mark => format!("\u{feff}{PRIVATE}"),
            Self::OldLineEnds => PRIVATE.replace('\n', "\r"),
            Self::Custom(rules) => rules.clone(),
            _ => String::new(),
        }
    }
}

fn huge() -> String {
    let mut rules = String::with_capacity(LIMIT + 4096);
    rules.push_str(PRIVATE);
    let line = format!("# {}\n", "filler ".repeat(14));
    while rules.len() < LIMIT + 1024 {
        rules.push_str(&line);
    }
    rules.push_str("Disallow: /beyond-limit/\n");
    rules
}

fn cut_at_limit() -> String {
    const LINE: &str = "Allow: /public\n";
    let mut rules = "User-agent: *\nDisallow: /\n#".to_owned();
    let whole = LIMIT - "Allow: /".len();
    rules.push_str(&".".repeat(whole - rules.len() - 1));
    rules.push('\n');
    rules.push_str(LINE);
    rules
}

/// The beginning of an answer that promises more.
fn begun() -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5000\r\n\r\n{PRIVATE}")
}

fn packed(damage: Damage) -> Reply {
    let mut rules = "User-agent: *\n".to_owned();
    for number in 0..2000 {
        let _ = writeln!(rules, "Disallow: /{:x}/", number * 2_654_435_761_u64);
    }
    rules.push_str("Disallow: /private/\n");
    match encoding::spoiled(Coding::Gzip, rules.into_bytes(), damage) {
        Ok(body) => text(body).with_header(CONTENT_ENCODING, b"gzip"),
        Err(_) => Reply::status(500),
    }
}

fn text(body: impl Into<bytes::Bytes>) -> Reply {
    Reply::typed(HeaderValue::from_static("text/plain; charset=utf-8"), body)
}
