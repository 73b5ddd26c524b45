//! Bytes to text to links. The first byte chooses what the headers say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::{PageLimits, charset, content_hash, page};
use url::Url;

const CONTENT_TYPES: [Option<&str>; 4] = [
    None,
    Some("text/html; charset=utf-8"),
    Some("text/html; charset=shift_jis"),
    Some("text/html; charset=\"utf-16le\""),
];
const TLDS: [Option<&str>; 4] = [None, Some("org"), Some("jp"), Some("xn--p1ai")];
const MOST_LINKS: usize = 50;
const MOST_ANCHOR: usize = 40;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, body)) = data.split_first() else {
        return;
    };
    let content_type = CONTENT_TYPES[usize::from(flags & 3)];
    let tld = TLDS[usize::from(flags >> 2 & 3)];
    let decoded = charset::decode(body, content_type, tld);
    let base = Url::parse("https://example.org/dir/page?x=1").expect("a constant");
    let limits = PageLimits {
        max_links: MOST_LINKS,
        max_anchor_chars: MOST_ANCHOR,
        crawler: "trawl",
    };
    let facts = page(&decoded.text, &base, limits);
    assert!(facts.links.len() <= MOST_LINKS);
    assert!(facts.links_total as usize >= facts.links.len());
    for link in &facts.links {
        assert!(link.anchor.chars().count() <= MOST_ANCHOR, "{link:?}");
        if let Some(url) = facts.resolve(&link.href) {
            assert!(matches!(url.scheme(), "http" | "https"), "{link:?} is {url}");
        }
    }
    assert_eq!(content_hash(&decoded.text), content_hash(&decoded.text));
});
