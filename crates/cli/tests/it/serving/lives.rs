//! Pause, resume, cancel, restart and `kill -9`: one mechanism, and the state in the file is true.

use std::{collections::HashSet, thread, time::Duration};

use serde_json::{Value, json};
use trawl_testweb::{Behaviour, Slow, WebSpec};

use super::{site, stage};
use crate::harness::{Api, Dice, Server, Web, place};

const SLOW: [&str; 3] = ["--insecure-no-auth", "--delay", "10ms"];

fn store(api: &Api, web: &Web) -> String {
    let created = api
        .post("/spider/crawl?result_mode=store", &site(web))
        .expect(202)
        .json();
    created["job_id"].as_str().unwrap().to_owned()
}

fn all_results(api: &Api, job: &str) -> Vec<String> {
    let all = api.send(
        "GET",
        &format!("/jobs/{job}/results?include=title"),
        &[("accept", "application/x-ndjson")],
        None,
    );
    let url = |line: &Value| line["data"]["url"].as_str().unwrap().to_owned();
    all.expect(200).lines().iter().map(url).collect()
}

#[test]
fn a_paused_job_stays_paused_over_a_restart_and_goes_on_when_told() {
    let stage = stage(200, &SLOW);
    let api = stage.server.client();
    let job = store(&api, &stage.web);
    stage.web.wait_until(|log| log.len() > 20);
    let paused = api.act(&format!("/jobs/{job}/pause")).expect(200).json();
    assert_eq!(paused["status"], "paused");
    let asked = stage.web.log().len();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(
        stage.web.log().len(),
        asked,
        "a paused job asks for nothing"
    );
    assert_eq!(
        api.act(&format!("/jobs/{job}/pause")).expect(200).json()["status"],
        "paused"
    );

    drop(api);
    let stage = stage.restart(&SLOW);
    let api = stage.server.client();
    assert_eq!(
        api.get(&format!("/jobs/{job}")).expect(200).json()["status"],
        "paused"
    );
    api.act(&format!("/jobs/{job}/resume")).expect(200);
    let done = api.wait_for(&job, &["completed"]);
    assert_eq!(
        (done["pages_crawled"].as_u64(), &done["partial"]),
        (Some(200), &json!(false))
    );
    let urls = all_results(&api, &job);
    assert_eq!(urls.iter().collect::<HashSet<_>>().len(), 200);
    assert_eq!(urls.len(), 200);
    assert_eq!(
        stage.web.pages_asked().len(),
        200,
        "nothing is asked for twice"
    );
    for action in ["pause", "resume", "cancel"] {
        let wrong = api.act(&format!("/jobs/{job}/{action}")).expect(409).json();
        assert_eq!(wrong["code"], "CONFLICT");
    }
}

#[test]
fn cancel_takes_effect_in_the_middle_of_a_slow_answer() {
    let stage = stage(5, &SLOW);
    stage.web.on(0, "/endless", Behaviour::Slow(Slow::NoAnswer));
    let api = stage.server.client();
    let body = json!({ "seed_urls": [stage.web.url(0, "/endless")] });
    let job = api
        .post("/spider/crawl?result_mode=store", &body)
        .expect(202)
        .json();
    let job = job["job_id"].as_str().unwrap();
    stage.web.wait_until(|log| {
        log.entries()
            .iter()
            .any(|request| request.path() == "/endless")
    });
    let cancelled = api.act(&format!("/jobs/{job}/cancel")).expect(200).json();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["stop_reason"], "manual_stop");
    api.send("DELETE", &format!("/jobs/{job}"), &[], None)
        .expect(204);
    api.get(&format!("/jobs/{job}")).expect(404);
}

#[test]
fn a_graceful_stop_loses_nothing_and_running_jobs_go_on_with_the_next_start() {
    let stage = stage(150, &SLOW);
    let api = stage.server.client();
    let job = store(&api, &stage.web);
    stage.web.wait_until(|log| log.len() > 20);
    drop(api);
    let stage = stage.restart(&SLOW);
    let api = stage.server.client();
    api.wait_for(&job, &["completed"]);
    assert_eq!(all_results(&api, &job).len(), 150);
    assert_eq!(stage.web.pages_asked().len(), 150);
}

#[test]
fn many_who_resume_a_job_at_once_do_no_harm() {
    let stage = stage(120, &SLOW);
    let api = stage.server.client();
    let job = store(&api, &stage.web);
    stage.web.wait_until(|log| log.len() > 20);
    api.act(&format!("/jobs/{job}/pause")).expect(200);
    let asking: Vec<_> = (0..8)
        .map(|_| {
            let (base, path) = (stage.server.base.clone(), format!("/jobs/{job}/resume"));
            thread::spawn(move || Api::new(&base, None).act(&path).status.as_u16())
        })
        .collect();
    let answers: Vec<u16> = asking.into_iter().map(|one| one.join().unwrap()).collect();
    assert!(
        answers.contains(&200) && answers.iter().all(|a| [200, 409].contains(a)),
        "{answers:?}"
    );
    api.wait_for(&job, &["completed"]);
    assert_eq!(all_results(&api, &job).len(), 120);
    assert_eq!(stage.web.pages_asked().len(), 120);
}

#[test]
fn a_job_goes_on_under_what_the_operator_allows_now() {
    let stage = stage(200, &SLOW);
    let api = stage.server.client();
    let job = store(&api, &stage.web);
    stage.web.wait_until(|log| log.len() > 20);
    let super::Stage {
        web,
        server,
        database,
        _folder,
    } = stage;
    assert_eq!(server.stop(), Some(0));
    let asked = web.log().len();
    let args = [&SLOW[..], &["--resolve", "*.test=127.0.0.1"]].concat();
    let server = Server::start_alone(&database, &args);
    server.client().wait_for(&job, &["completed", "failed"]);
    assert_eq!(
        web.log().len(),
        asked,
        "nobody was asked who may not be asked any more"
    );
}

#[test]
fn old_jobs_are_removed_and_young_ones_are_not() {
    let stage = stage(3, &SLOW);
    let api = stage.server.client();
    let (old, young) = (store(&api, &stage.web), store(&api, &stage.web));
    for job in [&old, &young] {
        api.wait_for(job, &["completed"]);
    }
    let super::Stage {
        server,
        database,
        web: _web,
        _folder,
    } = stage;
    assert_eq!(server.stop(), Some(0));
    let conn = rusqlite::Connection::open(&database).unwrap();
    let age = "UPDATE crawls SET finished_at = finished_at - 31 * 86400000
               WHERE id = (SELECT crawl FROM jobs WHERE id = ?1)";
    conn.execute(age, [&old]).unwrap();
    drop(conn);
    let server = Server::start(&database, &SLOW);
    let api = server.client();
    for _ in 0..200 {
        if api.get(&format!("/jobs/{old}")).status == 404 {
            break;
        }
        thread::sleep(Duration::from_millis(30));
    }
    api.get(&format!("/jobs/{old}")).expect(404);
    assert_eq!(all_results(&api, &young).len(), 3);
}

#[test]
fn a_server_killed_twenty_times_completes_all_jobs_without_gap_or_double() {
    const JOBS: u32 = 5;
    let web = Web::start(WebSpec::many_hosts(JOBS, 900));
    let (_folder, database) = place();
    let port = web.addr().port().to_string();
    let args = [&SLOW[..], &["--allow-port", &port]].concat();
    let mut dice = Dice::new(0x7365_7276);
    let server = Server::start(&database, &args);
    let api = server.client();
    let jobs: Vec<String> = (0..JOBS)
        .map(|host| {
            let body = json!({ "seed_urls": [web.url(host, "/")] });
            let job = api
                .post("/spider/crawl?result_mode=store", &body)
                .expect(202)
                .json();
            job["job_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut server = Some(server);
    let mut cursors: Vec<(i64, Vec<String>)> = vec![(0, Vec::new()); jobs.len()];
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(20 + dice.below(120)));
        let running = server.take().unwrap();
        let api = running.client();
        for (job, (cursor, seen)) in jobs.iter().zip(&mut cursors) {
            read_some(&api, job, cursor, seen);
        }
        running.kill();
        server = Some(Server::start(&database, &args));
    }
    let server = server.unwrap();
    let api = server.client();
    for (host, (job, (cursor, seen))) in jobs.iter().zip(&mut cursors).enumerate() {
        let done = api.wait_for(job, &["completed"]);
        while read_some(&api, job, cursor, seen) {}
        let pages = web.graph().pages_on(host as u32) as usize;
        assert_eq!(seen.len(), pages, "{done}");
        assert_eq!(
            seen.iter().collect::<HashSet<_>>().len(),
            pages,
            "none twice"
        );
        let reread = all_results(&api, job);
        assert_eq!(
            &reread, seen,
            "a cursor from before a kill reads the same log"
        );
    }
}

/// Reads on from a cursor; false if there was nothing.
fn read_some(api: &Api, job: &str, cursor: &mut i64, seen: &mut Vec<String>) -> bool {
    let page = api
        .get(&format!(
            "/jobs/{job}/results?include=title&limit=50&cursor={cursor}"
        ))
        .expect(200)
        .json();
    let pages = page["pages"].as_array().unwrap();
    seen.extend(
        pages
            .iter()
            .map(|page| page["url"].as_str().unwrap().to_owned()),
    );
    *cursor = page["cursor"].as_i64().unwrap_or(*cursor);
    !pages.is_empty()
}
