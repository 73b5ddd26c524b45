//! Keys, scopes, rates and other people's jobs, for every route of the contract.

use serde_json::{Value, json};

use super::{site, stage};
use crate::harness::{Api, Trawl};

fn key(database: &std::path::Path, scope: &str, more: &[&str]) -> String {
    let call = Trawl::on("keys", database)
        .args(["create", "somebody", "--scope", scope])
        .args(more);
    call.run().expect_code(0).stdout.trim().to_owned()
}

/// Method and path of every route, with a made-up id.
pub(super) fn routes(api: &Api) -> Vec<(String, String, bool)> {
    let contract = api.get("/api/v1/openapi.json").expect(200).json();
    let mut routes = Vec::new();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let open = operation["security"] == json!([{}]);
            let path = path
                .replace("{id}", "0b6c9f5e-0000-4000-8000-000000000000")
                .replace("{tag_id}", "0b6c9f5e-0000-4000-8000-000000000001")
                .replace("{domain}", "nobody.test");
            routes.push((method.to_uppercase(), path, open));
        }
    }
    assert!(routes.len() > 20, "{routes:?}");
    routes
}

/// Whether a key that may only read is refused.
pub(super) fn changes(method: &str, path: &str) -> bool {
    let reads = method == "GET" || path.starts_with("/search");
    !reads || path.starts_with("/api-keys") || path == "/workers" || path.starts_with("/admin")
}

#[test]
fn every_route_asks_for_a_key_but_for_those_that_say_so() {
    let stage = stage(3, &["--rate-wrong-keys", "100000"]);
    let admin = stage.server.client();
    let revoked = key(&stage.database, "admin", &["--rate", "100000"]);
    let id = revoked.split('_').nth(1).unwrap().to_owned();
    Trawl::on("keys", &stage.database)
        .args(["revoke", &id])
        .run()
        .expect_code(0);
    let expired = key(&stage.database, "admin", &["--expires", "0"]);
    for (method, path, _) in routes(&admin) {
        for bad in [
            Some("trawl_x_y"),
            Some(revoked.as_str()),
            Some(expired.as_str()),
        ] {
            let reply = Api::new(&stage.server.base, bad).send(&method, &path, &[], None);
            assert_eq!(reply.status.as_u16(), 401, "{method} {path} with {bad:?}");
            assert_eq!(reply.json()["code"], "AUTH_REQUIRED");
        }
    }
    let nobody = Api::new(&stage.server.base, None);
    let mut limited = 0;
    for (method, path, open) in routes(&admin) {
        let reply = nobody.send(&method, &path, &[], None);
        match reply.status.as_u16() {
            429 => limited += 1,
            401 => assert!(!open, "{method} {path}"),
            status => assert!(open, "{method} {path} gave {status} to nobody"),
        }
    }
    assert!(limited > 0, "nobody may ask as often as they like");
}

#[test]
fn a_key_that_may_only_read_changes_nothing() {
    let stage = stage(3, &[]);
    let reader = key(&stage.database, "read", &["--rate", "100000"]);
    let reader = Api::new(&stage.server.base, Some(&reader));
    for (method, path, open) in routes(&stage.server.client()) {
        let reply = reader.send(&method, &path, &[], None);
        let changes = changes(&method, &path);
        if path.starts_with("/auth/") {
            // A key has no session to end and no password to change.
            let status = reply.status.as_u16();
            assert!(
                open || method == "GET" || status == 409,
                "{method} {path}: {status}"
            );
        } else if changes {
            assert_eq!(
                reply.status.as_u16(),
                403,
                "{method} {path}: {}",
                reply.text()
            );
        } else {
            assert!(
                open || [200, 400, 404, 415].contains(&reply.status.as_u16()),
                "{method} {path}: {}",
                reply.text()
            );
        }
    }
}

#[test]
fn jobs_belong_to_their_key() {
    let stage = stage(3, &[]);
    let (mine, other) = (
        key(&stage.database, "write", &[]),
        key(&stage.database, "write", &[]),
    );
    let mine = Api::new(&stage.server.base, Some(&mine));
    let other = Api::new(&stage.server.base, Some(&other));
    let job = mine
        .post("/spider/crawl?result_mode=store", &site(&stage.web))
        .expect(202)
        .json();
    let job = job["job_id"].as_str().unwrap();
    mine.get(&format!("/jobs/{job}")).expect(200);
    stage
        .server
        .client()
        .get(&format!("/jobs/{job}"))
        .expect(200);
    for path in ["", "/results", "/stats", "/events", "/explain?url=x"] {
        other.get(&format!("/jobs/{job}{path}")).expect(404);
    }
    for action in ["pause", "resume", "cancel", "retry"] {
        other.act(&format!("/jobs/{job}/{action}")).expect(404);
    }
    other
        .send("DELETE", &format!("/jobs/{job}"), &[], None)
        .expect(404);
    assert_eq!(other.get("/jobs").expect(200).json()["total"], 0);
    let robots = json!({ "seed_urls": [stage.web.url(0, "/")], "respect_robots": false });
    mine.post("/spider/crawl", &robots).expect(403);
}

#[test]
fn too_many_requests_wait_and_are_told_how_long() {
    let stage = stage(3, &[]);
    let key = key(&stage.database, "read", &["--rate", "3"]);
    let api = Api::new(&stage.server.base, Some(&key));
    for left in ["2", "1", "0"] {
        let reply = api.get("/jobs").expect(200);
        assert_eq!(reply.headers["x-ratelimit-limit"], "3");
        assert_eq!(reply.headers["x-ratelimit-remaining"], left);
    }
    let reply = api.get("/jobs").expect(429);
    assert_eq!(reply.json()["code"], "RATE_LIMITED");
    let wait: u64 = reply.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=60).contains(&wait));
}

#[test]
fn nobody_is_served_on_other_addresses_without_keys() {
    let (_folder, database) = crate::harness::place();
    Trawl::on("keys", &database)
        .args(["create", "x"])
        .run()
        .expect_code(0);
    let list = Trawl::on("keys", &database)
        .arg("list")
        .run()
        .expect_code(0)
        .stdout;
    let id = list
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap()
        .to_owned();
    Trawl::on("keys", &database)
        .args(["revoke", &id])
        .run()
        .expect_code(0);
    let done = Trawl::on("serve", &database)
        .args(["--listen", "0.0.0.0:0"])
        .run()
        .expect_code(2);
    assert!(
        done.stderr.contains("--insecure-no-auth"),
        "{}",
        done.stderr
    );
    let unknown = Trawl::on("keys", &database)
        .args(["revoke", "nope"])
        .run()
        .expect_code(2);
    assert!(
        unknown.stderr.contains("trawl keys list"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn secrets_of_keys_are_not_in_the_file() {
    let stage = stage(3, &[]);
    let text = stage.server.key.clone().unwrap();
    let secret = text.rsplit('_').next().unwrap().to_owned();
    for ending in ["", "-wal"] {
        let path = format!("{}{ending}", stage.database.display());
        let bytes = std::fs::read(path).unwrap_or_default();
        let found = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "the secret stands in the file");
    }
    let listed: Value = stage.server.client().get("/api-keys").expect(200).json();
    assert!(!listed.to_string().contains(&secret));
}
