//! What a status and a content type mean. Pure.

use trawl_fetch::{Head, RetryAfter};
use trawl_types::{OutcomeKind, UnixMillis};

/// A host is asked again after a week, whatever it said. As long as a crawl may be told to wait.
const MOST_REMEMBERED_MS: u64 = 7 * 86_400_000;

/// The meaning of an answer's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Read the body.
    Html,
    /// No content type: the body's first bytes decide.
    PerhapsHtml,
    /// Something else that this crawl reads.
    Document,
    Redirect,
    /// Done without a body.
    End(OutcomeKind),
}

/// What a crawl reads besides HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Others {
    pub(crate) documents: bool,
    pub(crate) sitemaps: bool,
}

impl Others {
    pub(crate) fn any(self) -> bool {
        self.documents || self.sitemaps
    }

    /// Whether a body of this type is read.
    fn wants(self, essence: &str, path: &str) -> bool {
        const XML: &[&str] = &["application/xml", "text/xml"];
        const DOCUMENTS: &[&str] = &[
            "application/pdf",
            "application/x-pdf",
            "text/plain",
            "text/markdown",
            "text/x-markdown",
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/feed+json",
        ];
        const PERHAPS_PACKED: &[&str] = &[
            "text/plain",
            "application/gzip",
            "application/x-gzip",
            "application/octet-stream",
            "binary/octet-stream",
        ];
        let is = |list: &[&str]| list.iter().any(|one| essence.eq_ignore_ascii_case(one));
        (self.any() && is(XML))
            || (self.documents && is(DOCUMENTS))
            || (self.sitemaps && is(PERHAPS_PACKED) && names_a_sitemap(path))
    }
}

/// Whether HEAD should come first: the path suggests neither HTML nor anything else that is read.
pub(crate) fn head_comes_first(path: &str, others: Others) -> bool {
    let read = match ending_of(path).map(str::to_ascii_lowercase).as_deref() {
        Some("pdf" | "txt" | "rss") => others.documents,
        Some("xml") => others.any(),
        Some("gz") => others.sitemaps && names_a_sitemap(path),
        _ => false,
    };
    !read && path_suggests_other_than_html(path)
}

fn ending_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, ending)| ending)
}

/// Types that say little are read as sitemaps only where the address does.
pub(super) fn names_a_sitemap(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".xml.gz") || path.contains("sitemap")
}

pub(crate) fn meaning(head: &Head, others: Others, path: &str) -> Meaning {
    match head.status {
        204 | 205 => Meaning::End(OutcomeKind::NotHtml),
        200..=299 => by_content_type(head.content_type.as_deref(), others, path),
        304 => Meaning::End(OutcomeKind::NotModified),
        301 | 302 | 303 | 307 | 308 => Meaning::Redirect,
        300..=399 => Meaning::End(OutcomeKind::BadRedirect),
        404 => Meaning::End(OutcomeKind::NotFound),
        410 => Meaning::End(OutcomeKind::Gone),
        429 => Meaning::End(OutcomeKind::RateLimited),
        408 | 500..=599 => Meaning::End(OutcomeKind::ServerError),
        _ => Meaning::End(OutcomeKind::ClientError),
    }
}

/// Retry-After in milliseconds from now. Cut only where it would outlast anybody's interest.
pub(crate) fn asked_to_wait(head: &Head, now: UnixMillis) -> Option<u64> {
    let wait = match head.retry_after? {
        RetryAfter::Seconds(seconds) => seconds.saturating_mul(1000),
        RetryAfter::Date(date) => u64::try_from(date.0.saturating_sub(now.0)).unwrap_or(0),
    };
    Some(wait.min(MOST_REMEMBERED_MS))
}

fn by_content_type(content_type: Option<&str>, others: Others, path: &str) -> Meaning {
    let Some(text) = content_type else {
        return Meaning::PerhapsHtml;
    };
    let essence = text.split(';').next().unwrap_or_default().trim();
    if essence.is_empty() {
        Meaning::PerhapsHtml
    } else if essence.eq_ignore_ascii_case("text/html")
        || essence.eq_ignore_ascii_case("application/xhtml+xml")
    {
        Meaning::Html
    } else if others.wants(essence, path) {
        Meaning::Document
    } else {
        Meaning::End(OutcomeKind::NotHtml)
    }
}

/// Whether a body without a content type looks like HTML.
pub(crate) fn looks_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let start = body
        .iter()
        .position(|b| !b.is_ascii_whitespace())
        .unwrap_or(body.len());
    let head = &body[start..body.len().min(start + 64)];
    let head = head.to_ascii_lowercase();
    [
        &b"<!doctype html"[..],
        b"<html",
        b"<head",
        b"<body",
        b"<!--",
        b"<title",
        b"<h1",
        b"<p",
        b"<div",
        b"<a ",
    ]
    .iter()
    .any(|mark| head.starts_with(mark))
}

/// Endings of paths that are rarely HTML: HEAD is sent before GET.
fn path_suggests_other_than_html(path: &str) -> bool {
    const OTHER: &[&str] = &[
        "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "csv", "deb", "dmg", "doc",
        "docx", "eot", "epub", "exe", "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg",
        "js", "json", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods",
        "odt", "ogg", "ogv", "otf", "pdf", "png", "ppt", "pptx", "ps", "rar", "rpm", "rss", "rtf",
        "svg", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wav", "webm", "webp", "wmv", "woff",
        "woff2", "xls", "xlsx", "xml", "xz", "zip", "zst",
    ];
    let Some(ending) = ending_of(path) else {
        return false;
    };
    ending.len() <= 5
        && OTHER
            .binary_search(&ending.to_ascii_lowercase().as_str())
            .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML_ALONE: Others = Others {
        documents: false,
        sitemaps: false,
    };

    fn meaning(head: &Head) -> Meaning {
        super::meaning(head, HTML_ALONE, "/")
    }

    fn head(status: u16, content_type: Option<&str>) -> Head {
        Head {
            status,
            content_type: content_type.map(str::to_owned),
            ..Head::default()
        }
    }

    #[test]
    fn statuses_have_their_named_ends() {
        for (status, kind) in [
            (304, OutcomeKind::NotModified),
            (400, OutcomeKind::ClientError),
            (401, OutcomeKind::ClientError),
            (404, OutcomeKind::NotFound),
            (410, OutcomeKind::Gone),
            (429, OutcomeKind::RateLimited),
            (500, OutcomeKind::ServerError),
            (503, OutcomeKind::ServerError),
            (306, OutcomeKind::BadRedirect),
            (204, OutcomeKind::NotHtml),
        ] {
            assert_eq!(meaning(&head(status, None)), Meaning::End(kind), "{status}");
        }
        assert_eq!(meaning(&head(308, None)), Meaning::Redirect);
    }

    #[test]
    fn a_wait_is_what_was_asked_for_and_never_more_than_a_week() {
        let now = UnixMillis(1_000_000);
        for (asked, wait) in [
            (RetryAfter::Seconds(0), 0),
            (RetryAfter::Seconds(7200), 7_200_000),
            (RetryAfter::Seconds(u64::MAX), 604_800_000),
            (RetryAfter::Date(UnixMillis(1_007_000)), 7_000),
            (RetryAfter::Date(UnixMillis(3)), 0),
            (RetryAfter::Date(UnixMillis(i64::MAX)), 604_800_000),
        ] {
            let head = Head {
                retry_after: Some(asked),
                ..head(503, None)
            };
            assert_eq!(asked_to_wait(&head, now), Some(wait));
        }
        assert_eq!(asked_to_wait(&head(503, None), now), None);
    }

    #[test]
    fn html_is_told_by_its_type_and_without_one_by_its_looks() {
        assert_eq!(
            meaning(&head(200, Some("Text/HTML; charset=x"))),
            Meaning::Html
        );
        assert_eq!(
            meaning(&head(200, Some("application/xhtml+xml"))),
            Meaning::Html
        );
        assert_eq!(
            meaning(&head(200, Some("image/png"))),
            Meaning::End(OutcomeKind::NotHtml)
        );
        assert_eq!(meaning(&head(200, None)), Meaning::PerhapsHtml);
        assert!(looks_like_html(b"\xef\xbb\xbf \n<!DOCTYPE html><p>"));
        assert!(!looks_like_html(b"%PDF-1.7"));
    }

    #[test]
    fn documents_and_sitemaps_are_read_where_they_are_asked_for() {
        let of = |documents, sitemaps, kind, path| {
            let others = Others {
                documents,
                sitemaps,
            };
            super::meaning(&head(200, Some(kind)), others, path) == Meaning::Document
        };
        assert!(of(true, false, "application/PDF; x=y", "/a"));
        assert!(of(true, false, "text/plain", "/a"));
        assert!(!of(true, false, "image/png", "/a"));
        assert!(!of(false, true, "application/pdf", "/a"));
        assert!(of(false, true, "application/xml", "/a"));
        assert!(of(false, true, "application/gzip", "/map.xml.gz"));
        assert!(!of(false, true, "application/gzip", "/release.tar.gz"));
        assert!(!of(false, false, "application/xml", "/sitemap.xml"));
    }

    #[test]
    fn only_endings_that_are_rarely_html_ask_for_head() {
        assert!(path_suggests_other_than_html("/a/b.PDF"));
        assert!(path_suggests_other_than_html("/a.tar.gz"));
        for path in ["/", "/a", "/a.html", "/a.php", "/v1.2/intro", "/.png/x"] {
            assert!(!path_suggests_other_than_html(path), "{path}");
        }
        let everything = Others {
            documents: true,
            sitemaps: true,
        };
        for path in ["/a.PDF", "/a.xml", "/sitemap.xml.gz"] {
            assert!(head_comes_first(path, HTML_ALONE), "{path}");
            assert!(!head_comes_first(path, everything), "{path}");
        }
        assert!(head_comes_first("/a.tar.gz", everything));
    }
}
