//! TLS and HTTP/2 against a web with a certificate authority of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{fetcher, get};
use trawl_fetch::Fetcher;
use trawl_testweb::{TestWeb, WebSpec};
use trawl_types::{OutcomeKind, spec::FetchSpec};
use url::Url;

async fn web() -> TestWeb {
    TestWeb::start(WebSpec::default()).await.unwrap()
}

/// Trusts the web's authority and finds every name of it at its TLS port.
fn trusting(web: &TestWeb, change: impl FnOnce(&mut FetchSpec)) -> Fetcher {
    fetcher(|spec| {
        spec.extra_roots = vec![web.ca_pem().to_owned()];
        spec.resolve = vec![format!("*.test={}", web.tls_addr())];
        change(spec);
    })
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[tokio::test]
async fn a_site_of_a_trusted_authority_is_fetched_over_http_2_where_it_is_wanted() {
    let web = web().await;
    for (http2, version) in [(true, "HTTP/2"), (false, "HTTP/1.1")] {
        let fetcher = trusting(&web, |spec| spec.http2 = http2);
        let (head, body) = get(&fetcher, url("https://site0.test/")).await.unwrap();
        assert_eq!((head.status, head.version), (200, version));
        assert!(!body.bytes.is_empty());
    }
}

#[tokio::test]
async fn many_requests_at_once_share_an_http_2_host() {
    let web = web().await;
    let fetcher = trusting(&web, |_| ());
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let fetcher = fetcher.clone();
            tokio::spawn(async move {
                let (head, _) = get(&fetcher, url("https://site0.test/")).await.unwrap();
                head.status
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn certificates_that_no_browser_would_accept_are_refused_with_a_reason() {
    let web = web().await;
    let fetcher = trusting(&web, |_| ());
    for (host, reason) in [
        ("expired.test", "certificate has expired"),
        ("wrongname.test", "certificate not valid for name"),
        ("selfsigned.test", "unknown issuer"),
    ] {
        let ended = get(&fetcher, url(&format!("https://{host}/")))
            .await
            .unwrap_err();
        assert_eq!(ended.outcome.kind, OutcomeKind::TlsFailure, "{host}");
        let detail = ended.outcome.detail;
        assert!(detail.contains(reason) && detail.contains(host), "{detail}");
        assert!(!detail.contains("127.0.0.1"), "{detail}");
    }
}

#[tokio::test]
async fn an_authority_that_nobody_named_is_not_trusted() {
    let web = web().await;
    let fetcher = trusting(&web, |spec| spec.extra_roots.clear());
    let ended = get(&fetcher, url("https://site0.test/")).await.unwrap_err();
    assert_eq!(ended.outcome.kind, OutcomeKind::TlsFailure);
}

#[tokio::test]
async fn a_port_that_speaks_no_tls_is_a_tls_failure() {
    let web = web().await;
    let fetcher = trusting(&web, |spec| {
        spec.resolve = vec![format!("*.test={}", web.addr())];
    });
    let ended = get(&fetcher, url("https://site0.test/")).await.unwrap_err();
    assert_eq!(ended.outcome.kind, OutcomeKind::TlsFailure);
}

#[tokio::test]
async fn a_trailing_dot_does_not_spoil_the_certificate() {
    let web = web().await;
    let (head, _) = get(&trusting(&web, |_| ()), url("https://site0.test./"))
        .await
        .unwrap();
    assert_ne!(head.status, 0);
}
