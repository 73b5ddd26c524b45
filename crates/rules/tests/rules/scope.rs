//! Does a URL belong to the crawl?

use trawl_rules::Scope;
use trawl_types::{
    CrawlSpec, LinkRel, ReasonCode,
    spec::{HostScope, ScopeSpec, TrapSpec},
};

use crate::crawl_url;

const YEAR: i32 = 2026;

fn scope(seeds: &[&str], scope: ScopeSpec) -> Scope {
    let spec = CrawlSpec {
        scope,
        ..CrawlSpec::default()
    };
    let seeds: Vec<_> = seeds.iter().map(|seed| crawl_url(seed)).collect();
    Scope::compile(&spec, &seeds, YEAR).unwrap()
}

fn refusal(scope: &Scope, url: &str) -> Option<ReasonCode> {
    let verdict = scope.check(&crawl_url(url), LinkRel::default());
    verdict.err().map(|reason| reason.code)
}

#[test]
fn hosts_are_compared_as_parsed_names() {
    let listed =
        |names: &[&str]| HostScope::Listed(names.iter().map(ToString::to_string).collect());
    let seed = "https://www.example.com/start";
    for (hosts, seed, url, inside) in [
        (HostScope::SameHost, seed, "https://www.example.com/a", true),
        (HostScope::SameHost, seed, "http://example.com/a", true),
        (HostScope::SameHost, seed, "https://example.com./a", true),
        (
            HostScope::SameHost,
            seed,
            "https://blog.example.com/",
            false,
        ),
        (
            HostScope::SameHost,
            seed,
            "https://example.completely.different/",
            false,
        ),
        (
            HostScope::SameHost,
            seed,
            "https://www.example.com.evil.test/",
            false,
        ),
        (
            HostScope::SameHost,
            seed,
            "https://www.example.com:8080/",
            false,
        ),
        (
            HostScope::SameHost,
            "https://e.com/",
            "https://www.e.com/",
            true,
        ),
        (
            HostScope::SameHost,
            "https://e.com:8080/",
            "https://e.com:8080/x",
            true,
        ),
        (
            HostScope::SameHost,
            "https://e.com:8080/",
            "https://e.com/x",
            false,
        ),
        (
            HostScope::SameHost,
            "http://127.0.0.1:81/",
            "http://127.0.0.1:81/x",
            true,
        ),
        (HostScope::SameSite, seed, "https://blog.example.com/", true),
        (
            HostScope::SameSite,
            seed,
            "https://a.b.example.com:8080/",
            true,
        ),
        (HostScope::SameSite, seed, "https://notexample.com/", false),
        (
            HostScope::SameSite,
            seed,
            "https://example.completely.different/",
            false,
        ),
        (
            HostScope::SameSite,
            "https://me.github.io/",
            "https://you.github.io/",
            false,
        ),
        (
            HostScope::SameSite,
            "https://a.co.uk/",
            "https://b.co.uk/",
            false,
        ),
        (
            HostScope::SameSite,
            "https://a.co.uk/",
            "https://x.a.co.uk/",
            true,
        ),
        (
            HostScope::SameSite,
            "http://127.0.0.1/",
            "http://127.0.0.2/",
            false,
        ),
        (
            listed(&["*.one.test", "two.test"]),
            seed,
            "https://a.one.test/",
            true,
        ),
        (
            listed(&["*.one.test", "two.test"]),
            seed,
            "https://two.test:8443/",
            true,
        ),
        (
            listed(&["*.one.test", "two.test"]),
            seed,
            "https://www.two.test/",
            false,
        ),
        (
            listed(&["*.one.test", "two.test"]),
            seed,
            "https://www.example.com/",
            false,
        ),
        (HostScope::Anywhere, seed, "https://anything.test/", true),
    ] {
        let spec = ScopeSpec {
            hosts,
            ..ScopeSpec::default()
        };
        let expected = (!inside).then_some(ReasonCode::OtherHost);
        assert_eq!(
            refusal(&scope(&[seed], spec.clone()), url),
            expected,
            "{:?} {url}",
            spec.hosts
        );
    }
}

#[test]
fn patterns_include_and_exclude_and_excluding_wins() {
    let scope = scope(
        &["https://e.test/"],
        ScopeSpec {
            include: vec!["/blog/*".into(), "regex:/news/\\d+$".into()],
            exclude: vec!["*.pdf".into(), "*/private/*".into()],
            ..ScopeSpec::default()
        },
    );
    for (url, code, detail) in [
        ("https://e.test/blog/a", None, ""),
        ("https://e.test/news/12", None, ""),
        (
            "https://e.test/other",
            Some(ReasonCode::NotIncluded),
            "none of 2 patterns",
        ),
        (
            "https://e.test/blog/a.pdf",
            Some(ReasonCode::Excluded),
            "*.pdf",
        ),
        (
            "https://e.test/blog/private/a",
            Some(ReasonCode::Excluded),
            "*/private/*",
        ),
    ] {
        let reason = scope.check(&crawl_url(url), LinkRel::default()).err();
        assert_eq!(reason.as_ref().map(|r| r.code), code, "{url}");
        assert_eq!(
            reason.map(|r| r.detail).unwrap_or_default(),
            detail,
            "{url}"
        );
    }
}

#[test]
fn seeds_need_no_include_and_no_host_rule_but_obey_excludes_and_length() {
    let scope = scope(
        &["https://e.test/"],
        ScopeSpec {
            hosts: HostScope::Listed(vec!["other.test".into()]),
            include: vec!["/blog/*".into()],
            exclude: vec!["/private/*".into()],
            max_url_length: 60,
            ..ScopeSpec::default()
        },
    );
    let refusal = |url: &str| scope.check_seed(&crawl_url(url)).err().map(|r| r.code);
    assert_eq!(refusal("https://e.test/"), None);
    assert_eq!(refusal("https://e.test/1890/05/"), None);
    assert_eq!(
        refusal("https://e.test/private/a"),
        Some(ReasonCode::Excluded)
    );
    let long = format!("https://e.test/{}", "a".repeat(60));
    assert_eq!(refusal(&long), Some(ReasonCode::UrlTooLong));
}

#[test]
fn nofollow_is_followed_unless_the_spec_honours_it() {
    let nofollow = LinkRel(LinkRel::NOFOLLOW);
    let url = crawl_url("https://e.test/a");
    for (follow_nofollow, rel, code) in [
        (true, nofollow, None),
        (false, nofollow, Some(ReasonCode::Nofollow)),
        (false, LinkRel(LinkRel::UGC), None),
        (false, LinkRel::default(), None),
    ] {
        let spec = ScopeSpec {
            follow_nofollow,
            ..ScopeSpec::default()
        };
        let verdict = scope(&["https://e.test/"], spec).check(&url, rel);
        assert_eq!(verdict.err().map(|r| r.code), code);
    }
}

#[test]
fn shapes_of_endless_spaces_are_refused() {
    let guarded = scope(&["https://e.test/"], ScopeSpec::default());
    let path = |segments: u32| {
        let names: Vec<String> = (0..segments).map(|n| n.to_string()).collect();
        format!("/{}", names.join("/"))
    };
    let (deep, fine) = (path(33), path(32));
    let long = format!("/{}", "a".repeat(2048));
    let open = scope(
        &["https://e.test/"],
        ScopeSpec {
            traps: TrapSpec {
                max_segment_repeats: None,
                max_path_segments: None,
                max_years_from_now: None,
                ..TrapSpec::default()
            },
            ..ScopeSpec::default()
        },
    );
    for (path, code) in [
        ("/a/b/c", None),
        ("/a/a/a/a", Some(ReasonCode::RepeatedSegments)),
        ("/a/b/a/b/a/b", Some(ReasonCode::RepeatedSegments)),
        (deep.as_str(), Some(ReasonCode::PathTooDeep)),
        (fine.as_str(), None),
        ("/2099/05/", Some(ReasonCode::Calendar)),
        ("/?month=2099-05", Some(ReasonCode::Calendar)),
        ("/2031/05/", None),
        (long.as_str(), Some(ReasonCode::UrlTooLong)),
    ] {
        let url = format!("https://e.test{path}");
        assert_eq!(refusal(&guarded, &url), code, "{url}");
        let kept = code.filter(|code| *code == ReasonCode::UrlTooLong);
        assert_eq!(refusal(&open, &url), kept, "{url}");
    }
}

#[test]
fn a_pattern_that_cannot_be_used_stops_the_crawl_before_it_starts() {
    let bad = |change: fn(&mut ScopeSpec)| {
        let mut spec = CrawlSpec::default();
        change(&mut spec.scope);
        Scope::compile(&spec, &[], YEAR).unwrap_err()
    };
    let include = bad(|scope| scope.include = vec!["/ok/*".into(), "regex:(".into()]);
    assert_eq!(include.field, "scope.include");
    assert!(include.problem.contains("regex:("), "{include}");
    let exclude = bad(|scope| scope.exclude = vec!["/a[".into()]);
    assert_eq!(exclude.field, "scope.exclude");
    let hosts = bad(|scope| scope.hosts = HostScope::Listed(vec!["https://e.test".into()]));
    assert_eq!(hosts.field, "scope.hosts");
}
