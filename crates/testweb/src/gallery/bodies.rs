//! The part of the gallery that is about what a body holds: encodings, charsets, excess, traps,
//! copies and files.

use super::{GalleryEntry, entry};
use crate::behaviour::Behaviour::{
    self, Answer as Answers, BasicAuth, Charset, Conditional, Duplicate, Echo, Encoded, File,
    HeadRefused, NearDuplicate, SetCookie, Soft404,
};
use crate::behaviour::bulk::Bulk;
use crate::behaviour::charset::CharsetCase;
use crate::behaviour::content::FileKind;
use crate::behaviour::encoding::{Coding, Damage};
use crate::behaviour::trap::Trap;
use crate::reply::Answer;

pub(super) fn entries() -> Vec<GalleryEntry> {
    let mut entries = encodings();
    entries.extend(charsets());
    entries.extend(excess());
    entries.extend(traps());
    entries.extend(copies_and_files());
    entries.extend(conditions());
    entries
}

fn encodings() -> Vec<GalleryEntry> {
    const NAMES: [&str; 5] = ["gzip", "br", "zstd", "deflate", "deflate-raw"];
    let mut entries = Vec::new();
    for (coding, name) in Coding::ALL.into_iter().zip(NAMES) {
        let mut add = |kind: &str, damage, what, expected| {
            entries.push(entry(
                &format!("{name}-{kind}"),
                Encoded(coding, damage),
                what,
                expected,
            ));
        };
        add("good", Damage::Whole, "a compressed page", "fetched");
        add(
            "truncated",
            Damage::Truncated,
            "a compressed page that breaks off",
            "bad_encoding",
        );
        add(
            "corrupt",
            Damage::Corrupt,
            "a compressed page with wrong bytes",
            "bad_encoding",
        );
        add(
            "mislabelled",
            Damage::NotEncoded,
            "a plain page said to be compressed",
            "bad_encoding",
        );
        let bomb = Damage::Bomb { megabytes: 200 };
        add(
            "bomb",
            bomb,
            "200 megabytes in a few kilobytes",
            "decompression_bomb|body_too_large",
        );
    }
    entries
}

fn charsets() -> Vec<GalleryEntry> {
    const UTF8: CharsetCase = CharsetCase::undeclared("utf-8");
    let cases = [
        ("header-utf-8", UTF8.header("utf-8")),
        (
            "header-1252",
            CharsetCase::undeclared("windows-1252").header("iso-8859-1"),
        ),
        (
            "header-sjis",
            CharsetCase::undeclared("shift_jis").header("shift_jis"),
        ),
        ("meta-utf-8", UTF8.meta("utf-8")),
        (
            "meta-1251",
            CharsetCase::undeclared("windows-1251").meta("windows-1251"),
        ),
        ("meta-gbk", CharsetCase::undeclared("gbk").meta("gb2312")),
        ("mark-utf-8", UTF8.mark()),
        ("mark-utf-16le", CharsetCase::undeclared("utf-16le").mark()),
        ("mark-utf-16be", CharsetCase::undeclared("utf-16be").mark()),
        ("mark-beats-header", UTF8.mark().header("windows-1252")),
        ("header-beats-meta", UTF8.header("utf-8").meta("shift_jis")),
        ("none-utf-8", UTF8),
        ("none-1252", CharsetCase::undeclared("windows-1252")),
        ("none-sjis", CharsetCase::undeclared("shift_jis")),
        ("none-euc-jp", CharsetCase::undeclared("euc-jp")),
        ("none-gbk", CharsetCase::undeclared("gbk")),
        ("none-big5", CharsetCase::undeclared("big5")),
        ("none-1251", CharsetCase::undeclared("windows-1251")),
        ("none-koi8-r", CharsetCase::undeclared("koi8-r")),
        (
            "wrong-header",
            CharsetCase::undeclared("windows-1251").header("utf-8"),
        ),
        (
            "wrong-meta",
            CharsetCase::undeclared("windows-1252").meta("utf-8"),
        ),
        ("unknown-header", UTF8.header("klingon")),
        ("meta-utf-16", UTF8.meta("utf-16")),
    ];
    let to_entry = |(name, case): (&str, CharsetCase)| {
        entry(
            &format!("charset-{name}"),
            Charset(case),
            "a page in some encoding",
            "fetched",
        )
    };
    cases.into_iter().map(to_entry).collect()
}

fn excess() -> Vec<GalleryEntry> {
    const CUT: &str = "body_too_large|fetched";
    let bulk = Behaviour::Bulk;
    let long = |announced| {
        bulk(Bulk::Long {
            bytes: 40 << 20,
            announced,
        })
    };
    vec![
        entry("huge", long(false), "forty megabytes, length not said", CUT),
        entry(
            "huge-announced",
            long(true),
            "forty megabytes, length said",
            CUT,
        ),
        entry(
            "nested",
            bulk(Bulk::Nested { depth: 100_000 }),
            "100,000 nested elements",
            "fetched",
        ),
        entry(
            "many-links",
            bulk(Bulk::ManyLinks { count: 200_000 }),
            "200,000 links",
            "fetched",
        ),
        entry(
            "million-links",
            bulk(Bulk::ManyLinks { count: 1_000_000 }),
            "a million links",
            CUT,
        ),
        entry(
            "many-attributes",
            bulk(Bulk::ManyAttributes { count: 100_000 }),
            "a tag with 100,000 attributes",
            "fetched",
        ),
        entry(
            "long-attribute",
            bulk(Bulk::LongAttribute { bytes: 4 << 20 }),
            "an attribute without end",
            "fetched",
        ),
        entry(
            "long-urls",
            bulk(Bulk::LongUrls { bytes: 100_000 }),
            "addresses of 100,000 bytes",
            "fetched",
        ),
        entry(
            "unclosed",
            bulk(Bulk::Unclosed),
            "a comment, a script and a tag without end",
            "fetched",
        ),
    ]
}

fn traps() -> Vec<GalleryEntry> {
    let trap = Behaviour::Trap;
    vec![
        entry(
            "calendar",
            trap(Trap::Calendar),
            "a calendar without end",
            "fetched",
        ),
        entry(
            "session",
            trap(Trap::SessionId),
            "a new session on every page",
            "fetched",
        ),
        entry(
            "repeated*",
            trap(Trap::RepeatedPath),
            "a path that repeats itself",
            "fetched",
        ),
        entry(
            "growing*",
            trap(Trap::GrowingPath),
            "a path that grows for ever",
            "fetched",
        ),
        entry(
            "filters",
            trap(Trap::Filters),
            "filters in every combination",
            "fetched",
        ),
    ]
}

fn copies_and_files() -> Vec<GalleryEntry> {
    let html = "<!doctype html><title>Mislabelled</title><a href=\"/not-a-link/mislabelled\">x</a>";
    let labelled = |kind: &str| Answers(Answer::of_type(kind, html));
    let unlabelled = Answer {
        headers: Vec::new(),
        ..Answer::html(html)
    };
    vec![
        entry("duplicate-a", Duplicate, "a page", "fetched"),
        entry("duplicate-b", Duplicate, "the same page again", "fetched"),
        entry("near-duplicate-a", NearDuplicate, "a page", "fetched"),
        entry(
            "near-duplicate-b",
            NearDuplicate,
            "nearly the same page",
            "fetched",
        ),
        entry(
            "soft-404",
            Soft404,
            "a page that says it does not exist",
            "fetched",
        ),
        entry("file.pdf", File(FileKind::Pdf), "a PDF", "not_html"),
        entry(
            "picture",
            File(FileKind::Png),
            "a picture without extension",
            "not_html",
        ),
        entry("data.json", File(FileKind::Json), "JSON", "not_html"),
        entry(
            "notes.txt",
            File(FileKind::Text),
            "plain text",
            "not_html|fetched",
        ),
        entry("archive.zip", File(FileKind::Zip), "an archive", "not_html"),
        entry(
            "html-as-text",
            labelled("text/plain"),
            "HTML said to be text",
            "not_html|fetched",
        ),
        entry(
            "html-as-binary",
            labelled("application/octet-stream"),
            "HTML said to be binary",
            "not_html|fetched",
        ),
        entry(
            "html-untyped",
            Answers(unlabelled),
            "HTML without a type",
            "fetched|not_html",
        ),
        entry(
            "picture-as-html",
            Answers(Answer::html(crate::site::PNG)),
            "a picture said to be HTML",
            "fetched|not_html",
        ),
        entry(
            "204",
            Answers(Answer::status(204)),
            "success without content",
            "fetched|not_html",
        ),
        entry(
            "empty",
            Answers(Answer::html("")),
            "an empty page",
            "fetched",
        ),
    ]
}

fn conditions() -> Vec<GalleryEntry> {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT".to_owned();
    let etag = Some("\"v1\"".to_owned());
    let robots = Answer::html(
        "<!doctype html><title>Not for the index</title><meta name=robots content=noindex>",
    );
    let auth = BasicAuth {
        user: "ada".to_owned(),
        password: "secret".to_owned(),
    };
    vec![
        entry(
            "etag",
            Conditional {
                etag: etag.clone(),
                last_modified: None,
            },
            "a page with an ETag",
            "fetched|not_modified",
        ),
        entry(
            "last-modified",
            Conditional {
                etag: None,
                last_modified: Some(date.clone()),
            },
            "a page with a date",
            "fetched|not_modified",
        ),
        entry(
            "validators",
            Conditional {
                etag,
                last_modified: Some(date),
            },
            "a page with both",
            "fetched|not_modified",
        ),
        entry("cookies", SetCookie, "a page that sets cookies", "fetched"),
        entry(
            "head-refused",
            HeadRefused,
            "405 to HEAD, a page to GET",
            "fetched",
        ),
        entry(
            "basic-auth",
            auth,
            "a page behind a password",
            "client_error",
        ),
        entry("echo", Echo, "what the server saw", "not_html|fetched"),
        entry(
            "noindex",
            Answers(robots.with_header("x-robots-tag", "noindex, nofollow")),
            "a page that is not to be indexed",
            "fetched",
        ),
    ]
}
