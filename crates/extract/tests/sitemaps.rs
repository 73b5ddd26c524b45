//! Sitemaps of every kind, whole and broken.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use trawl_extract::Warning;
use trawl_extract::sitemap::{ChangeFrequency, Sitemap, SitemapLimits};

fn parse(text: &str) -> Sitemap {
    Sitemap::parse(text.as_bytes(), SitemapLimits::default())
}

fn locs(sitemap: &Sitemap) -> Vec<&str> {
    sitemap
        .entries
        .iter()
        .map(|entry| entry.loc.as_str())
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const URLSET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i">
  <url>
    <loc> https://example.org/a?x=1&amp;y=2 </loc>
    <lastmod>2026-01-02</lastmod><changefreq>Weekly</changefreq><priority>0.8</priority>
    <image:image><image:loc>https://example.org/i.png</image:loc></image:image>
  </url>
  <url><loc><![CDATA[https://example.org/b&c]]></loc><priority>7</priority></url>
  <!-- <url><loc>https://example.org/no</loc></url> -->
  <url><loc>https://example.org/&#252;</loc><lastmod/></url>
</urlset>"#;

#[test]
fn a_urlset_gives_its_pages_in_order() {
    let sitemap = parse(URLSET);
    assert_eq!(
        locs(&sitemap),
        [
            "https://example.org/a?x=1&y=2",
            "https://example.org/b&c",
            "https://example.org/ü"
        ]
    );
    let first = &sitemap.entries[0];
    assert_eq!(first.lastmod.as_deref(), Some("2026-01-02"));
    assert_eq!(first.changefreq, Some(ChangeFrequency::Weekly));
    assert!(
        first
            .priority
            .is_some_and(|priority| (priority - 0.8).abs() < 1e-6)
    );
    assert!(
        sitemap.entries[1]
            .priority
            .is_some_and(|priority| (priority - 1.0).abs() < 1e-6)
    );
    assert_eq!(sitemap.entries[2].lastmod, None);
    assert!(sitemap.children.is_empty() && sitemap.warnings.is_empty());
}

#[test]
fn an_index_gives_its_children() {
    let sitemap = parse(
        "<s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>https://h/1.xml</s:loc>\
         <s:lastmod>2026</s:lastmod></s:sitemap><s:sitemap><s:loc>https://h/2.xml.gz</s:loc>\
         </s:sitemap></s:sitemapindex>",
    );
    let children: Vec<&str> = sitemap
        .children
        .iter()
        .map(|child| child.loc.as_str())
        .collect();
    assert_eq!(children, ["https://h/1.xml", "https://h/2.xml.gz"]);
    assert_eq!(sitemap.children[0].lastmod.as_deref(), Some("2026"));
    assert!(sitemap.entries.is_empty());
}

#[test]
fn feeds_give_the_pages_of_their_items() {
    let rss = parse(
        "<rss version='2.0'><channel><title>T</title><link>https://h/</link><item>\
         <title>1</title><link>https://h/1</link><pubDate>Mon, 05 Jan 2026</pubDate></item>\
         <item><title>no link</title></item></channel></rss>",
    );
    assert_eq!(locs(&rss), ["https://h/1"]);
    assert_eq!(rss.entries[0].lastmod.as_deref(), Some("Mon, 05 Jan 2026"));
    let atom = parse(
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://h/'/><entry>\
         <link rel='self' href='https://h/self'/><link href='https://h/1?a&amp;b'/>\
         <updated>2026</updated></entry><entry><link rel='alternate' href='https://h/2'></link>\
         </entry></feed>",
    );
    assert_eq!(locs(&atom), ["https://h/1?a&b", "https://h/2"]);
    assert!(rss.warnings.is_empty() && atom.warnings.is_empty());
}

#[test]
fn a_text_sitemap_has_one_address_per_line() {
    let sitemap = parse("\u{feff}https://h/1\r\n\n  HTTP://h/2  \nnonsense\n");
    assert_eq!(locs(&sitemap), ["https://h/1", "HTTP://h/2"]);
    assert_eq!(sitemap.warnings, [Warning::SitemapLocationIgnored]);
}

#[test]
fn packed_sitemaps_are_unpacked_up_to_a_limit() {
    let whole = Sitemap::parse(&gzip(URLSET.as_bytes()), SitemapLimits::default());
    assert_eq!(whole, parse(URLSET));
    let bomb = gzip(&vec![b' '; 5_000_000]);
    let limits = SitemapLimits {
        max_bytes: 1_000_000,
        ..SitemapLimits::default()
    };
    let sitemap = Sitemap::parse(&bomb, limits);
    assert!(sitemap.warnings.contains(&Warning::SitemapTooLarge));
}

#[test]
fn a_damaged_pack_gives_what_stands_before_the_damage() {
    let mut text = String::from("<urlset>");
    for number in 0..5000 {
        let _ = write!(text, "<url><loc>https://h/{number}</loc></url>");
    }
    let packed = gzip(text.as_bytes());
    let sitemap = Sitemap::parse(&packed[..packed.len() / 2], SitemapLimits::default());
    assert!(sitemap.entries.len() > 100);
    assert!(sitemap.warnings.contains(&Warning::SitemapGzipDamaged));
    let nothing = Sitemap::parse(&[0x1f, 0x8b, 1, 2, 3], SitemapLimits::default());
    assert!(nothing.warnings.contains(&Warning::SitemapGzipDamaged));
}

#[test]
fn malformed_sitemaps_give_what_could_be_read() {
    for (text, expected) in [
        (
            "<urlset><url><loc>https://h/1</loc></url><url><loc>https://h/2",
            1,
        ),
        ("<urlset><url><loc>https://h/1</loc></url><url <<<", 1),
        (
            "<urlset><url><loc>https://h/1?a&b</loc></url><url><loc>https://h/2</loc></url>",
            2,
        ),
        (
            "<urlset><url><loc>https://h/1</loc></url></urlset></urlset><url>",
            1,
        ),
        (
            "<urlset><url><loc>https://h/1</LOC></url><url><loc>https://h/2</loc></url></urlset>",
            2,
        ),
    ] {
        let sitemap = parse(text);
        assert_eq!(sitemap.entries.len(), expected, "{text}: {sitemap:?}");
    }
    assert_eq!(
        parse("<urlset><url><loc>https://h/1</loc></url><url>").warnings,
        [Warning::SitemapMalformed]
    );
}

#[test]
fn entities_of_the_documents_own_making_are_not_expanded() {
    let sitemap = parse(
        "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;'>\
         <!ENTITY f SYSTEM 'file:///etc/passwd'>]>\
         <urlset><url><loc>https://h/&b;&f;1</loc></url></urlset>",
    );
    assert_eq!(locs(&sitemap), ["https://h/1"]);
}

#[test]
fn unusable_addresses_are_left_out() {
    let long = format!("https://h/{}", "x".repeat(10_000));
    for loc in ["", "ftp://h/", "javascript:x", &long] {
        let text = format!(
            "<urlset><url><loc>{loc}</loc></url><url><loc>https://h/1</loc></url></urlset>"
        );
        let sitemap = parse(&text);
        assert_eq!(locs(&sitemap), ["https://h/1"]);
        assert_eq!(sitemap.warnings, [Warning::SitemapLocationIgnored]);
    }
}

#[test]
fn more_addresses_than_allowed_are_cut() {
    let mut text = String::from("<urlset>");
    for number in 0..60_000 {
        let _ = write!(text, "<url><loc>https://h/{number}</loc></url>");
    }
    let sitemap = parse(&text);
    assert_eq!(sitemap.entries.len(), 50_000);
    assert_eq!(sitemap.warnings, [Warning::SitemapTruncated]);
    let lines = SitemapLimits {
        max_urls: 2,
        ..SitemapLimits::default()
    };
    let sitemap = Sitemap::parse(b"http://h/1\nhttp://h/2\nhttp://h/3", lines);
    assert_eq!(
        (sitemap.entries.len(), &*sitemap.warnings),
        (2, &[Warning::SitemapTruncated][..])
    );
}

#[test]
fn other_documents_are_not_sitemaps() {
    for text in [
        "<!doctype html><html><body><a href=x>",
        "",
        "hello\nworld",
        "<svg/>",
        "{}",
        "<",
    ] {
        let sitemap = parse(text);
        assert_eq!(sitemap.warnings, [Warning::NotASitemap], "{text}");
        assert!(sitemap.entries.is_empty() && sitemap.children.is_empty());
    }
    assert!(parse("<urlset/>").warnings.is_empty());
    assert!(parse("<urlset></urlset>").warnings.is_empty());
}

#[test]
fn a_json_feed_gives_the_pages_of_its_items() {
    let feed = parse(
        r#"{"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [
           {"id": "1", "url": " https://h/1 ", "date_published": "2026-01-02T00:00:00Z"},
           {"id": "2", "external_url": "https://h/2", "date_modified": "2026-01-03"},
           {"id": "3"}, {"id": "4", "url": "javascript:x"}]}"#,
    );
    assert_eq!(locs(&feed), ["https://h/1", "https://h/2"]);
    assert_eq!(feed.entries[1].lastmod.as_deref(), Some("2026-01-03"));
    assert_eq!(feed.warnings, [Warning::SitemapLocationIgnored]);
    let broken = parse(r#"{"version": "https://jsonfeed.org/version/1", "items": [{"#);
    assert_eq!(broken.warnings, [Warning::SitemapMalformed]);
}

#[test]
fn the_last_change_is_kept_as_written_and_as_a_date() {
    let sitemap = parse(
        "<urlset><url><loc>https://h/1</loc><lastmod>2026-01-02T10:00+01:00</lastmod></url>\
         <url><loc>https://h/2</loc><lastmod>soon</lastmod></url></urlset>",
    );
    let dates: Vec<_> = sitemap
        .entries
        .iter()
        .map(|entry| entry.lastmod_date().map(|date| date.to_string()))
        .collect();
    assert_eq!(dates, [Some("2026-01-02T10:00:00+01:00".to_owned()), None]);
    assert_eq!(sitemap.entries[1].lastmod.as_deref(), Some("soon"));
    let index = parse(
        "<sitemapindex><sitemap><loc>https://h/s</loc><lastmod>2026</lastmod></sitemap></sitemapindex>",
    );
    assert!(index.children[0].lastmod_date().is_some());
}

#[test]
fn items_without_a_link_or_a_change_fall_back() {
    let rss = parse(
        "<rss><channel><item><guid>https://h/1</guid></item><item><guid>tag:x</guid></item>\
         <item><guid>https://h/no</guid><link>https://h/2</link></item></channel></rss>",
    );
    assert_eq!(locs(&rss), ["https://h/1", "https://h/2"]);
    let atom = parse(
        "<feed><entry><link href='https://h/1'/><published>2026-01-02</published></entry></feed>",
    );
    assert_eq!(atom.entries[0].lastmod.as_deref(), Some("2026-01-02"));
}
