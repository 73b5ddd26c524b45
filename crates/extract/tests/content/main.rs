//! The main content of pages of every kind, and of pages made to break it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hostile;
mod kinds;
mod rendered;
mod structure;

use trawl_extract::content::{ContentLimits, MainContent, main_content};
use url::Url;

/// The content of a page at a neutral address.
pub(crate) fn extract(html: &str) -> MainContent {
    let base = Url::parse("https://example.org/a/page.html").unwrap();
    main_content(html, Some(&base), &ContentLimits::default())
}

/// Checks what must be in the content of a page and what must not.
pub(crate) fn check(html: &str, wanted: &[&str], unwanted: &[&str]) -> MainContent {
    let content = extract(html);
    for text in wanted {
        assert!(content.html.contains(text), "lost: {text}\n{content:#?}");
    }
    for text in unwanted {
        assert!(
            !content.html.contains(text),
            "left in: {text}\n{content:#?}"
        );
    }
    content
}
