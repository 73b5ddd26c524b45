//! HTML to GitHub-flavoured Markdown and to readable text, in one pass over a small tree.
//!
//! In reading order: `tree` gives the page its shape, `read` says what each element means, `model`
//! is what passes between reading and writing, `write` spells it. Chooses nothing: what is main
//! content is decided before. Never fails; time and memory are linear in the input, the output is
//! bounded.

mod model;
mod read;
mod tree;
mod write;

use url::Url;

use crate::warning::{Warning, warn_once};

/// How much may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderLimits {
    /// Markdown and text are each cut, at a character boundary, above this many bytes.
    pub max_content_bytes: usize,
}

impl Default for RenderLimits {
    fn default() -> Self {
        RenderLimits {
            max_content_bytes: 1_000_000,
        }
    }
}

/// A page or fragment as Markdown and as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// GitHub-flavoured Markdown without HTML; every link is absolute.
    pub markdown: String,
    /// The same for reading: no markup, no addresses.
    pub text: String,
    /// There was more than the limits allow.
    pub truncated: bool,
    /// What went not quite right.
    pub warnings: Vec<Warning>,
}

/// Renders a page or fragment. Links are resolved against `<base>`, then against `base`, the
/// address of the page; without either, relative links become plain text.
///
/// ```
/// use trawl_extract::markdown::{RenderLimits, render};
///
/// let base = url::Url::parse("https://example.org/docs/").ok();
/// let rendered = render("<p>See <a href=../faq>the FAQ</a>", base.as_ref(), &RenderLimits::default());
/// assert_eq!(rendered.markdown, "See [the FAQ](https://example.org/faq)");
/// assert_eq!(rendered.text, "See the FAQ");
/// ```
pub fn render(html: &str, base: Option<&Url>, limits: &RenderLimits) -> Rendered {
    let tree = tree::build(html);
    let writers = read::read(&tree, base, limits.max_content_bytes);
    let truncated = tree.cut || writers.are_full();
    let mut warnings = Vec::new();
    if truncated {
        warn_once(&mut warnings, Warning::ContentTruncated);
    }
    if tree.flattened {
        warn_once(&mut warnings, Warning::NestingFlattened);
    }
    let (markdown, text) = writers.finish();
    Rendered {
        markdown,
        text,
        truncated,
        warnings,
    }
}
