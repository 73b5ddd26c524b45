//! HTTP/2 by prior knowledge and by ALPN, TLS with the web's own authority, keep-alive.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use trawl_testweb::{Behaviour, TestWeb, WebSpec, WireFault};

async fn fetch_h2<S>(stream: S, uri: &str) -> hyper::Result<(Version, String)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get(uri).body(Empty::<Bytes>::new()).unwrap();
    let response = sender.send_request(request).await?;
    let version = response.version();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((version, String::from_utf8_lossy(&body).into_owned()))
}

async fn handshake(
    addr: SocketAddr,
    ca_pem: &str,
    name: &str,
    alpn: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[tokio::test]
async fn plain_http2_is_spoken_to_those_who_begin_it() {
    let web = TestWeb::start(WebSpec::many_hosts(2, 10)).await.unwrap();
    let stream = TcpStream::connect(web.addr()).await.unwrap();
    let (version, body) = fetch_h2(stream, &web.url(1, "/")).await.unwrap();
    assert_eq!(version, Version::HTTP_2);
    assert!(body.contains("Page 0 of site 1:"));
    assert_eq!(web.log().entries()[0].version, "HTTP/2.0");
}

#[tokio::test]
async fn tls_offers_http2_for_any_name_and_the_links_are_https() {
    let web = TestWeb::start(WebSpec::many_hosts(3, 300)).await.unwrap();
    let stream = handshake(
        web.tls_addr(),
        web.ca_pem(),
        "site2.test",
        &["h2", "http/1.1"],
    )
    .await
    .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (_, body) = fetch_h2(stream, &web.tls_url(2, "/")).await.unwrap();
    assert!(body.contains("Page 0 of site 2:"));
    assert!(
        !body.to_ascii_lowercase().contains("http://"),
        "plain links on a TLS page"
    );
    assert!(web.log().entries()[0].tls);
}

#[tokio::test]
async fn tls_serves_http1_and_addresses_too() {
    let web = TestWeb::start(WebSpec::small_site(10)).await.unwrap();
    let stream = handshake(web.tls_addr(), web.ca_pem(), "127.0.0.1", &["http/1.1"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    // Several requests on one connection: it is kept alive.
    for path in ["/", "/p/1", "/p/2"] {
        let request = Request::get(path)
            .header("host", "127.0.0.1")
            .body(Empty::<Bytes>::new());
        let response = sender.send_request(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        response.into_body().collect().await.unwrap();
        sender.ready().await.unwrap();
    }
    let peers: Vec<_> = web.log().entries().iter().map(|entry| entry.peer).collect();
    assert!(peers.iter().all(|peer| *peer == peers[0]));
}

#[tokio::test]
async fn certificates_that_nobody_may_trust_are_to_be_had() {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    for name in ["expired.test", "wrongname.test", "selfsigned.test"] {
        assert!(
            handshake(web.tls_addr(), web.ca_pem(), name, &["h2"])
                .await
                .is_err(),
            "{name}"
        );
    }
    assert!(
        handshake(web.tls_addr(), web.ca_pem(), "honest.test", &["h2"])
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn wire_faults_break_http2_connections_too() {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    web.on(
        "*",
        "/fault",
        Behaviour::Fault(WireFault::ResetBeforeHeaders),
    );
    let stream = TcpStream::connect(web.addr()).await.unwrap();
    assert!(fetch_h2(stream, &web.url(0, "/fault")).await.is_err());
}
