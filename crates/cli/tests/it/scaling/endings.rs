//! Crawls that are cancelled, deleted or refused while processes work on them: whatever becomes of one,
//! the same processes go on with the next, on the same hosts.

use serde_json::Value;
use trawl_testweb::WebSpec;

use super::fleet::{
    Postgres, Worker, assert_nothing_is_held, assert_polite, everything, server, wait_for_end,
};
use crate::harness::{Api, Server, Web};

const HOSTS: u32 = 40;
const PAGES: u32 = 1_200;
const DELAY_MS: u64 = 60;

const ORPHANS: &str = "DO $$ DECLARE t text; n int; BEGIN
    FOREACH t IN ARRAY ARRAY['crawl_pages', 'crawl_hosts', 'tallies', 'results'] LOOP
      EXECUTE format('SELECT count(*) FROM %I WHERE crawl NOT IN (SELECT id FROM crawls)', t)
        INTO n;
      IF n > 0 THEN RAISE EXCEPTION '% rows of no crawl in %', n, t; END IF;
    END LOOP; END $$";

fn begin(api: &Api, body: &Value) -> String {
    let job = api.post("/spider/crawl?result_mode=store", body);
    let job = job.expect(202).json();
    job["job_id"].as_str().unwrap().to_owned()
}

/// A crawl that workers are in the middle of.
fn under_way(api: &Api, web: &Web) -> String {
    let before = web.log().len();
    let job = begin(api, &everything(web, DELAY_MS));
    web.wait_until(|log| log.len() > before + 150);
    job
}

/// Several crawls end before their time, each in its way, and the last one is left in peace.
fn end_some_and_complete_the_last(api: &Api, web: &Web) {
    for _ in 0..2 {
        let job = under_way(api, web);
        api.act(&format!("/jobs/{job}/cancel")).expect(200);
        let job = under_way(api, web);
        api.delete(&format!("/jobs/{job}")).expect(204);
    }
    let job = begin(api, &everything(web, DELAY_MS));
    let end = wait_for_end(api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_eq!(end["pages_crawled"], PAGES, "{end}");
    assert_polite(&web.log().entries(), HOSTS, DELAY_MS);
}

#[test]
fn after_crawls_that_were_cancelled_and_deleted_workers_go_on_with_the_next() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let workers = [Worker::start(&url, &[]), Worker::start(&url, &[])];
    end_some_and_complete_the_last(&front.client(), &web);
    assert_nothing_is_held(&postgres);
    for worker in workers {
        assert_eq!(worker.stop(), Some(0));
    }
    postgres.sql(ORPHANS);
}

#[test]
fn a_server_that_crawls_itself_goes_on_after_crawls_that_were_cancelled_and_deleted() {
    let postgres = Postgres::start();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let args = ["--insecure-no-auth", "--delay", "0s"];
    let front = Server::start(std::path::Path::new(&postgres.url), &args);
    end_some_and_complete_the_last(&front.client(), &web);
    assert_nothing_is_held(&postgres);
    assert_eq!(front.stop(), Some(0));
    postgres.sql(ORPHANS);
}

#[test]
fn a_worker_whose_results_are_refused_for_a_while_goes_on_when_they_are_not_any_more() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let api = front.client();
    let worker = Worker::start(&url, &[]);
    let job = under_way(&api, &web);
    // As a permission that is taken away: nothing that would pass by itself.
    postgres.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON results EXECUTE FUNCTION refuse()",
    );
    let before = web.log().len();
    // Answers under way arrive, then nothing is asked; the worker comes back for more by itself.
    web.wait_until(|log| log.len() > before + 20);
    postgres.sql("DROP TRIGGER refuse ON results");
    let end = wait_for_end(&api, &job);
    assert_eq!(end["status"], "completed", "{end}");
    assert_polite(&web.log().entries(), HOSTS, DELAY_MS);
    assert_nothing_is_held(&postgres);
    assert_eq!(worker.stop(), Some(0));
}

#[test]
fn a_worker_that_is_told_to_stop_does_so_also_while_the_database_is_away() {
    let postgres = Postgres::start();
    let url = postgres.url.clone();
    let web = Web::start(WebSpec::many_hosts(HOSTS, PAGES));
    let front = server(&url, &[]);
    let (busy, idle) = (Worker::start(&url, &[]), Postgres::start());
    let idle_worker = Worker::start(&idle.url, &[]);
    under_way(&front.client(), &web);
    // Long enough for both to take part.
    wait_for_worker(&idle);
    postgres.crash();
    idle.crash();
    assert_eq!(idle_worker.stop(), Some(0));
    assert_eq!(busy.stop(), Some(0));
}

fn wait_for_worker(postgres: &Postgres) {
    postgres.sql(
        "DO $$ BEGIN WHILE NOT EXISTS (SELECT 1 FROM workers) LOOP
           PERFORM pg_sleep(0.02); END LOOP; END $$",
    );
}
