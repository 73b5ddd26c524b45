//! The server on a PostgreSQL database: accounts, rights and jobs as with a file, and several servers on
//! one database. Nobody crawls here, so that jobs stay as they are.

use std::path::Path;

use serde_json::json;

use super::rights::{changes, routes};
use crate::harness::{Api, Reply, Server, Trawl, postgres};

const PASSWORD: &str = "correct horse battery";
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");
const MANY: [&str; 5] = [
    "--no-worker",
    "--rate-anonymous",
    "100000",
    "--rate-wrong-keys",
    "100000",
];

fn key(database: &str, scope: &str, more: &[&str]) -> String {
    let call = Trawl::on("keys", Path::new(database))
        .args(["create", "somebody", "--scope", scope, "--rate", "100000"])
        .args(more);
    call.run().expect_code(0).stdout.trim().to_owned()
}

fn users(database: &str, args: &[&str]) {
    let call = Trawl::on("users", Path::new(database)).args(args);
    call.input(format!("{PASSWORD}\n")).run().expect_code(0);
}

fn server(database: &str) -> Server {
    Server::start(Path::new(database), &MANY)
}

/// The cookie of a new session, as it is sent back.
fn session(api: &Api, name: &str) -> String {
    let body = json!({ "username": name, "password": PASSWORD });
    let reply = api.post("/auth/login", &body).expect(200);
    let cookie = reply.headers["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

fn started(api: &Api) -> String {
    let body = json!({ "seed_urls": ["https://example.test/"] });
    let job = api.post("/spider/crawl?result_mode=store", &body);
    job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn keys_work_on_every_server_until_they_are_revoked() {
    let database = postgres::database();
    let first = server(&database);
    let second = server(&database);
    let admin = first.key.clone().expect("the first start makes a key");
    assert!(second.key.is_none(), "there is one already");
    let admin = Api::new(&second.base, Some(&admin));
    assert_eq!(admin.get("/auth/me").expect(200).json()["scope"], "admin");
    let made = json!({ "name": "reports", "scope": "read" });
    let made = admin.post("/api-keys", &made).expect(201).json();
    let reader = Api::new(&first.base, made["key"].as_str());
    reader.get("/jobs").expect(200);
    let id = made["id"].as_str().unwrap();
    Trawl::on("keys", Path::new(&database))
        .args(["revoke", id])
        .run()
        .expect_code(0);
    reader.get("/jobs").expect(401);
    let listed = Trawl::on("keys", Path::new(&database)).arg("list").run();
    assert!(listed.expect_code(0).stdout.contains(id));
}

#[test]
fn users_log_in_on_one_server_and_are_known_on_the_other() {
    let database = postgres::database();
    users(&database, &["create", "Ada"]);
    users(&database, &["create", "root", "--role", "admin"]);
    let (first, second) = (server(&database), server(&database));
    let (one, other) = (Api::new(&first.base, None), Api::new(&second.base, None));
    let cookie = session(&one, "ada");
    let as_ada = [("cookie", cookie.as_str()), OWN];
    let me = other.send("GET", "/auth/me", &as_ada, None).expect(200);
    assert_eq!(me.json()["name"], "ada");
    other.send("GET", "/api-keys", &as_ada, None).expect(403);
    let root = session(&other, "root");
    one.send("GET", "/api-keys", &[("cookie", &root)], None)
        .expect(200);
    other
        .send("POST", "/auth/logout", &as_ada, None)
        .expect(204);
    one.send("GET", "/auth/me", &as_ada, None).expect(401);
    let cookie = session(&one, "ada");
    users(&database, &["disable", "ada"]);
    one.send("GET", "/auth/me", &[("cookie", &cookie)], None)
        .expect(401);
}

#[test]
fn bad_logins_on_several_servers_count_together() {
    let database = postgres::database();
    users(&database, &["create", "ada"]);
    let servers = [server(&database), server(&database)];
    let wrong = json!({ "username": "ada", "password": "wrong horse" });
    for attempt in 0..5 {
        let api = Api::new(&servers[attempt % 2].base, None);
        api.post("/auth/login", &wrong).expect(401);
    }
    for server in &servers {
        let reply = Api::new(&server.base, None).post("/auth/login", &wrong);
        assert!(reply.expect(429).headers.contains_key("retry-after"));
    }
}

#[test]
fn every_route_asks_for_a_key_and_a_reader_changes_nothing() {
    let database = postgres::database();
    let server = server(&database);
    let reader = key(&database, "read", &[]);
    let expired = key(&database, "admin", &["--expires", "0"]);
    let api = |key| Api::new(&server.base, key);
    for (method, path, open) in routes(&server.client()) {
        for bad in ["trawl_x_y", &expired] {
            api(Some(bad)).send(&method, &path, &[], None).expect(401);
        }
        if open {
            continue;
        }
        api(None).send(&method, &path, &[], None).expect(401);
        let reply = api(Some(&reader)).send(&method, &path, &[], None);
        let status = reply.status.as_u16();
        let changes = changes(&method, &path);
        let fits = match status {
            403 | 409 => changes,
            200 | 400 | 404 | 415 => !changes,
            _ => false,
        };
        assert!(fits, "{method} {path}: {status} {}", reply.text());
    }
}

#[test]
fn a_job_is_changed_through_any_server() {
    let database = postgres::database();
    let (first, second) = (server(&database), server(&database));
    let one = first.client();
    let other = Api::new(&second.base, first.key.as_deref());
    let job = started(&one);
    let listed = other.get("/jobs").expect(200).json();
    assert_eq!(
        (&listed["total"], &listed["items"][0]["job_id"]),
        (&json!(1), &json!(job))
    );
    for (action, state) in [
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
    ] {
        other.act(&format!("/jobs/{job}/{action}")).expect(200);
        one.wait_for(&job, &[state]);
        other.wait_for(&job, &[state]);
    }
    let running = started(&one);
    let path = format!("/jobs/{running}");
    other.send("DELETE", &path, &[], None).expect(204);
    one.get(&path).expect(404);
    one.get("/health/ready").expect(200);
}

#[test]
fn a_server_that_starts_leaves_the_jobs_of_others_alone() {
    let database = postgres::database();
    let first = server(&database);
    let job = started(&first.client());
    let second = server(&database);
    let view = Api::new(&second.base, first.key.as_deref()).wait_for(&job, &["running"]);
    assert_eq!(view["job_id"], json!(job));
    assert_eq!(second.stop(), Some(0));
    first.client().wait_for(&job, &["running"]);
}

/// What `/health/ready` says as soon as it says this.
fn eventually(probe: &Api, says: impl Fn(&Reply) -> bool) -> Reply {
    for _ in 0..3_000 {
        let reply = probe.get("/health/ready");
        if says(&reply) {
            return reply;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("readiness never said so");
}

#[test]
fn a_database_that_is_away_is_said_so_and_comes_back() {
    let postgres = postgres::start();
    let database = postgres::block_on(postgres.empty_database());
    let server = server(&database);
    let (api, probe) = (server.client(), Api::new(&server.base, None));
    probe.get("/health/ready").expect(200);
    postgres.crash();
    for reply in [api.get("/jobs"), probe.get("/health/ready")] {
        assert!(reply.headers.contains_key("retry-after"));
        assert_eq!(reply.expect(503).json()["code"], "UNAVAILABLE");
    }
    probe.get("/health").expect(200);
    // Once it is known, nobody waits for it.
    let told = eventually(&probe, |reply| reply.json()["details"]["breaker"] == "open");
    let reason = told.json()["details"]["reasons"][0].to_string();
    assert!(reason.contains("refused at once"), "{reason}");
    postgres.start_again();
    eventually(&probe, |reply| reply.status == 200);
    api.get("/jobs").expect(200);
    probe.get("/health/ready").expect(200);
}

#[test]
fn while_the_database_is_away_every_route_says_so_and_when_to_come_back() {
    let postgres = postgres::start();
    let database = postgres::block_on(postgres.empty_database());
    let server = server(&database);
    let api = server.client();
    let routes = routes(&api);
    postgres.crash();
    for (method, path, _) in routes
        .iter()
        .filter(|route| !route.1.starts_with("/health"))
    {
        let reply = api.send(method, path, &[], None);
        assert!(reply.headers.contains_key("retry-after"), "{method} {path}");
        let said = reply.expect(503).json();
        assert_eq!(said["code"], "UNAVAILABLE", "{method} {path}");
        assert!(
            said["message"].as_str().unwrap().contains("database"),
            "{said}"
        );
    }
    let ready = Api::new(&server.base, None)
        .get("/health/ready")
        .expect(503);
    assert_eq!(ready.json()["details"]["database"], "unreachable");
}

#[test]
fn of_servers_that_start_together_one_makes_the_first_key() {
    for _ in 0..3 {
        let database = postgres::database();
        // The schema is made once; the key is what they race for.
        Trawl::on("keys", Path::new(&database)).arg("list").run();
        let servers: Vec<Server> = std::thread::scope(|scope| {
            let starts = (0..3).map(|_| scope.spawn(|| server(&database)));
            let starts: Vec<_> = starts.collect();
            starts
                .into_iter()
                .map(|start| start.join().unwrap())
                .collect()
        });
        let keys = servers.iter().filter(|server| server.key.is_some()).count();
        assert_eq!(keys, 1);
    }
}

#[test]
fn a_crawl_that_somebody_waits_for_ends_when_their_server_is_gone() {
    let database = postgres::database();
    let soon = [&MANY[..], &["--unread", "2s"]].concat();
    let start = || Server::start(Path::new(&database), &soon);
    let (first, second) = (start(), start());
    let key = first.key.as_deref().or(second.key.as_deref()).unwrap();
    let (one, other) = (
        Api::new(&first.base, Some(key)),
        Api::new(&second.base, Some(key)),
    );
    let stored = started(&other);
    let servers = other.get("/workers").expect(200).json()["servers"].clone();
    assert_eq!(servers.as_array().unwrap().len(), 2, "{servers}");
    let body = json!({ "seed_urls": ["https://example.test/"] });
    let attended = std::thread::scope(|scope| {
        scope.spawn(|| one.try_send("POST", "/spider/crawl?result_mode=pages", Some(&body)));
        let job = (0..6_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            let jobs = other.get("/jobs?status=running").expect(200).json();
            let mut jobs = jobs["items"].as_array().unwrap().clone().into_iter();
            jobs.find(|job| job["kind"] == "attended")
        });
        first.kill();
        job.expect("a job")["job_id"].as_str().unwrap().to_owned()
    });
    let ended = other.wait_for(&attended, &["cancelled"]);
    assert_eq!(ended["reason"], "the reader is gone");
    other.wait_for(&stored, &["running"]);
}

#[test]
fn no_password_of_a_database_is_shown() {
    let secret = "s3cret";
    let url = "postgres://trawl:s3cret@127.0.0.1:1/none?sslmode=disable";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("url");
    std::fs::write(&file, url).unwrap();
    let file = file.to_str().unwrap();
    let show = || Trawl::new("config").arg("show");
    let runs = [
        (show().args(["--database", url]), 0),
        (show().env("TRAWL_DATABASE", url), 0),
        (Trawl::on("serve", Path::new(url)), 4),
        (Trawl::on("keys", Path::new(url)).arg("list"), 4),
        (
            Trawl::new("users").args(["list", "--database-file", file]),
            4,
        ),
        (
            Trawl::new("keys")
                .arg("list")
                .env("TRAWL_DATABASE_FILE", file),
            4,
        ),
        (Trawl::on("export", Path::new(url)), 2),
        (Trawl::on("status", Path::new(url)), 2),
        (Trawl::on("resume", Path::new(url)), 2),
        (
            Trawl::new("export")
                .arg("--help")
                .env("TRAWL_DATABASE", url),
            0,
        ),
    ];
    for (run, code) in runs {
        let done = run.run().expect_code(code);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!said.contains(secret), "{said}");
    }
    let export = Trawl::on("export", Path::new(url)).run();
    assert!(
        export.stderr.contains("not on PostgreSQL"),
        "{}",
        export.stderr
    );
}

#[test]
fn the_address_may_stand_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("url");
    std::fs::write(&file, format!("{}\n", postgres::database())).unwrap();
    let made = Trawl::new("keys")
        .args(["create", "somebody", "--database-file"])
        .arg(&file)
        .run();
    made.expect_code(0);
    let listed = Trawl::new("keys")
        .arg("list")
        .env("TRAWL_DATABASE_FILE", file.to_str().unwrap())
        .run();
    assert!(listed.expect_code(0).stdout.contains("somebody"));
    let both = Trawl::new("serve")
        .args(["--database", "x.db", "--database-file"])
        .arg(&file)
        .run();
    let said = both.expect_code(2).stderr;
    assert!(said.contains("without server.database"), "{said}");
}
