//! The other end: its address, whether the way to it is encrypted, and whether a request comes from
//! a page of this server or from another site. What a proxy says counts only if it is trusted.

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, Uri, header};
use ipnet::IpNet;

use super::throttle::neighbourhood;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) tls: bool,
}

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    pub(crate) secure: bool,
    /// The name under which this server was asked, as far as it can be known.
    host: Option<String>,
}

impl Client {
    pub(crate) fn of(peer: Peer, uri: &Uri, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST.as_str())
            .map(str::to_owned)
            .or_else(|| uri.authority().map(ToString::to_string));
        let is_trusted = |address: IpAddr| {
            let address = address.to_canonical();
            trusted.iter().any(|network| network.contains(&address))
        };
        if !is_trusted(peer.address) {
            return Self {
                address: peer.address,
                secure: peer.tls,
                host,
            };
        }
        // Each proxy adds whom it was asked by at the end: the last that is no proxy of ours.
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        let hops = lines
            .flat_map(|line| line.to_str().unwrap_or("?").rsplit(','))
            .map_while(|hop| hop.trim().parse::<IpAddr>().ok());
        let mut address = peer.address;
        for hop in hops {
            address = hop;
            if !is_trusted(hop) {
                break;
            }
        }
        let proto = text("x-forwarded-proto").and_then(|text| text.rsplit(',').next());
        let named = text("x-forwarded-host").and_then(|text| text.rsplit(',').next());
        Self {
            address,
            secure: peer.tls || proto.is_some_and(|p| p.trim().eq_ignore_ascii_case("https")),
            host: named.map(|name| name.trim().to_owned()).or(host),
        }
    }

    /// Under what requests without a key are counted.
    pub(crate) fn neighbourhood(&self) -> IpAddr {
        neighbourhood(self.address)
    }

    /// Whose page sent a request, by what no page can forge: `Sec-Fetch-Site`, which browsers send
    /// over TLS and on loopback, or else `Origin`, held against the name this server was asked by.
    pub(crate) fn sender(&self, headers: &HeaderMap) -> Sender {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        match text("sec-fetch-site") {
            // `none` is a person who typed an address: no page.
            Some("same-origin" | "none") => return Sender::OwnPage,
            Some(_) => return Sender::OtherPage,
            None => {}
        }
        let Some(origin) = text("origin") else {
            return Sender::Unknown;
        };
        let scheme = if self.secure { "https" } else { "http" };
        let own = self.host.as_ref().map(|host| format!("{scheme}://{host}"));
        if own.is_some_and(|own| own.eq_ignore_ascii_case(origin)) {
            Sender::OwnPage
        } else {
            Sender::OtherPage
        }
    }
}

/// Who made a browser send a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    OwnPage,
    OtherPage,
    /// No browser, or a very old one.
    Unknown,
}

/// Whether a request may change something, or opens a connection that answers to its page.
pub(crate) fn acts(method: &Method, headers: &HeaderMap) -> bool {
    let looks = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    !looks || headers.contains_key(header::UPGRADE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn client(address: &str, trusted: &[&str], lines: &[(&'static str, &str)]) -> Client {
        let peer = Peer {
            address: address.parse().unwrap(),
            tls: false,
        };
        let trusted: Vec<IpNet> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        Client::of(peer, &Uri::from_static("/"), &headers(lines), &trusted)
    }

    const FORWARDED: [(&str, &str); 3] = [
        ("x-forwarded-for", "6.6.6.6, 192.0.2.7, 10.0.0.2"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "trawl.example"),
    ];

    #[test]
    fn what_a_proxy_says_counts_only_if_it_is_trusted() {
        let lied_to = client("192.0.2.1", &["10.0.0.0/8"], &FORWARDED);
        assert_eq!(lied_to.address.to_string(), "192.0.2.1");
        assert!(!lied_to.secure);
        let told = client("10.0.0.1", &["10.0.0.0/8"], &FORWARDED);
        assert_eq!(
            told.address.to_string(),
            "192.0.2.7",
            "6.6.6.6 may be made up"
        );
        assert!(told.secure);
        assert_eq!(told.host.as_deref(), Some("trawl.example"));
    }

    #[test]
    fn a_chain_that_cannot_be_read_is_followed_no_further() {
        let lines = [("x-forwarded-for", "192.0.2.7, nonsense")];
        let told = client("10.0.0.1", &["10.0.0.0/8"], &lines);
        assert_eq!(told.address.to_string(), "10.0.0.1");
    }

    #[test]
    fn a_request_of_another_site_is_known_by_what_pages_cannot_forge() {
        for (lines, sender) in [
            (vec![], Sender::Unknown),
            (vec![("sec-fetch-site", "same-origin")], Sender::OwnPage),
            (vec![("sec-fetch-site", "same-site")], Sender::OtherPage),
            (vec![("sec-fetch-site", "cross-site")], Sender::OtherPage),
            (vec![("origin", "http://a.test:8080")], Sender::OwnPage),
            (vec![("origin", "https://a.test:8080")], Sender::OtherPage),
            (vec![("origin", "http://a.test")], Sender::OtherPage),
            (vec![("origin", "null")], Sender::OtherPage),
            (
                vec![
                    ("origin", "http://a.test:8080"),
                    ("sec-fetch-site", "cross-site"),
                ],
                Sender::OtherPage,
            ),
        ] {
            let mut lines = lines;
            lines.push(("host", "a.test:8080"));
            let client = client("127.0.0.1", &[], &lines);
            assert_eq!(client.sender(&headers(&lines)), sender, "{lines:?}");
        }
    }

    #[test]
    fn a_websocket_acts_although_it_is_asked_for_by_get() {
        assert!(!acts(&Method::GET, &headers(&[])));
        assert!(acts(&Method::GET, &headers(&[("upgrade", "websocket")])));
        assert!(acts(&Method::DELETE, &headers(&[])));
    }
}
