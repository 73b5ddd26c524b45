//! No spelling and no answer of a name server leads to an address that must not be contacted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use support::{Server, answering, get, ok};
use trawl_fetch::{Fetcher, Request, Resolve, ResolveError};
use trawl_types::{OutcomeKind, spec::FetchSpec};
use url::Url;

/// Allows no network, but the port, so that only the address can be the reason.
fn closed(server: &Server) -> FetchSpec {
    FetchSpec {
        allow_ports: vec![server.port()],
        ..FetchSpec::default()
    }
}

async fn refusal(fetcher: &Fetcher, url: &str) -> trawl_types::Outcome {
    let url = Url::parse(url).unwrap();
    get(fetcher, url).await.unwrap_err().outcome
}

#[tokio::test]
async fn loopback_is_refused_however_it_is_spelt() {
    let server = answering(ok("", b"secret")).await;
    let fetcher = Fetcher::new(&closed(&server)).unwrap();
    let port = server.port();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.0.1.",
        "127.255.255.254",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0177.0.0.01",
        "0",
        "0.0.0.0",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
    ] {
        let outcome = refusal(&fetcher, &format!("http://{host}:{port}/")).await;
        assert_eq!(outcome.kind, OutcomeKind::AddressRefused, "{host}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_given_by_the_operator_is_guarded_and_its_address_not_told() {
    let server = answering(ok("", b"secret")).await;
    let spec = FetchSpec {
        resolve: vec![
            "inside.example=127.0.0.1".into(),
            format!("*.inside.example=127.0.0.1:{}", server.port()),
        ],
        ..closed(&server)
    };
    let fetcher = Fetcher::new(&spec).unwrap();
    for url in [
        format!("http://inside.example:{}/", server.port()),
        "http://x.inside.example/".to_owned(),
    ] {
        let outcome = refusal(&fetcher, &url).await;
        assert_eq!(outcome.kind, OutcomeKind::AddressRefused);
        assert!(outcome.detail.contains("inside.example"), "{outcome:?}");
        assert!(!outcome.detail.contains("127."), "{outcome:?}");
    }
    assert_eq!(server.connections(), 0);
}

/// Answers with an address that may be contacted and one that may not, in turn.
struct Rebinding {
    asked: AtomicUsize,
    together: bool,
}

const ALLOWED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const FORBIDDEN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

#[async_trait::async_trait]
impl Resolve for Rebinding {
    async fn resolve(&self, _: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(match asked % 2 {
            _ if self.together => vec![FORBIDDEN, ALLOWED, FORBIDDEN],
            0 => vec![ALLOWED],
            _ => vec![FORBIDDEN],
        })
    }
}

#[tokio::test]
async fn a_name_that_changes_its_address_reaches_nothing_in_a_thousand_tries() {
    let server = answering(ok("", b"secret")).await;
    for together in [false, true] {
        let resolver = Arc::new(Rebinding {
            asked: AtomicUsize::new(0),
            together,
        });
        let spec = FetchSpec {
            allow_networks: vec![format!("{ALLOWED}/32")],
            ..FetchSpec::default()
        };
        let fetcher = Fetcher::with_resolver(&spec, resolver.clone()).unwrap();
        for n in 0..1000 {
            let url = format!("http://rebind.example:{}/", server.port());
            let kind = refusal(&fetcher, &url).await.kind;
            let dialled = together || n % 2 == 0;
            let expected = if dialled {
                OutcomeKind::ConnectRefused
            } else {
                OutcomeKind::AddressRefused
            };
            assert_eq!(kind, expected, "try {n}");
        }
        assert_eq!(resolver.asked.load(Ordering::SeqCst), 1000);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn ports_schemes_and_user_names_are_refused_before_anything_is_looked_up() {
    struct Never;
    #[async_trait::async_trait]
    impl Resolve for Never {
        async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
            panic!("{name} was looked up");
        }
    }
    let fetcher = Fetcher::with_resolver(&FetchSpec::default(), Arc::new(Never)).unwrap();
    for url in [
        "http://example.org:22/",
        "http://example.org:6379/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://user@example.org/",
        "http://user:hush@example.org/",
        "http://169.254.169.254/latest/meta-data/",
        "http://metadata.google.internal/",
    ] {
        let outcome = refusal(&fetcher, url).await;
        assert_eq!(outcome.kind, OutcomeKind::AddressRefused, "{url}");
        assert!(!outcome.detail.contains("hush"));
    }
}

#[tokio::test]
async fn an_allowed_network_may_be_contacted() {
    let server = answering(ok("", b"page")).await;
    let fetcher = support::fetcher(|spec| {
        spec.resolve = vec![format!("*.test=127.0.0.1:{}", server.port())];
    });
    let url = Url::parse("http://a.test/").unwrap();
    let answer = fetcher.start(Request::get(url)).await.unwrap();
    assert_eq!(answer.body().await.unwrap().bytes, b"page"[..]);
    assert!(server.requests()[0].contains("host: a.test\r\n"));
}

#[test]
fn a_spec_that_cannot_be_used_names_its_field() {
    let with = |change: fn(&mut FetchSpec, String), text: &str| {
        let mut spec = FetchSpec::default();
        change(&mut spec, text.to_owned());
        spec
    };
    let proxy = |text| with(|spec, text| spec.proxy = Some(text), text);
    let header = |name: &str, value: &str| FetchSpec {
        headers: vec![(name.into(), value.into())],
        ..FetchSpec::default()
    };
    let broken = [
        (
            "fetch.allow_networks",
            with(|spec, text| spec.allow_networks.push(text), "everything"),
        ),
        (
            "fetch.resolve",
            with(|spec, text| spec.resolve.push(text), "a.test"),
        ),
        (
            "fetch.extra_roots[0]",
            with(|spec, text| spec.extra_roots.push(text), "hush"),
        ),
        ("fetch.proxy", proxy("ftp://me:hush@p.test")),
        ("fetch.proxy", proxy("me:hush@p.test")),
        ("fetch.headers.Host", header("Host", "hush")),
        ("fetch.headers.X-Key", header("X-Key", "hush\r\nX: y")),
    ];
    for (field, spec) in broken {
        let error = Fetcher::new(&spec).unwrap_err();
        assert_eq!(error.field, field);
        assert!(!error.to_string().contains("hush"), "{error}");
    }
}
