//! Workers are killed and stopped past their loans, the server is killed, PostgreSQL crashes, Redis forgets
//! everything or crashes, at random instants. In the end every page is there once, the links are the true ones, and no host was asked
//! sooner than its delay allows.

use std::{thread, time::Duration};

use trawl_testdb::Redis;
use trawl_testweb::WebSpec;

use super::fleet::{
    Postgres, Worker, assert_at_rest, assert_nothing_is_held, assert_polite, assert_true_graph,
    everything, runs, server, wait_for_end,
};
use crate::harness::{Dice, Web};

const WORKERS: usize = 4;
const HOSTS: u32 = 300;
const PAGES: u32 = 20_000;
/// So that the crawl cannot be over before every kind of fault has come, however quick the machine.
const DELAY_MS: u64 = 400;
const FAULTS: usize = 30;
/// One of each kind.
const EACH: [usize; 6] = [0, 4, 6, 7, 8, 9];
/// Short, so that a worker can be stopped for longer.
const LOAN: &str = "2s";

#[test]
fn a_crawl_by_four_workers_survives_thirty_faults() {
    let mut dice = Dice::new(0x666c_6565);
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let redis = Redis::start();
    let (quick, redis_url) = ("--redis", redis.url());
    let serve = || server(&url, &[quick, &redis_url]);
    let work = || Worker::start(&url, &["--loan", LOAN, quick, &redis_url]);
    let mut front = serve();
    let mut workers: Vec<Worker> = (0..WORKERS).map(|_| work()).collect();
    let mut api = front.client();
    let job = api.post(
        "/spider/crawl?result_mode=store",
        &everything(&web, DELAY_MS),
    );
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut kinds = [0; 10];
    let mut still_ran = 0;
    for n in 0..FAULTS {
        thread::sleep(Duration::from_millis(200 + dice.below(800)));
        let kind = dice.below(10) as usize;
        // Each once, whatever the dice say.
        let kind = EACH.get(n).copied().unwrap_or(kind);
        kinds[kind] += 1;
        still_ran += usize::from(runs(&api, &job));
        match kind {
            0..=3 => {
                let at = dice.below(WORKERS as u64) as usize;
                workers.swap_remove(at).kill();
                workers.push(work());
            }
            4 | 5 => {
                let worker = &workers[dice.below(WORKERS as u64) as usize];
                worker.signal("-STOP");
                thread::sleep(Duration::from_millis(2_500 + dice.below(1_500)));
                worker.signal("-CONT");
            }
            6 => {
                postgres.crash();
                thread::sleep(Duration::from_millis(dice.below(1_500)));
                postgres.start_again();
            }
            7 => {
                front.kill();
                front = serve();
                api = front.client();
            }
            8 => redis.flush(),
            _ => {
                redis.crash();
                thread::sleep(Duration::from_millis(dice.below(1_500)));
                redis.start_again();
            }
        }
    }
    println!("faults {kinds:?}; the crawl ran at {still_ran} of {FAULTS}");
    assert!(EACH.iter().all(|kind| kinds[*kind] > 0), "{kinds:?}");
    assert!(
        still_ran >= EACH.len(),
        "it was over after {still_ran} faults"
    );
    let end = wait_for_end(&api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_true_graph(&web, &url, PAGES);
    assert_polite(&web.log().entries(), HOSTS, DELAY_MS);
    assert_nothing_is_held(&postgres);
    assert_at_rest(&url);
}
