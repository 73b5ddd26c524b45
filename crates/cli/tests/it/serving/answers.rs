//! Errors of one shape, extraction, explanations, the contract.

use serde_json::json;
use trawl_testweb::{Answer, Behaviour, Redirect};

use super::{site, stage};

const OPEN: [&str; 3] = ["--insecure-no-auth", "--delay", "0s"];

#[test]
fn errors_have_one_shape_and_name_the_field() {
    let stage = stage(3, &OPEN);
    let api = stage.server.client();
    for (reply, status, code, part) in [
        (api.get("/nowhere"), 404, "NOT_FOUND", "/nowhere"),
        (
            api.send("PUT", "/jobs", &[], None),
            405,
            "METHOD_NOT_ALLOWED",
            "PUT",
        ),
        (
            api.act("/spider/crawl"),
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "application/json",
        ),
        (
            api.post("/spider/crawl", &json!({ "seed_urls": 5 })),
            422,
            "UNPROCESSABLE_ENTITY",
            "seed_urls",
        ),
        (
            api.post("/spider/crawl", &json!({ "seedz": [] })),
            422,
            "UNPROCESSABLE_ENTITY",
            "seedz",
        ),
        (
            api.post("/spider/crawl", &json!({ "seed_urls": [] })),
            400,
            "VALIDATION_ERROR",
            "seed_urls",
        ),
        (
            api.post("/spider/crawl", &json!({ "seed_urls": ["http://"] })),
            400,
            "URL_INVALID",
            "http://",
        ),
        (
            api.post(
                "/spider/crawl",
                &json!({ "seed_urls": ["http://10.0.0.1/"] }),
            ),
            403,
            "URL_BLOCKED",
            "10.0.0.1",
        ),
        (
            api.post(
                "/spider/crawl",
                &json!({ "seed_urls": ["https://a.test/"], "concurrency": 0 }),
            ),
            400,
            "VALIDATION_ERROR",
            "concurrency",
        ),
        (
            api.post(
                "/spider/crawl",
                &json!({ "seed_urls": ["https://a.test/"], "strategy": "x" }),
            ),
            400,
            "VALIDATION_ERROR",
            "strategy",
        ),
        (
            api.post(
                "/spider/crawl",
                &json!({ "seed_urls": ["https://a.test/"], "strategy": "best_first" }),
            ),
            400,
            "VALIDATION_ERROR",
            "keywords",
        ),
        (
            api.post("/spider/crawl?result_mode=x", &site(&stage.web)),
            400,
            "VALIDATION_ERROR",
            "result_mode",
        ),
        (api.get("/jobs/none"), 404, "NOT_FOUND", "none"),
        (api.get("/jobs/%ff"), 400, "VALIDATION_ERROR", "UTF-8"),
        (api.get("/jobs?status=x"), 400, "VALIDATION_ERROR", "status"),
    ] {
        let reply = reply.expect(status);
        let body = reply.json();
        assert_eq!(
            (&body["code"], &body["error_code"]),
            (&json!(code), &json!(code)),
            "{body}"
        );
        assert!(
            body["message"].as_str().unwrap().contains(part),
            "{part}: {body}"
        );
        assert_eq!(
            body["request_id"],
            reply.headers["x-request-id"].to_str().unwrap()
        );
    }
    for (field, body) in [
        (
            "max_pages",
            json!({ "seed_urls": ["https://a.test/"], "max_pages": 0 }),
        ),
        (
            "delay_ms",
            json!({ "seed_urls": ["https://a.test/"], "delay_ms": u64::MAX }),
        ),
        (
            "include_patterns",
            json!({ "seed_urls": ["https://a.test/"], "include_patterns": ["regex:("] }),
        ),
    ] {
        let refused = api.post("/spider/crawl", &body).expect(400).json();
        assert_eq!(refused["details"]["field"], field, "{refused}");
    }
    let nothing = json!({ "seeds": ["https://a.test/"], "scope": { "max_pages": 0 } });
    let refused = api.post("/spider+extract", &nothing).expect(400).json();
    assert_eq!(refused["details"]["field"], "scope.max_pages");
    let huge = json!({ "seed_urls": ["x".repeat(11 * 1024 * 1024)] });
    assert_eq!(
        api.post("/spider/crawl", &huge).expect(413).json()["code"],
        "PAYLOAD_TOO_LARGE"
    );
    assert!(stage.web.log().is_empty());
}

#[test]
fn extraction_works_on_urls_and_on_html_that_is_sent() {
    let stage = stage(3, &OPEN);
    let text =
        "A long enough paragraph about the tides, so that it is content and not decoration. "
            .repeat(6);
    let html = format!(
        "<title>Tides</title><nav>Menu</nav><main><h1>Tides</h1><p>{text}</p><a href=\"/moon\">moon</a></main>"
    );
    stage
        .web
        .on(0, "/tides", Behaviour::Answer(Answer::html(html.clone())));
    let api = stage.server.client();
    let sent = api
        .post(
            "/extract",
            &json!({ "html": html, "base_url": "https://example.org/x/" }),
        )
        .expect(200)
        .json();
    assert!(
        sent["markdown"].as_str().unwrap().contains("# Tides"),
        "{sent}"
    );
    let url = stage.web.url(0, "/tides");
    let read = api
        .post("/extract", &json!({ "url": url }))
        .expect(200)
        .json();
    assert!(
        read["markdown"]
            .as_str()
            .unwrap()
            .contains("about the tides"),
        "{read}"
    );
    assert!(read["metadata"]["word_count"].as_u64().unwrap() > 50);
    let batch = api
        .post(
            "/extract/batch",
            &json!({ "urls": [stage.web.url(0, "/none"), url, "nonsense://"], "format": "text" }),
        )
        .expect(200)
        .json();
    assert_eq!(
        (batch["successful"].as_u64(), batch["failed"].as_u64()),
        (Some(1), Some(2)),
        "{batch}"
    );
    assert_eq!(batch["results"][0]["status"], "failed");
    assert!(
        batch["results"][1]["text"]
            .as_str()
            .unwrap()
            .contains("tides")
    );
    assert!(batch["results"][2]["error"].is_string());
    stage
        .web
        .on(0, "/old", Behaviour::Redirect(Redirect::to("/tides")));
    let old = stage.web.url(0, "/old");
    let twice = api
        .post("/extract/batch", &json!({ "urls": [old, url, old] }))
        .expect(200)
        .json();
    assert_eq!(twice["successful"], 3, "{twice}");
    assert_eq!(twice["results"][2]["url"], old);
    api.post("/extract", &json!({})).expect(400);
    let large = json!({ "html": format!("<p>{}</p>", "word ".repeat(1_000_000)) });
    api.post("/extract", &large).expect(200);
    api.post("/extract", &json!({ "url": "http://169.254.169.254/" }))
        .expect(403);
}

#[test]
fn spider_and_extract_fetches_a_page_once() {
    let stage = stage(20, &OPEN);
    let api = stage.server.client();
    let body = json!({ "seeds": [stage.web.url(0, "/")], "extract_pattern": "/docs/" });
    let answer = api.post("/spider+extract", &body).expect(200).json();
    assert_eq!(answer["crawl_stats"]["pages_crawled"], 20);
    let pages = answer["extracted_pages"].as_array().unwrap();
    assert!(!pages.is_empty() && pages.len() < 20);
    assert!(
        pages
            .iter()
            .all(|page| page["url"].as_str().unwrap().contains("/docs/"))
    );
    assert_eq!(stage.web.pages_asked().len(), 20);
    api.post(
        "/spider+extract",
        &json!({ "seeds": ["https://a.test/"], "extract_pattern": "(" }),
    )
    .expect(400);
}

#[test]
fn urls_are_crawled_singly_in_batches_and_deep() {
    let stage = stage(20, &OPEN);
    let api = stage.server.client();
    let one = api
        .post("/crawl", &json!({ "urls": [stage.web.url(0, "/")] }))
        .expect(202)
        .json();
    let view = api.wait_for(one["job_id"].as_str().unwrap(), &["completed"]);
    assert_eq!(view["pages_crawled"], 1);
    let urls: Vec<String> = vec![stage.web.url(0, "/p/1"), "http://10.1.1.1/".into()];
    let batch = api
        .post("/crawl/batch", &json!({ "urls": urls }))
        .expect(202)
        .json();
    assert_eq!(
        (
            batch["total_submitted"].as_u64(),
            batch["failed_count"].as_u64()
        ),
        (Some(1), Some(1))
    );
    let many: Vec<String> = (0..101)
        .map(|n| stage.web.url(0, &format!("/{n}")))
        .collect();
    api.post("/crawl/batch", &json!({ "urls": many }))
        .expect(400);
    let deep =
        json!({ "url": stage.web.url(0, "/"), "strategy": "dfs", "max_depth": 9, "max_pages": 7 });
    let deep = api.post("/crawl/deep", &deep).expect(202).json();
    let view = api.wait_for(deep["job_id"].as_str().unwrap(), &["completed"]);
    assert_eq!(
        (view["pages_crawled"].as_u64(), &view["stop_reason"]),
        (Some(7), &json!("max_pages"))
    );
}

#[test]
fn the_same_idempotency_key_is_the_same_job() {
    let stage = stage(3, &OPEN);
    let api = stage.server.client();
    let send = |key: &str| {
        let headers = [("idempotency-key", key)];
        let reply = api.send(
            "POST",
            "/spider/crawl?result_mode=store",
            &headers,
            Some(&site(&stage.web)),
        );
        reply.expect(202).json()["job_id"].clone()
    };
    let first = send("a");
    assert_eq!(send("a"), first);
    assert_ne!(send("b"), first);
}

#[test]
fn a_job_explains_what_became_of_a_url_and_a_spec_what_would() {
    let stage = stage(10, &OPEN);
    let api = stage.server.client();
    let job = api
        .post("/spider/crawl?result_mode=store", &site(&stage.web))
        .expect(202)
        .json();
    let job = job["job_id"].as_str().unwrap();
    api.wait_for(job, &["completed"]);
    let url = stage.web.url(0, "/p/1");
    let seen = api
        .get(&format!("/jobs/{job}/explain?url={url}"))
        .expect(200)
        .json();
    assert_eq!(
        (&seen["state"], &seen["outcome"]),
        (&json!("done"), &json!("fetched")),
        "{seen}"
    );
    assert!(seen["chain"].as_array().unwrap().len() >= 2);
    let spec = json!({ "spec": { "seed_urls": [stage.web.url(0, "/")], "exclude_patterns": ["*/private/*"] },
        "urls": [url, "https://elsewhere.test/", stage.web.url(0, "/private/x")] });
    let would = api.post("/explain", &spec).expect(200).json();
    let rules: Vec<_> = would["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["rule"].clone())
        .collect();
    assert_eq!(rules, [json!(null), json!("other_host"), json!("excluded")]);
}

#[test]
fn browsers_may_read_answers_only_where_they_were_named() {
    let stage = stage(
        3,
        &["--insecure-no-auth", "--cors-origin", "https://ui.test"],
    );
    let api = stage.server.client();
    let asked = |origin: &str| {
        let reply = api
            .send("GET", "/health", &[("origin", origin)], None)
            .expect(200);
        reply
            .headers
            .get("access-control-allow-origin")
            .map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(asked("https://ui.test").as_deref(), Some("https://ui.test"));
    assert_eq!(asked("https://evil.test"), None);
}

#[test]
fn the_contract_can_be_read_offline_and_health_needs_no_key() {
    let stage = stage(3, &[]);
    let api = crate::harness::Api::new(&stage.server.base, None);
    assert_eq!(api.get("/health").expect(200).json()["status"], "ok");
    assert_eq!(
        api.get("/api/v1/health/ready").expect(200).json()["database"],
        "ok"
    );
    let contract = api.get("/api/v1/openapi.json").expect(200).json();
    assert!(
        contract["openapi"].as_str().unwrap().starts_with("3.1"),
        "{}",
        contract["openapi"]
    );
    let page = api.get("/api/v1/docs").expect(200);
    assert!(page.headers.contains_key("content-security-policy"));
    assert!(
        !page.text().contains("https://"),
        "nothing is loaded from elsewhere"
    );
}
