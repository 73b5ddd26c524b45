//! Where a link leads. Links are by far the most numerous values of a crawl and go from thread to
//! thread, so each is small, in one piece, and shares nothing: a count of references that several
//! cores change costs more than a copy, and so does memory that one thread takes and another gives back.

use trawl_types::{Reason, ShortText, UrlKey};

/// Where a link leads and what the rules say of it.
#[derive(Debug, Clone)]
pub struct LinkTarget {
    pub key: UrlKey,
    /// The score for ranking, or why the URL is refused. Depth is judged by the store, which
    /// alone knows the shortest path.
    pub verdict: Result<u8, Box<Reason>>,
    /// The address, then the host unless it is a part of it.
    text: ShortText<SHORT>,
    address_len: u32,
    host_at: u32,
    host_len: u32,
}

/// So many bytes are held in place; most addresses have fewer.
const SHORT: usize = 78;

impl LinkTarget {
    /// `host` is the politeness host, as `HostKey::as_str` gives it.
    pub fn new(address: &str, host: &str, key: UrlKey, verdict: Result<u8, Reason>) -> Self {
        let within = host_within(address, host);
        let apart = if within.is_some() { "" } else { host };
        Self {
            key,
            verdict: verdict.map_err(Box::new),
            text: ShortText::joined(address, apart),
            address_len: address.len() as u32,
            host_at: within.unwrap_or(address.len()) as u32,
            host_len: host.len() as u32,
        }
    }

    pub fn address(&self) -> &str {
        text(&self.text.as_bytes()[..self.address_len as usize])
    }

    /// In bytes.
    pub fn address_len(&self) -> usize {
        self.address_len as usize
    }

    /// Looks at all of it as quickly as can be, so that it is near the processor afterwards; the number
    /// means nothing.
    pub fn glance(&self) -> u64 {
        let verdict = u64::from(self.verdict.is_ok());
        self.key.url ^ verdict ^ u64::from(self.address_len) ^ self.text.glance()
    }

    pub fn host(&self) -> &str {
        let from = self.host_at as usize;
        text(&self.text.as_bytes()[from..from + self.host_len as usize])
    }
}

/// Where a politeness host stands in an address: mostly right after the scheme. It does not where a dot
/// that ends the name was dropped.
fn host_within(address: &str, host: &str) -> Option<usize> {
    let at = address.find("://")? + 3;
    address[at..].starts_with(host).then_some(at)
}

/// Put together of nothing but valid text.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: UrlKey = UrlKey { host: 0, url: 0 };

    #[test]
    fn addresses_of_any_length_come_back_as_they_were() {
        for length in [0, 1, SHORT - 7, SHORT - 6, SHORT, 300] {
            let address = "ä".repeat(length / 2) + &"x".repeat(length % 2);
            let target = LinkTarget::new(&address, "a.test", KEY, Ok(3)).clone();
            assert_eq!(
                (target.address(), target.host()),
                (address.as_str(), "a.test")
            );
        }
    }

    #[test]
    fn a_host_comes_back_whether_it_is_part_of_the_address_or_not() {
        for (address, host) in [
            ("http://a.test/x", "a.test"),
            ("https://a.test:8080/x?a.test", "a.test:8080"),
            ("https://a.test:443/", "a.test"),
            ("http://[::1]:81/", "[::1]:81"),
            ("http://a.test.:8080/", "a.test:8080"),
            ("http://user@a.test/", "a.test"),
            ("", "a.test"),
        ] {
            let target = LinkTarget::new(address, host, KEY, Ok(0));
            assert_eq!((target.address(), target.host()), (address, host));
        }
    }

    #[test]
    fn a_target_is_as_small_as_it_may_be() {
        assert_eq!(size_of::<LinkTarget>(), 128);
    }
}
