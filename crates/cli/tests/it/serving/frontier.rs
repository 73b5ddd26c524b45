//! The open frontier: it waits when it is empty, wakes when URLs are added, and never ends.

use std::{thread, time::Duration};

use serde_json::{Value, json};
use trawl_testweb::Behaviour;

use super::stage;
use crate::harness::{Api, Server};

const ALONE: [&str; 5] = [
    "--insecure-no-auth",
    "--delay",
    "5ms",
    "--frontier-depth",
    "0",
];

fn stats(api: &Api) -> Value {
    api.get("/frontier/stats").expect(200).json()
}

#[track_caller]
fn wait_until_idle(api: &Api) -> Value {
    for _ in 0..3000 {
        let stats = stats(api);
        if stats["pending"] == 0 && stats["in_progress"] == 0 {
            return stats;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{}", stats(api));
}

#[test]
fn urls_are_added_once_and_each_is_told_what_became_of_it() {
    let stage = stage(20, &ALONE);
    let api = stage.server.client();
    assert_eq!(stats(&api)["status"], "unused");
    let (a, b) = (stage.web.url(0, "/"), stage.web.url(0, "/nowhere"));
    let body = json!({ "urls": [a, { "url": b, "priority": "low" }, a, "ftp://x.test/", "http://10.0.0.1/"],
        "priority": "high" });
    let added = api.post("/frontier/add", &body).expect(200).json();
    assert_eq!(
        (&added["added"], &added["duplicates"], &added["refused"]),
        (&json!(2), &json!(1), &json!(2)),
        "{added}"
    );
    assert_eq!(added["results"][0]["priority"], "high");
    assert_eq!(added["results"][2]["duplicate_of"]["url"], a.as_str());
    assert_eq!(added["results"][3]["rule"], "unsupported_scheme");
    assert_eq!(added["results"][4]["rule"], "forbidden_address");
    let idle = wait_until_idle(&api);
    assert_eq!(
        (&idle["completed"], &idle["failed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(idle["status"], "running", "it waits for more");
    let again = json!({ "url": a });
    let again = api.post("/frontier/add", &again).expect(200).json();
    let known = &again["results"][0]["duplicate_of"];
    assert_eq!(
        (&known["state"], &known["outcome"]),
        (&json!("completed"), &json!("fetched"))
    );
    let seeds = json!({ "urls": [stage.web.url(0, "/elsewhere")] });
    api.post("/frontier/seed", &seeds).expect(200);
    let idle = wait_until_idle(&api);
    assert_eq!(idle["failed"], 2, "it woke up");
    let failed = api
        .get("/frontier/urls?state=failed&limit=1")
        .expect(200)
        .json();
    assert_eq!(
        (
            failed["urls"].as_array().unwrap().len(),
            &failed["has_more"]
        ),
        (1, &json!(true))
    );
    let cursor = failed["cursor"].as_str().unwrap();
    let rest = api
        .get(&format!("/frontier/urls?state=failed&cursor={cursor}"))
        .expect(200)
        .json();
    assert_eq!(rest["urls"].as_array().unwrap().len(), 1);
    api.get("/frontier/urls?state=lost").expect(400);
    let job = idle["job_id"].as_str().unwrap();
    let results = api.get(&format!("/jobs/{job}/results")).expect(200).json();
    assert_eq!(results["pages"].as_array().unwrap().len(), 3);
    api.act(&format!("/jobs/{job}/cancel")).expect(409);
    api.send("DELETE", &format!("/jobs/{job}"), &[], None)
        .expect(409);
}

#[test]
fn what_was_added_survives_kill_nine_and_goes_on_by_itself() {
    let slow = [
        "--insecure-no-auth",
        "--delay",
        "20ms",
        "--frontier-depth",
        "0",
    ];
    let stage = stage(300, &slow);
    let api = stage.server.client();
    let urls: Vec<String> = (0..120)
        .map(|n| stage.web.url(0, &format!("/x/{n}")))
        .collect();
    for urls in urls.chunks(40) {
        let added = api
            .post("/frontier/add", &json!({ "urls": urls }))
            .expect(200);
        assert_eq!(added.json()["added"], 40);
    }
    drop(api);
    let super::Stage {
        web,
        server,
        database,
        _folder,
    } = stage;
    server.kill();
    let port = web.addr().port().to_string();
    let server = Server::start(&database, &[&slow[..], &["--allow-port", &port]].concat());
    let api = server.client();
    let idle = wait_until_idle(&api);
    assert_eq!(idle["total"], 120, "{idle}");
    assert_eq!(idle["failed"], 120, "there are no such pages");
}

#[test]
fn failures_are_tried_again_and_the_queue_can_be_cleared_only_on_purpose() {
    let stage = stage(20, &ALONE);
    stage.web.on(0, "/flaky", Behaviour::Status(404));
    let api = stage.server.client();
    api.post(
        "/frontier/add",
        &json!({ "url": stage.web.url(0, "/flaky") }),
    )
    .expect(200);
    assert_eq!(wait_until_idle(&api)["failed"], 1);
    let passing = api.post("/frontier/recover", &json!({})).expect(200).json();
    assert_eq!(
        passing["requeued"], 0,
        "a page that is not there does not pass"
    );
    stage.web.off(0, "/flaky");
    stage.web.on(0, "/flaky", Behaviour::Duplicate);
    let all = json!({ "states": ["failed"], "outcomes": ["not_found"] });
    let again = api.post("/frontier/recover", &all).expect(200).json();
    assert_eq!(again["requeued"], 1);
    let idle = wait_until_idle(&api);
    assert_eq!((&idle["total"], &idle["pending"]), (&json!(1), &json!(0)));
    assert_eq!(stage.web.log().count(0, "/flaky"), 2);
    let job = idle["job_id"].as_str().unwrap();
    // While it is paused nothing is lost, and nothing can be added.
    api.act(&format!("/jobs/{job}/pause")).expect(200);
    api.post("/frontier/add", &json!({ "url": stage.web.url(0, "/") }))
        .expect(409);
    api.act(&format!("/jobs/{job}/resume")).expect(200);
    api.send("DELETE", "/frontier", &[], None).expect(400);
    api.send("DELETE", "/frontier?confirm=false", &[], None)
        .expect(400);
    let cleared = api
        .send("DELETE", "/frontier?confirm=true", &[], None)
        .expect(200)
        .json();
    assert_eq!(cleared["cleared"], 0);
}

#[test]
fn what_waits_is_forgotten_when_the_frontier_is_cleared_and_can_be_added_again() {
    let slow = [
        "--insecure-no-auth",
        "--delay",
        "10s",
        "--frontier-depth",
        "0",
    ];
    let stage = stage(20, &slow);
    let api = stage.server.client();
    let urls: Vec<String> = (0..50)
        .map(|n| stage.web.url(0, &format!("/y/{n}")))
        .collect();
    api.post("/frontier/add", &json!({ "urls": urls }))
        .expect(200);
    let host = stage.web.url(0, "/");
    let host = host.trim_start_matches("http://").trim_end_matches('/');
    let none = api.send(
        "DELETE",
        "/frontier?confirm=true&domain=elsewhere.test",
        &[],
        None,
    );
    assert_eq!(none.expect(200).json()["cleared"], 0);
    let path = format!("/frontier?confirm=true&domain={host}");
    let cleared = api.send("DELETE", &path, &[], None).expect(200).json();
    assert!(cleared["cleared"].as_u64().unwrap() >= 49, "{cleared}");
    let added = api
        .post("/frontier/add", &json!({ "urls": urls }))
        .expect(200)
        .json();
    assert!(added["added"].as_u64().unwrap() >= 49, "{added}");
}
