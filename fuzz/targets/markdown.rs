//! HTML to Markdown and text: bounded, and the same every time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::markdown::{RenderLimits, render};
use url::Url;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, body)) = data.split_first() else {
        return;
    };
    let html = String::from_utf8_lossy(body);
    let base = Url::parse("https://example.org/dir/page?x=1").expect("a constant");
    let limits = RenderLimits {
        max_content_bytes: usize::from(flags >> 1) * 64,
    };
    let rendered = render(&html, (flags & 1 == 1).then_some(&base), &limits);
    assert!(rendered.markdown.len() <= limits.max_content_bytes);
    assert!(rendered.text.len() <= limits.max_content_bytes);
    let whole = render(&html, Some(&base), &RenderLimits::default());
    assert_eq!(whole, render(&html, Some(&base), &RenderLimits::default()));
});
