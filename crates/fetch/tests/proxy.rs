//! HTTP and SOCKS5 proxies, with credentials, behind the same guard.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::net::{Ipv4Addr, SocketAddr};

use support::{Server, answering, fetcher, get, listen, ok, read_request};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::TcpStream,
};
use trawl_fetch::Fetcher;
use trawl_testweb::{TestWeb, WebSpec};
use trawl_types::{OutcomeKind, spec::FetchSpec};
use url::Url;

/// `me:hush hush`
const BASIC: &str = "proxy-authorization: Basic bWU6aHVzaCBodXNo\r\n";

/// Opens tunnels to `site` wherever it is asked to go, and answers plain requests itself.
async fn http_proxy(site: SocketAddr) -> Server {
    listen(move |server, mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            server.note(&request);
            if !request.to_lowercase().contains(&BASIC.to_lowercase()) {
                let refusal = "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(refusal.as_bytes()).await.unwrap();
            } else if request.starts_with("CONNECT ") {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let mut onward = TcpStream::connect(site).await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut onward).await;
                return;
            } else {
                stream.write_all(&ok("", b"by proxy")).await.unwrap();
            }
        }
    })
    .await
}

/// A SOCKS5 proxy for `me` with `hush hush`. Notes where it is asked to go and goes to `site`.
async fn socks_proxy(site: SocketAddr) -> Server {
    listen(move |server, mut stream| async move {
        if let Some(asked) = socks_handshake(&mut stream).await {
            server.note(&asked);
            let answer = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
            stream.write_all(&answer).await.unwrap();
            let mut onward = TcpStream::connect(site).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut onward).await;
        }
    })
    .await
}

async fn socks_handshake(stream: &mut TcpStream) -> Option<String> {
    let mut start = [0; 2];
    stream.read_exact(&mut start).await.ok()?;
    let mut methods = vec![0; usize::from(start[1])];
    stream.read_exact(&mut methods).await.ok()?;
    if !methods.contains(&2) {
        stream.write_all(&[5, 0xff]).await.ok()?;
        return None;
    }
    stream.write_all(&[5, 2]).await.ok()?;
    stream.read_u8().await.ok()?;
    let mut pair = Vec::new();
    for _ in 0..2 {
        let length = stream.read_u8().await.ok()?;
        let mut text = vec![0; usize::from(length)];
        stream.read_exact(&mut text).await.ok()?;
        pair.push(String::from_utf8(text).unwrap());
    }
    let right = pair == ["me", "hush hush"];
    stream.write_all(&[1, u8::from(!right)]).await.ok()?;
    if !right {
        return None;
    }
    let mut request = [0; 4];
    stream.read_exact(&mut request).await.ok()?;
    let host = if request[3] == 3 {
        let length = stream.read_u8().await.ok()?;
        let mut name = vec![0; usize::from(length)];
        stream.read_exact(&mut name).await.ok()?;
        String::from_utf8(name).unwrap()
    } else {
        let mut octets = [0; 4];
        stream.read_exact(&mut octets).await.ok()?;
        Ipv4Addr::from(octets).to_string()
    };
    let port = stream.read_u16().await.ok()?;
    Some(format!("{host}:{port}"))
}

fn through(proxy: &Server, scheme: &str, change: impl FnOnce(&mut FetchSpec)) -> Fetcher {
    fetcher(|spec| {
        spec.proxy = Some(format!("{scheme}://me:hush%20hush@{}", proxy.address));
        change(spec);
    })
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[tokio::test]
async fn an_http_proxy_is_asked_for_plain_pages_in_full() {
    let proxy = http_proxy(SocketAddr::from(([127, 0, 0, 1], 1))).await;
    let fetcher = through(&proxy, "http", |_| ());
    let (_, body) = get(&fetcher, url("http://example.org/a?b")).await.unwrap();
    assert_eq!(body.bytes, b"by proxy"[..]);
    let request = &proxy.requests()[0];
    assert!(request.starts_with("GET http://example.org/a?b HTTP/1.1\r\n"));
    assert!(request.contains(BASIC), "{request}");
    assert!(request.contains("host: example.org\r\n"), "{request}");
}

#[tokio::test]
async fn an_http_proxy_opens_a_tunnel_for_tls_and_the_site_sees_no_credentials() {
    let web = TestWeb::start(WebSpec::default()).await.unwrap();
    let proxy = http_proxy(web.tls_addr()).await;
    let fetcher = through(&proxy, "http", |spec| {
        spec.extra_roots = vec![web.ca_pem().to_owned()];
    });
    let (head, _) = get(&fetcher, url("https://site0.test/")).await.unwrap();
    assert_eq!((head.status, head.version), (200, "HTTP/2"));
    assert!(proxy.requests()[0].starts_with("CONNECT site0.test:443 HTTP/1.1\r\n"));
    for request in web.log().entries() {
        assert!(!format!("{request:?}").contains("bWU6"), "{request:?}");
    }
}

#[tokio::test]
async fn wrong_credentials_are_a_proxy_failure_that_does_not_repeat_them() {
    let proxy = http_proxy(SocketAddr::from(([127, 0, 0, 1], 1))).await;
    for scheme in ["http", "https"] {
        let fetcher = fetcher(|spec| {
            spec.proxy = Some(format!("http://me:wrong-hush@{}", proxy.address));
        });
        let url = url(&format!("{scheme}://example.org/"));
        let ended = get(&fetcher, url).await.unwrap_err();
        assert_eq!(ended.outcome.kind, OutcomeKind::ProxyFailure, "{scheme}");
        assert!(!format!("{ended:?} {fetcher:?}").contains("hush"));
    }
    let socks = socks_proxy(SocketAddr::from(([127, 0, 0, 1], 1))).await;
    let fetcher = fetcher(|spec| {
        spec.proxy = Some(format!("socks5h://me:wrong-hush@{}", socks.address));
    });
    let ended = get(&fetcher, url("http://example.org/")).await.unwrap_err();
    assert_eq!(ended.outcome.kind, OutcomeKind::ProxyFailure);
}

#[tokio::test]
async fn socks5_gets_a_checked_address_and_socks5h_the_name() {
    let site = answering(ok("", b"by socks")).await;
    let proxy = socks_proxy(site.address).await;
    let local = through(&proxy, "socks5", |spec| {
        spec.resolve = vec!["a.test=127.0.0.9".into()];
    });
    let remote = through(&proxy, "socks5h", |_| ());
    for (fetcher, asked) in [(local, "127.0.0.9:80"), (remote, "a.test:80")] {
        let (_, body) = get(&fetcher, url("http://a.test/")).await.unwrap();
        assert_eq!(body.bytes, b"by socks"[..]);
        assert_eq!(proxy.requests().last().unwrap(), asked);
    }
    assert!(site.requests()[0].starts_with("GET / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_proxy_does_not_open_the_guard() {
    let site = answering(ok("", b"secret")).await;
    let http = http_proxy(site.address).await;
    let socks = socks_proxy(site.address).await;
    for (proxy, scheme) in [(&http, "http"), (&socks, "socks5"), (&socks, "socks5h")] {
        let fetcher = through(proxy, scheme, |spec| {
            spec.allow_networks.clear();
            spec.resolve = vec!["inside.example=10.0.0.1".into()];
        });
        for target in [
            "http://127.0.0.1/",
            "https://10.0.0.1/",
            "http://[::ffff:10.0.0.1]/",
            "http://2130706433/",
            "http://localhost/",
            "http://inside.example/",
            "https://inside.example/",
        ] {
            let ended = get(&fetcher, url(target)).await.unwrap_err();
            let kind = ended.outcome.kind;
            assert_eq!(kind, OutcomeKind::AddressRefused, "{scheme} {target}");
        }
    }
    assert_eq!((http.connections(), socks.connections()), (0, 0));
}

#[tokio::test]
async fn no_url_reaches_the_proxy_as_a_site() {
    let proxy = http_proxy(SocketAddr::from(([127, 0, 0, 1], 1))).await;
    for scheme in ["http", "socks5", "socks5h"] {
        let fetcher = through(&proxy, scheme, |spec| {
            spec.resolve = vec!["a.test=127.0.0.1".into()];
        });
        for host in ["127.0.0.1", "a.test"] {
            let target = format!("http://{host}:{}/", proxy.port());
            let ended = get(&fetcher, url(&target)).await.unwrap_err();
            let kind = ended.outcome.kind;
            assert_eq!(kind, OutcomeKind::AddressRefused, "{scheme} {host}");
        }
    }
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_a_proxy_failure() {
    let gone = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    for scheme in ["http", "socks5h"] {
        let fetcher = fetcher(|spec| spec.proxy = Some(format!("{scheme}://{gone}")));
        let ended = get(&fetcher, url("http://example.org/")).await.unwrap_err();
        assert_eq!(ended.outcome.kind, OutcomeKind::ProxyFailure);
    }
}
