//! What a behaviour sees of a request, and what it may answer. No sockets here.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, LOCATION};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use crate::body::Content;
use crate::spec::HostMatch;
use crate::wire::{WireEnd, WireScript};

pub(crate) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");

/// A request on its way to a behaviour.
#[derive(Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) request: &'a Parts,
    pub(crate) site: HostMatch,
    pub(crate) tls: bool,
    /// Host and port as the client wrote them.
    pub(crate) authority: &'a str,
    /// How often this behaviour was asked before.
    pub(crate) hits: u32,
}

impl Ask<'_> {
    pub(crate) fn path(&self) -> &str {
        self.request.uri.path()
    }

    pub(crate) fn query(&self) -> &str {
        self.request.uri.query().unwrap_or("")
    }

    /// Value of a parameter of the query, as it was written.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut pairs = self
            .query()
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.request.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn is_head(&self) -> bool {
        self.request.method == Method::HEAD
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }
}

/// What goes back to the client.
#[derive(Debug)]
pub(crate) enum Sent {
    Http(Response<Content>),
    Wire(WireScript),
    /// The connection stays open and nothing comes.
    Silence,
}

/// An answer and the time to wait before it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) wait: Duration,
    pub(crate) sent: Sent,
}

impl Reply {
    pub(crate) fn http(response: Response<Content>) -> Self {
        Self {
            wait: Duration::ZERO,
            sent: Sent::Http(response),
        }
    }

    pub(crate) fn wire(bytes: impl Into<Bytes>, end: WireEnd) -> Self {
        Self::scripted(WireScript {
            bytes: bytes.into(),
            end,
            pace: None,
        })
    }

    /// Bytes sent one by one, with an interval before each, and then an orderly end.
    pub(crate) fn paced_wire(bytes: impl Into<Bytes>, interval: Duration) -> Self {
        let pace = Some(interval);
        Self::scripted(WireScript {
            bytes: bytes.into(),
            end: WireEnd::Close,
            pace,
        })
    }

    fn scripted(script: WireScript) -> Self {
        Self {
            wait: Duration::ZERO,
            sent: Sent::Wire(script),
        }
    }

    pub(crate) fn silence() -> Self {
        Self {
            wait: Duration::ZERO,
            sent: Sent::Silence,
        }
    }

    pub(crate) fn html(body: impl Into<Bytes>) -> Self {
        Self::typed(HTML, body)
    }

    pub(crate) fn typed(content_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        Self::content(content_type, Content::Full(body.into()))
    }

    pub(crate) fn content(content_type: HeaderValue, content: Content) -> Self {
        let mut response = Response::new(content);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        Self::http(response)
    }

    /// A short page with an error status.
    pub(crate) fn status(status: u16) -> Self {
        let code = status_code(status);
        let reason = code.canonical_reason().unwrap_or("Status");
        let body = format!("<!doctype html><title>{status} {reason}</title><h1>{reason}</h1>\n");
        Self::html(body).with_status(status)
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).with_header(LOCATION, location.as_bytes())
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        if let Sent::Http(response) = &mut self.sent {
            *response.status_mut() = status_code(status);
        }
        self
    }

    /// Sets a header; a value that HTTP does not allow is left out.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &[u8]) -> Self {
        if let (Sent::Http(response), Ok(value)) = (&mut self.sent, HeaderValue::from_bytes(value))
        {
            response.headers_mut().append(name, value);
        }
        self
    }

    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.wait += wait;
        self
    }
}

fn status_code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// An answer written out by a test: status, headers and body.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Answer {
    /// 200 with HTML.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::of_type("text/html; charset=utf-8", body)
    }

    /// 200 with the given content type.
    pub fn of_type(content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            status: 200,
            headers,
            body: body.into(),
        }
    }

    /// A status with an empty body and no headers.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// 304 to those who have it, if it has an `etag`.
    pub(crate) fn reply(&self, ask: &Ask<'_>) -> Reply {
        let known = ask.header(http::header::IF_NONE_MATCH);
        let own = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("etag") && known == Some(value.as_str())
        };
        let (status, body) = if self.headers.iter().any(own) {
            (304, Content::EMPTY)
        } else {
            (self.status, Content::Full(self.body.clone()))
        };
        let start = Reply::http(Response::new(body)).with_status(status);
        self.headers.iter().fold(start, |reply, (name, value)| {
            match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) => reply.with_header(name, value.as_bytes()),
                Err(_) => reply,
            }
        })
    }
}
