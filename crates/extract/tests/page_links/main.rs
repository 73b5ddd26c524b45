//! Which links a page has: a table of small documents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;

use cases::CASES;
use trawl_extract::{PageFacts, PageLimits, page};
use trawl_types::LinkKind;
use url::Url;

fn read(html: &str) -> PageFacts<'_> {
    page(
        html,
        &Url::parse("https://example.org/dir/page").unwrap(),
        PageLimits::default(),
    )
}

fn hrefs(html: &str) -> Vec<String> {
    read(html)
        .links
        .into_iter()
        .map(|link| link.href.into_owned())
        .collect()
}

#[test]
fn every_document_of_the_table_has_the_links_it_says() {
    for (about, html, expected) in CASES {
        assert_eq!(hrefs(html), *expected, "{about}: {html}");
    }
}

#[test]
fn markup_cut_anywhere_gives_no_panic_and_no_invented_link() {
    for (about, html, _) in CASES {
        for cut in (0..html.len()).filter(|cut| html.is_char_boundary(*cut)) {
            let links = hrefs(&html[..cut]);
            assert!(links.len() <= 3, "{about}: {links:?}");
        }
    }
}

#[test]
fn kinds_say_what_makes_a_link() {
    let facts = read(
        "<link rel=canonical href=/1><meta http-equiv=refresh content='0;/2'><a href=/3>x</a>\
         <area href=/4><frame src=/5>",
    );
    let kinds: Vec<LinkKind> = facts.links.iter().map(|link| link.kind).collect();
    let expected = [
        LinkKind::Canonical,
        LinkKind::MetaRefresh,
        LinkKind::Anchor,
        LinkKind::Area,
        LinkKind::Frame,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn links_beyond_the_limit_are_counted_but_not_taken() {
    let html = "<a href=/a>x</a><a href=/b>x</a><a href=/a>x</a><a href=/c>x</a><a href=/a>x</a>";
    let base = Url::parse("https://example.org/").unwrap();
    let facts = page(
        html,
        &base,
        PageLimits {
            max_links: 2,
            ..PageLimits::default()
        },
    );
    assert_eq!(facts.links.len(), 2);
    assert_eq!(facts.links_total, 5);
    assert!(facts.links_truncated);
    let facts = page(
        html,
        &base,
        PageLimits {
            max_links: 3,
            ..PageLimits::default()
        },
    );
    assert!(!facts.links_truncated, "three distinct links fit");
}
