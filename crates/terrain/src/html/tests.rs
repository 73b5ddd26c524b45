//! The page is one file, holds the map, and nothing crawled becomes markup in it.

use trawl_types::terrain::{DomainClass, TerrainState};

use super::*;
use crate::testkit::{FIRST, MapBuilder, small_map};

fn page(source: &crate::memory::MemorySource) -> String {
    let mut out = Vec::new();
    write_html(source, FIRST, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let page = page(&small_map());
    let (markup, _) = page.split_once("<script").unwrap();
    for reference in ["src=", "href=", "url(", "@import", "<link", "<iframe", "{{"] {
        assert!(!markup.contains(reference), "{reference}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn the_graph_has_every_domain_of_a_small_map_and_its_links() {
    let data = data(&page(&small_map()));
    let domains = data["domains"].as_array().unwrap();
    assert_eq!(domains.len(), 8);
    assert_eq!(domains[0]["name"], "a.org", "quality domains come first");
    let near = domains.iter().find(|d| d["name"] == "near.net").unwrap();
    assert_eq!(
        (&near["links_in"], &near["domains_in"]),
        (&3.into(), &2.into())
    );
    assert_eq!(near["links_inside"], 4);
    let links = data["links"].as_array().unwrap();
    assert_eq!(links[0]["weight"], 2, "the heaviest comes first");
    assert!(links.iter().all(|link| link["example"]["from"].is_string()));
    assert_eq!(data["domains_left_out"], 0);
}

#[test]
fn hostile_text_stays_text() {
    let mut map = MapBuilder::new(FIRST, &["a.org"]);
    let a = map.page(
        "https://a.org/",
        DomainClass::Quality,
        TerrainState::Processed,
        0,
    );
    let nasty = "https://x.test/</script><script>alert(1)</script>";
    let x = map.page(nasty, DomainClass::Stubbed, TerrainState::Stubbed, 1);
    map.link(a, x, "</script><!--<img src=x onerror=alert(1)>{{script}}");
    let page = page(&map.source());
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    let anchor = data(&page)["links"][0]["example"]["anchor"].clone();
    assert!(anchor.as_str().unwrap().starts_with("</script><!--"));
}

#[test]
fn the_policy_names_the_script_and_the_style_that_are_there() {
    let page = page(&small_map());
    let script = page.rsplit_once("<script>").unwrap().1;
    let script = script.split_once("</script>").unwrap().0;
    assert!(page.contains(&format!("script-src '{}'", hash::sha256(script))));
    let style = page.split_once("<style>").unwrap().1;
    let style = style.split_once("</style>").unwrap().0;
    assert!(page.contains(&format!("style-src '{}'", hash::sha256(style))));
}

#[test]
fn a_large_map_is_cut_to_what_weighs_most_and_says_so() {
    let mut map = MapBuilder::new(FIRST, &["a.org"]);
    let a = map.page(
        "https://a.org/",
        DomainClass::Quality,
        TerrainState::Processed,
        0,
    );
    for number in 0..MAX_DOMAINS + 10 {
        let url = format!("https://d{number}.test/");
        let page = map.page(&url, DomainClass::Discovered, TerrainState::Processed, 1);
        if number >= 20 {
            map.link(a, page, "x");
        }
    }
    let data = data(&page(&map.source()));
    assert_eq!(data["domains"].as_array().unwrap().len(), MAX_DOMAINS);
    assert_eq!(data["domains_left_out"], 11);
}
