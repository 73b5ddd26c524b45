//! The whole map against the truth: in one go, in a second run, and after many kills.

use std::{thread, time::Duration};

use trawl_testweb::WebSpec;

use super::{
    MapData, MapFile,
    truth::{told, truth},
};
use crate::harness::{Dice, Snapshot, Web};

const HOSTS: u32 = 8;
const KILLS: usize = 20;
const DELAY: Duration = Duration::from_millis(100);

fn web(pages: u32, seed: u64) -> Web {
    Web::start(WebSpec {
        links_per_page: 7,
        cross_host_share: 0.3,
        ..WebSpec::many_hosts(HOSTS, pages).with_seed(seed)
    })
}

fn map(web: &Web) -> MapFile {
    MapFile::new(web)
        .max_depth(1)
        .quality("site0.test", &[web.url(0, "/")])
        .quality("site1.test", &[web.url(1, "/")])
        .blacklist("site2.test")
        .stub("*.site3.test")
}

fn assert_polite(web: &Web) {
    for host in 0..HOSTS {
        let gap = web.log().min_gap(host);
        assert!(gap.is_none_or(|gap| gap >= DELAY), "host {host}: {gap:?}");
    }
    for host in [2, 3] {
        assert!(web.log().of_host(host).is_empty(), "host {host} was asked");
    }
}

#[test]
fn the_map_is_the_true_graph_with_its_depths_classes_counts_and_states() {
    let web = web(160, 11);
    let map = map(&web);
    map.map().run().expect_code(0);
    let data = MapData::open(&map.database());
    assert_eq!(told(&data), truth(&web, 1));
    assert_eq!(data.number("SELECT count(*) FROM frontier"), 0);
    assert_eq!(
        data.number("SELECT count(*) FROM runs WHERE status = 'completed'"),
        1
    );
    let requests = data.number("SELECT sum(request_count) FROM domain_states");
    assert_eq!(requests as usize, web.pages_asked().len());
    assert_polite(&web);

    // A second run sees the same and knows it.
    map.map().run().expect_code(0);
    assert_eq!(told(&data), truth(&web, 1));
    let both = "SELECT count(*) FROM links WHERE discovered_run = 1 AND last_run = 2";
    assert_eq!(data.number(both), data.number("SELECT count(*) FROM links"));
    let same = map
        .map()
        .args(["--diff", "1", "2", "--format", "json"])
        .run();
    let same: serde_json::Value = serde_json::from_str(&same.expect_code(0).stdout).unwrap();
    assert_eq!(same["pages_appeared"]["total"], 0, "{same}");
}

#[test]
fn a_map_killed_twenty_times_is_the_same_map() {
    let mut dice = Dice::new(0x6d61_7073);
    let mut kills = 0;
    for seed in 1.. {
        assert!(seed < 10, "maps end before they can be killed");
        if kills >= KILLS {
            return;
        }
        kills += killed_map(seed, &mut dice);
    }
}

fn killed_map(seed: u64, dice: &mut Dice) -> usize {
    let web = web(320, seed);
    let map = map(&web);
    let mut kills = 0;
    while kills < KILLS {
        let run = map.map().start();
        thread::sleep(Duration::from_millis(60 + dice.below(500)));
        let ended = run.kill();
        web.settle();
        let left = Snapshot::of(&map.database());
        left.assert_sound();
        if ended.is_some() || is_completed(&left) {
            break;
        }
        kills += 1;
    }
    if !is_completed(&Snapshot::of(&map.database())) {
        map.map().run().expect_code(0);
    }
    let data = MapData::open(&map.database());
    assert_eq!(
        data.number("SELECT count(*) FROM runs"),
        1,
        "it was resumed every time"
    );
    assert_eq!(told(&data), truth(&web, 1));
    assert_polite(&web);
    kills
}

fn is_completed(left: &Snapshot) -> bool {
    left.has_tables() && left.number("SELECT count(*) FROM crawls WHERE state = 'completed'") > 0
}
