//! Statuses, redirects, contents, robots.txt and sitemaps: each does on the wire what it says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::io::Read as _;

use support::{Raw, get, send};
use trawl_testweb::{
    Behaviour, Behaviours, Bulk, Coding, Damage, ENCODED_TITLE, Redirect, RetryAfter, RobotsKind,
    SitemapKind, TestWeb, Trap, WebSpec,
};

async fn gallery() -> TestWeb {
    TestWeb::start_with(
        WebSpec::many_hosts(2, 20),
        Behaviours::none().with_gallery(),
    )
    .await
    .unwrap()
}

async fn ask(web: &TestWeb, path: &str) -> Raw {
    get(web.addr(), "site0.test", path).await
}

#[tokio::test]
async fn redirects_lead_where_they_say() {
    let web = gallery().await;
    let other_host = web.url(1, "/");
    for (path, location) in [
        (
            "/hostile/redirect-chain-3",
            Some("/hostile/redirect-chain-3?left=2"),
        ),
        (
            "/hostile/redirect-loop?at=2",
            Some("/hostile/redirect-loop?at=0"),
        ),
        (
            "/hostile/redirect-self?a=b",
            Some("/hostile/redirect-self?a=b"),
        ),
        ("/hostile/redirect-host", Some(other_host.as_str())),
        ("/hostile/redirect-slash", Some("/hostile/redirect-slash/")),
        (
            "/hostile/redirect-metadata",
            Some("http://169.254.169.254/latest/meta-data/"),
        ),
        ("/hostile/redirect-file", Some("file:///etc/passwd")),
        ("/hostile/redirect-nowhere", None),
    ] {
        let answer = ask(&web, path).await;
        assert!((300..309).contains(&answer.status), "{path}");
        assert_eq!(answer.header("location"), location, "{path}");
    }
    assert_eq!(
        ask(&web, "/hostile/redirect-chain-3?left=0").await.status,
        200
    );
    assert_eq!(ask(&web, "/hostile/redirect-slash/").await.status, 200);
}

#[tokio::test]
async fn refusals_say_when_to_come_back() {
    let web = gallery().await;
    for (path, status, retry_after) in [
        ("/hostile/429-seconds", 429, Some("2")),
        ("/hostile/429-unsaid", 429, None),
        ("/hostile/503-seconds", 503, Some("2")),
        ("/hostile/410", 410, None),
    ] {
        let answer = ask(&web, path).await;
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (status, retry_after),
            "{path}"
        );
    }
    let dated = ask(&web, "/hostile/429-date").await;
    assert!(dated.header("retry-after").unwrap().ends_with(" GMT"));
}

#[tokio::test]
async fn a_flapping_page_fails_as_often_as_it_says_and_then_recovers() {
    let web = gallery().await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(ask(&web, "/hostile/flapping").await.status);
    }
    assert_eq!(statuses, [503, 503, 200, 200]);
}

fn unpack(coding: Coding, packed: &[u8]) -> std::io::Result<String> {
    let mut out = String::new();
    match coding {
        Coding::Gzip => flate2::read::GzDecoder::new(packed).read_to_string(&mut out)?,
        Coding::Zlib => flate2::read::ZlibDecoder::new(packed).read_to_string(&mut out)?,
        Coding::RawDeflate => flate2::read::DeflateDecoder::new(packed).read_to_string(&mut out)?,
        Coding::Brotli => brotli::Decompressor::new(packed, 4096).read_to_string(&mut out)?,
        Coding::Zstd => zstd::stream::read::Decoder::new(packed)?.read_to_string(&mut out)?,
    };
    Ok(out)
}

#[tokio::test]
async fn compressed_pages_unpack_when_whole_and_do_not_when_damaged() {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    for coding in Coding::ALL {
        let with = async |damage| {
            web.on("*", "/packed", Behaviour::Encoded(coding, damage));
            let answer = ask(&web, "/packed").await;
            assert_eq!(answer.header("content-encoding"), Some(coding.label()));
            unpack(coding, &answer.body)
        };
        assert!(
            with(Damage::Whole).await.unwrap().contains(ENCODED_TITLE),
            "{coding:?}"
        );
        assert!(with(Damage::NotEncoded).await.is_err(), "{coding:?}");
        assert!(with(Damage::Corrupt).await.is_err(), "{coding:?}");
        // A raw deflate reader may take the end of its input for the end of the page.
        let cut = with(Damage::Truncated).await;
        assert!(
            !cut.is_ok_and(|text| text.contains("end of the page")),
            "{coding:?}"
        );
    }
}

#[tokio::test]
async fn bombs_are_small_on_the_wire() {
    let web = gallery().await;
    for name in ["gzip", "br", "zstd", "deflate", "deflate-raw"] {
        let answer = ask(&web, &format!("/hostile/{name}-bomb")).await;
        assert_eq!(answer.status, 200);
        assert!(answer.body.len() < 300_000, "{name}: {}", answer.body.len());
    }
}

#[tokio::test]
async fn charsets_are_declared_as_the_case_says() {
    let web = gallery().await;
    let japanese = ask(&web, "/hostile/charset-header-sjis").await;
    assert_eq!(
        japanese.header("content-type"),
        Some("text/html; charset=shift_jis")
    );
    let (text, _, damaged) = encoding_rs::SHIFT_JIS.decode(&japanese.body);
    assert!(!damaged && text.contains("<title>日本語のページです</title>"));
    let marked = ask(&web, "/hostile/charset-mark-utf-16be").await;
    assert!(marked.body.starts_with(&[0xfe, 0xff]));
    let silent = ask(&web, "/hostile/charset-none-1251").await;
    assert_eq!(silent.header("content-type"), Some("text/html"));
    assert!(!silent.text().contains("charset"));
}

#[tokio::test]
async fn bulky_pages_have_the_bulk_they_promise() {
    let web = gallery().await;
    web.on(
        "*",
        "/links",
        Behaviour::Bulk(Bulk::ManyLinks { count: 5000 }),
    );
    assert_eq!(
        ask(&web, "/links").await.text().matches("<a href=").count(),
        5000
    );
    let nested = ask(&web, "/hostile/nested").await;
    assert_eq!(nested.text().matches("<div>").count(), 100_000);
    let huge = ask(&web, "/hostile/huge").await;
    assert!(huge.body.len() > 40 << 20 && huge.header("content-length").is_none());
    let announced = send(
        web.addr(),
        "HEAD",
        "site0.test",
        "/hostile/huge-announced",
        "",
    )
    .await;
    assert!(
        announced
            .header("content-length")
            .unwrap()
            .parse::<usize>()
            .unwrap()
            > 40 << 20
    );
}

#[tokio::test]
async fn traps_always_have_a_way_on() {
    let web = TestWeb::start(WebSpec::small_site(1)).await.unwrap();
    web.on("*", "/calendar", Behaviour::Trap(Trap::Calendar));
    web.on("*", "/repeated*", Behaviour::Trap(Trap::RepeatedPath));
    web.on("*", "/session", Behaviour::Trap(Trap::SessionId));
    let next = ask(&web, "/calendar?month=2026-12").await.text();
    assert!(next.contains("href=\"/calendar?month=2027-01\""), "{next}");
    let deeper = ask(&web, "/repeated/a/a").await.text();
    assert!(deeper.contains("href=\"/repeated/a/a/a\""), "{deeper}");
    let sessions = [
        ask(&web, "/session").await.text(),
        ask(&web, "/session").await.text(),
    ];
    assert_ne!(sessions[0], sessions[1]);
}

#[tokio::test]
async fn copies_are_equal_and_near_copies_nearly() {
    let web = gallery().await;
    let (a, b) = (
        ask(&web, "/hostile/duplicate-a").await,
        ask(&web, "/hostile/duplicate-b").await,
    );
    assert_eq!(a.body, b.body);
    let near = [
        ask(&web, "/hostile/near-duplicate-a").await,
        ask(&web, "/hostile/near-duplicate-b").await,
    ];
    assert_ne!(near[0].body, near[1].body);
    assert_eq!(near[0].text().replace("-a", "-b"), near[1].text());
}

#[tokio::test]
async fn conditions_passwords_and_methods_are_respected() {
    let web = gallery().await;
    let with = async |method, path, header| {
        send(web.addr(), method, "site0.test", path, header)
            .await
            .status
    };
    assert_eq!(with("GET", "/hostile/etag", "").await, 200);
    assert_eq!(
        with("GET", "/hostile/etag", "if-none-match: \"v0\", \"v1\"\r\n").await,
        304
    );
    assert_eq!(
        with("GET", "/hostile/etag", "if-none-match: \"v0\"\r\n").await,
        200
    );
    let date = "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    assert_eq!(with("GET", "/hostile/last-modified", date).await, 304);
    assert_eq!(with("HEAD", "/hostile/head-refused", "").await, 405);
    assert_eq!(with("GET", "/hostile/head-refused", "").await, 200);
    assert_eq!(with("GET", "/hostile/basic-auth", "").await, 401);
    assert_eq!(
        with(
            "GET",
            "/hostile/basic-auth",
            "authorization: Basic YWRhOnNlY3JldA==\r\n"
        )
        .await,
        200
    );
    assert_eq!(with("GET", "/hostile/204", "").await, 204);
}

#[tokio::test]
async fn an_echo_shows_what_the_server_saw() {
    let web = gallery().await;
    let answer = send(
        web.addr(),
        "GET",
        "site0.test",
        "/hostile/echo?a=b",
        "x-mine: yes\r\n",
    )
    .await;
    let seen: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        (&seen["query"], &seen["headers"]["x-mine"]),
        (&"a=b".into(), &"yes".into())
    );
}

#[tokio::test]
async fn robots_files_are_of_the_kind_asked_for() {
    let spec = WebSpec::small_site(1).with_crawl_delay(1.5);
    let web = TestWeb::start(spec).await.unwrap();
    assert!(
        ask(&web, "/robots.txt")
            .await
            .text()
            .contains("Crawl-delay: 1.5")
    );
    let with = async |kind: RobotsKind| {
        web.set_robots("*", kind);
        ask(&web, "/robots.txt").await
    };
    assert_eq!(with(RobotsKind::Missing).await.status, 404);
    assert_eq!(with(RobotsKind::Status(503)).await.status, 503);
    assert!(with(RobotsKind::Reset).await.end.is_err());
    assert!(
        with(RobotsKind::Mark)
            .await
            .body
            .starts_with("\u{feff}User-agent".as_bytes())
    );
    assert!(String::from_utf8(with(RobotsKind::InvalidUtf8).await.body).is_err());
    assert_eq!(
        with(RobotsKind::Html).await.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let hop = with(RobotsKind::Redirect { hops: 6 }).await;
    assert_eq!(hop.header("location"), Some("/robots.txt?left=5"));
    assert!(
        ask(&web, "/robots.txt?left=0")
            .await
            .text()
            .contains("/private/")
    );
    assert!(with(RobotsKind::ResetInBody).await.end.is_err());
    let packed = with(RobotsKind::Packed(Damage::Whole)).await.body;
    let rules = unpack(Coding::Gzip, &packed).unwrap();
    assert!(rules.ends_with("Disallow: /private/\n"));
    let corrupt = with(RobotsKind::Packed(Damage::Corrupt)).await.body;
    assert!(unpack(Coding::Gzip, &corrupt).is_err());
    let cut = with(RobotsKind::CutAtLimit).await.text();
    assert!(cut[..500 * 1024].ends_with("\nAllow: /"));
    assert!(cut.ends_with("\nAllow: /public\n"));
    let huge = with(RobotsKind::Huge).await.text();
    assert!(huge.find("/beyond-limit/").unwrap() > 500 * 1024);
    assert!(huge.find("/private/").unwrap() < 100);
}

#[tokio::test]
async fn sitemaps_list_every_page_of_their_host_in_each_format() {
    let web = TestWeb::start(WebSpec::many_hosts(2, 2400)).await.unwrap();
    let listing = async |path| get(web.addr(), "site1.test:99", path).await;
    let whole = listing("/sitemap.xml").await.text();
    assert_eq!(whole.matches("<loc>http://site1.test:99/").count(), 1200);
    assert_eq!(listing("/sitemap.txt").await.text().lines().count(), 1200);
    let packed = listing("/sitemap.xml.gz").await.body;
    assert_eq!(unpack(Coding::Gzip, &packed).unwrap(), whole);
    assert_eq!(
        listing("/sitemap-index.xml")
            .await
            .text()
            .matches("<sitemap>")
            .count(),
        3
    );
    assert_eq!(
        listing("/sitemap-part-2.xml")
            .await
            .text()
            .matches("<url>")
            .count(),
        200
    );
    web.on(
        1,
        "/sitemap.xml",
        Behaviour::Sitemap(SitemapKind::Malformed),
    );
    assert!(!listing("/sitemap.xml").await.text().contains("</urlset>"));
}

#[tokio::test]
async fn behaviours_can_be_given_at_the_start() {
    let behaviours = Behaviours::none()
        .on(0, "/away", Behaviour::Redirect(Redirect::to("/p/1")))
        .on(
            "*",
            "/busy",
            Behaviour::Busy {
                status: 503,
                retry_after: RetryAfter::Unsaid,
            },
        )
        .robots(1, RobotsKind::DisallowAll);
    let web = TestWeb::start_with(WebSpec::many_hosts(2, 4), behaviours)
        .await
        .unwrap();
    assert_eq!(ask(&web, "/away").await.status, 302);
    assert_eq!(get(web.addr(), "site1.test", "/away").await.status, 404);
    assert_eq!(ask(&web, "/busy").await.status, 503);
    assert!(
        get(web.addr(), "site1.test", "/robots.txt")
            .await
            .text()
            .contains("Disallow: /\n")
    );
}
