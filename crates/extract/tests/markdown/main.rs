//! What HTML becomes in Markdown: cases as data, a round trip through a CommonMark parser, and
//! promises that hold for any input.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod any_input;
mod cases;
mod limits;
mod round_trip;

use trawl_extract::markdown::{RenderLimits, Rendered, render};
use url::Url;

/// Renders a fragment of `https://example.org/docs/page.html?x=1` without narrow limits.
fn rendered(html: &str) -> Rendered {
    let base = Url::parse("https://example.org/docs/page.html?x=1").unwrap();
    render(html, Some(&base), &RenderLimits::default())
}
