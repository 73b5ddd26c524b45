//! Plain fetches: what is sent, what comes back, and connections that are kept.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use support::{answering, end_of, fetcher, get, listen, ok, read_request, until_closed};
use tokio::io::AsyncWriteExt;
use trawl_fetch::{Accept, Method, Request};
use trawl_types::OutcomeKind;

#[tokio::test]
async fn a_page_comes_back_with_its_head() {
    let server = answering(ok(
        "Content-Type: text/html\r\nETag: \"1\"\r\nX-Robots-Tag: noindex\r\n",
        b"<p>hello",
    ))
    .await;
    let (head, body) = get(&fetcher(|_| ()), server.url("/a?b=1#c")).await.unwrap();
    assert_eq!((head.status, head.version), (200, "HTTP/1.1"));
    assert_eq!(head.content_type.as_deref(), Some("text/html"));
    assert_eq!(head.content_length, Some(8));
    assert_eq!(head.etag.as_deref(), Some("\"1\""));
    assert_eq!(head.robots_tags, ["noindex"]);
    assert_eq!(body.bytes, b"<p>hello"[..]);
    assert_eq!((body.truncated, body.wire_bytes), (false, 8));
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /a?b=1 HTTP/1.1\r\n"), "{request}");
    let host = format!("host: {}\r\n", server.address);
    assert!(request.contains(&host), "{request}");
    assert!(request.contains("user-agent: Trawl/"), "{request}");
    assert!(request.contains("accept-encoding: gzip, deflate, br, zstd\r\n"));
    assert!(!request.contains("cookie"), "{request}");
}

#[tokio::test]
async fn statuses_are_answers_and_redirects_are_not_followed() {
    let server = answering(
        "HTTP/1.1 301 Moved\r\nLocation: /caf\u{e9}\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let (head, body) = get(&fetcher(|_| ()), server.url("/")).await.unwrap();
    assert_eq!(head.status, 301);
    assert_eq!(head.location.as_deref(), Some("/café"));
    assert!(body.bytes.is_empty());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn one_connection_serves_requests_that_follow_each_other() {
    let server = answering(ok("", b"x")).await;
    let fetcher = fetcher(|_| ());
    for _ in 0..20 {
        get(&fetcher, server.url("/")).await.unwrap();
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 20));
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_without_a_second_request() {
    // Closes after each answer without saying so.
    let server = listen(|server, mut stream| async move {
        let request = read_request(&mut stream).await.unwrap();
        server.note(&request);
        stream.write_all(&ok("", b"x")).await.unwrap();
    })
    .await;
    let fetcher = fetcher(|_| ());
    for n in 0..10 {
        // A close that crosses a request on the wire may end it, but nothing is sent twice.
        let _ = get(&fetcher, server.url(&format!("/{n}"))).await;
    }
    let mut lines: Vec<String> = server.requests();
    let all = lines.len();
    lines.dedup();
    assert_eq!(lines.len(), all);
}

#[tokio::test]
async fn conditional_requests_carry_what_the_server_once_said() {
    let server = answering("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    let request = Request {
        etag: Some("W/\"v1\"".into()),
        last_modified: Some("Wed, 21 Oct 2015 07:28:00 GMT".into()),
        accept: Accept::Robots,
        ..Request::get(server.url("/"))
    };
    let answer = fetcher(|_| ()).start(request).await.unwrap();
    assert_eq!(answer.head().status, 304);
    assert!(answer.body().await.unwrap().bytes.is_empty());
    let sent = &server.requests()[0];
    assert!(sent.contains("if-none-match: W/\"v1\"\r\n"), "{sent}");
    assert!(sent.contains("if-modified-since: Wed, 21 Oct 2015 07:28:00 GMT\r\n"));
    assert!(sent.contains("accept: text/plain"), "{sent}");
}

#[tokio::test]
async fn head_asks_for_no_body_even_where_a_length_is_announced() {
    let server = answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await;
    let request = Request {
        method: Method::Head,
        ..Request::get(server.url("/"))
    };
    let answer = fetcher(|_| ()).start(request).await.unwrap();
    assert_eq!(answer.head().content_length, Some(1000));
    assert!(answer.body().await.unwrap().bytes.is_empty());
    assert!(server.requests()[0].starts_with("HEAD / "));
}

#[tokio::test]
async fn own_headers_are_sent_only_where_they_are_asked_for() {
    let server = answering(ok("", b"")).await;
    let fetcher =
        fetcher(|spec| spec.headers = vec![("Authorization".into(), "Bearer hush".into())]);
    for secret_headers in [false, true] {
        let request = Request {
            secret_headers,
            ..Request::get(server.url("/"))
        };
        fetcher.start(request).await.unwrap().discard();
    }
    let sent: Vec<bool> = server
        .requests()
        .iter()
        .map(|request| request.contains("authorization: Bearer hush\r\n"))
        .collect();
    assert_eq!(sent, [false, true]);
}

#[tokio::test]
async fn cookies_come_back_only_where_they_are_wanted() {
    for (cookies, expected) in [(false, false), (true, true)] {
        let server = answering(ok("Set-Cookie: id=7; Path=/\r\n", b"x")).await;
        let fetcher = fetcher(|spec| spec.cookies = cookies);
        get(&fetcher, server.url("/")).await.unwrap();
        get(&fetcher, server.url("/again")).await.unwrap();
        let requests = server.requests();
        assert!(!requests[0].contains("cookie"));
        assert_eq!(requests[1].contains("cookie: id=7\r\n"), expected);
    }
}

#[tokio::test]
async fn a_discarded_endless_body_hangs_up() {
    let (closed, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let server = listen(move |_, mut stream| {
        let closed = closed.clone();
        async move {
            read_request(&mut stream).await;
            let head = "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            while stream.write_all(&[0; 4096]).await.is_ok() {}
            closed.send(()).unwrap();
        }
    })
    .await;
    let answer = fetcher(|_| ())
        .start(Request::get(server.url("/")))
        .await
        .unwrap();
    assert_eq!(answer.head().content_type.as_deref(), Some("video/mp4"));
    answer.discard();
    seen.recv().await.unwrap();
}

#[tokio::test]
async fn a_refused_connection_and_a_missing_name_have_names_of_their_own() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let fetcher = fetcher(|_| ());
    let url = url::Url::parse(&format!("http://{closed}/")).unwrap();
    assert_eq!(end_of(&fetcher, url).await, OutcomeKind::ConnectRefused);
}

#[tokio::test]
async fn extra_bytes_after_a_body_end_the_connection_and_not_the_page() {
    let mut answer = ok("", b"four");
    answer.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
    let server = listen(move |_, mut stream| {
        let answer = answer.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(&answer).await.unwrap();
            until_closed(&mut stream).await;
        }
    })
    .await;
    let fetcher = fetcher(|_| ());
    for _ in 0..3 {
        let (_, body) = get(&fetcher, server.url("/")).await.unwrap();
        assert_eq!(body.bytes, b"four"[..]);
    }
    assert_eq!(server.connections(), 3);
}
