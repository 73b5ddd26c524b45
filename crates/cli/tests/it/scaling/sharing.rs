//! Workers join a crawl under way, leave it, and share its hosts.

use std::collections::HashSet;

use trawl_testweb::WebSpec;

use super::fleet::{
    Postgres, Worker, assert_at_rest, assert_nothing_is_held, assert_polite, assert_true_graph,
    everything, server, wait_for_end,
};
use crate::harness::Web;

const HOSTS: u32 = 40;
const PAGES: u32 = 1_500;

#[test]
fn workers_share_a_crawl_and_leave_it_without_asking_anything_twice() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let api = front.client();
    let (first, second) = (Worker::start(&url, &[]), Worker::start(&url, &[]));
    let job = api.post("/spider/crawl?result_mode=store", &everything(&web, 20));
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    web.wait_until(|log| log.len() > 300);
    let workers = api.get("/workers").expect(200).json();
    assert_eq!(workers["workers"].as_array().unwrap().len(), 2, "{workers}");
    assert_eq!(first.stop(), Some(0));
    let end = wait_for_end(&api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_eq!(second.stop(), Some(0));
    assert_true_graph(&web, &url, PAGES);
    let requests = web.pages_asked();
    let mut asked = HashSet::new();
    for request in &requests {
        let page = (request.host, request.path_and_query.clone());
        assert!(asked.insert(page), "{} twice", request.path_and_query);
    }
    assert_polite(&web.log().entries(), HOSTS, 20);
    assert_nothing_is_held(&postgres);
    assert_at_rest(&url);
}

#[test]
fn a_transaction_that_stays_open_all_the_time_holds_no_crawl_up() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let api = front.client();
    let workers = [Worker::start(&url, &[]), Worker::start(&url, &[])];
    // No row that is changed from now on can be cleaned up.
    let pinned = postgres.pinned();
    let job = api.post("/spider/crawl?result_mode=store", &everything(&web, 20));
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let end = wait_for_end(&api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    postgres.sql(
        "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_stat_activity
           WHERE state = 'idle in transaction' AND backend_xmin IS NOT NULL)
         THEN RAISE EXCEPTION 'the transaction is over'; END IF; END $$",
    );
    assert_true_graph(&web, &url, PAGES);
    assert_polite(&web.log().entries(), HOSTS, 20);
    assert_nothing_is_held(&postgres);
    assert_at_rest(&url);
    drop((pinned, workers));
}

#[test]
fn a_server_is_ready_without_looking_at_anything_that_grows() {
    let postgres = Postgres::start();
    let front = server(&postgres.url, &[]);
    let api = front.client();
    api.get("/health/ready").expect(200);
    postgres.sql("ALTER TABLE crawls RENAME TO elsewhere");
    api.get("/health/ready").expect(200);
    postgres.crash();
    api.get("/health/ready").expect(503);
}

#[test]
fn pause_resume_and_cancel_reach_all_workers() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let api = front.client();
    let _workers = [Worker::start(&url, &[]), Worker::start(&url, &[])];
    let job = api.post("/spider/crawl?result_mode=store", &everything(&web, 100));
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    web.wait_until(|log| log.len() > 100);
    let paused = api.act(&format!("/jobs/{job}/pause")).expect(200);
    assert_eq!(paused.json()["status"], "paused");
    // Another server finds it paused, and lets it go on.
    let other = server(&url, &[]);
    let elsewhere = other.client();
    let resumed = elsewhere.act(&format!("/jobs/{job}/resume"));
    assert_eq!(resumed.expect(200).json()["status"], "running");
    let before = web.log().len();
    web.wait_until(|log| log.len() > before + 100);
    let cancelled = api.act(&format!("/jobs/{job}/cancel")).expect(200);
    assert_eq!(cancelled.json()["status"], "cancelled");
    let end = wait_for_end(&elsewhere, &job);
    assert_eq!(end["status"], "cancelled", "{end}");
}

#[test]
fn a_server_wakes_hosts_that_rest_by_mistake() {
    let postgres = Postgres::start();
    let web = Web::start(WebSpec::many_hosts(HOSTS, 100));
    let first = server(&postgres.url, &[]);
    // A wake-up is lost before anybody can ask for anything.
    let api = first.client();
    let job = api.post("/spider/crawl?result_mode=store", &everything(&web, 0));
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    first.kill();
    postgres.sql(
        "UPDATE hosts SET ready_at = 'infinity', empties = 2;
         DELETE FROM duties",
    );
    let second = server(&postgres.url, &[]);
    postgres.sql(
        "DO $$ BEGIN FOR i IN 1..6000 LOOP
           IF EXISTS (SELECT 1 FROM hosts WHERE ready_at < 'infinity') THEN RETURN; END IF;
           PERFORM pg_sleep(0.02); END LOOP; RAISE EXCEPTION 'nobody wakes it'; END $$",
    );
    let duties = second.client().get("/admin/duties").expect(200).json();
    let hosts = &duties["duties"][0];
    assert_eq!(hosts["name"], "hosts", "{duties} of {job}");
}
