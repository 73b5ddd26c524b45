//! Answers whose meaning is the difficulty: copies, hidden errors, files, conditions, passwords.

use bytes::Bytes;
use http::header::{
    ALLOW, AUTHORIZATION, COOKIE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    SET_COOKIE, WWW_AUTHENTICATE,
};
use http::{HeaderValue, Response};
use serde_json::{Map, Value};

use crate::body::Content;
use crate::filler::Filler;
use crate::reply::{Ask, Reply};
use crate::site::PNG;

/// Kinds of files that are no HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Pdf,
    Png,
    Json,
    Text,
    Zip,
}

impl FileKind {
    pub(crate) fn reply(self) -> Reply {
        let (kind, body): (_, &'static [u8]) = match self {
            Self::Pdf => (
                "application/pdf",
                b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
            ),
            Self::Png => ("image/png", PNG),
            Self::Json => (
                "application/json",
                b"{\"page\":\"<a href='/not-a-link/json'>x</a>\"}\n",
            ),
            Self::Text => (
                "text/plain; charset=utf-8",
                b"Plain text with <a href=\"/not-a-link/text\">no link</a>.\n",
            ),
            Self::Zip => (
                "application/zip",
                b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ),
        };
        Reply::typed(HeaderValue::from_static(kind), body)
    }
}

/// The same bytes under any path.
pub(crate) fn duplicate() -> Reply {
    let mut html = String::from("<!doctype html><title>The same page</title><h1>Same</h1>\n");
    Filler::shared().reader(11).push_upto(&mut html, 6000);
    Reply::html(html)
}

/// The same text with a line that differs by path.
pub(crate) fn near_duplicate(path: &str) -> Reply {
    let mut html = format!(
        "<!doctype html><title>Nearly the same page</title><h1>Same</h1>\n<p>Printed from {path}</p>\n"
    );
    Filler::shared().reader(11).push_upto(&mut html, 6000);
    Reply::html(html)
}

pub(crate) fn soft_404() -> Reply {
    Reply::html(
        "<!doctype html><title>Page not found</title><h1>Sorry, this page could not be found</h1>\
         <p>Error 404. Back to the <a href=\"/\">front page</a>.</p>\n",
    )
}

/// A page that answers 304 to those who have it.
pub(crate) fn conditional(ask: &Ask<'_>, etag: Option<&str>, modified: Option<&str>) -> Reply {
    let matches = |tag: &str| {
        ask.header(IF_NONE_MATCH)
            .map(|known| known.split(',').any(|one| one.trim() == tag))
    };
    let same = match etag.and_then(matches) {
        Some(same) => same,
        None => modified.is_some() && ask.header(IF_MODIFIED_SINCE) == modified,
    };
    let mut reply = if same {
        Reply::http(Response::new(Content::EMPTY)).with_status(304)
    } else {
        Reply::html("<!doctype html><title>Conditional page</title><h1>Unchanged</h1>\n")
    };
    if let Some(etag) = etag {
        reply = reply.with_header(ETAG, etag.as_bytes());
    }
    if let Some(modified) = modified {
        reply = reply.with_header(LAST_MODIFIED, modified.as_bytes());
    }
    reply
}

/// Sets two cookies and says which ones came.
pub(crate) fn set_cookie(ask: &Ask<'_>) -> Reply {
    let came = ask.header(COOKIE).unwrap_or("none");
    Reply::html(format!("<!doctype html><title>Cookies: {came}</title>\n"))
        .with_header(SET_COOKIE, b"visitor=42; Path=/; HttpOnly")
        .with_header(SET_COOKIE, b"theme=dark; Max-Age=3600")
}

pub(crate) fn head_refused(ask: &Ask<'_>) -> Reply {
    if ask.is_head() {
        return Reply::status(405).with_header(ALLOW, b"GET");
    }
    Reply::html("<!doctype html><title>Only GET</title><h1>Only GET</h1>\n")
}

pub(crate) fn basic_auth(ask: &Ask<'_>, user: &str, password: &str) -> Reply {
    let wanted = format!("Basic {}", base64(format!("{user}:{password}").as_bytes()));
    if ask.header(AUTHORIZATION) == Some(wanted.as_str()) {
        return Reply::html("<!doctype html><title>Members only</title><h1>Welcome</h1>\n");
    }
    Reply::status(401).with_header(WWW_AUTHENTICATE, b"Basic realm=\"members\"")
}

/// What the server saw of the request, as JSON.
pub(crate) fn echo(ask: &Ask<'_>) -> Reply {
    let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    let mut headers = Map::new();
    for (name, value) in &ask.request.headers {
        headers.insert(name.to_string(), text(value.as_bytes()));
    }
    let seen = serde_json::json!({
        "method": ask.request.method.as_str(),
        "authority": ask.authority,
        "path": ask.path(),
        "query": ask.query(),
        "tls": ask.tls,
        "version": format!("{:?}", ask.request.version),
        "headers": headers,
    });
    let kind = HeaderValue::from_static("application/json");
    Reply::typed(kind, Bytes::from(format!("{seen}\n")))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let at = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let number = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= three.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_pads_as_the_standard_says() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }
}
