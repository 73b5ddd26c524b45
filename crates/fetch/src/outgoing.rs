//! Requests as they leave: the headers that never change are built once.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use trawl_types::{
    OutcomeKind,
    spec::{FetchSpec, SpecError},
};
use url::{Position, Url};

use crate::{Accept, Method, Request, connect::Proxy, cookies::Jar, ended::End, unsent::Unsent};

const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("gzip, deflate, br, zstd");

pub(crate) struct Outgoing {
    /// One set for each [`Accept`].
    base: [HeaderMap; 3],
    /// The spec's own headers, which may hold credentials.
    secret: Vec<(HeaderName, HeaderValue)>,
    proxy: Option<Arc<Proxy>>,
}

impl Outgoing {
    pub(crate) fn of(spec: &FetchSpec, proxy: Option<Arc<Proxy>>) -> Result<Self, SpecError> {
        let agent = HeaderValue::from_str(&spec.user_agent.header())
            .map_err(|_| SpecError::new("fetch.user_agent", "cannot be sent in a header"))?;
        let base = Accept::ALL.map(|accept| {
            let mut headers = HeaderMap::with_capacity(8);
            headers.insert(header::USER_AGENT, agent.clone());
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept.header()));
            headers.insert(header::ACCEPT_ENCODING, ACCEPT_ENCODING);
            headers
        });
        let secret = spec
            .headers
            .iter()
            .map(|(name, value)| own_header(name, value))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            base,
            secret,
            proxy,
        })
    }

    pub(crate) fn message(
        &self,
        request: &Request,
        jar: Option<&Jar>,
    ) -> Result<http::Request<Unsent>, End> {
        let mut message = http::Request::new(Unsent::default());
        *message.uri_mut() = uri(&request.url)?;
        *message.method_mut() = match request.method {
            Method::Get => http::Method::GET,
            Method::Head => http::Method::HEAD,
        };
        let mut headers = self.base[request.accept as usize].clone();
        conditional(&mut headers, header::IF_NONE_MATCH, request.etag.as_deref());
        conditional(
            &mut headers,
            header::IF_MODIFIED_SINCE,
            request.last_modified.as_deref(),
        );
        if let Some(cookies) = jar.and_then(|jar| jar.header(&request.url)) {
            headers.insert(header::COOKIE, cookies);
        }
        if request.secret_headers {
            for (name, value) in &self.secret {
                headers.insert(name.clone(), value.clone());
            }
        }
        if self.is_for_proxy(&request.url)
            && let Some(value) = self.proxy.as_ref().and_then(|proxy| proxy.authorization())
        {
            headers.insert(header::PROXY_AUTHORIZATION, value);
        }
        *message.headers_mut() = headers;
        Ok(message)
    }

    /// The request is read by the proxy itself and not by the site.
    pub(crate) fn is_for_proxy(&self, url: &Url) -> bool {
        let tls = url.scheme() == "https";
        self.proxy
            .as_ref()
            .is_some_and(|proxy| proxy.takes_requests_for(tls))
    }
}

/// The URL without what is never sent. User names were refused before.
fn uri(url: &Url) -> Result<Uri, End> {
    url[..Position::AfterQuery]
        .parse()
        .map_err(|_| End::new(OutcomeKind::ProtocolError, "the URL cannot be requested"))
}

/// What a server once gave is only sent back if it fits in a header.
fn conditional(headers: &mut HeaderMap, name: HeaderName, value: Option<&str>) {
    if let Some(value) = value.and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.insert(name, value);
    }
}

fn own_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), SpecError> {
    // The value may be a secret, so no message repeats it.
    let wrong = |problem: &str| SpecError::new(format!("fetch.headers.{name}"), problem);
    let parsed =
        HeaderName::try_from(name).map_err(|_| wrong("is not a name a header can have"))?;
    let framing = [
        header::HOST,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        header::TE,
        header::PROXY_AUTHORIZATION,
    ];
    if framing.contains(&parsed) {
        return Err(wrong("belongs to the connection and cannot be set"));
    }
    let mut value =
        HeaderValue::from_str(value).map_err(|_| wrong("has a value that cannot be sent"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}
