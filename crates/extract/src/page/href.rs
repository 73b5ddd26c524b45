//! Addresses as they stand in attributes: cleaned as URL parsing does, and sorted by scheme.
//!
//! Resolves nothing: whether an address may be asked for is for the rules to say.

use std::borrow::Cow;

use url::Url;

/// Longer addresses are no use to anybody and cost memory.
pub(crate) const MAX_HREF_BYTES: usize = 8192;

/// Removes what URL parsing ignores: control characters and spaces at both ends, tabs and
/// newlines anywhere.
pub(crate) fn clean(value: Cow<'_, str>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(value) => clean_borrowed(value),
        Cow::Owned(value) => match clean_borrowed(&value) {
            Cow::Borrowed(cleaned) if cleaned.len() == value.len() => Cow::Owned(value),
            cleaned => Cow::Owned(cleaned.into_owned()),
        },
    }
}

fn clean_borrowed(value: &str) -> Cow<'_, str> {
    let is_edge = |byte: &u8| *byte <= b' ';
    // Most have nothing to clean.
    if !value.as_bytes().iter().any(is_edge) {
        return Cow::Borrowed(value);
    }
    let start = value
        .bytes()
        .position(|byte| !is_edge(&byte))
        .unwrap_or(value.len());
    let end = value
        .bytes()
        .rposition(|byte| !is_edge(&byte))
        .map_or(start, |last| last + 1);
    let trimmed = value.get(start..end).unwrap_or_default();
    if memchr::memchr3(b'\t', b'\n', b'\r', trimmed.as_bytes()).is_some() {
        return Cow::Owned(trimmed.replace(['\t', '\n', '\r'], ""));
    }
    Cow::Borrowed(trimmed)
}

/// Whether a cleaned address is relative or http(s): `javascript:`, `mailto:`, `tel:`, `data:` and
/// every other scheme lead to no page.
pub(crate) fn is_crawlable(href: &str) -> bool {
    scheme(href).is_none_or(|scheme| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    })
}

/// The scheme of an absolute address, by the URL standard's scheme states.
fn scheme(href: &str) -> Option<&str> {
    let end = href
        .bytes()
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))?;
    let starts_well = href.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    (starts_well && href.as_bytes().get(end) == Some(&b':')).then(|| href.get(..end))?
}

/// An absolute http(s) address, or nothing.
pub(crate) fn resolve(base: &Url, href: &str) -> Option<Url> {
    let url = base.join(href).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaning_removes_what_url_parsing_ignores() {
        for (raw, cleaned) in [
            ("/a", "/a"),
            (" \t\n/a\u{c} ", "/a"),
            ("/a\n/b\tc\r", "/a/bc"),
            ("\u{1}\u{1f}x", "x"),
            ("/a b", "/a b"),
            ("\u{a0}x", "\u{a0}x"),
            ("", ""),
        ] {
            assert_eq!(clean(Cow::Borrowed(raw)), cleaned, "{raw:?}");
            assert_eq!(clean(Cow::Owned(raw.to_owned())), cleaned, "{raw:?}");
        }
    }

    #[test]
    fn only_relative_and_http_addresses_are_crawlable() {
        for href in [
            "/a",
            "a:b/c".trim_start_matches("a:"),
            "?q=a:b",
            "#x",
            "HTTPS://h/",
            "http:x",
        ] {
            assert!(is_crawlable(href), "{href}");
        }
        for href in [
            "JavaScript:void(0)",
            "mailto:a@b",
            "tel:1",
            "data:,x",
            "ftp://h/",
            "h:80/x",
        ] {
            assert!(!is_crawlable(href), "{href}");
        }
        assert!(is_crawlable("1a:b"), "a scheme begins with a letter");
    }
}
