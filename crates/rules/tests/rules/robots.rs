//! robots.txt: RFC 9309 and what the large crawlers document.

use std::time::Duration;

use trawl_rules::{RobotsRules, RobotsVerdict};
use url::Url;

fn verdict(rules: &RobotsRules, path: &str) -> String {
    let url = Url::parse(&format!("https://e.test{path}")).unwrap();
    match rules.check(&url) {
        RobotsVerdict::Allowed { line: None } => "yes".into(),
        RobotsVerdict::Allowed { line: Some(line) } => format!("yes {line}"),
        RobotsVerdict::Disallowed { line, .. } => format!("no {line}"),
    }
}

/// `yes` or `no` with the line that decided, for the crawler `Foo`.
fn of_file(file: &[u8], path: &str) -> String {
    verdict(&RobotsRules::parse(file, "Foo"), path)
}

/// For a file that speaks to everyone: `lines` come after `User-agent: *`, so they begin at 2.
fn of_rules(lines: &str, path: &str) -> String {
    of_file(format!("User-agent: *\n{lines}").as_bytes(), path)
}

#[test]
fn paths_match_as_the_large_crawlers_document() {
    for (lines, path, expected) in [
        // nothing is forbidden by default
        ("", "/", "yes"),
        ("Disallow:", "/a", "yes"),
        ("Allow:", "/a", "yes"),
        ("Disallow: /", "/", "no 2"),
        ("Disallow: /", "/a?b", "no 2"),
        ("Disallow: /", "/robots.txt", "yes"),
        // prefixes
        ("Disallow: /fish", "/fish", "no 2"),
        ("Disallow: /fish", "/fish.html", "no 2"),
        ("Disallow: /fish", "/fish/salmon.html", "no 2"),
        ("Disallow: /fish", "/fishheads/yummy.html", "no 2"),
        ("Disallow: /fish", "/fish.php?id=anything", "no 2"),
        ("Disallow: /fish", "/Fish.asp", "yes"),
        ("Disallow: /fish", "/catfish", "yes"),
        ("Disallow: /fish", "/?id=fish", "yes"),
        ("Disallow: /fish*", "/fish", "no 2"),
        ("Disallow: /fish*", "/fishheads", "no 2"),
        ("Disallow: /fish/", "/fish", "yes"),
        ("Disallow: /fish/", "/fish/", "no 2"),
        ("Disallow: /fish/", "/fish/?id=1", "no 2"),
        ("Disallow: fish", "/fish", "yes"),
        // wildcards
        ("Disallow: /*.php", "/index.php", "no 2"),
        ("Disallow: /*.php", "/folder/any.php.file.html", "no 2"),
        ("Disallow: /*.php", "/filename.php?parameters", "no 2"),
        ("Disallow: /*.php", "/", "yes"),
        ("Disallow: /*.php", "/windows.PHP", "yes"),
        ("Disallow: /*.php$", "/filename.php", "no 2"),
        ("Disallow: /*.php$", "/filename.php?parameters", "yes"),
        ("Disallow: /*.php$", "/filename.php/", "yes"),
        ("Disallow: /*.php$", "/filename.php5", "yes"),
        ("Disallow: /*.php$", "/a.php.php", "no 2"),
        ("Disallow: /fish*.php", "/fish.php", "no 2"),
        ("Disallow: /fish*.php", "/fishheads/catfish.php?x", "no 2"),
        ("Disallow: /fish*.php", "/Fish.PHP", "yes"),
        ("Disallow: *", "/a", "no 2"),
        ("Disallow: */private/", "/a/private/b", "no 2"),
        ("Disallow: /a**b", "/axxb", "no 2"),
        ("Disallow: /a*$", "/abc", "no 2"),
        ("Disallow: /$", "/", "no 2"),
        ("Disallow: /$", "/a", "yes"),
        ("Disallow: /a$b", "/a$b", "no 2"),
        ("Disallow: /a$b", "/a", "yes"),
        ("Disallow: /*?", "/a?b", "no 2"),
        ("Disallow: /*?", "/a", "yes"),
        ("Disallow: /ab*ab$", "/ab", "yes"),
        ("Disallow: /ab*ab$", "/abab", "no 2"),
        // the longest match decides, and allowing wins a tie
        ("Allow: /p\nDisallow: /", "/page", "yes 2"),
        ("Disallow: /\nAllow: /p", "/page", "yes 3"),
        ("Allow: /folder\nDisallow: /folder", "/folder/page", "yes 2"),
        ("Disallow: /folder\nAllow: /folder", "/folder/page", "yes 3"),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", "no 3"),
        ("Allow: /page\nDisallow: /*.ph", "/page.php5", "yes 2"),
        ("Allow: /$\nDisallow: /", "/", "yes 2"),
        ("Allow: /$\nDisallow: /", "/page.htm", "no 3"),
        (
            "Disallow: /a\nDisallow: /ab\nDisallow: /abc",
            "/abcd",
            "no 4",
        ),
        (
            "Allow: /example/page/\nDisallow: /example/page/disallowed.gif",
            "/example/page/disallowed.gif",
            "no 3",
        ),
        // percent-encoding
        (
            "Disallow: /foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "no 2",
        ),
        (
            "Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=https://foo.bar",
            "no 2",
        ),
        ("Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", "no 2"),
        ("Disallow: /foo/bar/%E3%83%84", "/foo/bar/ツ", "no 2"),
        ("Disallow: /foo/bar/%e3%83%84", "/foo/bar/ツ", "no 2"),
        ("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", "no 2"),
        ("Disallow: /foo/bar/baz", "/foo/bar/%62%61%7A", "no 2"),
        ("Disallow: /a%2fb", "/a%2Fb", "no 2"),
        ("Disallow: /a%2Fb", "/a/b", "yes"),
        ("Disallow: /a/b", "/a%2Fb", "yes"),
        ("Disallow: /a%2Ab", "/a*b", "no 2"),
        ("Disallow: /a%2Ab", "/axb", "yes"),
        // Characters that a URL cannot hold and that its parser leaves as they are.
        ("Disallow: /a%7Cb", "/a|b", "no 2"),
        ("Disallow: /a|b", "/a%7cb", "no 2"),
        ("Disallow: /x?a%5Cb", "/x?a\\b", "no 2"),
        ("Disallow: /x?a\\b", "/x?a%5cb", "no 2"),
        ("Disallow: /x?f%5B1%5D", "/x?f[1]=2", "no 2"),
        ("Disallow: /x?f[1]", "/x?f%5b1%5d=2", "no 2"),
        (
            "Disallow: /path/file-with-a-%24",
            "/path/file-with-a-$",
            "no 2",
        ),
        ("Disallow: /a b", "/a%20b", "no 2"),
        ("Disallow: /a{b}", "/a{b}", "no 2"),
        ("Disallow: /100%", "/100%", "no 2"),
    ] {
        assert_eq!(of_rules(lines, path), expected, "{lines:?} on {path}");
    }
}

#[test]
fn groups_are_found_and_merged_by_product_name() {
    for (file, expected) in [
        ("User-agent: *\nDisallow: /a", "no 2"),
        ("User-agent: Bar\nDisallow: /a", "yes"),
        ("User-agent: Foo\nDisallow: /a", "no 2"),
        ("user-AGENT:fOO\ndisALLOW:/a", "no 2"),
        ("User-agent: Foo/1.0\nDisallow: /a", "no 2"),
        ("User-agent: Foo Bar\nDisallow: /a", "no 2"),
        ("User-agent: Foobar\nDisallow: /a", "yes"),
        ("User-agent: Foo-Bar\nDisallow: /a", "yes"),
        ("User-agent: Fo\nDisallow: /a", "yes"),
        // one's own group hides the one for all, wherever it stands
        (
            "User-agent: *\nDisallow: /\n\nUser-agent: Foo\nAllow: /",
            "yes 5",
        ),
        (
            "User-agent: Foo\nAllow: /\n\nUser-agent: *\nDisallow: /",
            "yes 2",
        ),
        ("User-agent: *\nDisallow: /\n\nUser-agent: Foo", "yes"),
        (
            "User-agent: *\nDisallow: /\nUser-agent: Foo\nDisallow:",
            "yes",
        ),
        // groups of one name are one group
        (
            "User-agent: Foo\nDisallow: /x\n\nUser-agent: Bar\nDisallow: /y\n\nUser-agent: foo\nDisallow: /a",
            "no 8",
        ),
        (
            "User-agent: *\nDisallow: /x\n\nUser-agent: *\nDisallow: /a",
            "no 5",
        ),
        // several names share what follows
        ("User-agent: Foo\nUser-agent: Bar\nDisallow: /a", "no 3"),
        ("User-agent: Bar\n\nUser-agent: Foo\n\nDisallow: /a", "no 5"),
        ("User-agent: Foo\nUser-agent: *\nDisallow: /a", "no 3"),
        (
            "User-agent: Foo\nSitemap: https://e.test/s.xml\nUser-agent: Bar\nDisallow: /a",
            "no 4",
        ),
        (
            "User-agent: Foo\nUnknown: line\nUser-agent: Bar\nDisallow: /a",
            "no 4",
        ),
        (
            "User-agent: Foo\nCrawl-delay: 1\nUser-agent: Bar\nDisallow: /a",
            "yes",
        ),
        (
            "User-agent: Foo\nDisallow: /x\nSitemap: https://e.test/s.xml\nDisallow: /a",
            "no 4",
        ),
        // what belongs to nobody is nobody's rule
        ("Disallow: /a\nUser-agent: *\nDisallow: /x", "yes"),
        ("Disallow: /a", "yes"),
        ("", "yes"),
        // the star may be followed by words, not by letters
        ("User-agent: * all of you\nDisallow: /a", "no 2"),
        ("User-agent: *Foo\nDisallow: /a", "yes"),
    ] {
        assert_eq!(of_file(file.as_bytes(), "/a"), expected, "{file:?}");
    }
}

#[test]
fn files_are_read_however_they_were_written() {
    let rows: &[(&[u8], &str)] = &[
        (b"\xEF\xBB\xBFUser-agent: *\nDisallow: /a", "no 2"),
        (b"User-agent: *\r\nDisallow: /a\r\n", "no 2"),
        (b"User-agent: *\rDisallow: /a\r", "no 2"),
        (b"\n\r\n\rUser-agent: *\n\nDisallow: /a", "no 6"),
        (b"  User-agent :  *  \n\t Disallow\t:\t/a\t", "no 2"),
        (b"User-agent: * # everyone\nDisallow: /a # secret", "no 2"),
        (b"User-agent: *\n# Disallow: /a", "yes"),
        (b"User-agent: *\nDisallow: #/a", "yes"),
        (b"User-agent *\nDisallow /a", "no 2"),
        (b"User-agent: *\nDisallow /a /b", "yes"),
        (b"User-agent: *\nDissallow: /a", "no 2"),
        (b"Useragent: *\nDisallow: /a", "no 2"),
        (b"User-agent: *\nDisallow: /\xFF\xFE\nDisallow: /a", "no 3"),
        (b"\xFF\xFE\x00\nUser-agent: *\nDisallow: /a", "no 3"),
        (b"<!DOCTYPE html><title>Not found</title>", "yes"),
        (b"User-agent: *\n:\n::\n: /a\nDisallow: /a", "no 5"),
        (b"User-agent: *\nDisallow: /a\0", "yes"),
    ];
    for (file, expected) in rows {
        let shown = String::from_utf8_lossy(file);
        assert_eq!(of_file(file, "/a"), *expected, "{shown:?}");
    }
    assert_eq!(of_file(b"User-agent: *\nDisallow: /\xE4", "/%E4x"), "no 2");
}

#[test]
fn only_the_first_500_kib_count_and_no_line_is_cut_in_two() {
    let mut file = b"User-agent: *\n".to_vec();
    while file.len() < 500 * 1024 - 12 {
        file.push(b'#');
    }
    file.extend(b"\nDisallow: /private\nDisallow: /late\n");
    let rules = RobotsRules::parse(&file, "Foo");
    assert_eq!(verdict(&rules, "/public"), "yes");
    assert_eq!(verdict(&rules, "/private"), "yes");
    assert_eq!(verdict(&rules, "/late"), "yes");

    let mut exact = b"User-agent: *\nDisallow: /a\n".to_vec();
    exact.resize(500 * 1024 - 14, b'#');
    exact.extend(b"\nDisallow: /bc");
    assert_eq!(exact.len(), 500 * 1024);
    exact.extend(b"\nDisallow: /d");
    assert_eq!(of_file(&exact, "/bc"), "no 4");
    assert_eq!(of_file(&exact, "/d"), "yes");
}

#[test]
fn crawl_delays_are_read_with_reason() {
    for (lines, expected) in [
        ("Crawl-delay: 10", Some(10_000)),
        ("crawl-delay:0.5", Some(500)),
        ("Crawl-delay: 0", Some(0)),
        ("Crawl-delay: 2 # please", Some(2_000)),
        (
            "Crawl-delay: 1\nCrawl-delay: 3\nCrawl-delay: 2",
            Some(3_000),
        ),
        ("Crawl-delay: 1e99", Some(86_400_000)),
        ("Crawl-delay: inf", Some(86_400_000)),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: NaN", None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay:", None),
        ("Disallow: /", None),
    ] {
        let rules = RobotsRules::parse(format!("User-agent: *\n{lines}").as_bytes(), "Foo");
        assert_eq!(
            rules.crawl_delay(),
            expected.map(Duration::from_millis),
            "{lines}"
        );
    }
    let own = b"User-agent: *\nCrawl-delay: 9\n\nUser-agent: Foo\nDisallow: /x";
    assert_eq!(RobotsRules::parse(own, "Foo").crawl_delay(), None);
    assert_eq!(
        RobotsRules::parse(own, "Bar").crawl_delay(),
        Some(Duration::from_secs(9))
    );
}

#[test]
fn sitemaps_belong_to_everyone_and_are_given_as_written() {
    let file = b"Sitemap: https://e.test/1.xml\nUser-agent: Bar\nDisallow: /\nsitemap: /2.xml\nSitemap:\nSITEMAP:   https://e.test/3.xml?a=b:c  ";
    assert_eq!(
        RobotsRules::parse(file, "Foo").sitemaps(),
        [
            "https://e.test/1.xml",
            "/2.xml",
            "https://e.test/3.xml?a=b:c"
        ]
    );
}

#[test]
fn the_agent_may_be_given_with_its_version() {
    let file = b"User-agent: Foo\nDisallow: /a";
    for (agent, expected) in [
        ("Foo/2.1 (+x)", "no 2"),
        ("foo", "no 2"),
        ("Bar", "yes"),
        ("", "yes"),
    ] {
        assert_eq!(
            verdict(&RobotsRules::parse(file, agent), "/a"),
            expected,
            "{agent}"
        );
    }
}

#[test]
fn a_verdict_names_the_rule_as_it_stands_in_the_file() {
    let rules = RobotsRules::parse(b"User-agent: *\nDISALLOW: /%7eme/*.x$ # why", "Foo");
    let url = Url::parse("https://e.test/~me/a.x").unwrap();
    let RobotsVerdict::Disallowed { line: 2, rule } = rules.check(&url) else {
        panic!("allowed");
    };
    assert_eq!(rule, "Disallow: /%7eme/*.x$");
}

#[test]
fn without_a_file_all_or_nothing_is_allowed_and_robots_txt_itself_always() {
    assert_eq!(verdict(&RobotsRules::allow_all(), "/a"), "yes");
    let closed = RobotsRules::disallow_all("HTTP 503");
    assert_eq!(verdict(&closed, "/a"), "no 0");
    assert_eq!(verdict(&closed, "/robots.txt"), "yes");
    let url = Url::parse("https://e.test/a").unwrap();
    let expected = RobotsVerdict::Disallowed {
        line: 0,
        rule: "HTTP 503".into(),
    };
    assert_eq!(closed.check(&url), expected);
}

#[test]
fn hostile_wildcards_end() {
    let rule = format!("Disallow: /{}b\n", "*a".repeat(200));
    let file = format!("User-agent: *\n{}", rule.repeat(200));
    let path = format!("/{}", "a".repeat(2000));
    assert_eq!(of_file(file.as_bytes(), &path), "yes");
    let rule = format!("Disallow: /*{}b\n", "a".repeat(1000));
    let file = format!("User-agent: *\n{}", rule.repeat(400));
    assert_eq!(of_file(file.as_bytes(), &path), "yes");
}
