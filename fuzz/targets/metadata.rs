//! What a page says about itself: bounded, and the same every time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::metadata::{Hints, metadata};
use url::Url;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (header, html) = text.split_once('\n').unwrap_or(("", &text));
    let hints = Hints {
        crawler: "trawl",
        x_robots_tag: vec![header],
        content_signal: vec![header],
        link: vec![header],
        content_language: Some(header),
        last_modified: Some(header),
        tdm_reservation: Some(header),
        tdm_policy: Some(header),
    };
    let base = Url::parse("https://example.org/dir/page?x=1").expect("a constant");
    let found = metadata(html, Some(&base), &hints);
    assert!(found.microdata.len() <= 200);
    assert_eq!(found, metadata(html, Some(&base), &hints));
});
