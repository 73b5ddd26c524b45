//! What the rules cost per call. Run it with `--release`; numbers are for reading, not for tests.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use trawl_rules::{Normaliser, RobotsRules, Scope, Scorer, TrapGuard, site_of};
use trawl_types::{
    CrawlSpec, CrawlUrl, KeySecret, LinkRel,
    spec::{NormaliseSpec, ScopeSpec, StrategySpec, TrapSpec},
};
use url::Url;

type MakeHref = fn(u32) -> String;

const SECRET: KeySecret = KeySecret([7; 16]);

/// Prints the best time per call out of several rounds.
fn measure(name: &str, calls: u32, mut work: impl FnMut()) {
    let best = (0..15)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed() / calls
        })
        .min()
        .unwrap_or(Duration::ZERO);
    println!("{name:44} {best:>10.0?}");
}

fn main() {
    let base = Url::parse("http://site-12.test:8080/section/page-17.html").ok();
    let Some(base) = base else { return };
    joins(&base);
    let normaliser = Normaliser::new(&NormaliseSpec::default(), SECRET);
    let urls: Vec<CrawlUrl> = (0..1000)
        .filter_map(|n| {
            normaliser
                .join(&base, &format!("/section/{}/page-{n}.html", n % 7))
                .ok()
        })
        .collect();
    checks(&base, &urls);
    robots();
}

fn joins(base: &Url) {
    let normaliser = Normaliser::new(&NormaliseSpec::default(), SECRET);
    let kinds: [(&str, MakeHref); 6] = [
        ("/section/page-N.html", |n| {
            format!("/section/page-{n}.html")
        }),
        ("page-N.html", |n| format!("page-{n}.html")),
        ("http://same-host/section/page-N.html", |n| {
            format!("http://site-12.test:8080/section/page-{n}.html")
        }),
        ("https://www.other.test/a/N", |n| {
            format!("https://www.other.test/a/{n}")
        }),
        ("/list?page=N&utm_source=x&b=2#top", |n| {
            format!("/list?page={n}&utm_source=x&b=2#top")
        }),
        ("/%7Euser/caf%c3%a9/N", |n| {
            format!("/%7Euser/caf%c3%a9/{n}")
        }),
    ];
    for (name, make) in kinds {
        let hrefs: Vec<String> = (0..1000).map(make).collect();
        measure(&format!("url::join {name}"), 1000, || {
            for href in &hrefs {
                let _ = black_box(base.join(black_box(href)));
            }
        });
        measure(&format!("join {name}"), 1000, || {
            for href in &hrefs {
                let _ = black_box(normaliser.join(base, black_box(href)));
            }
        });
    }
}

fn checks(base: &Url, urls: &[CrawlUrl]) {
    let patterned = ScopeSpec {
        include: vec!["/section/*".into()],
        exclude: vec![
            "*.pdf".into(),
            "*/private/*".into(),
            "regex:[?&]sid=".into(),
        ],
        ..ScopeSpec::default()
    };
    for (name, scope) in [
        ("scope", ScopeSpec::default()),
        ("scope, 4 patterns", patterned),
    ] {
        let spec = CrawlSpec {
            scope,
            ..CrawlSpec::default()
        };
        let Ok(scope) = Scope::compile(&spec, urls, 2026) else {
            return;
        };
        measure(name, 1000, || {
            for url in urls {
                let _ = black_box(scope.check(black_box(url), LinkRel::default()));
            }
        });
    }
    let mut guard = TrapGuard::new(&TrapSpec::default(), SECRET);
    measure("trap guard", 1000, || {
        for url in urls {
            let _ = black_box(guard.admit(url.host().as_str(), black_box(url.as_str())));
        }
    });
    for keywords in [
        vec![],
        vec!["page".to_owned(), "machine learning".to_owned()],
    ] {
        let spec = StrategySpec {
            keywords,
            ..StrategySpec::default()
        };
        let scorer = Scorer::new(&spec);
        measure(
            &format!("score, {} keywords", spec.keywords.len()),
            1000,
            || {
                for url in urls {
                    let score = scorer.score(black_box(url), "read more about it", 9);
                    black_box(scorer.at_depth(score, 3));
                }
            },
        );
    }
    measure("site", 1, || {
        black_box(site_of(black_box(base.host_str().unwrap_or_default())));
    });
}

fn robots() {
    let Ok(url) = Url::parse("https://e.test/section/3/page-17.html?x=1") else {
        return;
    };
    let small = "User-agent: *\nDisallow: /admin\nDisallow: /*.pdf$\nAllow: /admin/open\nDisallow: /search\nDisallow: /cgi-bin/\nCrawl-delay: 1\n";
    let hostile = format!(
        "User-agent: *\n{}",
        format!("Disallow: /{}b\n", "*a".repeat(200)).repeat(200)
    );
    let huge = format!(
        "User-agent: *\n{}",
        "Disallow: /some/long/path-x\n".repeat(18_000)
    );
    let long = Url::parse(&format!("https://e.test/{}", "a".repeat(2000)));
    let Ok(long) = long else { return };
    for (name, file, url) in [
        ("small", small, &url),
        ("hostile", &hostile, &long),
        ("500 KiB", &huge, &url),
    ] {
        measure(&format!("robots, {name} file: parse"), 1, || {
            black_box(RobotsRules::parse(black_box(file.as_bytes()), "Foo"));
        });
        let rules = RobotsRules::parse(file.as_bytes(), "Foo");
        measure(&format!("robots, {name} file: check"), 10, || {
            for _ in 0..10 {
                black_box(rules.check(black_box(url)));
            }
        });
    }
}
