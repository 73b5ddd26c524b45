//! Where a request is going, read from its URI.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

use http::Uri;
use trawl_types::OutcomeKind;

use crate::ended::End;

/// A host as a URL spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    /// Without a trailing dot.
    Name(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) tls: bool,
}

impl Host {
    pub(crate) fn parse(text: &str) -> Self {
        let bracketed = text
            .strip_prefix('[')
            .and_then(|inner| inner.strip_suffix(']'));
        if let Some(address) = bracketed.and_then(|inner| inner.parse::<Ipv6Addr>().ok()) {
            return Self::Address(address.into());
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        match name.parse::<IpAddr>() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Name(name.to_owned()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Target {
    pub(crate) fn of(uri: &Uri) -> Result<Self, End> {
        let tls = uri.scheme_str() == Some("https");
        let host = uri
            .host()
            .ok_or_else(|| End::new(OutcomeKind::ProtocolError, "the URL has no host"))?;
        Ok(Self {
            host: Host::parse(host),
            port: uri.port_u16().unwrap_or(if tls { 443 } else { 80 }),
            tls,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart_by_what_they_are() {
        assert_eq!(Host::parse("a.test."), Host::Name("a.test".into()));
        for text in ["127.0.0.1", "127.0.0.1.", "[::1]", "[::ffff:1.2.3.4]"] {
            assert!(matches!(Host::parse(text), Host::Address(_)), "{text}");
        }
        assert_eq!(Host::parse("[::1]").to_string(), "[::1]");
    }

    #[test]
    fn the_port_follows_the_scheme_unless_it_is_given() {
        let port = |text: &'static str| Target::of(&Uri::from_static(text)).unwrap().port;
        assert_eq!(port("http://a.test/"), 80);
        assert_eq!(port("https://a.test/"), 443);
        assert_eq!(port("https://a.test:8443/"), 8443);
    }
}
