//! Who is worth a look, and the entry that takes them over.

use trawl_types::terrain::{DomainClass as C, TerrainState as S};

use super::*;
use crate::{
    config::parse,
    memory::MemorySource,
    testkit::{FIRST, MapBuilder, small_map},
};

/// Three quality domains; x.net is cited by two of them once, y.net by one of them many times,
/// z.net only by x.net and y.net.
fn map() -> MemorySource {
    let mut map = MapBuilder::new(FIRST, &["a.org", "b.org", "c.org"]);
    let [a, b, _] = ["a.org", "b.org", "c.org"]
        .map(|name| map.page(&format!("https://{name}/"), C::Quality, S::Processed, 0));
    let x = map.page("https://x.net/p|q", C::Discovered, S::Processed, 1);
    let z = map.page("https://z.net/", C::Discovered, S::Processed, 2);
    let stub = map.page("https://stub.net/", C::Stubbed, S::Stubbed, 1);
    let mut y_pages = Vec::new();
    for number in 0..5 {
        let url = format!("https://y.net/{number}");
        let page = map.page(&url, C::Discovered, S::Processed, 1);
        map.link(a, page, "y");
        y_pages.push(page);
    }
    map.link(a, x, "the [x] site");
    map.link(b, x, "");
    map.link(b, a, "");
    map.link(a, stub, "");
    map.link(x, z, "z");
    map.link(y_pages[0], z, "z");
    map.depth(z, 0, 2);
    map.depth(z, 1, 2);
    map.source()
}

fn names(rows: &[Prospect]) -> Vec<&str> {
    rows.iter().map(|row| row.domain.as_str()).collect()
}

#[test]
fn co_link_ranks_by_distinct_quality_domains_not_by_links() {
    let found = Prospects::read(&map(), FIRST, 10).unwrap();
    assert_eq!(names(&found.co_link), ["x.net", "y.net"]);
    assert_eq!(found.co_link[0].cited_by.len(), 2);
    assert_eq!(found.co_link[1].links, 5);
    assert_eq!(found.total, 3);
}

#[test]
fn snowball_also_sees_what_only_near_domains_cite() {
    let found = Prospects::read(&map(), FIRST, 10).unwrap();
    assert_eq!(names(&found.snowball), ["x.net", "z.net", "y.net"]);
    assert_eq!(found.snowball[1].near_domains, 2);
    assert_eq!(found.snowball[1].reached_from, 2);
}

#[test]
fn links_between_quality_domains_are_a_matrix() {
    let found = Prospects::read(&map(), FIRST, 10).unwrap();
    assert_eq!(found.inter_actor.links, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]);
    let small = Prospects::read(&small_map(), FIRST, 10).unwrap();
    assert_eq!(small.inter_actor.links, [[1, 1], [1, 0]]);
}

#[test]
fn examples_come_from_different_domains() {
    let found = Prospects::read(&map(), FIRST, 10).unwrap();
    let x = &found.co_link[0];
    assert_eq!(x.examples.len(), 2);
    assert_eq!(x.examples[0].anchor, "the [x] site");
}

#[test]
fn a_limit_cuts_the_rankings_and_not_the_total() {
    let found = Prospects::read(&map(), FIRST, 1).unwrap();
    assert_eq!((found.co_link.len(), found.snowball.len()), (1, 1));
    assert_eq!(found.total, 3);
}

#[test]
fn the_snippet_is_a_configuration() {
    let found = Prospects::read(&map(), FIRST, 10).unwrap();
    let config = parse("snippet", &found.to_toml()).unwrap();
    assert_eq!(config.quality[0].domain, "x.net");
    assert_eq!(config.quality[0].seeds, ["https://x.net/"]);
}

#[test]
fn markdown_has_all_views_and_escapes_what_was_crawled() {
    let text = Prospects::read(&map(), FIRST, 10).unwrap().to_markdown();
    assert_eq!(text.matches("\n## ").count(), 5);
    let row = "| x.net | 2 | 2 | 2 | 1 | a.org (1), b.org (1) |";
    assert!(text.contains(row), "{text}");
    assert!(
        text.contains("- https://a.org/ → https://x.net/p\\|q “the \\[x\\] site”"),
        "{text}"
    );
    assert!(text.contains("| b.org | 1 | 0 | 0 |"), "{text}");
}

#[test]
fn a_thousand_that_cite_a_domain_are_some_names_and_a_number() {
    let mut found = Prospects::read(&map(), FIRST, 10).unwrap();
    let one = found.co_link[0].cited_by[0].clone();
    found.co_link[0].cited_by = vec![one; 1000];
    let text = found.to_markdown();
    let row = text
        .lines()
        .find(|line| line.starts_with("| x.net"))
        .unwrap();
    assert!(row.starts_with("| x.net | 1000 |"), "{row}");
    assert_eq!(row.matches("a.org (1)").count(), 8, "{row}");
    assert!(row.ends_with(", … 992 more |"), "{row}");
}

#[test]
fn json_has_the_same() {
    let text = Prospects::read(&map(), FIRST, 10)
        .unwrap()
        .to_json()
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["co_link"][0]["cited_by"][0]["actor"], "a.org");
}
