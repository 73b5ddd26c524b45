//! Sitemaps, feeds and lists of addresses, packed or not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::sitemap::{Sitemap, SitemapLimits};

const LIMITS: SitemapLimits = SitemapLimits {
    max_urls: 20,
    max_bytes: 1 << 20,
};

fuzz_target!(|data: &[u8]| {
    let sitemap = Sitemap::parse(data, LIMITS);
    assert!(sitemap.entries.len() + sitemap.children.len() <= LIMITS.max_urls);
    for entry in &sitemap.entries {
        assert!(!entry.loc.is_empty());
        assert!(entry.priority.is_none_or(|p| (0.0..=1.0).contains(&p)), "{entry:?}");
    }
});
