//! What a status and a content type mean. Pure.

use trawl_fetch::{Head, RetryAfter};
use trawl_types::{OutcomeKind, UnixMillis};

/// The meaning of an answer's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Read the body.
    Html,
    /// No content type: the body's first bytes decide.
    PerhapsHtml,
    Redirect,
    /// Done without a body.
    End(OutcomeKind),
}

pub(crate) fn meaning(head: &Head) -> Meaning {
    match head.status {
        204 | 205 => Meaning::End(OutcomeKind::NotHtml),
        200..=299 => by_content_type(head.content_type.as_deref()),
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

/// Retry-After in milliseconds from now, cut to what we are willing to wait.
pub(crate) fn asked_to_wait(head: &Head, now: UnixMillis, most_ms: u64) -> Option<u64> {
    let wait = match head.retry_after? {
        RetryAfter::Seconds(seconds) => seconds.saturating_mul(1000),
        RetryAfter::Date(date) => u64::try_from(date.0 - now.0).unwrap_or(0),
    };
    Some(wait.min(most_ms))
}

fn by_content_type(content_type: Option<&str>) -> Meaning {
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
pub(crate) fn path_suggests_other_than_html(path: &str) -> bool {
    const OTHER: &[&str] = &[
        "7z", "aac", "apk", "avi", "avif", "bin", "bmp", "bz2", "css", "csv", "deb", "dmg", "doc",
        "docx", "eot", "epub", "exe", "flac", "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg",
        "js", "json", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "odp", "ods",
        "odt", "ogg", "ogv", "otf", "pdf", "png", "ppt", "pptx", "ps", "rar", "rpm", "rss", "rtf",
        "svg", "tar", "tgz", "tif", "tiff", "ttf", "txt", "wav", "webm", "webp", "wmv", "woff",
        "woff2", "xls", "xlsx", "xml", "xz", "zip", "zst",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, ending)) = name.rsplit_once('.') else {
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
    fn only_endings_that_are_rarely_html_ask_for_head() {
        assert!(path_suggests_other_than_html("/a/b.PDF"));
        assert!(path_suggests_other_than_html("/a.tar.gz"));
        for path in ["/", "/a", "/a.html", "/a.php", "/v1.2/intro", "/.png/x"] {
            assert!(!path_suggests_other_than_html(path), "{path}");
        }
    }
}
