//! What a document is. Bytes that leave no doubt win over the header, which often is wrong; where
//! the bytes are just text, the header and the address say what the text is.

use std::borrow::Cow;

use url::Url;

/// How far into a document its kind must show.
const LOOK: usize = 1024;

/// What a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Html,
    Pdf,
    PlainText,
    Markdown,
    XmlFeed,
    JsonFeed,
    Sitemap,
    /// Anything else, by its media type.
    Other(Cow<'static, str>),
}

const MAGIC: [(usize, &[u8], &str); 29] = [
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"BM", "image/bmp"),
    (0, b"\0\0\x01\0", "image/x-icon"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (
        0,
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "application/x-ole-storage",
    ),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"\0asm", "application/wasm"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"%!PS", "application/postscript"),
];

/// Text types that are code or data rather than something to read.
const NOT_PROSE: [&str; 6] = [
    "text/css",
    "text/javascript",
    "application/javascript",
    "application/json",
    "application/ld+json",
    "application/x-javascript",
];

/// Says what a document is.
pub(super) fn sniff(bytes: &[u8], content_type: Option<&str>, url: Option<&Url>) -> Type {
    let look = bytes.get(..LOOK).unwrap_or(bytes);
    let header = essence(content_type);
    if memchr::memmem::find(look, b"%PDF-").is_some() && !starts_as_markup(look) {
        return Type::Pdf;
    }
    if let Some(media_type) = magic(look).filter(|_| !is_text(look)) {
        // A zip file may be an EPUB or an office document: the header knows better.
        let is_container = matches!(media_type, "application/zip" | "application/x-ole-storage");
        let named = is_container
            && header.starts_with("application/")
            && header != "application/octet-stream";
        return Type::Other(if named {
            header.into()
        } else {
            media_type.into()
        });
    }
    if !is_text(look) {
        let known = !header.is_empty() && !header.starts_with("text/");
        return Type::Other(if known {
            header.into()
        } else {
            "application/octet-stream".into()
        });
    }
    text_type(look, &header, url)
}

fn text_type(look: &[u8], header: &str, url: Option<&Url>) -> Type {
    let looks = markup(look);
    let path = url.map(Url::path).unwrap_or_default().to_ascii_lowercase();
    let is_markdown_file = [".md", ".markdown", ".mdown"]
        .iter()
        .any(|end| path.ends_with(end));
    match header {
        "text/markdown" | "text/x-markdown" => Type::Markdown,
        "text/plain" if is_markdown_file => Type::Markdown,
        "text/plain" => Type::PlainText,
        "text/html" | "application/xhtml+xml" => match looks {
            // Feeds are served as HTML now and then, and never the other way round.
            Some(feed @ (Type::XmlFeed | Type::Sitemap)) => feed,
            _ => Type::Html,
        },
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => {
            looks.unwrap_or(Type::XmlFeed)
        }
        "application/feed+json" => Type::JsonFeed,
        _ => match looks {
            Some(found) => found,
            None if header.ends_with("xml") => Type::Other(header.to_owned().into()),
            None if NOT_PROSE.contains(&header) => Type::Other(header.to_owned().into()),
            None if is_markdown_file => Type::Markdown,
            None if matches!(header, "" | "application/octet-stream")
                || header.starts_with("text/") =>
            {
                Type::PlainText
            }
            None => Type::Other(header.to_owned().into()),
        },
    }
}

/// What the first element or key says.
fn markup(look: &[u8]) -> Option<Type> {
    let start = look
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(look)
        .trim_ascii_start();
    if start.starts_with(b"{") {
        return memchr::memmem::find(look, b"jsonfeed.org/version").map(|_| Type::JsonFeed);
    }
    if !starts_as_markup(look) {
        return None;
    }
    let lower = start.to_ascii_lowercase();
    let at = |word: &[u8]| memchr::memmem::find(&lower, word).unwrap_or(usize::MAX);
    let first = |words: &[&[u8]]| {
        words
            .iter()
            .map(|word| at(word))
            .min()
            .unwrap_or(usize::MAX)
    };
    let kinds = [
        (
            first(&[b"<!doctype html", b"<html", b"<body", b"<head"]),
            Type::Html,
        ),
        (first(&[b"<rss", b"<feed", b"<rdf:rdf"]), Type::XmlFeed),
        (first(&[b"<urlset", b"<sitemapindex"]), Type::Sitemap),
        (first(&[b"<svg"]), Type::Other("image/svg+xml".into())),
    ];
    let (found, kind) = kinds.into_iter().min_by_key(|(at, _)| *at)?;
    if found < usize::MAX {
        return Some(kind);
    }
    start
        .starts_with(b"<?xml")
        .then(|| Type::Other("application/xml".into()))
}

fn starts_as_markup(look: &[u8]) -> bool {
    let start = look.strip_prefix(b"\xef\xbb\xbf").unwrap_or(look);
    start.trim_ascii_start().starts_with(b"<")
}

fn magic(look: &[u8]) -> Option<&'static str> {
    let of = |(at, magic, _): &&(usize, &[u8], &str)| {
        look.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    MAGIC.iter().find(of).map(|(_, _, media_type)| *media_type)
}

/// By the MIME sniffing standard: no byte that text never has. UTF-16 shows by its mark.
fn is_text(look: &[u8]) -> bool {
    if look.starts_with(b"\xff\xfe") || look.starts_with(b"\xfe\xff") {
        return true;
    }
    let is_readable_magic = look.starts_with(b"{\\rtf") || look.starts_with(b"%!PS");
    !is_readable_magic
        && look
            .iter()
            .all(|byte| !matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

fn essence(content_type: Option<&str>) -> String {
    let first = content_type
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    let essence: String = first.trim().chars().take(100).collect();
    essence.to_ascii_lowercase()
}
