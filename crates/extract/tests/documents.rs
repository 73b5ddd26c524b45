//! Documents that are not pages: what they are, and their text.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use proptest::prelude::*;
use trawl_extract::Warning;
use trawl_extract::document::{Document, DocumentKind, TextDocument, read};
use url::Url;

fn base() -> Url {
    Url::parse("https://example.org/blog/feed").unwrap()
}

fn text(bytes: &[u8], content_type: Option<&str>) -> TextDocument {
    match read(bytes, content_type, Some(&base())) {
        Document::Text(document) => *document,
        other => panic!("{other:?}"),
    }
}

fn media_type(bytes: &[u8], content_type: Option<&str>) -> String {
    match read(bytes, content_type, None) {
        Document::Unsupported { media_type } => media_type,
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_kinds_are_named_whatever_the_header_says() {
    for (bytes, header, expected) in [
        (
            &b"\x89PNG\r\n\x1a\n\0\0"[..],
            Some("text/html"),
            "image/png",
        ),
        (b"\xff\xd8\xff\xe0\0", None, "image/jpeg"),
        (b"PK\x03\x04\x14\0\0", None, "application/zip"),
        (
            b"PK\x03\x04\x14\0\0",
            Some("application/epub+zip"),
            "application/epub+zip",
        ),
        (b"\0\0\0\x20ftypisom", Some("text/plain"), "video/mp4"),
        (
            b"\x01\x02\x03\x04",
            Some("application/x-thing; a=b"),
            "application/x-thing",
        ),
        (
            b"\x01\x02\x03\x04",
            Some("text/plain"),
            "application/octet-stream",
        ),
        (b"body { color: red }", Some("text/css"), "text/css"),
        (b"{\"a\": 1}", Some("application/json"), "application/json"),
        (
            b"<?xml version='1.0'?><book/>",
            Some("text/xml"),
            "application/xml",
        ),
        (b"<svg xmlns='x'/>", Some("image/svg+xml"), "image/svg+xml"),
        (b"{\\rtf1 text}", None, "application/rtf"),
    ] {
        assert_eq!(media_type(bytes, header), expected, "{bytes:?}");
    }
}

#[test]
fn pages_and_sitemaps_are_handed_back() {
    for (bytes, header) in [
        (&b" <!DOCTYPE html><p>"[..], None),
        (b"<html><body>", Some("application/octet-stream")),
        (b"<p>no doctype", Some("text/html; charset=utf-8")),
        (
            b"<?xml version='1.0'?><!DOCTYPE html><html/>",
            Some("application/xhtml+xml"),
        ),
    ] {
        assert_eq!(read(bytes, header, None), Document::Html, "{bytes:?}");
    }
    assert_eq!(
        read(b"<?xml version='1.0'?><urlset/>", None, None),
        Document::Sitemap
    );
}

#[test]
fn plain_text_is_decoded_and_cleaned() {
    let document = text(
        b"\n\n  Caf\xe9\r\nwith\x7fout\rnulls \n\n",
        Some("text/plain; charset=iso-8859-1"),
    );
    assert_eq!(document.kind, DocumentKind::PlainText);
    assert_eq!(document.text, "  Café\nwithout\nnulls");
}

#[test]
fn text_without_a_header_is_plain_text() {
    let document = text("Grüße aus München\n".as_bytes(), None);
    assert_eq!(
        (document.kind, document.text.as_str()),
        (DocumentKind::PlainText, "Grüße aus München")
    );
    assert_eq!((document.title, document.truncated), (None, false));
    let utf16: Vec<u8> = "\u{feff}Hallo"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(text(&utf16, None).text, "Hallo");
    let html_as_text = text(b"<html> is a tag", Some("text/plain"));
    assert_eq!(html_as_text.kind, DocumentKind::PlainText);
}

#[test]
fn long_text_is_cut_between_characters() {
    let document = text("ä".repeat(5_000_000).as_bytes(), None);
    assert!(document.truncated && document.text.len() <= 4 * 1024 * 1024);
    assert_eq!(document.warnings, [Warning::ContentTruncated]);
}

#[test]
fn markdown_gives_its_front_matter_as_metadata() {
    let document = text(
        b"---\ntitle: \"Rain: a report\"\ndate: 2026-05-01\nauthors:\n  - Ann\n  - 'Bo'\ntags: [rain, \"may\"]\n\
          lang: en\nextra:\n  title: not this\n---\n\n# Heading\n\nText.\n",
        Some("text/markdown"),
    );
    assert_eq!(document.kind, DocumentKind::Markdown);
    assert_eq!(document.title.as_deref(), Some("Rain: a report"));
    assert_eq!(document.text, "# Heading\n\nText.");
    assert_eq!(document.metadata.authors, ["Ann", "Bo"]);
    assert_eq!(document.metadata.keywords, ["rain", "may"]);
    assert_eq!(
        document.metadata.publish_date.unwrap().to_string(),
        "2026-05-01"
    );
    let toml = text(b"+++\ntitle = 'T'\n+++\nText", Some("text/markdown"));
    assert_eq!(
        (toml.title.as_deref(), toml.text.as_str()),
        (Some("T"), "Text")
    );
}

#[test]
fn markdown_without_front_matter_is_named_by_its_first_heading() {
    for (source, title) in [
        ("# One *two*\n\ntext", Some("One *two*")),
        ("Title\n=====\n", Some("Title")),
        ("text\n\n# Later", None),
        ("---\ntitle: never closed\n", None),
        ("", None),
    ] {
        let document = text(source.as_bytes(), Some("text/markdown"));
        assert_eq!(document.title.as_deref(), title, "{source}");
    }
    let url = Url::parse("https://example.org/README.md").unwrap();
    let Document::Text(document) = read(b"# T", Some("text/plain"), Some(&url)) else {
        panic!()
    };
    assert_eq!(document.kind, DocumentKind::Markdown);
}

const RSS: &str = r#"<?xml version="1.0"?><rss version="2.0" xmlns:content="c" xmlns:dc="d" xmlns:media="m"><channel>
<title>The Daily &amp; Co</title><link>https://example.org/</link><description>News</description>
<language>en-gb</language><image><title>no</title><link>https://no/</link></image>
<item><title>Rain &lt;b&gt;now&lt;/b&gt;</title><link>/rain</link><pubDate>Fri, 01 May 2026 08:00:00 GMT</pubDate>
<dc:creator><![CDATA[Ann]]></dc:creator><media:title>no</media:title>
<description>Short</description><content:encoded><![CDATA[<p>It <em>rains</em>, see <a href="more">more</a>.</p>]]></content:encoded></item>
<item><guid>https://example.org/2</guid><author>bo@example.org (Bo)</author><description>&lt;p&gt;Two &amp;amp; three&lt;/p&gt;</description></item>
</channel></rss>"#;

#[test]
fn an_rss_feed_is_markdown_with_a_section_for_each_entry() {
    let feed = text(RSS.as_bytes(), Some("text/html"));
    assert_eq!(feed.kind, DocumentKind::Feed);
    assert_eq!(feed.title.as_deref(), Some("The Daily & Co"));
    assert_eq!(feed.metadata.language.as_deref(), Some("en-GB"));
    assert_eq!(
        feed.metadata.canonical_url.as_ref().unwrap().as_str(),
        "https://example.org/"
    );
    let entries = &feed.metadata.entries;
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[0].title.as_deref(), Some("Rain now"));
    assert_eq!(entries[0].authors, ["Ann"]);
    assert_eq!(entries[1].authors, ["Bo"]);
    assert_eq!(
        entries[1].url.as_ref().unwrap().as_str(),
        "https://example.org/2"
    );
    assert_eq!(
        feed.text,
        "# The Daily & Co\n\nNews\n\n## [Rain now](https://example.org/rain)\n\n2026-05-01T08:00:00Z\n\n\
         It *rains*, see [more](https://example.org/more).\n\n## [Untitled](https://example.org/2)\n\nTwo & three"
    );
    assert!(feed.warnings.is_empty());
}

#[test]
fn an_atom_feed_is_read_with_its_text_types() {
    let feed = text(
        br#"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title type="text">A &amp; B</title>
        <link rel="self" href="/self"/><link href="https://example.org/home"/><updated>2026-05-02</updated>
        <author><name>Ann</name><uri>https://no/</uri></author>
        <entry><title>One</title><link rel="alternate" href="/1"/><published>2026-05-01T00:00:00Z</published>
        <summary>a &lt; b &amp;amp; c</summary></entry>
        <entry><title>Two</title><link href="/2"/><content type="html">&lt;p&gt;x &lt;b&gt;y&lt;/b&gt;&lt;/p&gt;</content></entry>
        <entry><title>Three</title><content type="xhtml"><div xmlns="x"><p>p <b>q</b></p></div></content></entry></feed>"#,
        Some("application/atom+xml"),
    );
    let entries = &feed.metadata.entries;
    assert_eq!(feed.title.as_deref(), Some("A & B"));
    assert_eq!(feed.metadata.authors, ["Ann"]);
    assert_eq!(
        feed.metadata.canonical_url.as_ref().unwrap().path(),
        "/home"
    );
    assert_eq!(entries[0].url.as_ref().unwrap().path(), "/1");
    assert_eq!(entries[0].text, "a < b \\&amp; c");
    assert_eq!(entries[1].text, "x **y**");
    assert_eq!(entries[2].text, "p **q**");
}

#[test]
fn a_json_feed_is_read() {
    let feed = text(
        br#"{"version": "https://jsonfeed.org/version/1.1", "title": "T <3", "home_page_url": "/", "items": [
            {"id": 1, "url": "/1", "title": "One", "content_html": "<p>x</p>", "date_published": "2026-05-01", "authors": [{"name": "Ann"}]},
            {"id": 2, "content_text": "a < b\n\nc"}]}"#,
        Some("application/json"),
    );
    assert_eq!(feed.title.as_deref(), Some("T <3"));
    assert_eq!(feed.metadata.entries[0].authors, ["Ann"]);
    assert_eq!(feed.metadata.entries[0].text, "x");
    assert_eq!(feed.metadata.entries.len(), 2);
    assert_eq!(
        read(
            b"{\"version\": \"https://jsonfeed.org/version/1\", ",
            None,
            None
        ),
        Document::Damaged
    );
}

#[test]
fn a_broken_feed_gives_what_could_be_read() {
    let cut = &RSS[..RSS.find("It <em>").unwrap()];
    let feed = text(cut.as_bytes(), Some("application/rss+xml"));
    assert_eq!(feed.metadata.entries.len(), 1);
    assert_eq!(feed.warnings, [Warning::FeedMalformed]);
    let mut many = String::from("<rss><channel>");
    for number in 0..3000 {
        let _ = write!(many, "<item><title>{number}</title></item>");
    }
    let feed = text(many.as_bytes(), None);
    assert!(feed.truncated && feed.metadata.entries.len() == 1000);
}

/// A PDF file of these objects, numbered from 1.
fn pdf(objects: &[&str], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", number + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(
        file,
        "trailer\n<< /Size {} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.into_bytes()
}

fn one_page(content: &str, trailer: &str) -> Vec<u8> {
    let stream = format!(
        "<< /Length {} >>\nstream\n{content}\nendstream",
        content.len()
    );
    pdf(
        &[
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> >>",
            &stream,
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            "<< /Title (Rain Report) /Author (Ann Lee) /CreationDate (D:20260501080000Z) /Keywords (rain, may) >>",
        ],
        trailer,
    )
}

const LINES: &str = "BT /F1 12 Tf 72 700 Td (It rains in the harbour today.) Tj 0 -14 Td \
    (The fishermen mend their nets and wait for the tide.) Tj ET";

#[test]
fn a_pdf_gives_its_text_and_metadata() {
    let file = one_page(LINES, "/Info 6 0 R");
    for header in [Some("application/pdf"), Some("text/html"), None] {
        let document = text(&file, header);
        assert_eq!(document.kind, DocumentKind::Pdf);
        assert_eq!(document.title.as_deref(), Some("Rain Report"));
        assert!(
            document.text.contains("It rains in the harbour today."),
            "{}",
            document.text
        );
        assert_eq!(document.metadata.author.as_deref(), Some("Ann Lee"));
        assert_eq!(
            document.metadata.publish_date.unwrap().to_string(),
            "2026-05-01T08:00:00Z"
        );
        assert_eq!(document.metadata.keywords, ["rain", "may"]);
        assert_eq!(document.metadata.pages, Some(1));
    }
    let mut with_junk = b"HTTP junk\n".to_vec();
    with_junk.extend(&file);
    assert!(text(&with_junk, None).text.contains("harbour"));
}

#[test]
fn broken_and_hostile_pdfs_are_named_outcomes() {
    assert_eq!(read(b"%PDF-1.7\n", None, None), Document::Damaged);
    let file = one_page(LINES, "");
    for cut in [file.len() / 3, file.len() / 2] {
        let outcome = read(&file[..cut], None, None);
        assert!(
            matches!(outcome, Document::Damaged | Document::Text(_)),
            "{outcome:?}"
        );
    }
    for hostile in [
        format!("BT {} TJ ET", "[".repeat(200_000)),
        "q ".repeat(200_000),
        "/X Do ".repeat(10_000),
    ] {
        let _ = read(&one_page(&hostile, ""), None, None);
    }
    let scattered = "1 0 0 1 7 9 Tm (a) Tj ".repeat(100_000);
    assert_eq!(
        read(&one_page(&scattered, ""), None, None),
        Document::TooLarge
    );
    let looped = pdf(
        &[
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>",
        ],
        "",
    );
    let _ = read(&looped, None, None);
    let nested = pdf(&[&"[".repeat(100_000)], "");
    let _ = read(&nested, None, None);
}

#[test]
fn a_pdf_that_needs_a_password_says_so() {
    let locked = one_page(
        LINES,
        "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 \
         /O <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> \
         /U <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> >> \
         /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]",
    );
    assert_eq!(
        read(&locked, Some("application/pdf"), None),
        Document::Encrypted
    );
}

proptest! {
    #[test]
    fn any_bytes_have_an_outcome(bytes in proptest::collection::vec(any::<u8>(), 0..600), kind in 0_usize..6) {
        let header = [None, Some("text/plain"), Some("text/markdown"), Some("application/rss+xml"), Some("application/feed+json"), Some("text/html")][kind];
        let _ = read(&bytes, header, None);
    }

    #[test]
    fn any_markup_is_a_feed_or_something_else(tags in proptest::collection::vec(prop_oneof![
        Just("<rss>"), Just("<channel>"), Just("<item>"), Just("</item>"), Just("<title>"), Just("</title>"),
        Just("<content type='xhtml'>"), Just("<author><name>"), Just("</author>"), Just("<link href='/x'/>"),
        Just("text &amp; &nbsp; &x"), Just("<![CDATA[<p>x"), Just("]]>"), Just("<entry>"), Just("<b/>")
    ], 0..40)) {
        let _ = read(tags.concat().as_bytes(), Some("application/rss+xml"), None);
    }
}
