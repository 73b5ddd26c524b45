//! Endless URL spaces are cut off; large honest sites are not.

use trawl_rules::TrapGuard;
use trawl_types::{HostKey, KeySecret, Reason, ReasonCode, spec::TrapSpec};

use crate::crawl_url;

fn guard(spec: &TrapSpec) -> TrapGuard {
    TrapGuard::new(spec, KeySecret([7; 16]))
}

fn admit(guard: &mut TrapGuard, url: &str) -> Result<(), Reason> {
    let url = crawl_url(url);
    guard.admit(url.host().as_str(), url.as_str())
}

/// How many of the URLs are admitted, and the code of the last refusal.
fn admitted(
    guard: &mut TrapGuard,
    urls: impl Iterator<Item = String>,
) -> (usize, Option<ReasonCode>) {
    let mut count = 0;
    let mut refused = None;
    for url in urls {
        match admit(guard, &url) {
            Ok(()) => count += 1,
            Err(reason) => refused = Some(reason.code),
        }
    }
    (count, refused)
}

#[test]
fn two_hundred_thousand_leaf_pages_are_a_site_and_no_trap() {
    let mut guard = guard(&TrapSpec::default());
    let leaves = (0..200_000).map(|n| format!("https://e.test/p/{n}"));
    assert_eq!(admitted(&mut guard, leaves), (200_000, None));
    let slashed = (0..50_000).map(|n| format!("https://e.test/q/{n}/"));
    assert_eq!(admitted(&mut guard, slashed), (50_000, None));
}

#[test]
fn one_path_with_ever_new_queries_is_cut_off() {
    let mut guard = guard(&TrapSpec {
        max_query_variants: Some(100),
        ..TrapSpec::default()
    });
    let queries = (0..500).map(|n| format!("https://e.test/list?sid={n}"));
    assert_eq!(
        admitted(&mut guard, queries),
        (100, Some(ReasonCode::QueryVariants))
    );
    let rest = [
        "https://e.test/list",
        "https://e.test/other?x=1",
        "https://f.test/list?sid=1",
    ];
    let rest = rest.into_iter().map(ToOwned::to_owned);
    assert_eq!(admitted(&mut guard, rest), (3, None));
}

#[test]
fn a_directory_with_ever_new_directories_is_cut_off_below_its_prefix_only() {
    let mut guard = guard(&TrapSpec {
        max_path_values: Some(100),
        ..TrapSpec::default()
    });
    let sessions = (0..500).map(|n| format!("https://e.test/shop/s{n}/cart"));
    assert_eq!(
        admitted(&mut guard, sessions),
        (100, Some(ReasonCode::PathCardinality))
    );
    let rest = [
        "https://e.test/shop/s5/other", // a directory that is known
        "https://e.test/shop/leaf",
        "https://e.test/blog/2020/a",
        "https://f.test/shop/s999/cart",
    ];
    let rest = rest.into_iter().map(ToOwned::to_owned);
    assert_eq!(admitted(&mut guard, rest), (4, None));
}

#[test]
fn the_reason_says_where() {
    let mut guard = guard(&TrapSpec {
        max_path_values: Some(1),
        max_query_variants: Some(1),
        ..TrapSpec::default()
    });
    let mut admit = |url: &str| admit(&mut guard, url).map_err(|reason| reason.detail);
    assert_eq!(admit("https://e.test/shop/a/x"), Ok(()));
    assert_eq!(
        admit("https://e.test/shop/b/x"),
        Err("more than 1 below /shop/".into())
    );
    assert_eq!(
        admit("https://e.test/other/b/x"),
        Err("more than 1 below /".into())
    );
    assert_eq!(admit("https://e.test/l?a"), Ok(()));
    assert_eq!(admit("https://e.test/l?b"), Err("more than 1 of /l".into()));
}

#[test]
fn guards_can_be_switched_off_and_hosts_forgotten() {
    let mut open = guard(&TrapSpec {
        max_query_variants: None,
        max_path_values: None,
        ..TrapSpec::default()
    });
    let urls = |n: u32| (0..n).map(|n| format!("https://e.test/d{n}/x?q={n}"));
    assert_eq!(admitted(&mut open, urls(50_000)), (50_000, None));

    let mut guard = guard(&TrapSpec {
        max_path_values: Some(10),
        ..TrapSpec::default()
    });
    assert_eq!(admitted(&mut guard, urls(20)).0, 10);
    guard.forget(&HostKey::from_stored("e.test"));
    assert_eq!(admitted(&mut guard, urls(20)).0, 10);
}

#[test]
fn many_hosts_with_many_directories_never_exceed_the_room_that_is_given() {
    let mut guard = guard(&TrapSpec::default());
    let urls = (0..600_000).map(|n| format!("https://h{}.test/d{n}/x?a", n / 1000));
    assert_eq!(admitted(&mut guard, urls).0, 600_000);
    assert!(guard.entries() <= 500_000, "{}", guard.entries());
}

#[test]
fn very_many_hosts_are_bounded_too() {
    let mut guard = guard(&TrapSpec::default());
    let urls = (0..200_000).map(|n| format!("https://h{n}.test/d/x"));
    assert_eq!(admitted(&mut guard, urls).0, 200_000);
    assert!(guard.entries() <= 500_000, "{}", guard.entries());
}
