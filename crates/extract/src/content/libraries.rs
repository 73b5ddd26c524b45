//! The extraction libraries, behind one shape: markup in, words out, never a panic.
//!
//! Both are ports of trafilatura. The one called `trafilatura` is the best on articles in its
//! precision mode, `rs-trafilatura` on everything else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use trafilatura::{ExtractionFocus, HtmlDateMode, Options};
use url::Url;

use super::words::words;

/// What a library found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) words: Vec<u32>,
    /// Whether the library holds the page for an article.
    pub(crate) is_article: bool,
    pub(crate) panicked: bool,
}

fn guarded(extract: impl FnOnce() -> Option<(String, bool)>) -> Found {
    match catch_unwind(AssertUnwindSafe(extract)) {
        Ok(Some((text, is_article))) => Found {
            words: words(&text),
            is_article,
            panicked: false,
        },
        Ok(None) => Found::default(),
        Err(_) => Found {
            panicked: true,
            ..Found::default()
        },
    }
}

/// The text of an article, rather too little than too much. `second_opinion` compares it with
/// what readability and justext find, which doubles the time.
pub(crate) fn article(markup: &str, second_opinion: bool) -> Found {
    guarded(|| {
        let options = Options::default()
            .with_focus(ExtractionFocus::FavorPrecision)
            .with_fallback(second_opinion)
            .with_exclude_comments(true)
            .with_html_date_mode(HtmlDateMode::Disabled);
        let result = trafilatura::extract(markup, &options).ok()?;
        Some((result.content_text, true))
    })
}

/// The text of a page of any kind.
pub(crate) fn any_kind(markup: &str, address: Option<&Url>) -> Found {
    guarded(|| {
        let options = rs_trafilatura::Options {
            url: address.map(Url::to_string),
            ..rs_trafilatura::Options::default()
        };
        let result = rs_trafilatura::extract_with_options(markup, &options).ok()?;
        let is_article = result.metadata.page_type.as_deref() == Some("article");
        Some((result.content_text, is_article))
    })
}
