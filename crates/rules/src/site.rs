//! The registrable domain of a host, by the public suffix list compiled into the program.

use std::net::Ipv4Addr;

use trawl_types::SiteKey;

/// `blog.example.co.uk` belongs to `example.co.uk`. Addresses, single labels and public suffixes
/// are sites of their own. `host` is a host name without a port, in lower case.
pub fn site_of(host: &str) -> SiteKey {
    SiteKey(registrable(host).to_owned())
}

pub(crate) fn registrable(host: &str) -> &str {
    let host = host.strip_suffix('.').unwrap_or(host);
    if is_address(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

fn is_address(host: &str) -> bool {
    host.starts_with('[')
        || host.ends_with(|c: char| c.is_ascii_digit()) && host.parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_the_registrable_domain() {
        for (host, site) in [
            ("example.org", "example.org"),
            ("www.example.org", "example.org"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("example.org.", "example.org"),
            ("me.github.io", "me.github.io"),
            ("x.me.github.io", "me.github.io"),
            ("github.io", "github.io"),
            ("co.uk", "co.uk"),
            ("a.site.test", "site.test"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("", ""),
        ] {
            assert_eq!(site_of(host).0, site, "{host}");
        }
    }
}
