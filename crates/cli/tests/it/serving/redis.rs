//! Servers that share a Redis: rates, news, signs of life; and what happens when it is away.

use std::path::Path;

use serde_json::{Value, json};
use trawl_testdb::Redis;
use trawl_testweb::WebSpec;

use crate::harness::{Api, Server, Trawl, Web, place, postgres};

/// Longer than anything takes on a busy machine.
const PATIENT: [&str; 2] = ["--redis-timeout", "20s"];
const OPEN: [&str; 3] = ["--insecure-no-auth", "--delay", "0s"];

fn server(database: &str, redis: &Redis, more: &[&str]) -> Server {
    let url = redis.url();
    let args = [&["--redis", url.as_str()], &PATIENT[..], more].concat();
    Server::start(Path::new(database), &args)
}

fn key(database: &str, rate: &str) -> String {
    let call = Trawl::on("keys", Path::new(database)).args(["create", "somebody", "--rate", rate]);
    call.run().expect_code(0).stdout.trim().to_owned()
}

/// How many of these requests are answered; all others must be told to wait.
fn answered(apis: &[&Api], requests: usize) -> usize {
    let mut answered = 0;
    for number in 0..requests {
        let reply = apis[number % apis.len()].get("/jobs");
        match reply.status.as_u16() {
            200 => answered += 1,
            429 => assert!(reply.headers.contains_key("retry-after")),
            status => panic!("{status}: {}", reply.text()),
        }
    }
    answered
}

fn becomes(api: &Api, status: &str) -> Value {
    for _ in 0..6_000 {
        let ready = api.get("/health/ready").expect(200).json();
        if ready["status"] == status {
            return ready;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the server does not become {status}");
}

fn started(api: &Api, web: &Web) -> String {
    let body = json!({ "seed_urls": [web.url(0, "/")], "max_pages": 1_000_000 });
    let job = api.post("/spider/crawl?result_mode=store", &body);
    let job = job.expect(202).json();
    job["job_id"].as_str().unwrap().to_owned()
}

/// Events of a job to its end: the numbers of its pages, and its figures.
fn events(api: &Api, job: &str) -> (Vec<u64>, Value) {
    let mut text = String::new();
    api.stream("GET", &format!("/jobs/{job}/events"), &[], None, |piece| {
        text.push_str(std::str::from_utf8(piece).unwrap());
        true
    });
    let number = |line: &str| line.strip_prefix("id: ")?.parse().ok();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let last = serde_json::from_str(data.next_back().unwrap()).unwrap();
    (text.lines().filter_map(number).collect(), last)
}

// A minute may end in the middle of a test, and a part of the rate counts anew then: less than twice the
// rate is let through in any case.

#[test]
fn a_rate_is_one_for_all_servers() {
    let (database, redis) = (postgres::database(), Redis::start());
    let servers = [
        server(&database, &redis, &[]),
        server(&database, &redis, &[]),
        server(&database, &redis, &[]),
    ];
    let key = key(&database, "20");
    let apis = servers
        .each_ref()
        .map(|server| Api::new(&server.base, Some(&key)));
    let apis = apis.each_ref();
    let answered = answered(&apis, 120);
    assert!((20..40).contains(&answered), "{answered}");
}

#[test]
fn without_redis_rates_hold_and_nothing_fails() {
    let (database, redis) = (postgres::database(), Redis::start());
    let server = server(&database, &redis, &[]);
    let probe = Api::new(&server.base, None);
    assert_eq!(becomes(&probe, "ready")["redis"], "ok");
    let key = key(&database, "20");
    let api = Api::new(&server.base, Some(&key));
    assert!(answered(&[&api], 10) == 10);
    redis.crash();
    // What was counted together before counts now.
    let left = answered(&[&api], 60);
    assert!(left < 30, "{left}");
    let ready = becomes(&probe, "degraded");
    assert_eq!(
        (&ready["database"], &ready["redis"]),
        (&json!("ok"), &json!("unreachable"))
    );
    let reasons = ready["reasons"].to_string();
    assert!(
        reasons.contains("Redis") && !reasons.contains("s3cret"),
        "{reasons}"
    );
    redis.start_again();
    assert_eq!(becomes(&probe, "ready")["reasons"], json!([]));
    let left = answered(&[&api], 60);
    assert!(left < 40, "{left}");
}

#[test]
fn events_of_a_job_are_seen_on_every_server_whoever_crawls() {
    let (database, redis) = (postgres::database(), Redis::start());
    let web = Web::start(WebSpec::small_site(150));
    let port = web.addr().port().to_string();
    let args = [&OPEN[..], &["--allow-port", &port]].concat();
    let crawls = server(&database, &redis, &args);
    let only_answers = server(&database, &redis, &[&args[..], &["--no-worker"]].concat());
    let job = started(&only_answers.client(), &web);
    let (here, there) = std::thread::scope(|scope| {
        let here = scope.spawn(|| events(&only_answers.client(), &job));
        let there = events(&crawls.client(), &job);
        (here.join().unwrap(), there)
    });
    for (numbers, last) in [here, there] {
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert_eq!(numbers.len(), 150);
        assert_eq!(last["data"]["status"], "completed");
    }
    // They listen, and do not only look.
    let heard = redis.ask("PUBSUB NUMSUB trawl:events");
    assert!(heard.ends_with(":2\r\n"), "{heard}");
}

#[test]
fn events_go_on_when_redis_comes_and_goes() {
    let (database, redis) = (postgres::database(), Redis::start());
    let web = Web::start(WebSpec::small_site(200));
    let port = web.addr().port().to_string();
    let args = [
        "--insecure-no-auth",
        "--delay",
        "5ms",
        "--allow-port",
        &port,
    ];
    let crawls = server(&database, &redis, &args);
    let other = server(&database, &redis, &[&args[..], &["--no-worker"]].concat());
    let job = started(&crawls.client(), &web);
    let (numbers, last) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| events(&other.client(), &job));
        for pages in [30, 60, 90] {
            web.wait_until(|log| log.len() > pages);
            redis.flush();
            redis.crash();
            web.wait_until(|log| log.len() > pages + 15);
            redis.start_again();
        }
        reader.join().unwrap()
    });
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(numbers.len(), 200);
    assert_eq!(last["data"]["status"], "completed");
}

#[test]
fn events_go_on_when_the_database_comes_and_goes() {
    let (postgres, redis) = (postgres::start(), Redis::start());
    let database = postgres::block_on(postgres.empty_database());
    let web = Web::start(WebSpec::small_site(120));
    let port = web.addr().port().to_string();
    let args = [
        "--insecure-no-auth",
        "--delay",
        "5ms",
        "--loan",
        "2s",
        "--allow-port",
        &port,
    ];
    let server = server(&database, &redis, &args);
    let job = started(&server.client(), &web);
    let (numbers, last) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| events(&server.client(), &job));
        for pages in [20, 50] {
            web.wait_until(|log| log.len() > pages);
            postgres.crash();
            postgres.start_again();
            postgres::block_on(postgres.ready());
        }
        reader.join().unwrap()
    });
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(numbers.len(), 120);
    assert_eq!(last["data"]["status"], "completed");
}

#[test]
fn what_one_server_fetched_is_good_enough_on_another_for_those_who_say_so() {
    let redis = Redis::start();
    let web = Web::start(WebSpec::small_site(5));
    let port = web.addr().port().to_string();
    let args = [&OPEN[..], &["--allow-port", &port]].concat();
    let (folder, file) = place();
    let other_file = folder.path().join("other.db");
    let one = server(file.to_str().unwrap(), &redis, &args);
    let other = server(other_file.to_str().unwrap(), &redis, &args);
    let (one, other) = (one.client(), other.client());
    let url = web.url(0, "/");
    let fetched = one
        .post("/extract", &json!({ "url": url }))
        .expect(200)
        .json();
    assert_eq!(fetched["cached_at"], Value::Null, "{fetched}");
    let wanted = json!({ "url": url, "max_age_seconds": 3600 });
    let kept = other.post("/extract", &wanted).expect(200).json();
    assert!(kept["cached_at"].is_string(), "{kept}");
    assert_eq!(kept["markdown"], fetched["markdown"]);
    let asked = |path: &str| web.log().count(0, path);
    assert_eq!(asked("/"), 1);
    // Another form of it, or one that must be new, is fetched; robots.txt is known from the other server.
    let text = json!({ "url": url, "max_age_seconds": 3600, "format": "text" });
    other.post("/extract", &text).expect(200);
    other.post("/extract", &json!({ "url": url })).expect(200);
    assert_eq!((asked("/"), asked("/robots.txt")), (3, 1));
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let path = format!("/cache/domain/{host}");
    let forgotten = one.send("DELETE", &path, &[], None).expect(200).json();
    assert_eq!(forgotten["cleared"], 3, "two pages and robots.txt");
    other.post("/extract", &wanted).expect(200);
    assert_eq!(asked("/"), 4);
    let none = one
        .send("DELETE", "/cache/crawl", &[], None)
        .expect(200)
        .json();
    assert_eq!(none["cleared"], 1);
}

#[test]
fn workers_are_seen_with_what_they_do() {
    let (database, redis) = (postgres::database(), Redis::start());
    let web = Web::start(WebSpec::small_site(30));
    let port = web.addr().port().to_string();
    let server = server(
        &database,
        &redis,
        &[&OPEN[..], &["--allow-port", &port]].concat(),
    );
    let api = server.client();
    let job = started(&api, &web);
    api.wait_for(&job, &["completed"]);
    // The next sign of life says so; in the database it would come later.
    let seen = (0..6_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let workers = api.get("/workers").expect(200).json();
        (workers["workers"][0]["doing"]["pages"] == 30).then_some(workers)
    });
    let workers = seen.expect("a sign of life");
    assert_eq!(workers["workers"][0]["status"], "active");
    assert_eq!(workers["done"]["pages_crawled"], 30, "{workers}");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(redis.ask("HLEN trawl:workers"), ":0\r\n");
}

#[test]
fn no_password_of_redis_is_shown_and_a_bad_address_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("redis");
    std::fs::write(&file, "http://:s3cret@nowhere\n").unwrap();
    let file = file.to_str().unwrap();
    let (good, bad) = ("redis://me:s3cret@127.0.0.1:1/0", "redis://:s3cret@h/x");
    let show = || Trawl::new("config").arg("show");
    let serve = || Trawl::on("serve", &folder.path().join("x.db"));
    let runs = [
        (show().args(["--redis", good]), 0, "[redacted]@127.0.0.1:1"),
        (show().env("TRAWL_REDIS", good), 0, "TRAWL_REDIS"),
        (
            serve().args(["--redis", bad]),
            2,
            "--redis: must be redis://",
        ),
        (
            serve().args(["--redis-file", file]),
            2,
            "--redis-file: must be redis://",
        ),
        (
            serve().args(["--redis", good, "--redis-file", file]),
            2,
            "without server.redis",
        ),
    ];
    for (run, code, part) in runs {
        let done = run.run().expect_code(code);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains("s3cret"), "{said}");
        assert!(said.contains(part), "{said}");
    }
}
