//! What is asked: one URL, once. Holds no limits and no credentials; those belong to the
//! [`Fetcher`](crate::Fetcher).

use url::Url;

/// The two methods a crawler needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    #[default]
    Get,
    Head,
}

/// What kind of answer is hoped for, which decides the `Accept` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accept {
    #[default]
    Page,
    Robots,
    Any,
}

impl Accept {
    pub(crate) const ALL: [Self; 3] = [Self::Page, Self::Robots, Self::Any];

    pub(crate) fn header(self) -> &'static str {
        match self {
            Self::Page => "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1",
            Self::Robots => "text/plain,*/*;q=0.5",
            Self::Any => "*/*",
        }
    }
}

/// One request to make.
#[derive(Debug, Clone)]
pub struct Request {
    pub url: Url,
    pub method: Method,
    pub accept: Accept,
    /// Sent as `If-None-Match`.
    pub etag: Option<String>,
    /// Sent as `If-Modified-Since`.
    pub last_modified: Option<String>,
    /// Send the spec's own headers, which may hold credentials: only to the seeds' origins.
    pub secret_headers: bool,
    /// Keep at most this many bytes of the body and cut the rest off, whatever the spec says of
    /// larger bodies.
    pub max_body: Option<u64>,
}

impl Request {
    /// A plain GET for a page.
    pub fn get(url: Url) -> Self {
        Self {
            url,
            method: Method::Get,
            accept: Accept::Page,
            etag: None,
            last_modified: None,
            secret_headers: false,
            max_body: None,
        }
    }
}
