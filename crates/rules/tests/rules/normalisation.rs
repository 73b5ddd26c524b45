//! Identity apart from address: 003 §3.1, 004 §10.

use proptest::prelude::*;
use trawl_rules::Normaliser;
use trawl_types::{KeySecret, ReasonCode, spec::NormaliseSpec};
use url::Url;

use crate::{crawl_url, normaliser};

fn identity(text: &str) -> String {
    normaliser().identity(&Url::parse(text).unwrap())
}

#[test]
fn identities_are_those_of_the_specification() {
    for (input, expected) in [
        // the examples of 003 §3.1
        ("http://example.com/page", "https://example.com/page"),
        ("https://www.example.com/", "https://example.com/"),
        ("https://example.com/page/", "https://example.com/page"),
        (
            "https://example.com/page#section",
            "https://example.com/page",
        ),
        (
            "https://example.com/page?utm_source=twitter",
            "https://example.com/page",
        ),
        (
            "https://example.com/page?b=2&a=1",
            "https://example.com/page?a=1&b=2",
        ),
        ("https://example.com/a/../b/./c", "https://example.com/b/c"),
        ("https://EXAMPLE.COM/Page", "https://example.com/Page"),
        // hosts
        ("https://example.com", "https://example.com/"),
        ("https://example.com./x", "https://example.com/x"),
        ("https://www.example.com./x", "https://example.com/x"),
        ("https://www.com/", "https://www.com/"),
        ("https://www.www.com/", "https://www.com/"),
        ("https://www.www.example.com/", "https://example.com/"),
        ("https://www2.example.com/", "https://www2.example.com/"),
        ("https://wwwexample.com/", "https://wwwexample.com/"),
        ("http://example.com:80/", "https://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com/"),
        ("http://example.com:8080/x", "https://example.com:8080/x"),
        ("http://[::1]:8080/", "https://[::1]:8080/"),
        ("http://0x7f.1/", "https://127.0.0.1/"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
        (
            "https://www.BÜCHER.example/",
            "https://xn--bcher-kva.example/",
        ),
        (
            "https://xn--bcher-kva.example/",
            "https://xn--bcher-kva.example/",
        ),
        ("https://日本語。jp/", "https://xn--wgv71a119e.jp/"),
        ("https://ｅｘａｍｐｌｅ.com/", "https://example.com/"),
        // paths
        ("https://e.test/%7Euser/%61", "https://e.test/~user/a"),
        ("https://e.test/a%2fb", "https://e.test/a%2Fb"),
        ("https://e.test/%e4", "https://e.test/%E4"),
        ("https://e.test/ä", "https://e.test/%C3%A4"),
        ("https://e.test/a%20b", "https://e.test/a%20b"),
        ("https://e.test/%2e%2e/a", "https://e.test/a"),
        ("https://e.test/%252e", "https://e.test/%252e"),
        ("https://e.test/100%", "https://e.test/100%25"),
        ("https://e.test/%4%31", "https://e.test/%2541"),
        ("https://e.test/a//", "https://e.test/a"),
        ("https://e.test/a//b", "https://e.test/a//b"),
        ("https://e.test//", "https://e.test/"),
        ("https://e.test/a\\b", "https://e.test/a/b"),
        ("https://e.test/a;x=1", "https://e.test/a;x=1"),
        // queries
        ("https://e.test/?", "https://e.test/"),
        ("https://e.test/?&&", "https://e.test/"),
        ("https://e.test/?a", "https://e.test/?a"),
        ("https://e.test/?a=", "https://e.test/?a="),
        ("https://e.test/?b=1&a=2&b=0", "https://e.test/?a=2&b=1&b=0"),
        (
            "https://e.test/?UTM_Medium=x&FBCLID=y&k=v",
            "https://e.test/?k=v",
        ),
        ("https://e.test/?utm%5Fsource=x", "https://e.test/"),
        (
            "https://e.test/?ref=a&source=b&gclid=c&mc_eid=d",
            "https://e.test/",
        ),
        ("https://e.test/?reference=a", "https://e.test/?reference=a"),
        ("https://e.test/?utm=a", "https://e.test/?utm=a"),
        ("https://e.test/?q=%7e%c3%a4", "https://e.test/?q=~%C3%A4"),
        ("https://e.test/?u=a%26b%3Dc", "https://e.test/?u=a%26b%3Dc"),
        ("https://e.test/p/?a=1", "https://e.test/p?a=1"),
    ] {
        assert_eq!(identity(input), expected, "{input}");
    }
}

#[test]
fn what_is_requested_is_what_was_found() {
    for (input, address) in [
        (
            "http://www.Example.com/Dir/?utm_source=x&b=1&a=2#top",
            "http://www.example.com/Dir/?utm_source=x&b=1&a=2",
        ),
        ("https://example.com./a%7Eb/", "https://example.com./a%7Eb/"),
        ("https://example.com/?", "https://example.com/?"),
    ] {
        assert_eq!(crawl_url(input).as_str(), address, "{input}");
    }
}

#[test]
fn spellings_of_one_page_share_a_key_and_other_pages_do_not() {
    let key = |text| crawl_url(text).key();
    assert_eq!(
        key("http://www.e.test/a/?utm_source=1"),
        key("https://e.test/a")
    );
    assert_ne!(key("https://e.test/a"), key("https://e.test/b"));
    assert_eq!(
        key("https://e.test/a").host,
        key("https://www.e.test/b").host
    );
    assert_ne!(
        key("https://e.test/a").host,
        key("https://e.test:8080/a").host
    );
}

#[test]
fn every_part_of_identity_can_be_switched_off() {
    let spec = NormaliseSpec {
        strip_www: false,
        strip_trailing_slash: false,
        ignore_scheme: false,
        tracking_params: vec![],
        upgrade_https: false,
    };
    let strict = Normaliser::new(&spec, KeySecret([7; 16]));
    let url = Url::parse("http://www.e.test:443/a/?utm_source=x").unwrap();
    assert_eq!(
        strict.identity(&url),
        "http://www.e.test:443/a/?utm_source=x"
    );
}

#[test]
fn https_is_requested_only_where_asked_for_and_on_the_default_port() {
    let spec = NormaliseSpec {
        upgrade_https: true,
        ..NormaliseSpec::default()
    };
    let upgrading = Normaliser::new(&spec, KeySecret([7; 16]));
    for (input, address) in [
        ("http://e.test/a", "https://e.test/a"),
        ("http://e.test:80/a", "https://e.test/a"),
        ("http://e.test:8080/a", "http://e.test:8080/a"),
        ("https://e.test/a", "https://e.test/a"),
    ] {
        assert_eq!(upgrading.seed(input).unwrap().as_str(), address);
    }
    assert_eq!(crawl_url("http://e.test/a").as_str(), "http://e.test/a");
}

#[test]
fn seeds_may_be_typed_without_a_scheme() {
    for (input, address) in [
        ("example.org", "https://example.org/"),
        ("  example.org/x  ", "https://example.org/x"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        ("example.org:8080", "https://example.org:8080/"),
        ("example.org:8080?x", "https://example.org:8080/?x"),
        ("127.0.0.1:80/x", "https://127.0.0.1:80/x"),
        ("[::1]:8080/x", "https://[::1]:8080/x"),
        ("//example.org/x", "https://example.org/x"),
        ("http://example.org", "http://example.org/"),
        ("HTTP://example.org", "http://example.org/"),
        ("http:example.org", "http://example.org/"),
        ("ht\ttp://example.org", "http://example.org/"),
        (
            "example.org/?u=http://a.test/",
            "https://example.org/?u=http://a.test/",
        ),
        ("bücher.example", "https://xn--bcher-kva.example/"),
    ] {
        let url = normaliser().seed(input).map(|url| url.to_string());
        assert_eq!(url.as_deref(), Ok(address), "{input}");
    }
}

#[test]
fn what_cannot_be_crawled_is_refused_with_its_reason() {
    use ReasonCode::{InvalidUrl, UnsupportedScheme, Userinfo};
    for (input, code) in [
        ("", InvalidUrl),
        ("   ", InvalidUrl),
        ("/just/a/path", InvalidUrl),
        ("https://", InvalidUrl),
        ("https://exa mple.org/", InvalidUrl),
        ("https://[::1/", InvalidUrl),
        ("https://e.test:99999/", InvalidUrl),
        ("https://a..b/", InvalidUrl),
        ("https://./", InvalidUrl),
        ("https://1../", InvalidUrl),
        ("https://.e.test/", InvalidUrl),
        ("https://256.256.256.256/", InvalidUrl),
        ("mailto:me@example.org", UnsupportedScheme),
        ("tel:123456", UnsupportedScheme),
        ("javascript:alert(1)", UnsupportedScheme),
        ("JaVaScRiPt:alert(1)", UnsupportedScheme),
        ("data:text/html,x", UnsupportedScheme),
        ("file:///etc/passwd", UnsupportedScheme),
        ("ftp://example.org/", UnsupportedScheme),
        ("ws://example.org/", UnsupportedScheme),
        ("C:\\x", UnsupportedScheme),
        ("https://user@example.org/", Userinfo),
        ("https://user:password@example.org/", Userinfo),
        ("https://:password@example.org/", Userinfo),
        ("http://example.org@127.0.0.1/", Userinfo),
    ] {
        let reason = normaliser().seed(input).unwrap_err();
        assert_eq!(reason.code, code, "{input}: {reason}");
        assert!(!reason.detail.contains("password"), "{reason}");
    }
    let long = format!("https://{}", "[".repeat(100_000));
    assert!(normaliser().seed(&long).unwrap_err().detail.len() < 500);
}

#[test]
fn links_are_resolved_against_their_page() {
    let base = Url::parse("https://e.test/dir/page?x=1").unwrap();
    for (href, address) in [
        ("other", "https://e.test/dir/other"),
        ("/root", "https://e.test/root"),
        ("/root/a.html?b=1#c", "https://e.test/root/a.html?b=1"),
        ("/root/../a", "https://e.test/a"),
        ("/root/./a", "https://e.test/root/a"),
        ("/a/%2E%2e/b", "https://e.test/b"),
        ("/..", "https://e.test/"),
        ("/a..b/c.", "https://e.test/a..b/c."),
        ("/a b", "https://e.test/a%20b"),
        ("/ä", "https://e.test/%C3%A4"),
        ("/a\\b", "https://e.test/a/b"),
        ("\\a", "https://e.test/a"),
        ("/\\host/a", "https://host/a"),
        ("//other.test/x", "https://other.test/x"),
        ("///other.test/x", "invalid_url"),
        ("../up", "https://e.test/up"),
        ("?y=2", "https://e.test/dir/page?y=2"),
        ("#top", "https://e.test/dir/page?x=1"),
        ("", "https://e.test/dir/page?x=1"),
        ("  /spaces  ", "https://e.test/spaces"),
        ("/ta\tbs\n", "https://e.test/tabs"),
        ("https://e.test/abs", "https://e.test/abs"),
        ("https://e.test", "https://e.test/"),
        ("https://e.test//x", "https://e.test//x"),
        ("https://e.test/\\x", "https://e.test//x"),
        ("https://e.test/\t/x", "https://e.test//x"),
        ("https://e.test/#x", "https://e.test/"),
        ("https://e.test/?x#y", "https://e.test/?x"),
        ("https://e.test/../x", "https://e.test/x"),
        ("https://e.test/ä", "https://e.test/%C3%A4"),
        ("https://e.test?x", "https://e.test/?x"),
        ("https://e.test:443/abs", "https://e.test/abs"),
        (
            "https://e.test.evil.test/abs",
            "https://e.test.evil.test/abs",
        ),
        ("https://e.test@evil.test/abs", "userinfo"),
        ("https://E.TEST/abs", "https://e.test/abs"),
        ("https:/abs", "https://e.test/abs"),
        ("http://e.test/abs", "http://e.test/abs"),
        ("mailto:a@b.c", "unsupported_scheme"),
        ("javascript:void(0)", "unsupported_scheme"),
        ("https://", "invalid_url"),
    ] {
        let found = match normaliser().join(&base, href) {
            Ok(url) => url.to_string(),
            Err(reason) => reason.code.as_str().to_owned(),
        };
        assert_eq!(found, address, "{href:?}");
    }
}

fn hostile_url() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "(www\\.){0,3}[a-z0-9äß-]{1,6}(\\.[a-z]{1,4}){0,2}\\.{0,2}",
        "[0-9a-fx]{1,4}(\\.[0-9a-fx]{1,3}){0,3}",
        Just("[::ffff:127.0.0.1]".to_owned()),
    ];
    let port = prop_oneof!["", ":80", ":443", ":8080"];
    let path = "(/[a-zA-Z0-9%.~/ äé{}\\\\|;'\"]{0,8}){0,5}";
    let query = "(\\?[a-zA-Z0-9%&=_.+?/' ]{0,24})?(&(utm_x|REF|b|a|b)=[0-9%A-F]{0,4}){0,3}";
    ("https?", host, port, path, query).prop_map(|(scheme, host, port, path, query)| {
        format!("{scheme}://{host}{port}{path}{query}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn normalising_twice_equals_once(text in hostile_url(), flags in 0u8..8) {
        let spec = NormaliseSpec {
            strip_www: flags & 1 != 0,
            strip_trailing_slash: flags & 2 != 0,
            ignore_scheme: flags & 4 != 0,
            ..NormaliseSpec::default()
        };
        let normaliser = Normaliser::new(&spec, KeySecret([7; 16]));
        if let Ok(url) = Url::parse(&text)
            && let Ok(crawl_url) = normaliser.url(url.clone())
        {
            let once = normaliser.identity(&url);
            let again = Url::parse(&once).unwrap();
            prop_assert_eq!(&normaliser.identity(&again), &once);
            prop_assert_eq!(normaliser.url(again).unwrap().key(), crawl_url.key());
        }
    }

    #[test]
    fn a_link_is_what_a_browser_would_open(
        href in "(https://e\\.test)?[/a-zA-Z0-9.%?#&=:\\\\ \t@ä-]{0,24}",
    ) {
        let base = Url::parse("https://e.test/dir/page?x=1").unwrap();
        if let Ok(url) = normaliser().join(&base, &href) {
            let mut expected = base.join(&href).unwrap();
            expected.set_fragment(None);
            prop_assert_eq!(url.address(), &expected);
        }
    }

    #[test]
    fn no_text_makes_the_normaliser_panic(text in "\\PC{0,60}") {
        let base = Url::parse("https://e.test/").unwrap();
        let _ = normaliser().seed(&text);
        let _ = normaliser().join(&base, &text);
    }
}
