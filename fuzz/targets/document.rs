//! Documents of any kind to text, under any content type.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::document::{Document, read};
use url::Url;

const TYPES: [Option<&str>; 8] = [
    None,
    Some("application/pdf"),
    Some("text/plain"),
    Some("text/markdown"),
    Some("application/rss+xml; charset=utf-8"),
    Some("application/atom+xml"),
    Some("application/feed+json"),
    Some("text/xml"),
];

fuzz_target!(|data: &[u8]| {
    let Some((&flag, body)) = data.split_first() else {
        return;
    };
    let url = Url::parse("https://example.org/dir/notes.md").expect("a constant");
    let kind = TYPES[usize::from(flag) % TYPES.len()];
    if let Document::Text(document) = read(body, kind, Some(&url)) {
        assert!(document.text.len() <= 4 << 20);
        assert!(document.links.iter().all(|link| !link.href.is_empty()));
    }
});
