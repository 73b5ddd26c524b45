//! Which of two links is the better one?

use trawl_rules::Scorer;
use trawl_types::spec::StrategySpec;

use crate::crawl_url;

fn scorer(keywords: &[&str]) -> Scorer {
    Scorer::new(&StrategySpec {
        keywords: keywords.iter().map(ToString::to_string).collect(),
        ..StrategySpec::default()
    })
}

#[test]
fn levels_stand_in_the_order_of_the_specification() {
    let score = |url: &str| scorer(&[]).score(&crawl_url(url), "", 0);
    let high = ["https://e.test/", "https://e.test/index.html"];
    let medium = [
        "https://e.test/about",
        "https://e.test/contact",
        "https://e.test/blog/a-post",
        "https://e.test/products/shoe",
        "https://e.test/some/page.html",
        "https://e.test/item?id=7",
    ];
    let low = [
        "https://e.test/blog/page/7",
        "https://e.test/list?page=2",
        "https://e.test/?s=word",
        "https://e.test/archive/2020",
        "https://e.test/tag/rust",
        "https://e.test/search/rust",
        "https://e.test/blog/category/x",
    ];
    let lowest = |urls: &[&str]| urls.iter().map(|url| score(url)).min().unwrap();
    let highest = |urls: &[&str]| urls.iter().map(|url| score(url)).max().unwrap();
    // However deep the better one, and however shallow the worse one.
    let at = |score, depth| scorer(&[]).at_depth(score, depth);
    assert!(at(lowest(&high), u32::MAX) > at(highest(&medium), 0));
    assert!(at(lowest(&medium), u32::MAX) > at(highest(&low), 0));
}

#[test]
fn shallow_pages_stand_above_deep_ones_of_their_kind() {
    let url = crawl_url("https://e.test/a/b");
    for keywords in [&[][..], &["word"]] {
        let scorer = scorer(keywords);
        let score = scorer.score(&url, "", 0);
        let at = |depth| scorer.at_depth(score, depth);
        assert!(at(1) > at(3) && at(3) > at(9), "{keywords:?}");
        assert_eq!(at(17), at(u32::MAX));
        assert_eq!(scorer.at_depth(255, 0), 255);
    }
    let at = |depth| scorer(&[]).at_depth(136, depth);
    assert!(at(1) > at(2) && at(2) > at(3));
}

#[test]
fn keywords_in_url_and_anchor_outweigh_parent_and_kind() {
    let scorer = scorer(&["machine learning", "crawl", "größe"]);
    let score = |url: &str, anchor: &str, parent| scorer.score(&crawl_url(url), anchor, parent);
    let nothing = score("https://e.test/x", "read more", 0);
    let good_parent = score("https://e.test/x", "read more", 255);
    let best_without_hit = score("https://e.test/", "home", 255);
    let in_url = score("https://e.test/machine-learning/page/2", "", 0);
    let in_anchor = score("https://e.test/x", "On Crawling the web", 0);
    let both = score("https://e.test/crawler", "Machine Learning for crawlers", 0);
    assert!(good_parent > nothing);
    assert!(in_url > best_without_hit && in_anchor > best_without_hit);
    assert!(both > in_url);
    assert!(score("https://e.test/gr%C3%B6%C3%9Fe", "", 0) > best_without_hit);
    assert_eq!(score("https://e.test/machine/for/learning", "", 0), nothing);
    assert_eq!(score("https://e.test/x", "scrawl", 0), nothing);
}

#[test]
fn long_and_strange_anchors_are_no_trouble() {
    let scorer = scorer(&["ä", ""]);
    let url = crawl_url("https://e.test/x?%ff%fe");
    for anchor in [
        "ä".repeat(100_000),
        " ".repeat(100_000),
        "\u{202e}\0".into(),
    ] {
        scorer.score(&url, &anchor, 255);
    }
}
