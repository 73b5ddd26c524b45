//! What is told about two runs.

use proptest::prelude::*;

use super::*;
use crate::{
    memory::{MemoryRun, MemorySource},
    testkit::{FIRST, MapBuilder, SECOND},
};

/// Domains are `d0.test` to `d3.test`; of `d3.test` the class is as given.
fn run(id: CrawlId, pages: &[(usize, TerrainState)], class: DomainClass) -> MemoryRun {
    let mut map = MapBuilder::new(id, &["d0.test"]);
    let mut ids = Vec::new();
    for (number, state) in pages {
        let domain = number % 4;
        let class = if domain == 3 {
            class
        } else {
            DomainClass::Discovered
        };
        let url = format!("https://d{domain}.test/{number}");
        ids.push(map.page(&url, class, *state, 1));
    }
    for pair in ids.windows(2) {
        map.link(pair[0], pair[1], "");
    }
    map.run()
}

fn two() -> MemorySource {
    use TerrainState as S;
    let old = [(0, S::Processed), (1, S::Processed), (3, S::Processed)];
    let new = [
        (0, S::Processed),
        (1, S::DeadLink),
        (2, S::Processed),
        (3, S::Stubbed),
    ];
    MemorySource {
        runs: vec![
            run(FIRST, &old, DomainClass::Discovered),
            run(SECOND, &new, DomainClass::Stubbed),
        ],
    }
}

#[test]
fn what_appeared_vanished_and_changed_is_told() {
    let diff = Diff::read(&two(), FIRST, SECOND, 10).unwrap();
    assert_eq!(diff.pages_appeared.rows[0].url, "https://d2.test/2");
    assert_eq!(diff.pages_vanished.total, 0);
    assert_eq!(diff.pages_changed.total, 2);
    assert_eq!(diff.pages_changed.rows[0].is, TerrainState::DeadLink);
    assert_eq!(diff.domains_appeared.rows[0].domain, "d2.test");
    assert_eq!(diff.domains_changed.rows[0].is, DomainClass::Stubbed);
    assert_eq!(
        (diff.edges_appeared.total, diff.edges_vanished.total),
        (2, 1)
    );
    let text = diff.to_markdown();
    assert!(text.contains("| Links | 2 | 1 | – |"), "{text}");
    assert!(
        text.contains("- https://d1.test/1: Processed → DeadLink"),
        "{text}"
    );
    assert!(text.contains("- d3.test: discovered → stubbed"), "{text}");
    assert!(!text.contains("vanished\n\n- https://d2"));
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let diff = Diff::read(&two(), SECOND, SECOND, 10).unwrap();
    assert!(diff.is_empty());
    assert_eq!(diff.to_markdown().matches("## ").count(), 0);
}

#[test]
fn lists_are_cut_and_counted() {
    let diff = Diff::read(&two(), FIRST, SECOND, 1).unwrap();
    assert_eq!(
        (diff.edges_appeared.total, diff.edges_appeared.rows.len()),
        (2, 1)
    );
    assert!(diff.to_markdown().contains("- ... (1 more)"));
    let none = Diff::read(&two(), FIRST, SECOND, 0).unwrap();
    assert!(none.edges_appeared.rows.is_empty());
}

#[test]
fn json_names_the_states() {
    let text = Diff::read(&two(), FIRST, SECOND, 10)
        .unwrap()
        .to_json()
        .unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["pages_changed"]["rows"][0]["is"], "DeadLink");
}

proptest! {
    #[test]
    fn the_way_back_is_the_same_the_other_way_round(
        one in prop::collection::btree_set(0usize..12, 0..12),
        other in prop::collection::btree_set(0usize..12, 0..12),
    ) {
        let pages = |set: std::collections::BTreeSet<usize>| -> Vec<(usize, TerrainState)> {
            set.into_iter().map(|n| (n, TerrainState::Processed)).collect()
        };
        let source = MemorySource { runs: vec![
            run(FIRST, &pages(one), DomainClass::Discovered),
            run(SECOND, &pages(other), DomainClass::Discovered),
        ] };
        let there = Diff::read(&source, FIRST, SECOND, 100).unwrap();
        let back = Diff::read(&source, SECOND, FIRST, 100).unwrap();
        prop_assert_eq!(there.pages_appeared, back.pages_vanished);
        prop_assert_eq!(there.pages_vanished, back.pages_appeared);
        prop_assert_eq!(there.edges_appeared, back.edges_vanished);
        prop_assert_eq!(there.domains_vanished, back.domains_appeared);
    }
}
