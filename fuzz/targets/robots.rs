//! A robots.txt and a path to check: the first line is the path, the rest the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_rules::{RobotsRules, RobotsVerdict};
use url::Url;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let (path, file) = data.split_at(end);
    let rules = RobotsRules::parse(file, "trawl");
    let same = RobotsRules::parse(file, "Trawl/1.0 (+https://example.org)");
    let path = String::from_utf8_lossy(path);
    let base = Url::parse("https://example.org/").expect("a constant");
    for path in [path.as_ref(), "/", "/robots.txt", "/a/b?c=d"] {
        let Ok(url) = base.join(path) else { continue };
        let verdict = rules.check(&url);
        assert_eq!(verdict, same.check(&url), "the version of an agent changes {url}");
        assert!(verdict.is_allowed() || url.path() != "/robots.txt");
        if let RobotsVerdict::Disallowed { line, rule } = verdict {
            let lines = file.split(|&byte| matches!(byte, b'\n' | b'\r')).count();
            assert!(line as usize <= lines, "line {line} of {lines}");
            assert!(!rule.is_empty());
        }
    }
    assert!(rules.sitemaps().len() <= file.len());
    let _ = rules.crawl_delay();
});
