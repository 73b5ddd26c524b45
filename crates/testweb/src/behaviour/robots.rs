//! robots.txt of every kind. Unless a kind says otherwise, `/private/` is disallowed in it.

use std::fmt::Write as _;

use http::HeaderValue;

use super::fault::WireFault;
use crate::reply::{Ask, Reply};

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

fn text(body: impl Into<bytes::Bytes>) -> Reply {
    Reply::typed(HeaderValue::from_static("text/plain; charset=utf-8"), body)
}
