//! What the summary says, and that its figures add up.

use proptest::prelude::*;
use trawl_types::terrain::{DomainClass, TerrainState};

use super::*;
use crate::testkit::{FIRST, MapBuilder, small_map};

fn small() -> Summary {
    Summary::read(&small_map(), FIRST).unwrap()
}

#[test]
fn the_small_map_is_summed_up_as_documented() {
    let expected = include_str!("small_map.md").replace("VERSION", env!("CARGO_PKG_VERSION"));
    assert_eq!(small().to_markdown(), expected);
}

#[test]
fn json_holds_what_markdown_leaves_out() {
    let json: serde_json::Value = serde_json::from_str(&small().to_json().unwrap()).unwrap();
    assert_eq!(json["overall"]["pages_known"], 13);
    assert_eq!(json["states"][0]["state"], "Processed");
    assert_eq!(json["errors"][1]["error"], "rate_limited");
}

#[test]
fn an_unknown_run_is_named_together_with_those_there_are() {
    let error = Summary::read(&small_map(), CrawlId(7)).unwrap_err();
    assert_eq!(error.to_string(), "there is no run 7; the only one is 1");
}

#[test]
fn a_run_without_end_is_told_until_its_last_visit() {
    let mut source = small_map();
    source.runs[0].run.finished_at = None;
    source.runs[0].run.status = RunStatus::Interrupted;
    let text = Summary::read(&source, FIRST).unwrap().to_markdown();
    assert!(text.contains("**Finished:** not yet  \n**Duration:** 1s  \n**Status:** Interrupted"));
}

#[test]
fn an_empty_run_has_all_sections() {
    let source = MapBuilder::new(FIRST, &["a.org"]).source();
    let text = Summary::read(&source, FIRST).unwrap().to_markdown();
    assert_eq!(text.matches("\n## ").count(), 6);
    assert!(text.contains("| 0 (Quality) | 0 | 0 |"));
}

#[test]
fn only_the_most_cited_urls_are_shown_and_all_are_counted() {
    let mut map = MapBuilder::new(FIRST, &["a.org"]);
    let a = map.page(
        "https://a.org/",
        DomainClass::Quality,
        TerrainState::Processed,
        0,
    );
    for number in 0..30 {
        let url = format!("https://ads.test/{number:02}");
        let ad = map.page(&url, DomainClass::Blacklisted, TerrainState::Blacklisted, 1);
        for _ in 0..number {
            map.link(a, ad, "");
        }
    }
    let summary = Summary::read(&map.source(), FIRST).unwrap();
    assert_eq!(summary.blacklisted.total, 30);
    assert_eq!(summary.blacklisted.top.len(), TOP_URLS);
    assert_eq!(summary.blacklisted.top[0].references, 29);
    let text = summary.to_markdown();
    assert!(text.contains("| ... | ... |\n\n*(Showing top 20 of 30)*"));
}

fn any_class() -> impl Strategy<Value = DomainClass> {
    prop::sample::select(DomainClass::ALL.to_vec())
}

fn any_state() -> impl Strategy<Value = TerrainState> {
    prop::sample::select(TerrainState::ALL.to_vec())
}

const ERRORS: [TerrainState; 4] = [
    TerrainState::DeadLink,
    TerrainState::Unreachable,
    TerrainState::RateLimited,
    TerrainState::Failed,
];

proptest! {
    #[test]
    fn totals_are_the_sums_of_their_parts(
        classes in prop::collection::vec(any_class(), 6),
        pages in prop::collection::vec((0usize..6, any_state(), 0u32..6), 0..60),
        links in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..80),
    ) {
        let mut map = MapBuilder::new(FIRST, &["d0.test"]);
        let mut ids = Vec::new();
        for (number, (domain, state, depth)) in pages.iter().enumerate() {
            let url = format!("https://d{domain}.test/{number}");
            ids.push(map.page(&url, classes[*domain], *state, *depth));
        }
        if !ids.is_empty() {
            for (from, to) in &links {
                map.link(*from.get(&ids), *to.get(&ids), "x");
            }
        }
        let source = map.source();
        let known = source.runs[0].pages.len() as u64;
        let edges = source.runs[0].edges.len() as u64;
        let summary = Summary::read(&source, FIRST).unwrap();
        let all = &summary.overall;
        prop_assert_eq!(all.pages_known, known);
        prop_assert_eq!(all.links, edges);
        prop_assert_eq!(summary.states.iter().map(|row| row.pages).sum::<u64>(), known);
        prop_assert_eq!(summary.depths.iter().map(|row| row.pages).sum::<u64>(), all.pages_crawled);
        prop_assert_eq!(summary.depths.iter().map(|row| row.new_domains).sum::<u64>(), all.domains);
        let listed = summary.quality_domains.len() + summary.other_domains.len();
        prop_assert_eq!(listed as u64, all.domains);
        prop_assert_eq!(summary.errors.iter().map(|row| row.count).sum::<u64>(), all.errors);
        let in_state = |states: &[TerrainState]| -> u64 {
            summary.states.iter().filter(|r| states.contains(&r.state)).map(|r| r.pages).sum()
        };
        prop_assert_eq!(in_state(&[TerrainState::Processed]), all.pages_crawled);
        prop_assert_eq!(
            in_state(&ERRORS),
            all.errors
        );
    }
}
