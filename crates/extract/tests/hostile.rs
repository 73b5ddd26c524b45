//! Documents built to hurt: bounded results, linear time, no panic.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use proptest::prelude::*;
use trawl_extract::html::{Token, Tokenizer};
use trawl_extract::sitemap::{Sitemap, SitemapLimits};
use trawl_extract::{PageFacts, PageLimits, Warning, charset, page, parse_x_robots_tag};
use url::Url;

fn read(html: &str) -> PageFacts<'_> {
    page(
        html,
        &Url::parse("https://example.org/").unwrap(),
        PageLimits::default(),
    )
}

#[test]
fn a_hundred_thousand_nested_elements_are_no_trouble() {
    for element in [
        "div",
        "nav",
        "svg",
        "template",
        "a href=x",
        "foreignObject",
        "article",
    ] {
        let html = format!(
            "{}<a href=/end>end</a>",
            format!("<{element}>").repeat(100_000)
        );
        let facts = read(&html);
        assert!(facts.links.len() <= 2, "{element}");
    }
    let nested = "<svg><foreignObject>".repeat(50_000);
    assert_eq!(read(&format!("{nested}<a href=/x>")).links.len(), 1);
}

#[test]
fn a_million_links_give_a_thousand_and_a_warning() {
    let mut html = String::new();
    for number in 0..1_000_000 {
        let _ = write!(html, "<a href=/{number}>");
    }
    let facts = read(&html);
    assert_eq!(facts.links.len(), 1000);
    assert_eq!(facts.links_total, 1_000_000);
    assert!(facts.links_truncated);
    assert_eq!(facts.warnings, [Warning::LinksTruncated]);
}

#[test]
fn a_million_equal_links_are_one() {
    let html = "<a href=/a>x</a>".repeat(1_000_000);
    let facts = read(&html);
    assert_eq!((facts.links.len(), facts.links_total), (1, 1_000_000));
    assert!(!facts.links_truncated);
}

#[test]
fn megabytes_of_one_character_or_construct_take_linear_time() {
    for piece in [
        "<",
        "<a",
        "<a ",
        "</",
        "<!--",
        "<!",
        "&",
        "&am",
        "--",
        "'",
        "\"",
        "<a href='",
        "<script>",
        "<script><!--<script>",
        "<title>",
        "<a b",
        "<a b=c ",
        "\0",
        "&#",
        "<svg><style>",
        "</a",
        "<a href=x>&",
        "<meta ",
        "<link rel=canonical href=x>",
        "<base href=",
        "<![CDATA[",
    ] {
        let html = piece.repeat(2_000_000 / piece.len());
        assert!(read(&html).links.len() <= 1000, "{piece}");
        let tagged = format!("<a {html}>x</a><a href=/y>");
        assert!(read(&tagged).links.len() <= 1000, "{piece}");
        let in_svg = format!("<svg>{html}");
        assert!(read(&in_svg).links.len() <= 1000, "{piece}");
    }
}

#[test]
fn an_overlong_address_is_left_out_with_a_warning() {
    let html = format!("<a href='/{}'>x</a><a href=/b>y</a>", "x".repeat(10_000));
    let facts = read(&html);
    assert_eq!(facts.links.len(), 1);
    assert_eq!(facts.warnings, [Warning::HrefTooLong]);
}

fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        prop::sample::select(vec![
            "<a href=",
            "<meta charset=",
            "<?xml encoding='",
            "utf-16",
            "x-user-defined",
            "\u{feff}",
            "<url><loc>",
            "</loc></url>",
            "<urlset>",
            "<![CDATA[",
            "]]>",
            "&amp;",
            "&x;",
            "<svg>",
            "<template>",
            "<title>",
            "\u{1f}\u{8b}",
            "https://h/",
            "<!--",
            "-->",
            "'",
            "\"",
            ">",
            "<meta http-equiv=refresh content=",
            "0;url=",
            "ü",
            "<item><link>",
            "<entry><link href=",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in fragments(), header in ".{0,40}", tld in ".{0,6}") {
        let decoded = charset::decode(&bytes, Some(&header), Some(&tld));
        let facts = read(&decoded.text);
        for link in &facts.links {
            let _ = facts.resolve(&link.href);
        }
        let undeclared = charset::decode(&bytes, None, Some(&tld));
        let _ = read(&undeclared.text);
        let _ = Sitemap::parse(&bytes, SitemapLimits::default());
        let _ = parse_x_robots_tag(&header, &tld);
    }

    #[test]
    fn tokens_are_pieces_of_the_source_in_order(html in "[<>/=\"' a-eü!?&;\\-]{0,80}") {
        let (start, mut at) = (html.as_ptr() as usize, 0);
        for token in Tokenizer::new(&html) {
            let piece = match &token {
                Token::Start(tag) => tag.name,
                Token::End(tag) => tag.name,
                Token::Text(text) | Token::RawText(text) => text,
            };
            let offset = piece.as_ptr() as usize - start;
            prop_assert!(offset >= at && html.get(offset..offset + piece.len()) == Some(piece));
            at = offset + piece.len();
        }
    }
}
