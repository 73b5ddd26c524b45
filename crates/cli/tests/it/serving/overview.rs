//! Pages, domains and figures across jobs, who sees them, and what administrators clean up.

use serde_json::{Value, json};
use trawl_testweb::Behaviour;

use super::{site, stage};
use crate::harness::{Api, Server, Trawl};

fn key(database: &std::path::Path, scope: &str) -> String {
    let call =
        Trawl::on("keys", database).args(["create", "x", "--scope", scope, "--rate", "9999"]);
    call.run().expect_code(0).stdout.trim().to_owned()
}

fn crawl(api: &Api, body: &Value) -> String {
    let job = api
        .post("/spider/crawl?result_mode=store", body)
        .expect(202)
        .json();
    let job = job["job_id"].as_str().unwrap().to_owned();
    api.wait_for(&job, &["completed"]);
    job
}

fn urls(api: &Api, query: &str) -> Vec<String> {
    let (mut urls, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = api
            .get(&format!("/pages?limit=7{query}{cursor}"))
            .expect(200)
            .json();
        for page in page["pages"].as_array().unwrap() {
            urls.push(page["url"].as_str().unwrap().to_owned());
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return urls,
        }
    }
}

fn host(stage: &super::Stage) -> String {
    let url = stage.web.url(0, "/");
    url.trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned()
}

#[test]
fn pages_and_domains_of_ones_own_jobs_are_found_by_what_they_are() {
    let stage = stage(30, &["--delay", "0s"]);
    let admin = stage.server.client();
    let mine = Api::new(&stage.server.base, Some(&key(&stage.database, "write")));
    let other = Api::new(&stage.server.base, Some(&key(&stage.database, "read")));
    let job = crawl(&mine, &site(&stage.web));
    let host = host(&stage);
    for api in [&mine, &admin] {
        let all = urls(api, "");
        assert_eq!(all.len(), 30);
        let mut of_host = urls(api, &format!("&domain={host}"));
        let mut sorted = all.clone();
        sorted.sort();
        of_host.sort();
        assert_eq!(of_host, sorted);
        assert_eq!(urls(api, &format!("&job={job}")), all);
        assert_eq!(urls(api, "&max_depth=0").len(), 1);
        assert_eq!(urls(api, "&outcome=not_found").len(), 0);
        assert_eq!(urls(api, "&status=2xx&content_type=text/html").len(), 30);
        assert_eq!(urls(api, "&to=2001-01-01").len(), 0);
    }
    assert!(urls(&other, "").is_empty(), "somebody else's pages");
    other.get(&format!("/pages?job={job}")).expect(404);
    other.get(&format!("/domains/{host}")).expect(404);
    for bad in [
        "status=9xx",
        "outcome=odd",
        "from=soon",
        "cursor=x",
        "domain=a/b",
        "limit=0",
        "include=x",
    ] {
        mine.get(&format!("/pages?{bad}")).expect(400);
    }
    let domains = mine.get("/domains?sort=pages").expect(200).json();
    let domain = &domains["domains"][0];
    assert_eq!(
        (&domain["domain"], &domain["pages_crawled"]),
        (&json!(host), &json!(30))
    );
    assert!(domain["last_crawled_at"].is_string());
    assert_eq!(
        other.get("/domains").expect(200).json()["domains"],
        json!([])
    );
    let robots = mine
        .get(&format!("/domains/{host}/robots"))
        .expect(200)
        .json();
    assert_eq!(robots["robots"][0]["scheme"], "http", "{robots}");
    let stats = mine.get("/stats").expect(200).json();
    assert_eq!(stats["pages_crawled"], 30);
    assert!(stats["bytes_downloaded"].as_u64().unwrap() > 0);
    assert_eq!(other.get("/stats").expect(200).json()["pages_crawled"], 0);
    for interval in ["minute", "hour", "day"] {
        let path = format!("/stats/timeseries?interval={interval}");
        let series = mine.get(&path).expect(200).json();
        let points = series["points"].as_array().unwrap();
        let pages: u64 = points.iter().map(|p| p["pages"].as_u64().unwrap()).sum();
        assert_eq!(pages, 30, "{interval}");
    }
    mine.get("/stats/timeseries?interval=minute&from=2001-01-01")
        .expect(400);
}

#[test]
fn a_domain_that_failed_is_asked_again_after_a_reset() {
    let stage = stage(
        10,
        &[
            "--insecure-no-auth",
            "--delay",
            "0s",
            "--frontier-depth",
            "0",
        ],
    );
    stage.web.on(0, "/broken", Behaviour::Status(500));
    let api = stage.server.client();
    api.post(
        "/frontier/add",
        &json!({ "url": stage.web.url(0, "/broken") }),
    )
    .expect(200);
    stage.web.wait_until(|log| log.count(0, "/broken") > 0);
    stage.web.off(0, "/broken");
    stage.web.on(0, "/broken", Behaviour::Duplicate);
    let host = host(&stage);
    // The first failure may be under way to the database still: ask until the visit has ended well.
    for _ in 0..3000 {
        let path = format!("/admin/domains/{host}/reset");
        api.act(&path).expect(200);
        let stats = api.get("/frontier/stats").expect(200).json();
        if stats["completed"].as_u64().unwrap() >= 1 && stats["pending"] == 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(stage.web.log().count(0, "/broken") >= 2);
    let url = api.get("/frontier/urls?state=completed").expect(200).json();
    assert_eq!(url["urls"].as_array().unwrap().len(), 1, "{url}");
    api.act("/admin/domains/nobody.test/reset").expect(404);
}

#[test]
fn purged_pages_are_gone_cursors_still_work_and_unused_files_are_removed() {
    let stage = stage(40, &["--insecure-no-auth", "--delay", "0s"]);
    let api = stage.server.client();
    let job = crawl(&api, &site(&stage.web));
    let whole = api
        .post(
            "/spider/crawl?result_mode=store&include=content",
            &site(&stage.web),
        )
        .expect(202)
        .json();
    let whole = whole["job_id"].as_str().unwrap().to_owned();
    api.wait_for(&whole, &["completed"]);
    let page = api
        .get(&format!("/jobs/{job}/results?limit=10"))
        .expect(200)
        .json();
    let cursor = page["cursor"].as_i64().unwrap();
    let purge = |query: &str| {
        let path = format!("/admin/pages?job={job}{query}");
        api.send("DELETE", &path, &[], None).expect(200).json()
    };
    api.send("DELETE", "/admin/pages", &[], None).expect(400);
    assert_eq!(purge("")["pages"], 40, "a dry run, unless told otherwise");
    assert_eq!(purge("&dry_run=false&before=2001-01-01")["pages"], 0);
    assert_eq!(purge("&dry_run=false")["pages"], 40);
    assert_eq!(purge("")["pages"], 0);
    let rest = api
        .get(&format!("/jobs/{job}/results?cursor={cursor}"))
        .expect(200)
        .json();
    assert_eq!(
        (&rest["pages"], &rest["has_more"], &rest["total_pages"]),
        (&json!([]), &json!(false), &json!(0))
    );
    let bodies = format!("{}-bodies/000001.warc.zst", stage.database.display());
    assert!(std::path::Path::new(&bodies).exists());
    api.send("DELETE", &format!("/jobs/{whole}"), &[], None)
        .expect(204);
    drop(api);
    // The next start sweeps, after it listens.
    let super::Stage {
        web,
        server,
        database,
        _folder,
    } = stage;
    server.kill();
    let port = web.addr().port().to_string();
    let server = Server::start(
        &database,
        &["--insecure-no-auth", "--delay", "0s", "--allow-port", &port],
    );
    for _ in 0..3000 {
        if !std::path::Path::new(&bodies).exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(
        !std::path::Path::new(&bodies).exists(),
        "nothing refers to it"
    );
    let api = server.client();
    let found = api
        .post(
            "/spider/crawl?result_mode=pages&include=content",
            &site(&web),
        )
        .expect(200)
        .json();
    assert!(
        found["pages"][0]["content"].is_string(),
        "bodies are kept as before"
    );
}
