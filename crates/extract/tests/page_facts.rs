//! Anchor text, places, link types, base, title and the other things a page says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use trawl_extract::{PageFacts, PageLimits, Rel, Warning, page};
use trawl_types::Place;
use url::Url;

fn read(html: &str) -> PageFacts<'_> {
    let limits = PageLimits {
        crawler: "Trawl/1.0",
        ..PageLimits::default()
    };
    page(
        html,
        &Url::parse("https://example.org/dir/page").unwrap(),
        limits,
    )
}

fn anchor(html: &str) -> String {
    read(html).links.first().unwrap().anchor.to_string()
}

#[test]
fn anchor_text_is_what_a_reader_sees() {
    for (html, expected) in [
        ("<a href=x> One\n  two </a>", "One two"),
        ("<a href=x><b>Tra</b>wl</a>", "Trawl"),
        ("<a href=x><h3>Title</h3><p>Text</p></a>", "Title Text"),
        ("<a href=x>a<br>b<img alt=no>c</a>", "a b c"),
        ("<a href=x>a &amp; b &lt;c&gt; &eacute</a>", "a & b <c> é"),
        ("<a href=x><img alt='A  picture'></a>", "A picture"),
        ("<a href=x><img alt=one> <img alt=two></a>", "one two"),
        ("<a href=x><img alt=no>text</a>", "text"),
        ("<a href=x aria-label='Menu'><i class=icon></i></a>", "Menu"),
        ("<a href=x title='Home'><svg><path d=x></svg></a>", "Home"),
        (
            "<a href=x title=no><svg><title>Icon</title></svg></a>",
            "Icon",
        ),
        (
            "<a href=x>a<script>no</script><style>no</style>b</a>",
            "a b",
        ),
        ("<a href=x>a<!-- no -->b</a>", "ab"),
        ("<a href=x>a<template>no</template>b</a>", "a b"),
        ("<a href=x>one<a href=y>two</a>", "one"),
        ("<a href=x>never closed <p>goes on", "never closed goes on"),
        ("<a href=x></a><a href=x>later</a>", "later"),
        ("<a href=x>first</a><a href=x>second</a>", "first"),
        ("<area href=x alt='The  map'>", "The map"),
        ("<a href=x></a>", ""),
    ] {
        assert_eq!(anchor(html), expected, "{html}");
    }
}

#[test]
fn anchor_text_is_cut_at_two_hundred_characters() {
    let text = anchor(&format!("<a href=x>{}</a>", "ü".repeat(500)));
    assert_eq!(text.chars().count(), 200);
}

#[test]
fn places_are_those_of_the_sectioning_elements_around() {
    for (html, expected) in [
        ("<a href=x>", Place::Body),
        ("<div><section><a href=x>", Place::Body),
        ("<nav><ul><li><a href=x>", Place::Nav),
        ("<header><a href=x>", Place::Header),
        ("<header><nav><a href=x>", Place::Nav),
        ("<main><a href=x>", Place::Main),
        ("<article><a href=x>", Place::Main),
        ("<article><header><a href=x>", Place::Main),
        ("<main><article><footer><a href=x>", Place::Main),
        ("<main><nav><a href=x>", Place::Nav),
        ("<aside><a href=x>", Place::Aside),
        ("<aside><article><a href=x>", Place::Aside),
        ("<FOOTER><a href=x>", Place::Footer),
        ("<nav></nav><a href=x>", Place::Body),
        ("<header><nav></header><a href=x>", Place::Body),
        ("<nav><main><a href=x>", Place::Main),
        ("</nav></main></div><a href=x>", Place::Body),
        ("<template><nav></template><a href=x>", Place::Body),
        ("<nav>\n<!-- </nav> --><a href=x>", Place::Nav),
    ] {
        assert_eq!(read(html).links.first().unwrap().place, expected, "{html}");
    }
}

#[test]
fn link_types_are_recorded_and_nofollow_holds_only_if_all_links_say_so() {
    let facts = read("<a href=x rel='NOFOLLOW ugc noopener'>x</a>");
    let rel = facts.links.first().unwrap().rel;
    assert!(rel.contains(Rel::NOFOLLOW) && rel.contains(Rel::UGC) && rel.contains(Rel::NOOPENER));
    assert!(!rel.contains(Rel::SPONSORED));
    let facts = read("<a href=x rel=nofollow>x</a><a href=x>y</a>");
    assert!(!facts.links.first().unwrap().rel.is_nofollow());
}

#[test]
fn the_first_base_counts_if_it_is_http() {
    for (html, expected) in [
        ("<a href=x>", "https://example.org/dir/x"),
        (
            "<base href='/other/'><a href=x>",
            "https://example.org/other/x",
        ),
        (
            "<base href='//cdn.example/d/'><a href=x>",
            "https://cdn.example/d/x",
        ),
        (
            "<base href='http://h/a/b'><base href='http://i/'><a href=x>",
            "http://h/a/x",
        ),
        (
            "<base target=_top><base href='/b/'><a href=x>",
            "https://example.org/b/x",
        ),
        (
            "<base href='javascript:1'><base href=/b/><a href=x>",
            "https://example.org/dir/x",
        ),
        (
            "<base href='data:,x'><a href=x>",
            "https://example.org/dir/x",
        ),
        ("<a href=x><base href=/late/>", "https://example.org/late/x"),
        (
            "<!-- <base href=/no/> --><a href=x>",
            "https://example.org/dir/x",
        ),
        (
            "<template><base href=/no/></template><a href=x>",
            "https://example.org/dir/x",
        ),
        (
            "<base href='  /sp/ '><a href=x>",
            "https://example.org/sp/x",
        ),
    ] {
        let facts = read(html);
        let link = facts.links.first().unwrap();
        assert_eq!(
            facts.resolve(&link.href).unwrap().as_str(),
            expected,
            "{html}"
        );
    }
    assert_eq!(
        read("<base href='data:,x'>").warnings,
        [Warning::BaseIgnored]
    );
    assert_eq!(read("<base href=/x>").resolve("mailto:a@b"), None);
}

#[test]
fn title_and_description_fall_back_to_opengraph() {
    let title = |html: &str| read(html).title.map(String::from);
    assert_eq!(
        title("<title> A\n &amp; B </title>").as_deref(),
        Some("A & B")
    );
    assert_eq!(
        title("<title>A</title><title>B</title>").as_deref(),
        Some("A")
    );
    assert_eq!(
        title("<svg><title>no</title></svg><title>A</title>").as_deref(),
        Some("A")
    );
    assert_eq!(
        title("<title>a <b>c</b></title>").as_deref(),
        Some("a <b>c</b>")
    );
    assert_eq!(
        title("<title></title><meta property='og:title' content=O>").as_deref(),
        Some("O")
    );
    assert_eq!(
        title("<meta property=og:title content=O><title>T</title>").as_deref(),
        Some("T")
    );
    assert_eq!(title("<p>x"), None);
    assert_eq!(
        title("<title>never closed").as_deref(),
        Some("never closed")
    );
    let long = format!("<title>{}</title>", "x".repeat(5000));
    assert_eq!(title(&long).unwrap().len(), 1000);
    let description = |html: &str| read(html).description.map(String::from);
    let both = "<meta property=og:description content=O><meta name=Description content=' a  b'>";
    assert_eq!(description(both).as_deref(), Some("a b"));
    assert_eq!(
        description("<meta property=og:description content=O>").as_deref(),
        Some("O")
    );
}

#[test]
fn robots_meta_counts_for_everybody_and_for_us_by_name() {
    let robots = read("<meta name=ROBOTS content='NoIndex, max-snippet:-1'>").robots;
    assert!(robots.noindex && !robots.nofollow);
    assert_eq!(robots.other, ["max-snippet:-1"]);
    let robots =
        read("<meta name=trawl content=none><meta name=otherbot content=noarchive>").robots;
    assert!(robots.noindex && robots.nofollow && robots.none && !robots.noarchive);
    assert!(
        !read("<template><meta name=robots content=noindex></template>")
            .robots
            .noindex
    );
}

#[test]
fn canonical_language_generator_feeds_and_alternates_are_recorded() {
    let facts = read(
        "<html lang=' de-AT '><base href=/b/><link rel=canonical href='c?a&amp;b'>\
         <link rel=canonical href=second><meta name=generator content='Maker 1.0'>\
         <link rel=alternate type='application/rss+xml' href=/feed>\
         <link rel=alternate hreflang=fr href=/fr><link rel='alternate stylesheet' href=/no>",
    );
    assert_eq!(
        facts.canonical.unwrap().as_str(),
        "https://example.org/b/c?a&b"
    );
    assert_eq!(facts.lang.as_deref(), Some("de-AT"));
    assert_eq!(facts.generator.as_deref(), Some("Maker 1.0"));
    assert_eq!(facts.feeds, ["/feed"]);
    assert_eq!(facts.alternates.len(), 1);
    assert_eq!(
        (&*facts.alternates[0].lang, &*facts.alternates[0].href),
        ("fr", "/fr")
    );
}
