//! The part of an answer before its body, as plain text. Statuses are not interpreted here.

use std::time::UNIX_EPOCH;

use http::{HeaderMap, HeaderName, HeaderValue, Version, header, response::Parts};
use trawl_types::UnixMillis;

/// When a server asks us to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    Seconds(u64),
    Date(UnixMillis),
}

/// Status and headers of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    pub status: u16,
    pub content_type: Option<String>,
    /// Bytes on the wire, as announced.
    pub content_length: Option<u64>,
    pub location: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub retry_after: Option<RetryAfter>,
    /// The values of `X-Robots-Tag`, in order.
    pub robots_tags: Vec<String>,
    pub content_encoding: Option<String>,
    pub version: &'static str,
    /// Every header as it came, for archives.
    pub headers: HeaderMap,
}

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

impl Head {
    pub(crate) fn of(parts: Parts) -> Self {
        let headers = &parts.headers;
        Self {
            status: parts.status.as_u16(),
            content_type: first(headers, &header::CONTENT_TYPE),
            content_length: first(headers, &header::CONTENT_LENGTH)
                .and_then(|text| text.trim().parse().ok()),
            location: first(headers, &header::LOCATION),
            etag: first(headers, &header::ETAG),
            last_modified: first(headers, &header::LAST_MODIFIED),
            retry_after: first(headers, &header::RETRY_AFTER)
                .and_then(|text| RetryAfter::parse(&text)),
            robots_tags: headers.get_all(X_ROBOTS_TAG).iter().map(text).collect(),
            content_encoding: joined(headers, &header::CONTENT_ENCODING),
            version: version(parts.version),
            headers: parts.headers,
        }
    }
}

impl RetryAfter {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Self::Seconds(seconds));
        }
        let date = httpdate::parse_http_date(text).ok()?;
        let since = date.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis())
            .ok()
            .map(|millis| Self::Date(UnixMillis(millis)))
    }
}

fn first(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(text)
}

/// All values of a list header as one, which is what they mean together.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut values = headers.get_all(name).iter().map(text);
    let mut list = values.next()?;
    for value in values {
        list.push(',');
        list.push_str(&value);
    }
    Some(list)
}

/// Header bytes as text: UTF-8 where they are, else Latin-1 as HTTP once said.
fn text(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value
            .as_bytes()
            .iter()
            .map(|byte| char::from(*byte))
            .collect(),
    }
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &[u8])]) -> Head {
        let mut response = http::Response::builder().status(200);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        Head::of(response.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date() {
        let of = |text: &str| head(&[("retry-after", text.as_bytes())]).retry_after;
        assert_eq!(of(" 120 "), Some(RetryAfter::Seconds(120)));
        assert_eq!(
            of("Thu, 01 Jan 1970 00:01:00 GMT"),
            Some(RetryAfter::Date(UnixMillis(60_000)))
        );
        assert_eq!(of("soon"), None);
        assert_eq!(of("-5"), None);
    }

    #[test]
    fn header_bytes_outside_utf8_are_read_as_latin_1() {
        assert_eq!(
            head(&[("location", b"/caf\xe9")]).location.as_deref(),
            Some("/café")
        );
        assert_eq!(
            head(&[("location", "/café".as_bytes())])
                .location
                .as_deref(),
            Some("/café")
        );
    }

    #[test]
    fn repeated_encodings_and_robots_tags_are_all_kept() {
        let head = head(&[
            ("content-encoding", b"gzip"),
            ("content-encoding", b"br"),
            ("x-robots-tag", b"noindex"),
            ("x-robots-tag", b"nofollow"),
        ]);
        assert_eq!(head.content_encoding.as_deref(), Some("gzip,br"));
        assert_eq!(head.robots_tags, ["noindex", "nofollow"]);
        assert_eq!(head.headers.len(), 4);
    }
}
