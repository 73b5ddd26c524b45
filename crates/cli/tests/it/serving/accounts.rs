//! People: users, sessions, roles, bad logins, requests that other sites make a browser send.

use std::path::Path;

use serde_json::{Value, json};

use super::{Stage, rights::routes, site, stage};
use crate::harness::{Api, Done, Reply, Trawl};

const PASSWORD: &str = "correct horse battery";
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");
/// So many that no test meets a rate by accident.
const MANY: [&str; 2] = ["--rate-anonymous", "100000"];

fn users(database: &Path, args: &[&str], input: &str) -> Done {
    Trawl::on("users", database).args(args).input(input).run()
}

fn create(database: &Path, name: &str, role: &str) {
    let args = ["create", name, "--role", role];
    users(database, &args, &format!("{PASSWORD}\n")).expect_code(0);
}

fn login(api: &Api, name: &str, password: &str) -> Reply {
    let body = json!({ "username": name, "password": password });
    api.post("/auth/login", &body)
}

/// The cookie of a new session, as it is sent back.
fn session(api: &Api, name: &str) -> String {
    let reply = login(api, name, PASSWORD).expect(200);
    let cookie = reply.headers["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

fn nobody(stage: &Stage) -> Api {
    Api::new(&stage.server.base, None)
}

fn change(stage: &Stage, sql: &str) {
    let conn = rusqlite::Connection::open(&stage.database).unwrap();
    conn.busy_timeout(std::time::Duration::from_secs(10))
        .unwrap();
    assert!(conn.execute(sql, []).unwrap() > 0, "{sql}");
}

/// As if the last bad logins had been so long ago; a clock may also have been set back since.
fn last_failure(stage: &Stage, ago_ms: i64) {
    let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
    change(
        stage,
        &format!("UPDATE login_failures SET last_at = {now} - {ago_ms}"),
    );
}

#[test]
fn a_user_logs_in_is_known_and_logs_out() {
    let stage = stage(3, &MANY);
    create(&stage.database, "Ada", "user");
    let api = nobody(&stage);
    let reply = login(&api, "ada", PASSWORD).expect(200);
    let cookie = reply.headers["set-cookie"].to_str().unwrap().to_owned();
    for part in [
        "trawl_session=",
        "HttpOnly",
        "SameSite=Strict",
        "Path=/",
        "Max-Age=86400",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "not over plain HTTP: {cookie}");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let cookie = cookie.split(';').next().unwrap();
    let me = api.send("GET", "/auth/me", &[("cookie", cookie)], None);
    let me = me.expect(200).json();
    assert_eq!(me, reply.json());
    assert_eq!(
        (&me["kind"], &me["name"], &me["role"], &me["scope"]),
        (
            &json!("user"),
            &json!("ada"),
            &json!("user"),
            &json!("write")
        )
    );
    let as_ada = [("cookie", cookie), OWN];
    api.send("POST", "/auth/logout", &as_ada, None).expect(204);
    api.send("GET", "/auth/me", &as_ada, None).expect(401);
    let me = stage.server.client().get("/auth/me").expect(200).json();
    assert_eq!((&me["kind"], &me["role"]), (&json!("key"), &json!("admin")));
    stage.server.client().act("/auth/logout").expect(409);
    api.get("/auth/me").expect(401);
}

#[test]
fn every_route_asks_for_a_session_that_still_counts() {
    let stage = stage(3, &MANY);
    for name in ["expired", "idle", "out", "disabled", "deleted", "changed"] {
        create(&stage.database, name, "admin");
    }
    let api = nobody(&stage);
    let cookies = ["expired", "idle", "out", "disabled", "deleted", "changed"]
        .map(|name| session(&api, name));
    let whose = |name: &str| format!("WHERE user = (SELECT id FROM users WHERE name = '{name}')");
    change(
        &stage,
        &format!("UPDATE sessions SET expires_at = 1 {}", whose("expired")),
    );
    change(
        &stage,
        &format!("UPDATE sessions SET last_seen_at = 1 {}", whose("idle")),
    );
    let out = [("cookie", cookies[2].as_str()), OWN];
    api.send("POST", "/auth/logout", &out, None).expect(204);
    users(&stage.database, &["disable", "disabled"], "").expect_code(0);
    users(&stage.database, &["delete", "deleted"], "").expect_code(0);
    users(&stage.database, &["passwd", "changed"], "another one\n").expect_code(0);
    let routes = routes(&stage.server.client());
    for cookie in cookies
        .iter()
        .map(String::as_str)
        .chain(["trawl_session=x"])
    {
        for (method, path, open) in &routes {
            let reply = api.send(method, path, &[("cookie", cookie), OWN], None);
            let status = reply.status.as_u16();
            assert!(*open || status == 401, "{method} {path}: {status}");
        }
    }
    // Whoever has an old cookie can log in.
    let body = json!({ "username": "changed", "password": "another one" });
    let old = [("cookie", cookies[5].as_str()), OWN];
    api.send("POST", "/auth/login", &old, Some(&body))
        .expect(200);
    login(&api, "disabled", PASSWORD).expect(401);
    users(&stage.database, &["enable", "disabled"], "").expect_code(0);
    login(&api, "disabled", PASSWORD).expect(200);
}

#[test]
fn a_page_of_another_site_cannot_act_with_a_session() {
    let stage = stage(3, &[&MANY[..], &["--rate-admin", "100000"]].concat());
    create(&stage.database, "root", "admin");
    let api = nobody(&stage);
    let cookie = session(&api, "root");
    let cookie = ("cookie", cookie.as_str());
    let host = stage.server.base.clone();
    for (method, path, open) in routes(&stage.server.client()) {
        if method == "GET" || open {
            continue;
        }
        for other in [
            vec![],
            vec![("sec-fetch-site", "cross-site")],
            vec![("sec-fetch-site", "same-site")],
            vec![("origin", "https://evil.test")],
            vec![("origin", "null")],
            vec![("origin", host.as_str()), ("sec-fetch-site", "cross-site")],
        ] {
            let headers = [&[cookie], &other[..]].concat();
            let reply = api.send(&method, &path, &headers, None);
            let text = reply.text();
            assert_eq!(
                reply.status.as_u16(),
                403,
                "{method} {path} {other:?}: {text}"
            );
        }
    }
    let none = "/jobs/0b6c9f5e-0000-4000-8000-000000000000";
    for own in [OWN, ("origin", host.as_str())] {
        api.send("DELETE", none, &[cookie, own], None).expect(404);
    }
    // A WebSocket is asked for by GET and answers to whoever opened it.
    let socket = [
        cookie,
        ("upgrade", "websocket"),
        ("origin", "https://evil.test"),
    ];
    let path = "/ws/crawl/0b6c9f5e-0000-4000-8000-000000000000";
    api.send("GET", path, &socket, None).expect(403);
    // Nor can a page log somebody in.
    let body = json!({ "username": "root", "password": PASSWORD });
    let cross = [("sec-fetch-site", "cross-site")];
    api.send("POST", "/auth/login", &cross, Some(&body))
        .expect(403);
    // A key is no cookie: nobody sends it without knowing it.
    let key = stage.server.client();
    key.send("DELETE", none, &cross, None).expect(404);
}

#[test]
fn without_authentication_pages_of_other_sites_still_cannot_act() {
    let args = ["--insecure-no-auth", "--cors-origin", "https://ui.test"];
    let stage = stage(3, &args);
    let api = nobody(&stage);
    let none = "/jobs/0b6c9f5e-0000-4000-8000-000000000000";
    let act = |origin| api.send("DELETE", none, &[("origin", origin)], None);
    act("https://evil.test").expect(403);
    act("https://ui.test").expect(404);
    api.send("DELETE", none, &[], None).expect(404);
}

#[test]
fn a_user_has_jobs_of_their_own_and_is_no_administrator() {
    let stage = stage(3, &["--delay", "0s"]);
    create(&stage.database, "ada", "user");
    create(&stage.database, "bob", "user");
    create(&stage.database, "root", "admin");
    let api = nobody(&stage);
    let [ada, bob, root] = ["ada", "bob", "root"].map(|name| session(&api, name));
    let send = |who: &str, method: &str, path: &str, body: Option<&Value>| {
        api.send(method, path, &[("cookie", who), OWN], body)
    };
    let job = send(
        &ada,
        "POST",
        "/spider/crawl?result_mode=store",
        Some(&site(&stage.web)),
    );
    let job = job.expect(202).json()["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/jobs/{job}");
    send(&ada, "GET", &path, None).expect(200);
    send(&root, "GET", &path, None).expect(200);
    for path in ["", "/results", "/stats", "/events", "/explain?url=x"] {
        send(&bob, "GET", &format!("/jobs/{job}{path}"), None).expect(404);
    }
    for action in ["pause", "resume", "cancel", "retry"] {
        send(&bob, "POST", &format!("/jobs/{job}/{action}"), None).expect(404);
    }
    send(&bob, "DELETE", &path, None).expect(404);
    for (who, jobs) in [(&ada, 1), (&bob, 0), (&root, 1)] {
        assert_eq!(
            send(who, "GET", "/stats", None).expect(200).json()["jobs_total"],
            jobs
        );
        assert_eq!(
            send(who, "GET", "/jobs", None).expect(200).json()["total"],
            jobs
        );
    }
    let refused = send(&ada, "GET", "/api-keys", None).expect(403).json();
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("administrator")
    );
    send(&root, "GET", "/api-keys", None).expect(200);
}

#[test]
fn bad_logins_say_nothing_and_have_to_wait_longer_and_longer() {
    let stage = stage(3, &MANY);
    create(&stage.database, "ada", "user");
    create(&stage.database, "off", "user");
    users(&stage.database, &["disable", "off"], "").expect_code(0);
    let said = |reply: Reply| {
        let mut body = reply.expect(401).json();
        body["request_id"] = Value::Null;
        body
    };
    let api = nobody(&stage);
    let wrong = said(login(&api, "ada", "wrong"));
    assert_eq!(wrong, said(login(&api, "nobody", "wrong")));
    assert_eq!(wrong, said(login(&api, "off", PASSWORD)));
    for _ in 0..4 {
        login(&api, "ada", "wrong").expect(401);
    }
    let wait = |reply: Reply| -> u64 {
        let reply = reply.expect(429);
        assert_eq!(reply.json()["code"], "RATE_LIMITED");
        reply.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse()
            .unwrap()
    };
    // However slow this machine is.
    last_failure(&stage, -3_600_000);
    assert_eq!(wait(login(&api, "ada", PASSWORD)), 30);
    // A restart forgives nothing.
    let stage = stage.restart(&MANY);
    let api = nobody(&stage);
    assert_eq!(wait(login(&api, "ada", PASSWORD)), 30);
    login(&api, "off", "wrong").expect(401);
    // Time passes.
    last_failure(&stage, 31_000);
    login(&api, "ada", "wrong").expect(401);
    last_failure(&stage, -3_600_000);
    assert_eq!(wait(login(&api, "ada", PASSWORD)), 60);
    last_failure(&stage, 61_000);
    login(&api, "ada", PASSWORD).expect(200);
    // A good login is the end of it.
    for _ in 0..5 {
        login(&api, "ada", "wrong").expect(401);
    }
    last_failure(&stage, -3_600_000);
    login(&api, "ada", PASSWORD).expect(429);
    // The operator can help.
    let new = "another password\n";
    users(&stage.database, &["passwd", "ada"], new).expect_code(0);
    login(&api, "ada", new.trim()).expect(200);
}

#[test]
fn an_address_that_tries_many_names_has_to_wait_as_well() {
    let stage = stage(3, &MANY);
    create(&stage.database, "ada", "user");
    let api = nobody(&stage);
    for number in 0..20 {
        login(&api, &format!("name{number}"), "wrong").expect(401);
    }
    last_failure(&stage, -3_600_000);
    login(&api, "ada", PASSWORD).expect(429);
}

#[test]
fn sessions_outlive_the_server_and_end_with_a_new_password() {
    let stage = stage(3, &MANY);
    create(&stage.database, "ada", "user");
    let (first, second) = (
        session(&nobody(&stage), "ada"),
        session(&nobody(&stage), "ada"),
    );
    let stage = stage.restart(&MANY);
    let api = nobody(&stage);
    api.send("GET", "/auth/me", &[("cookie", &first)], None)
        .expect(200);
    let set = |current: &str, new: &str| {
        let body = json!({ "current_password": current, "new_password": new });
        api.send(
            "POST",
            "/auth/password",
            &[("cookie", &first), OWN],
            Some(&body),
        )
    };
    set(PASSWORD, "short").expect(400);
    set("wrong", "another password").expect(401);
    set(PASSWORD, "another password").expect(204);
    for cookie in [&first, &second] {
        api.send("GET", "/auth/me", &[("cookie", cookie)], None)
            .expect(401);
    }
    login(&api, "ada", PASSWORD).expect(401);
    login(&api, "ada", "another password").expect(200);
}

#[test]
fn wrong_keys_are_counted_and_good_ones_go_on_working() {
    let stage = stage(3, &["--rate-wrong-keys", "3"]);
    let wrong = Api::new(&stage.server.base, Some("trawl_x_y"));
    for _ in 0..3 {
        wrong.get("/jobs").expect(401);
    }
    let reply = wrong.get("/jobs").expect(429);
    assert!(reply.headers.contains_key("retry-after"));
    stage.server.client().get("/jobs").expect(200);
}

#[test]
fn anonymous_visitors_see_figures_only_if_they_may() {
    let closed = stage(3, &[]);
    nobody(&closed).get("/stats").expect(401);
    let open = stage(3, &["--anonymous", "stats"]);
    let api = nobody(&open);
    assert_eq!(api.get("/stats").expect(200).json()["jobs_total"], 0);
    api.get("/jobs").expect(401);
}

#[test]
fn rates_of_all_tiers_are_settings() {
    let args = [
        "--rate-anonymous",
        "7",
        "--rate-user",
        "8",
        "--rate-admin",
        "9",
    ];
    let stage = stage(3, &args);
    create(&stage.database, "ada", "user");
    let api = nobody(&stage);
    let cookie = session(&api, "ada");
    let told = |reply: Reply| {
        let limit = reply.headers["ratelimit-limit"].clone();
        assert_eq!(reply.headers["x-ratelimit-limit"], limit);
        assert!(reply.headers.contains_key("ratelimit-reset"));
        limit.to_str().unwrap().to_owned()
    };
    assert_eq!(told(api.get("/openapi.json")), "7");
    assert_eq!(
        told(api.send("GET", "/jobs", &[("cookie", &cookie)], None)),
        "8"
    );
    assert_eq!(told(stage.server.client().get("/jobs")), "9");
}

#[test]
fn users_are_made_by_hand_and_passwords_are_nowhere() {
    let (_folder, database) = crate::harness::place();
    let short = users(&database, &["create", "ada"], "short\n").expect_code(2);
    assert!(short.stderr.contains("at least 8"), "{}", short.stderr);
    users(&database, &["create", "a b"], "long enough\n").expect_code(2);
    create(&database, "ada", "admin");
    let twice = users(&database, &["create", "ADA"], "long enough\n").expect_code(2);
    assert!(twice.stderr.contains("already"), "{}", twice.stderr);
    for command in ["passwd", "disable", "enable", "delete"] {
        let unknown = users(&database, &[command, "bob"], "long enough\n").expect_code(2);
        assert!(
            unknown.stderr.contains("trawl users list"),
            "{}",
            unknown.stderr
        );
    }
    let list = users(&database, &["list"], "").expect_code(0).stdout;
    assert!(list.contains("admin") && list.contains("ada"), "{list}");
    for ending in ["", "-wal"] {
        let path = format!("{}{ending}", database.display());
        let bytes = std::fs::read(path).unwrap_or_default();
        let found = bytes
            .windows(PASSWORD.len())
            .any(|part| part == PASSWORD.as_bytes());
        assert!(!found, "the password stands in the file");
    }
}
