//! Servers that are slow, broken or hostile: each ends in its own name, within its time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::{future::pending, net::IpAddr, sync::Arc};

use support::{
    Server, answering, end_of, fetcher, get, listen, ok, read_request, spec, until_closed,
};
use tokio::{io::AsyncWriteExt, net::TcpStream};
use trawl_fetch::{Fetcher, Request, Resolve, ResolveError};
use trawl_types::{
    OutcomeKind,
    spec::{FetchSpec, Oversize},
};
use url::Url;

/// Reads a request, writes these bytes and then neither speaks nor hangs up.
async fn stalling_after(bytes: &'static [u8]) -> Server {
    listen(move |_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(bytes).await.unwrap();
        until_closed(&mut stream).await;
    })
    .await
}

/// Makes the kernel send a reset instead of an orderly end.
fn reset(stream: &TcpStream) {
    #[allow(
        deprecated,
        reason = "a linger of zero does not block, and is the point here"
    )]
    stream.set_linger(Some(std::time::Duration::ZERO)).unwrap();
}

async fn resetting_after(bytes: &'static [u8]) -> Server {
    listen(move |_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(bytes).await.unwrap();
        reset(&stream);
    })
    .await
}

#[tokio::test]
async fn a_server_that_says_nothing_runs_into_the_headers_timeout() {
    for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\nContent-"] {
        let server = stalling_after(bytes).await;
        let fetcher = fetcher(|spec| spec.headers_timeout_ms = 80);
        assert_eq!(
            end_of(&fetcher, server.url("/")).await,
            OutcomeKind::HeadersTimeout
        );
    }
}

#[tokio::test]
async fn the_headers_timeout_also_holds_on_a_kept_connection() {
    let server = listen(|_, mut stream| async move {
        read_request(&mut stream).await;
        stream.write_all(&ok("", b"x")).await.unwrap();
        until_closed(&mut stream).await;
    })
    .await;
    let fetcher = fetcher(|spec| spec.headers_timeout_ms = 80);
    get(&fetcher, server.url("/")).await.unwrap();
    assert_eq!(
        end_of(&fetcher, server.url("/")).await,
        OutcomeKind::HeadersTimeout
    );
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_body_that_falls_silent_runs_into_the_idle_timeout() {
    let server = stalling_after(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome").await;
    let fetcher = fetcher(|spec| spec.idle_timeout_ms = 80);
    let ended = get(&fetcher, server.url("/")).await.unwrap_err();
    assert_eq!(ended.outcome.kind, OutcomeKind::IdleTimeout);
    assert_eq!(ended.outcome.status, Some(200));
    assert_eq!(ended.head.unwrap().content_length, Some(100));
}

#[tokio::test]
async fn a_dripping_body_runs_into_the_total_timeout() {
    let server = listen(|_, mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
    let fetcher = fetcher(|spec| {
        spec.idle_timeout_ms = 5_000;
        spec.total_timeout_ms = 200;
    });
    assert_eq!(
        end_of(&fetcher, server.url("/")).await,
        OutcomeKind::TotalTimeout
    );
}

#[tokio::test]
async fn a_handshake_that_hangs_runs_into_the_connect_timeout() {
    let server = listen(|_, mut stream| async move { until_closed(&mut stream).await }).await;
    let fetcher = fetcher(|spec| spec.connect_timeout_ms = 80);
    let url = Url::parse(&format!("https://{}/", server.address)).unwrap();
    assert_eq!(end_of(&fetcher, url).await, OutcomeKind::ConnectTimeout);
}

#[tokio::test]
async fn a_name_server_that_hangs_runs_into_the_connect_timeout_and_a_name_that_is_not_fails() {
    struct Silent;
    #[async_trait::async_trait]
    impl Resolve for Silent {
        async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
            match name {
                "missing.example" => Err(ResolveError::NotFound),
                "empty.example" => Ok(Vec::new()),
                "troubled.example" => Err(ResolveError::Failed("no answer".into())),
                _ => pending().await,
            }
        }
    }
    let spec = FetchSpec {
        connect_timeout_ms: 80,
        ..spec()
    };
    let fetcher = Fetcher::with_resolver(&spec, Arc::new(Silent)).unwrap();
    for (url, kind) in [
        ("http://slow.example/", OutcomeKind::ConnectTimeout),
        ("http://missing.example/", OutcomeKind::DnsFailure),
        ("http://empty.example/", OutcomeKind::DnsFailure),
        ("http://troubled.example/", OutcomeKind::DnsUnavailable),
    ] {
        assert_eq!(end_of(&fetcher, Url::parse(url).unwrap()).await, kind);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_answer_was_reset() {
    let fetcher = fetcher(|_| ());
    let closing = listen(|_, mut stream| async move {
        read_request(&mut stream).await;
    })
    .await;
    for server in [
        closing,
        resetting_after(b"").await,
        resetting_after(b"HTTP/1.1 200 O").await,
    ] {
        assert_eq!(
            end_of(&fetcher, server.url("/")).await,
            OutcomeKind::ConnectionReset
        );
    }
}

#[tokio::test]
async fn a_connection_that_breaks_within_the_body_was_reset() {
    // The answer is read up to its end first, so that the reset cannot overtake it.
    let server = listen(|_, mut stream| async move {
        read_request(&mut stream).await;
        let start = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
        stream.write_all(start).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        reset(&stream);
    })
    .await;
    assert_eq!(
        end_of(&fetcher(|_| ()), server.url("/")).await,
        OutcomeKind::ConnectionReset
    );
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_a_length_mismatch() {
    let server =
        answering("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\nshort").await;
    assert_eq!(
        end_of(&fetcher(|_| ()), server.url("/")).await,
        OutcomeKind::LengthMismatch
    );
}

#[tokio::test]
async fn a_chunked_body_without_its_end_was_reset() {
    let answer =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n";
    let server = answering(answer).await;
    assert_eq!(
        end_of(&fetcher(|_| ()), server.url("/")).await,
        OutcomeKind::ConnectionReset
    );
}

#[tokio::test]
async fn what_is_not_http_is_a_protocol_error() {
    let headers = "X: y\r\n".repeat(200);
    let many = format!("HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n");
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(100_000));
    for garbage in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
        &many,
        &long,
    ] {
        let server = answering(garbage).await;
        let end = get(&fetcher(|_| ()), server.url("/")).await;
        let kind = end.map(|_| ()).map_err(|ended| ended.outcome.kind);
        let start: String = garbage.chars().take(60).collect();
        assert_eq!(kind, Err(OutcomeKind::ProtocolError), "{start:?}");
    }
}

#[tokio::test]
async fn headers_that_browsers_put_up_with_are_put_up_with() {
    let odd =
        "HTTP/1.1 200\r\nContent-Type : text/html\r\nbad header\r\nContent-Length: 2\r\n\r\nok";
    let (head, body) = get(&fetcher(|_| ()), answering(odd).await.url("/"))
        .await
        .unwrap();
    assert_eq!(head.content_type.as_deref(), Some("text/html"));
    assert_eq!(body.bytes, b"ok"[..]);
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit_and_the_connection_dropped() {
    let (closed, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let server = listen(move |_, mut stream| {
        let closed = closed.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
            closed.send(()).unwrap();
        }
    })
    .await;
    let fetcher = fetcher(|spec| spec.max_body_bytes = 100_000);
    let (_, body) = get(&fetcher, server.url("/")).await.unwrap();
    assert_eq!((body.bytes.len(), body.truncated), (100_000, true));
    seen.recv().await.unwrap();
}

#[tokio::test]
async fn a_body_above_the_limit_is_refused_where_the_spec_says_so() {
    let refusing = |limit: u64| {
        fetcher(|spec| {
            spec.max_body_bytes = limit;
            spec.oversize = Oversize::Refuse;
        })
    };
    // Announced and never sent: nothing of it may be waited for.
    let announced = stalling_after(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n").await;
    let unannounced = answering(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(5000))).await;
    for server in [announced, unannounced] {
        assert_eq!(
            end_of(&refusing(4999), server.url("/")).await,
            OutcomeKind::BodyTooLarge
        );
    }
    let (_, body) = get(
        &refusing(5000),
        answering(ok("", &[b'x'; 5000])).await.url("/"),
    )
    .await
    .unwrap();
    assert_eq!(body.bytes.len(), 5000);
}

#[tokio::test]
async fn a_limit_of_the_request_itself_cuts_whatever_the_spec_says() {
    let server = answering(ok("", &[b'x'; 5000])).await;
    let request = Request {
        max_body: Some(1000),
        ..Request::get(server.url("/robots.txt"))
    };
    let fetcher = fetcher(|spec| spec.oversize = Oversize::Refuse);
    let body = fetcher.start(request).await.unwrap().body().await.unwrap();
    assert_eq!((body.bytes.len(), body.truncated), (1000, true));
}

#[tokio::test]
async fn compressed_bodies_are_decoded_and_bombs_are_named() {
    let page = b"<p>hello".repeat(1000);
    let small = zstd::encode_all(&page[..], 3).unwrap();
    let server = answering(ok("Content-Encoding: zstd\r\n", &small)).await;
    let (head, body) = get(&fetcher(|_| ()), server.url("/")).await.unwrap();
    assert_eq!(head.content_encoding.as_deref(), Some("zstd"));
    assert_eq!(body.bytes, page);
    assert_eq!(body.wire_bytes, small.len() as u64);

    let bomb = zstd::encode_all(&vec![0; 64 << 20][..], 3).unwrap();
    let server = answering(ok("Content-Encoding: zstd\r\n", &bomb)).await;
    assert_eq!(
        end_of(&fetcher(|_| ()), server.url("/")).await,
        OutcomeKind::DecompressionBomb
    );
    let server = answering(ok("Content-Encoding: rot13\r\n", b"uryyb")).await;
    assert_eq!(
        end_of(&fetcher(|_| ()), server.url("/")).await,
        OutcomeKind::BadEncoding
    );
}
