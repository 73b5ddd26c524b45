//! A server and workers that share a database, each a process of its own.

use std::{
    collections::HashSet,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use trawl_store::{PostgresOptions, PostgresStore, Store};
use trawl_testweb::LoggedRequest;
use trawl_types::{CrawlId, Sequence};

use crate::harness::{Api, Server, Web};

/// Far above what anything takes on a busy machine.
const HANG: Duration = Duration::from_mins(5);

/// A PostgreSQL of one's own, with one database.
pub(crate) struct Postgres {
    server: trawl_testdb::Server,
    runtime: tokio::runtime::Runtime,
    pub(crate) url: String,
}

impl Postgres {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = trawl_testdb::Server::start(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let make = async |url: String| {
            let model = PostgresStore::open(&url, PostgresOptions::default()).await;
            drop(model.unwrap());
        };
        let url = runtime.block_on(server.database(make));
        Self {
            server,
            runtime,
            url,
        }
    }

    /// Statements, one after the other.
    pub(crate) fn sql(&self, sql: &str) {
        self.runtime.block_on(self.server.sql(self.name(), sql));
    }

    fn name(&self) -> &str {
        let name = self.url.rsplit_once('/').unwrap().1;
        name.split('?').next().unwrap()
    }

    /// A transaction that sees the database as it is now, and stays open for as long as this lives.
    pub(crate) fn pinned(&self) -> impl Sized {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM hosts";
        self.runtime
            .block_on(self.server.session(self.name(), begin))
    }

    pub(crate) fn crash(&self) {
        self.server.crash();
    }

    pub(crate) fn start_again(&self) {
        self.server.start_again();
        self.runtime.block_on(self.server.ready());
    }
}

/// A `trawl worker`; killed when dropped.
pub(crate) struct Worker(Child);

impl Worker {
    pub(crate) fn start(url: &str, args: &[&str]) -> Self {
        let mut call = Command::new(env!("CARGO_BIN_EXE_trawl"));
        call.args(["worker", "--database", url, "--delay", "0s"])
            .args(["--allow-network", "127.0.0.0/8"])
            .args(["--resolve", "*.test=127.0.0.1"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        Self(call.spawn().unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        Command::new("kill").args([name, &id]).status().unwrap();
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Asks it to stop and waits for its end.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        let began = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(began.elapsed() < HANG, "the worker does not stop");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that leaves crawling to others.
pub(crate) fn server(url: &str, more: &[&str]) -> Server {
    let args = ["--insecure-no-auth", "--no-worker", "--delay", "0s"];
    Server::start(Path::new(url), &[&args, more].concat())
}

/// A job that takes in the whole web.
pub(crate) fn everything(web: &Web, delay_ms: u64) -> Value {
    json!({
        "seed_urls": [web.url(0, "/")],
        "same_domain_only": false,
        "delay_ms": delay_ms,
        "max_pages": 1_000_000,
    })
}

/// Whether the job runs. What was started anew may need a moment to answer.
pub(crate) fn runs(api: &Api, job: &str) -> bool {
    for _ in 0..200 {
        if let Some(reply) = api.try_get(&format!("/jobs/{job}"))
            && reply.status.is_success()
        {
            return reply.json()["status"] == "running";
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("nobody says how the job is");
}

pub(crate) fn wait_for_end(api: &Api, job: &str) -> Value {
    let began = Instant::now();
    loop {
        // The server may be down just now, or its database.
        if let Some(reply) = api.try_get(&format!("/jobs/{job}"))
            && reply.status.is_success()
            && reply.json()["status"] != "running"
        {
            return reply.json();
        }
        assert!(began.elapsed() < HANG, "the job does not end");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Every page once, numbered without gaps, at its true depth, with its true links.
pub(crate) fn assert_true_graph(web: &Web, url: &str, pages: u32) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (seen, edges) = runtime.block_on(async {
        let store = PostgresStore::open(url, PostgresOptions::default())
            .await
            .unwrap();
        let (mut seen, mut edges) = (HashSet::new(), HashSet::new());
        let mut after = Sequence(0);
        loop {
            let records = store.results(CrawlId(1), after, 500).await.unwrap();
            if records.is_empty() {
                break;
            }
            for record in records {
                assert_eq!(record.seq.0, after.0 + 1, "a gap in the log");
                after = record.seq;
                let page = web.page_of(&record.url).unwrap();
                assert!(seen.insert(page), "two results for {}", record.url);
                assert_eq!(record.depth, web.graph().depth(page), "{}", record.url);
                let links = store.links_of(CrawlId(1), record.page_id).await;
                for link in links.unwrap() {
                    assert!(edges.insert((page, web.page_of(&link.url).unwrap())));
                }
            }
        }
        (seen, edges)
    });
    assert_eq!(seen.len(), pages as usize, "pages are missing");
    assert_eq!(edges, web.graph().edges().collect::<HashSet<_>>());
}

pub(crate) fn assert_polite(requests: &[LoggedRequest], hosts: u32, delay_ms: u64) {
    for host in 0..hosts {
        let of_host: Vec<_> = requests.iter().filter(|r| r.host == host).collect();
        for pair in of_host.windows(2) {
            let gap = pair[1].at_micros - pair[0].at_micros;
            assert!(
                gap >= delay_ms * 1000,
                "host {host}: {} came {gap} µs after {}",
                pair[1].path_and_query,
                pair[0].path_and_query
            );
        }
    }
}

/// Hosts are given back soon after the end, and nobody holds on to one: loans are renewed for as long as
/// somebody does.
const NOBODY_HOLDS_ONE: &str = "DO $$ BEGIN FOR i IN 1..6000 LOOP
    IF NOT EXISTS (SELECT 1 FROM hosts WHERE holder IS NOT NULL
      AND ready_at > clock_timestamp()) THEN RETURN; END IF;
    PERFORM pg_sleep(0.02); END LOOP; RAISE EXCEPTION 'hosts are still on loan'; END $$";

pub(crate) fn assert_nothing_is_held(postgres: &Postgres) {
    postgres.sql(NOBODY_HOLDS_ONE);
}

/// Nothing waits and nothing runs.
pub(crate) fn assert_at_rest(url: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = PostgresStore::open(url, PostgresOptions::default())
            .await
            .unwrap();
        let counts = store.counts(CrawlId(1)).await.unwrap();
        assert_eq!(counts.pending, 0);
        assert_eq!(counts.done, counts.discovered);
    });
}
