//! Bad roads between workers and their database: nothing arrives for longer than a loan lasts, everything
//! arrives late, connections break. In the end every page is there once, the links are the true ones,
//! and no host was asked sooner than its delay allows.

use std::{thread, time::Duration};

use trawl_testdb::Road;
use trawl_testweb::WebSpec;

use super::fleet::{
    Postgres, Worker, assert_at_rest, assert_nothing_is_held, assert_polite, assert_true_graph,
    everything, runs, server, wait_for_end,
};
use crate::harness::{Dice, Web};

const HOSTS: u32 = 30;
const PAGES: u32 = 1_200;
/// So that the crawl cannot be over before the roads have been bad.
const DELAY_MS: u64 = 250;
/// Short, so that a road can be closed for longer.
const LOAN: &str = "2s";
const FAULTS: u64 = 8;

fn millis(least: u64, dice: &mut Dice) -> Duration {
    Duration::from_millis(least + dice.below(least))
}

#[test]
fn a_crawl_survives_roads_to_the_database_that_are_cut_closed_and_slow() {
    let mut dice = Dice::new(0x726f_6164);
    let postgres = Postgres::start();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let roads: Vec<Road> = (0..3).map(|_| Road::to(&postgres.url)).collect();
    let work = |road: &Road| Worker::start(road.url(), &["--loan", LOAN]);
    let workers: Vec<Worker> = roads.iter().map(work).collect();
    let front = server(&postgres.url, &[]);
    let api = front.client();
    let job = api.post(
        "/spider/crawl?result_mode=store",
        &everything(&web, DELAY_MS),
    );
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    web.wait_until(|log| log.len() > 60);
    let mut still_ran = 0;
    for n in 0..FAULTS {
        let road = &roads[dice.below(roads.len() as u64) as usize];
        still_ran += u64::from(runs(&api, &job));
        match n % 4 {
            // Longer than a loan.
            0 => {
                road.stall();
                thread::sleep(millis(2_000, &mut dice));
                road.clear();
            }
            1 => road.cut(),
            2 => {
                road.slow(Duration::from_millis(500));
                thread::sleep(millis(800, &mut dice));
                road.clear();
            }
            // What was on its way is lost.
            _ => {
                road.stall();
                thread::sleep(millis(200, &mut dice));
                road.cut();
                road.clear();
            }
        }
        thread::sleep(millis(200, &mut dice));
    }
    assert!(still_ran >= 4, "it was over after {still_ran} faults");
    let end = wait_for_end(&api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_true_graph(&web, &postgres.url, PAGES);
    assert_polite(&web.log().entries(), HOSTS, DELAY_MS);
    assert_nothing_is_held(&postgres);
    assert_at_rest(&postgres.url);
    for worker in workers {
        assert_eq!(worker.stop(), Some(0));
    }
}
