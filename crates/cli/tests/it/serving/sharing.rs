//! Priorities, thresholds and signs of life.

use std::time::Duration;

use serde_json::{Value, json};
use trawl_testweb::{Behaviour, Slow};

use super::stage;

#[test]
fn a_small_crawl_of_high_priority_ends_soon_beside_large_ones_of_low_priority() {
    let stage = stage(600, &["--insecure-no-auth", "--delay", "5ms"]);
    let api = stage.server.client();
    let start = |body: Value| {
        let job = api
            .post("/spider/crawl?result_mode=store", &body)
            .expect(202)
            .json();
        job["job_id"].as_str().unwrap().to_owned()
    };
    // One host, one request at a time: whoever has the turn is who is asked for.
    let large: Vec<String> = ["bfs", "dfs"]
        .map(|strategy| {
            let body = json!({ "seed_urls": [stage.web.url(0, "/")], "strategy": strategy, "priority": "low" });
            start(body)
        })
        .into();
    stage.web.wait_until(|log| log.len() > 60);
    let small: Vec<String> = (0..10)
        .map(|n| stage.web.url(0, &format!("/small/{n}")))
        .collect();
    let small = start(json!({ "seed_urls": small, "max_depth": 0, "priority": "high" }));
    api.wait_for(&small, &["completed"]);
    let log = stage.web.pages_asked();
    let at = |request: &trawl_testweb::LoggedRequest| request.path().starts_with("/small/");
    let first = log.iter().position(at).unwrap();
    let last = log.iter().rposition(at).unwrap();
    assert_eq!(log.iter().filter(|request| at(request)).count(), 10);
    assert!(
        last - first < 20,
        "ten pages took {} requests of all",
        last - first + 1
    );
    for job in &large {
        let view = api.get(&format!("/jobs/{job}")).expect(200).json();
        assert_eq!(view["status"], "running", "they are far from their end");
        api.act(&format!("/jobs/{job}/cancel")).expect(200);
    }
    let odd = json!({ "seed_urls": [stage.web.url(0, "/")], "priority": "urgent" });
    api.post("/spider/crawl", &odd).expect(400);
}

#[test]
fn links_below_the_threshold_are_refused_by_a_rule_of_their_own() {
    let stage = stage(40, &["--insecure-no-auth", "--delay", "0s"]);
    let api = stage.server.client();
    let body = json!({ "url": stage.web.url(0, "/"), "strategy": "best_first",
        "keywords": ["quetzalcoatl"], "score_threshold": 0.9 });
    let job = api.post("/crawl/deep", &body).expect(202).json();
    let job = job["job_id"].as_str().unwrap();
    let done = api.wait_for(job, &["completed"]);
    assert_eq!(done["pages_crawled"], 1, "no link is about it");
    let links = api
        .get(&format!("/jobs/{job}/results?include=links"))
        .expect(200)
        .json();
    let link = links["pages"][0]["links"][0].as_str().unwrap();
    let why = api
        .get(&format!("/jobs/{job}/explain?url={link}"))
        .expect(200)
        .json();
    assert_eq!(
        (&why["state"], &why["rule"]),
        (&json!("refused"), &json!("low_score")),
        "{why}"
    );
    assert!(
        why["explanation"]
            .as_str()
            .unwrap()
            .contains("threshold 0.90"),
        "{why}"
    );
    let body = json!({ "url": stage.web.url(0, "/"), "score_threshold": 1.5 });
    api.post("/crawl/deep", &body).expect(400);
}

#[test]
fn a_stream_in_which_nothing_happens_gives_signs_of_life() {
    let stage = stage(
        3,
        &[
            "--insecure-no-auth",
            "--delay",
            "0s",
            "--keep-alive",
            "50ms",
        ],
    );
    let slow = Behaviour::Slow(Slow::Headers(Duration::from_secs(1)));
    stage.web.on(0, "/slow", slow);
    let api = stage.server.client();
    let body = json!({ "seed_urls": [stage.web.url(0, "/slow")] });
    let reply = api
        .post("/spider/crawl?result_mode=stream&include=title", &body)
        .expect(200);
    let text = reply.text();
    let empty = text.lines().take_while(|line| line.is_empty()).count();
    assert!(empty >= 2, "{text:?}");
    assert_eq!(reply.lines().last().unwrap()["type"], "stats");
}
