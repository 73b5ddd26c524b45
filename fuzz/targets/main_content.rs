//! The main content of a page through the whole extraction: bounded and harmless.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::{Source, extract_page};
use url::Url;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, body)) = data.split_first() else {
        return;
    };
    let base = Url::parse("https://example.org/dir/page?x=1").expect("a constant");
    let source = Source {
        url: (flags & 1 == 1).then_some(&base),
        content_type: Some("text/html; charset=utf-8"),
        max_content_bytes: usize::from(flags >> 1) * 64,
        ..Source::default()
    };
    let page = extract_page(body, &source);
    let html = page.html.unwrap_or_default();
    for text in [&page.markdown, &page.text, &html] {
        assert!(text.len() <= source.max_content_bytes);
    }
    // The text of a formula is no markup, whatever it looks like.
    let (mut markup, mut rest) = (String::new(), html.to_ascii_lowercase());
    while let Some((before, behind)) = rest.split_once("<script type=\"math/") {
        markup.push_str(before);
        rest = behind.split_once("</script>").map_or("", |(_, rest)| rest).to_owned();
    }
    markup.push_str(&rest);
    for harmful in ["<iframe", "<svg", "<style", "<object", "<form"] {
        assert!(!markup.contains(harmful), "{markup}");
    }
});
