//! Settings from file, environment and flags; what the log says and does not say.

use serde_json::{Value, json};

use crate::harness::{Api, Server, Trawl, place};

#[test]
fn a_server_takes_its_settings_from_a_file_and_says_where_they_came_from() {
    let (folder, database) = place();
    let file = folder.path().join("trawl.toml");
    let text = format!(
        "[server]\ndatabase = {:?}\n\n[rates]\nuser = 7\nadmin = 8\n",
        database.display().to_string()
    );
    std::fs::write(&file, text).unwrap();
    let show = Trawl::new("config").arg("show").arg("--config").arg(&file);
    let shown = show.env("TRAWL_RATE_ADMIN", "9").args(["--delay", "2s"]);
    let shown = shown.run().expect_code(0).stdout;
    let line = |name: &str| {
        let found = shown.lines().find(|line| line.starts_with(name));
        found
            .unwrap_or_else(|| panic!("{name} in {shown}"))
            .to_owned()
    };
    assert!(line("user = 7").ends_with("trawl.toml:5"), "{shown}");
    assert!(line("admin = 9").ends_with("TRAWL_RATE_ADMIN"), "{shown}");
    assert!(line("delay = \"2s\"").ends_with("--delay"), "{shown}");
    assert!(line("lifetime = \"24h\"").ends_with("default"), "{shown}");

    let keys = Trawl::new("keys").arg("--config").arg(&file);
    let key = keys.args(["create", "x", "--scope", "read"]).run();
    let key = key.expect_code(0).stdout.trim().to_owned();
    let path = file.display().to_string();
    let server = Server::start_alone(&database, &["--config", &path]);
    let reply = Api::new(&server.base, Some(&key)).get("/jobs").expect(200);
    assert_eq!(reply.headers["ratelimit-limit"], "7");
}

#[test]
fn what_is_wrong_with_the_settings_is_said_before_anything_starts() {
    let (folder, database) = place();
    let file = folder.path().join("trawl.toml");
    std::fs::write(&file, "[server]\nlisen = \"x\"\n\n[rates]\nuser = 0\n").unwrap();
    let call = Trawl::on("serve", &database).arg("--config").arg(&file);
    let said = call.run().expect_code(2).stderr;
    for part in [
        "trawl.toml:2:1: server.lisen",
        "did you mean listen?",
        "rates.user: found 0",
    ] {
        assert!(said.contains(part), "{said}");
    }
    for (args, part) in [
        (["--rate-user", "none"], "--rate-user: found \"none\""),
        (["--session-idle", "25h"], "at most sessions.lifetime"),
        (["--limit-pages", "20000"], "at most limits.most-pages"),
        (["--config", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        let said = Trawl::on("serve", &database)
            .args(args)
            .run()
            .expect_code(2)
            .stderr;
        assert!(said.contains(part), "{said}");
    }
    assert!(!database.exists());
    let call = Trawl::on("serve", &database).env("TRAWL_LISTEN", "here");
    assert!(
        call.run()
            .expect_code(2)
            .stderr
            .contains("TRAWL_LISTEN: found \"here\"")
    );
}

#[test]
fn a_sample_is_written_once_and_is_valid() {
    let (folder, _) = place();
    let file = folder.path().join("sample.toml");
    let init = || Trawl::new("config").arg("init").arg(&file);
    init().run().expect_code(0);
    assert!(init().run().expect_code(2).stderr.contains("--force"));
    init().arg("--force").run().expect_code(0);
    let show = Trawl::new("config").args(["show", "--config"]).arg(&file);
    assert!(
        show.run()
            .expect_code(0)
            .stdout
            .contains("listen = \"127.0.0.1:8080\"")
    );
}

#[test]
fn keys_that_would_be_of_no_use_are_refused() {
    let (_folder, database) = place();
    for args in [["create", ""], ["create", " "]] {
        Trawl::on("keys", &database).args(args).run().expect_code(2);
    }
    let none = ["create", "x", "--rate", "0"];
    Trawl::on("keys", &database).args(none).run().expect_code(2);
}

#[test]
fn log_lines_are_json_with_request_ids_and_without_secrets() {
    let (folder, database) = place();
    let made = Trawl::on("users", &database).args(["create", "ada"]);
    made.input("correct horse\n").run().expect_code(0);
    let args = ["--log-format", "json", "--log-level", "debug"];
    let path = folder.path().join("log");
    let server = Server::start_logged(&database, &args, &path);
    let api = Api::new(&server.base, None);
    let good = json!({ "username": "ada", "password": "correct horse" });
    let reply = api.post("/auth/login", &good).expect(200);
    let cookie = reply.headers["set-cookie"].to_str().unwrap().to_owned();
    let token = cookie.split(['=', ';']).nth(1).unwrap().to_owned();
    let wrong = json!({ "username": "hunter2", "password": "hunter2" });
    api.post("/auth/login", &wrong).expect(401);
    let asked = api
        .get("/jobs?url=https://me:hunter2@example.org/")
        .expect(401);
    let id = asked.headers["x-request-id"].to_str().unwrap().to_owned();
    assert_eq!(server.stop(), Some(0));
    let log = std::fs::read_to_string(path).unwrap();
    for secret in [token.as_str(), "correct horse", "hunter2"] {
        assert!(!log.contains(secret), "{log}");
    }
    let lines: Vec<Value> = log
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let answered = lines
        .iter()
        .find(|line| line["message"] == "answered" && line["span"]["request_id"] == id.as_str());
    let answered = answered.unwrap_or_else(|| panic!("{id} in {log}"));
    assert_eq!(
        (&answered["path"], &answered["status"]),
        (&json!("/jobs"), &json!(401))
    );
    assert!(!log.contains('\u{1b}'), "no colours in a file");
}

/// A database as the version before accounts left it.
fn older(database: &std::path::Path) {
    let conn = rusqlite::Connection::open(database).unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/sqlite");
    for name in ["0001_first", "0002_terrain", "0003_content", "0004_server"] {
        let sql = std::fs::read_to_string(folder.join(name).with_extension("sql")).unwrap();
        conn.execute_batch(&sql).unwrap();
    }
    conn.execute_batch(
        "INSERT INTO meta (key, value) VALUES ('key_secret', randomblob(16));
         PRAGMA application_id = 0x5472776c; PRAGMA user_version = 4; PRAGMA journal_mode = WAL",
    )
    .unwrap();
}

#[test]
fn a_database_of_an_older_format_is_brought_up_by_whoever_opens_it() {
    for command in [vec!["keys", "list"], vec!["users", "list"], vec!["status"]] {
        let (_folder, database) = place();
        older(&database);
        let call = Trawl::on(command[0], &database).args(&command[1..]);
        call.run().expect_code(0);
        Trawl::on("users", &database)
            .arg("list")
            .run()
            .expect_code(0);
    }
}
