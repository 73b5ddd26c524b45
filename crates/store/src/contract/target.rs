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
    /// The address, then the host.
    text: ShortText<SHORT>,
    address_len: u32,
}

/// So many bytes of address and host together are held in place; most links have fewer.
const SHORT: usize = 87;

impl LinkTarget {
    /// `host` is the politeness host, as `HostKey::as_str` gives it.
    pub fn new(address: &str, host: &str, key: UrlKey, verdict: Result<u8, Reason>) -> Self {
        Self {
            key,
            verdict: verdict.map_err(Box::new),
            text: ShortText::joined(address, host),
            address_len: address.len() as u32,
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
        text(&self.text.as_bytes()[self.address_len as usize..])
    }
}

/// Put together of nothing but valid text.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_any_length_come_back_as_they_were() {
        let key = UrlKey { host: 0, url: 0 };
        for length in [0, 1, SHORT - 7, SHORT - 6, SHORT, 300] {
            let address = "ä".repeat(length / 2) + &"x".repeat(length % 2);
            let target = LinkTarget::new(&address, "a.test", key, Ok(3)).clone();
            assert_eq!(
                (target.address(), target.host()),
                (address.as_str(), "a.test")
            );
        }
    }
}
