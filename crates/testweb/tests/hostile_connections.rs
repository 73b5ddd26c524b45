//! Broken, slow and endless answers as they are on the wire, and a server that outlives them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::ErrorKind;
use std::time::Duration;

use support::{Raw, exchange, get};
use tokio::time::timeout;
use trawl_testweb::{Behaviour, Behaviours, Slow, TestWeb, WebSpec, WireFault, hostile_gallery};

async fn faulty(fault: WireFault) -> Raw {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    web.on("*", "/fault", Behaviour::Fault(fault));
    get(web.addr(), "site0.test", "/fault").await
}

fn promised(answer: &Raw) -> usize {
    answer.header("content-length").unwrap().parse().unwrap()
}

#[tokio::test]
async fn resets_are_resets_and_closes_are_closes() {
    let early = faulty(WireFault::ResetBeforeHeaders).await;
    assert!(early.head.is_empty());
    assert_eq!(early.end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let closed = faulty(WireFault::CloseBeforeHeaders).await;
    assert!(closed.head.is_empty() && closed.end.is_ok());
    let late = faulty(WireFault::ResetInBody).await;
    assert_eq!(late.status, 200);
    assert_eq!(late.end.unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn lengths_are_wrong_in_the_way_they_say() {
    let long = faulty(WireFault::LengthTooLong).await;
    assert!(promised(&long) > long.body.len() && long.end.is_ok());
    let short = faulty(WireFault::LengthTooShort).await;
    assert!(promised(&short) < short.body.len());
    let two = faulty(WireFault::TwoLengths).await;
    assert_eq!(two.head.matches("content-length").count(), 2);
    let open = faulty(WireFault::UntilClose).await;
    assert!(open.header("content-length").is_none() && open.text().ends_with("</p>"));
}

#[tokio::test]
async fn heads_are_broken_in_the_way_they_say() {
    assert!(!faulty(WireFault::Garbage).await.head.starts_with("HTTP/"));
    assert!(
        faulty(WireFault::HugeHeaders { bytes: 1 << 20 })
            .await
            .head
            .len()
            > 1 << 20
    );
    assert!(faulty(WireFault::CloseInHeaders).await.body.is_empty());
    assert!(
        faulty(WireFault::BadStatus)
            .await
            .head
            .starts_with("HTTP/1.1 2000")
    );
}

const REQUEST: &str = "GET /slow HTTP/1.1\r\nhost: site0.test\r\nconnection: close\r\n\r\n";

async fn slow(slow: Slow) -> TestWeb {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    web.on("*", "/slow", Behaviour::Slow(slow));
    web
}

#[tokio::test]
async fn drips_come_byte_by_byte_and_end_when_all_is_said() {
    let interval = Duration::from_millis(2);
    let web = slow(Slow::DrippingBody {
        bytes: 40,
        interval,
    })
    .await;
    let answer = get(web.addr(), "site0.test", "/slow").await;
    assert_eq!((promised(&answer), answer.body.len()), (40, 40));
    let entry = &web.log().entries()[0];
    let took = entry.finished_micros.unwrap() - entry.at_micros;
    assert!(took >= 40 * 2000, "{took}");
    let web = slow(Slow::DrippingHeaders { interval }).await;
    assert_eq!(get(web.addr(), "site0.test", "/slow").await.status, 200);
}

#[tokio::test]
async fn an_endless_body_goes_on_as_long_as_it_is_read() {
    let web = slow(Slow::EndlessBody).await;
    let (bytes, end) = exchange(web.addr(), REQUEST, 20 << 20).await;
    assert!(bytes.len() >= 20 << 20 && end.is_ok());
}

#[tokio::test]
async fn a_silent_server_keeps_the_request_in_flight_until_the_client_leaves() {
    let web = slow(Slow::NoAnswer).await;
    let log = web.log();
    let client = tokio::spawn(exchange(web.addr(), REQUEST, 1));
    while log.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        (log.entries()[0].status, log.entries()[0].finished_micros),
        (0, None)
    );
    client.abort();
    while log.in_flight() > 0 {
        tokio::task::yield_now().await;
    }
    assert!(log.entries()[0].finished_micros.is_some());
}

#[tokio::test]
async fn the_server_outlives_the_whole_gallery() {
    let behaviours = Behaviours::none().with_gallery();
    let web = TestWeb::start_with(WebSpec::small_site(3), behaviours)
        .await
        .unwrap();
    let addr = web.addr();
    let index = get(addr, "site0.test", "/hostile/").await.text();
    for entry in hostile_gallery() {
        assert!(index.contains(&format!("href=\"{}\"", entry.path)));
        let request = format!(
            "GET {} HTTP/1.1\r\nhost: site0.test\r\nconnection: close\r\n\r\n",
            entry.path
        );
        // Some never answer: the client leaves after a moment, whatever came by then.
        let _ = timeout(
            Duration::from_millis(300),
            exchange(addr, &request, 100_000),
        )
        .await;
        assert_eq!(web.log().count(0, &entry.path), 1, "{}", entry.path);
    }
    assert_eq!(get(addr, "site0.test", "/").await.status, 200);
}
