//! What a test web looks like: size, shape and speed. Pure data; it knows nothing of sockets.

use std::time::Duration;

/// How the hosts of the web are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostNaming {
    /// `site0.test`, `site1.test`, ... all on 127.0.0.1; the crawler needs a resolver that maps
    /// the names.
    #[default]
    Names,
    /// `127.1.0.1`, `127.1.0.2`, ...: one listening socket for each host, no resolver needed.
    /// Plain HTTP only.
    LoopbackAddresses,
}

/// The description from which a whole web follows.
#[derive(Debug, Clone)]
pub struct WebSpec {
    /// Everything pseudo-random follows from this number.
    pub seed: u64,
    /// Number of hosts; at least 1 and at most `pages`.
    pub hosts: u32,
    /// Pages over all hosts together; at least 1.
    pub pages: u32,
    /// Size of each page in bytes (larger only where its links alone need more).
    pub page_bytes: usize,
    /// Distinct link targets of a page. The links that make every page reachable come first, so
    /// very small numbers are exceeded.
    pub links_per_page: u32,
    /// Waited before each answer.
    pub latency: Duration,
    /// Share of the extra links that lead to another host.
    pub cross_host_share: f64,
    /// Hosts are named `site<n>.<suffix>`.
    pub host_suffix: String,
    /// A `Crawl-delay` in each site's robots.txt.
    pub crawl_delay: Option<f64>,
    /// Adds a link to a host outside this web to each page.
    pub external_links: bool,
    /// Spells some links with a fragment, a tracking parameter or an upper-case host.
    pub spelling_variants: bool,
    /// Pages carry `ETag` and `Last-Modified` and answer conditional requests.
    pub validators: bool,
    /// Text is marked up as densely as on real pages, instead of plain paragraphs.
    pub rich_markup: bool,
    /// How hosts are told apart.
    pub naming: HostNaming,
    /// Whether requests are logged.
    pub log_requests: bool,
    /// Port of the plain listener; 0 lets the system choose.
    pub port: u16,
    /// Port of the TLS listener; 0 lets the system choose.
    pub tls_port: u16,
}

impl Default for WebSpec {
    fn default() -> Self {
        Self {
            seed: 1,
            hosts: 1,
            pages: 100,
            page_bytes: 4096,
            links_per_page: 12,
            latency: Duration::ZERO,
            cross_host_share: 0.1,
            host_suffix: "test".to_owned(),
            crawl_delay: None,
            external_links: false,
            spelling_variants: true,
            validators: false,
            rich_markup: false,
            naming: HostNaming::Names,
            log_requests: true,
            port: 0,
            tls_port: 0,
        }
    }
}

impl WebSpec {
    /// One host with the given number of small pages.
    pub fn small_site(pages: u32) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }

    /// Many hosts that link to each other.
    pub fn many_hosts(hosts: u32, pages: u32) -> Self {
        Self {
            hosts,
            pages,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    #[must_use]
    pub fn with_page_bytes(mut self, bytes: usize) -> Self {
        self.page_bytes = bytes;
        self
    }

    #[must_use]
    pub fn with_links(mut self, links: u32) -> Self {
        self.links_per_page = links;
        self
    }

    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    #[must_use]
    pub fn with_crawl_delay(mut self, seconds: f64) -> Self {
        self.crawl_delay = Some(seconds);
        self
    }

    /// The same description with impossible numbers made possible.
    pub(crate) fn clamped(mut self) -> Self {
        self.pages = self.pages.max(1);
        self.hosts = self.hosts.clamp(1, self.pages);
        self.cross_host_share = self.cross_host_share.clamp(0.0, 1.0);
        self
    }

    /// The name of a host, without port.
    pub fn host_name(&self, host: u32) -> String {
        match self.naming {
            HostNaming::Names => format!("site{host}.{}", self.host_suffix),
            HostNaming::LoopbackAddresses => loopback_of(host).to_string(),
        }
    }

    /// The host meant by a `Host` header; anything unknown is host 0.
    pub(crate) fn host_of(&self, authority: &str) -> HostMatch {
        let name = authority
            .rsplit_once(':')
            .map_or(authority, |(name, _)| name);
        match self.naming {
            HostNaming::Names => self.host_by_name(name),
            HostNaming::LoopbackAddresses => self.host_by_address(name),
        }
    }

    fn host_by_name(&self, name: &str) -> HostMatch {
        let name = name.strip_suffix('.').unwrap_or(name);
        let number = name.split_once('.').and_then(|(label, suffix)| {
            let digits = label.get(..4).filter(|s| s.eq_ignore_ascii_case("site"))?;
            let number: u32 = label[digits.len()..].parse().ok()?;
            suffix
                .eq_ignore_ascii_case(&self.host_suffix)
                .then_some(number)
        });
        match number {
            Some(host) if host < self.hosts => HostMatch { host, named: true },
            _ => HostMatch {
                host: 0,
                named: false,
            },
        }
    }

    fn host_by_address(&self, name: &str) -> HostMatch {
        let number = name.parse::<std::net::Ipv4Addr>().ok().and_then(|address| {
            let [127, 1, high, low] = address.octets() else {
                return None;
            };
            (u32::from(high) * 250 + u32::from(low)).checked_sub(1)
        });
        match number {
            Some(host) if host < self.hosts => HostMatch { host, named: true },
            _ => HostMatch {
                host: 0,
                named: false,
            },
        }
    }
}

/// Which site a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostMatch {
    pub(crate) host: u32,
    /// False where the client asked by an address or a foreign name: absolute links to the same
    /// site must then keep that authority.
    pub(crate) named: bool,
}

/// The loopback address of a host, never ending in 0 or 255.
pub(crate) fn loopback_of(host: u32) -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(127, 1, (host / 250) as u8, (host % 250 + 1) as u8)
}

#[cfg(test)]
mod tests {
    use super::{HostMatch, HostNaming, WebSpec};

    #[test]
    fn host_headers_find_their_site_in_any_case_and_unknown_ones_find_host_0() {
        let spec = WebSpec::many_hosts(20, 40);
        let named = |host| HostMatch { host, named: true };
        let unknown = HostMatch {
            host: 0,
            named: false,
        };
        assert_eq!(spec.host_of("site7.test:8080"), named(7));
        assert_eq!(spec.host_of("SITE19.Test"), named(19));
        assert_eq!(spec.host_of("site20.test"), unknown);
        assert_eq!(spec.host_of("127.0.0.1:9"), unknown);
        assert_eq!(spec.host_of("é"), unknown);
        assert_eq!(spec.host_of(""), unknown);
    }

    #[test]
    fn loopback_addresses_are_distinct_and_found_again() {
        let spec = WebSpec {
            naming: HostNaming::LoopbackAddresses,
            ..WebSpec::many_hosts(1000, 1000)
        };
        for host in 0..1000 {
            let authority = format!("{}:80", spec.host_name(host));
            assert_eq!(spec.host_of(&authority), HostMatch { host, named: true });
        }
    }
}
