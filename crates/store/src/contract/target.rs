//! Where a link leads. Links are by far the most numerous values of a crawl and go from thread to
//! thread, so each is small, in one piece, and shares nothing: a count of references that several
//! cores change costs more than a copy.

use trawl_types::{Reason, UrlKey};

/// Where a link leads and what the rules say of it.
#[derive(Debug, Clone)]
pub struct LinkTarget {
    pub key: UrlKey,
    /// The score for ranking, or why the URL is refused. Depth is judged by the store, which
    /// alone knows the shortest path.
    pub verdict: Result<u8, Box<Reason>>,
    /// The address, then the host.
    text: Box<str>,
    address_len: u32,
}

impl LinkTarget {
    /// `host` is the politeness host, as `HostKey::as_str` gives it.
    pub fn new(address: &str, host: &str, key: UrlKey, verdict: Result<u8, Reason>) -> Self {
        let mut text = String::with_capacity(address.len() + host.len());
        text.push_str(address);
        text.push_str(host);
        Self {
            key,
            verdict: verdict.map_err(Box::new),
            text: text.into_boxed_str(),
            address_len: address.len() as u32,
        }
    }

    pub fn address(&self) -> &str {
        &self.text[..self.address_len as usize]
    }

    pub fn host(&self) -> &str {
        &self.text[self.address_len as usize..]
    }
}
