//! Addresses and identities. What is requested ([`CrawlUrl::address`]) is the URL as it was found;
//! what is compared ([`UrlKey`]) is a keyed hash of its normalised form. The two never mix.
//!
//! Only `trawl-rules` builds these from text; this module does not normalise anything.

use std::{fmt, hash::Hasher, sync::Arc};

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use url::{Position, Url};

/// The secret under which URL keys are hashed, one per store, so that no site can aim for collisions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeySecret(pub [u8; 16]);

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(..)")
    }
}

impl KeySecret {
    /// Hashes the two parts of an identity: its host and its whole normalised text.
    pub fn key(&self, identity_host: &str, identity: &str) -> UrlKey {
        UrlKey {
            host: self.hash(identity_host),
            url: self.hash(identity),
        }
    }

    /// Hashes an address as it is requested, to recognise it again.
    pub fn mark(&self, address: &str) -> u64 {
        self.hash(address)
    }

    fn hash(&self, text: &str) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.0);
        hasher.write(text.as_bytes());
        hasher.finish()
    }
}

/// Identity of a page: 64 bits of the host and 64 of the normalised URL, so that keys cluster by
/// host and a hostile site can only collide with itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UrlKey {
    pub host: u64,
    pub url: u64,
}

/// The two schemes that are ever requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    pub fn of(url: &Url) -> Option<Self> {
        match url.scheme() {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }
}

/// A host as politeness sees it: lower-case name or address, with the port unless it is 80 or 443.
/// `http://a.test/` and `https://a.test/` are one host; `a.test:8080` is another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostKey(Arc<str>);

impl HostKey {
    /// The politeness host of an address; `None` for a URL without a host. A trailing dot of the
    /// name is dropped: it would be a second queue for the same server.
    pub fn of(url: &Url) -> Option<Self> {
        let host = url.host_str()?;
        let name = host.strip_suffix('.').unwrap_or(host);
        Some(match url.port() {
            None | Some(80 | 443) => Self(name.into()),
            Some(_) if name.len() == host.len() => {
                Self(url[Position::BeforeHost..Position::AfterPort].into())
            }
            Some(port) => Self(format!("{name}:{port}").into()),
        })
    }

    /// Reads back what [`HostKey::as_str`] gave; does not check it.
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host name without a port.
    pub fn name(&self) -> &str {
        match self.0.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') && !port.is_empty() => name,
            _ => &self.0,
        }
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A registrable domain (`example.co.uk`), by the public suffix list.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteKey(pub String);

/// A URL past normalisation: the address to request, its identity and its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlUrl {
    address: Url,
    key: UrlKey,
    host: HostKey,
    scheme: Scheme,
}

impl CrawlUrl {
    /// Puts the parts together; `None` unless the address is http(s) and has a host.
    pub fn new(address: Url, key: UrlKey) -> Option<Self> {
        let scheme = Scheme::of(&address)?;
        let host = HostKey::of(&address)?;
        Some(Self {
            address,
            key,
            host,
            scheme,
        })
    }

    /// What is requested: as found, without fragment.
    pub fn address(&self) -> &Url {
        &self.address
    }

    pub fn as_str(&self) -> &str {
        self.address.as_str()
    }

    pub fn key(&self) -> UrlKey {
        self.key
    }

    pub fn host(&self) -> &HostKey {
        &self.host
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.address.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(url: &str) -> HostKey {
        HostKey::of(&Url::parse(url).unwrap()).unwrap()
    }

    #[test]
    fn both_default_ports_are_the_same_host_and_others_are_not() {
        assert_eq!(host("http://a.test/x"), host("https://a.test/"));
        assert_eq!(host("http://a.test:443/"), host("https://a.test/"));
        assert_eq!(host("http://a.test:8080/").as_str(), "a.test:8080");
        assert_eq!(host("http://a.test.:8080/").as_str(), "a.test:8080");
        assert_eq!(host("http://a.test./"), host("http://a.test/"));
    }

    #[test]
    fn the_name_of_a_host_has_no_port_also_for_ipv6() {
        assert_eq!(host("http://[::1]:8080/").name(), "[::1]");
        assert_eq!(host("http://[::1]/").name(), "[::1]");
        assert_eq!(host("http://a.test:81/").name(), "a.test");
        assert_eq!(host("http://a.test/").name(), "a.test");
    }

    #[test]
    fn keys_of_one_host_share_their_first_half_and_depend_on_the_secret() {
        let secret = KeySecret([7; 16]);
        let a = secret.key("a.test", "//a.test/1");
        let b = secret.key("a.test", "//a.test/2");
        assert_eq!(a.host, b.host);
        assert_ne!(a.url, b.url);
        assert_ne!(a, KeySecret([8; 16]).key("a.test", "//a.test/1"));
    }
}
