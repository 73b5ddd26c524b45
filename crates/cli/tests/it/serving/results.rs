//! The five ways of delivery, fields, cursors, streams.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{site, stage};

const OPEN: [&str; 3] = ["--insecure-no-auth", "--delay", "0s"];

#[test]
fn figures_urls_and_pages_come_in_one_answer() {
    let stage = stage(30, &OPEN);
    let api = stage.server.client();
    let stats = api
        .post("/spider/crawl", &site(&stage.web))
        .expect(200)
        .json();
    assert_eq!(
        (stats["pages_crawled"].as_u64(), &stats["stop_reason"]),
        (Some(30), &json!("completed"))
    );
    assert_eq!(stats["domains"], json!(["site0.test"]));
    assert!(stats.get("pages").is_none() && stats.get("discovered_urls").is_none());

    let urls = api
        .post("/api/spider/crawl?result_mode=urls", &site(&stage.web))
        .expect(200)
        .json();
    let urls: HashSet<&str> = urls["discovered_urls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(urls.len(), 30);

    let answer = api
        .post("/api/v1/spider/crawl?result_mode=pages", &site(&stage.web))
        .expect(200)
        .json();
    assert_eq!(answer["api_version"], "1.0");
    let pages = answer["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 30);
    for page in pages {
        assert!(
            page["title"].is_string() && page["links"].is_array(),
            "{page}"
        );
        assert!(
            page.get("content").is_none() && page.get("markdown").is_none(),
            "{page}"
        );
    }
}

#[test]
fn fields_are_chosen_by_name_and_core_fields_stay() {
    let stage = stage(4, &OPEN);
    let api = stage.server.client();
    let path = "/spider/crawl?result_mode=pages&include=markdown,content";
    let pages = api.post(path, &site(&stage.web)).expect(200).json();
    let page = &pages["pages"][0];
    let names: Vec<&String> = page.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["url", "depth", "status_code", "content", "markdown"],
        "{page}"
    );
    assert!(page["content"].as_str().unwrap().contains("<html"));
    let wrong = api
        .post("/spider/crawl?include=titel", &site(&stage.web))
        .expect(400)
        .json();
    assert_eq!(wrong["error_code"], "VALIDATION_ERROR");
    let message = wrong["message"].as_str().unwrap();
    assert!(
        message.contains("titel") && message.contains("canonical_url"),
        "{message}"
    );
}

#[test]
fn too_many_pages_for_one_answer_are_refused_with_what_to_do() {
    let stage = stage(30, &OPEN);
    let api = stage.server.client();
    let wrong = api
        .post(
            "/spider/crawl?result_mode=pages&max_pages=5",
            &site(&stage.web),
        )
        .expect(413)
        .json();
    assert_eq!(wrong["error_code"], "RESULT_TOO_LARGE");
    assert_eq!(wrong["details"]["limit"], 5);
    assert_eq!(wrong["details"]["suggestions"].as_array().unwrap().len(), 3);
    assert!(
        stage.web.pages_asked().len() <= 6,
        "the crawl stopped when it was known"
    );
}

#[test]
fn a_stream_sends_pages_while_the_crawl_runs_and_figures_last() {
    let stage = stage(300, &["--insecure-no-auth", "--delay", "10ms"]);
    let api = stage.server.client();
    let (mut seen, mut first_at) = (Vec::new(), None);
    api.stream(
        "POST",
        "/spider/crawl?result_mode=stream&exclude=content",
        &[],
        Some(&site(&stage.web)),
        |piece| {
            first_at.get_or_insert_with(|| stage.web.pages_asked().len());
            seen.extend_from_slice(piece);
            true
        },
    );
    let lines: Vec<Value> = String::from_utf8(seen)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, pages) = lines.split_last().unwrap();
    assert_eq!(pages.len(), 300);
    assert!(
        pages
            .iter()
            .all(|page| page["type"] == "page" && page["data"]["markdown"].is_string())
    );
    assert_eq!(
        (&last["type"], last["data"]["pages_crawled"].as_u64()),
        (&json!("stats"), Some(300))
    );
    assert!(
        first_at.unwrap() < 250,
        "the first page came after {first_at:?} requests"
    );
    let urls: HashSet<&str> = pages
        .iter()
        .filter_map(|page| page["data"]["url"].as_str())
        .collect();
    assert_eq!(urls.len(), 300, "every page once");
}

#[test]
fn server_sent_events_carry_ids_to_go_on_from() {
    let stage = stage(12, &OPEN);
    let api = stage.server.client();
    let created = api
        .post("/spider/crawl?result_mode=store", &site(&stage.web))
        .expect(202)
        .json();
    let job = created["job_id"].as_str().unwrap();
    api.wait_for(job, &["completed"]);
    let whole = api
        .send("GET", &format!("/jobs/{job}/events"), &[], None)
        .expect(200);
    assert_eq!(whole.headers["content-type"], "text/event-stream");
    let ids = |text: &str| {
        text.lines()
            .filter_map(|line| line.strip_prefix("id: ")?.parse::<i64>().ok())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&whole.text()), (1..=12).collect::<Vec<_>>());
    let rest = api
        .send(
            "GET",
            &format!("/jobs/{job}/events"),
            &[("last-event-id", "7")],
            None,
        )
        .expect(200);
    assert_eq!(ids(&rest.text()), (8..=12).collect::<Vec<_>>());
    for id in ["-1", "x"] {
        let path = format!("/jobs/{job}/events");
        api.send("GET", &path, &[("last-event-id", id)], None)
            .expect(400);
    }
    assert!(
        rest.text()
            .trim_end()
            .lines()
            .last()
            .unwrap()
            .contains("\"type\":\"stats\"")
    );
}

#[test]
fn a_reader_that_goes_away_stops_its_crawl() {
    let stage = stage(2000, &["--insecure-no-auth", "--delay", "5ms"]);
    let api = stage.server.client();
    api.stream(
        "POST",
        "/spider/crawl?result_mode=stream&include=title",
        &[],
        Some(&site(&stage.web)),
        |_| false,
    );
    drop(api);
    let api = stage.server.client();
    let list = api.get("/jobs").expect(200).json();
    let job = list["items"][0]["job_id"].as_str().unwrap().to_owned();
    let view = api.wait_for(&job, &["cancelled"]);
    assert_eq!(view["stop_reason"], "manual_stop");
    assert!(stage.web.pages_asked().len() < 1500);
}

#[test]
fn stored_results_are_read_page_by_page_behind_a_cursor() {
    let stage = stage(60, &OPEN);
    let api = stage.server.client();
    let created = api
        .post("/spider/crawl?result_mode=store", &site(&stage.web))
        .expect(202)
        .json();
    assert_eq!(created["status"], "running");
    let job = created["job_id"].as_str().unwrap();
    let (mut urls, mut cursor) = (HashSet::new(), 0);
    // Read while the crawl writes.
    loop {
        let done = api.get(&format!("/jobs/{job}")).json()["status"] == "completed";
        let page = api
            .get(&format!(
                "/jobs/{job}/results?limit=7&cursor={cursor}&include=title"
            ))
            .expect(200)
            .json();
        for entry in page["pages"].as_array().unwrap() {
            assert!(
                urls.insert(entry["url"].as_str().unwrap().to_owned()),
                "{entry} came twice"
            );
        }
        cursor = page["cursor"].as_i64().unwrap_or(cursor);
        if done && page["has_more"] == false {
            assert_eq!(page["total_pages"], 60);
            break;
        }
    }
    assert_eq!(urls.len(), 60);
    let all = api
        .send(
            "GET",
            &format!("/jobs/{job}/results"),
            &[("accept", "application/x-ndjson")],
            None,
        )
        .expect(200);
    assert_eq!(all.lines().len(), 60);
    for query in [
        "cursor=-1",
        "limit=0",
        "limit=1001",
        "include=x",
        "unknown=1",
        "cursor=abc",
    ] {
        let wrong = api
            .get(&format!("/jobs/{job}/results?{query}"))
            .expect(400)
            .json();
        assert_eq!(wrong["code"], "VALIDATION_ERROR", "{query}");
    }
}

#[test]
fn a_slow_reader_slows_the_crawl() {
    let stage = stage(3000, &OPEN);
    let api = stage.server.client();
    let (mut pieces, mut asked_early) = (0, 0);
    api.stream(
        "POST",
        "/spider/crawl?result_mode=stream&include=content",
        &[],
        Some(&json!({ "seed_urls": [stage.web.url(0, "/")], "max_pages": 3000 })),
        |_| {
            pieces += 1;
            if pieces == 1 {
                std::thread::sleep(std::time::Duration::from_secs(2));
                asked_early = stage.web.pages_asked().len();
            }
            true
        },
    );
    // What fits into sockets and what may wait, but not the whole web.
    assert!(
        asked_early < 2500,
        "{asked_early} pages were asked for ahead of the reader"
    );
    assert_eq!(stage.web.pages_asked().len(), 3000);
}

#[test]
fn a_crawl_may_go_on_without_its_reader() {
    let args = ["--insecure-no-auth", "--delay", "0s", "--keep-unread"];
    let stage = stage(1500, &args);
    let body = json!({ "seed_urls": [stage.web.url(0, "/")], "max_pages": 1500 });
    let api = stage.server.client();
    api.stream(
        "POST",
        "/spider/crawl?result_mode=stream&include=title",
        &[],
        Some(&body),
        |_| false,
    );
    drop(api);
    let api = stage.server.client();
    let list = api.get("/jobs").expect(200).json();
    let view = api.wait_for(list["items"][0]["job_id"].as_str().unwrap(), &["completed"]);
    assert_eq!(view["pages_crawled"], 1500);
}

#[test]
fn compressed_streams_are_whole() {
    let stage = stage(20, &OPEN);
    let api = stage.server.client();
    for encoding in ["gzip", "br", "zstd", "identity"] {
        let reply = api.send(
            "POST",
            "/spider/crawl?result_mode=stream&include=title",
            &[("accept-encoding", encoding)],
            Some(&site(&stage.web)),
        );
        let lines = reply.expect(200).lines();
        assert_eq!(
            (lines.len(), &lines[20]["type"]),
            (21, &json!("stats")),
            "{encoding}"
        );
    }
}
