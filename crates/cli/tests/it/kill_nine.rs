//! `kill -9` at random instants, also during start-up and inside commits: in the end every page is
//! there exactly once, the links are the true ones, nothing that was committed is asked for again,
//! and no host is asked sooner than its delay allows, also across restarts.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    process::ExitStatus,
    thread,
    time::Duration,
};

use serde_json::Value;
use trawl_store::{SqliteStore, Store};
use trawl_testweb::{Behaviours, LoggedRequest, RobotsKind, WebSpec};
use trawl_types::{CrawlId, Sequence};

use crate::harness::{Copy, Dice, Snapshot, Trawl, Web, place};

const KILLS: usize = 52;
/// Kills in one crawl; then it may end.
const KILLS_PER_CRAWL: usize = 26;
const HOSTS: u32 = 20;
const PAGES: u32 = 3_000;
const DELAY: &str = "10ms";
const DELAY_MICROS: u64 = 10_000;
/// This host asks for more than the crawl would give it, and for longer than a restart takes.
const SLOW_HOST: u32 = 3;
const SLOW_HOST_SECONDS: f64 = 0.1;
const SLOW_HOST_MICROS: u64 = 100_000;
const CONCURRENCY: usize = 16;
/// What a kill may cost: the requests under way, and one batch of answers before its commit.
const MOST_IN_FLIGHT: usize = CONCURRENCY + 256;
/// A page is committed soon after its answer: what is asked for again was asked for shortly
/// before the kill. Commits take milliseconds; this is for a machine that is busy elsewhere.
const UNCOMMITTED_FOR: u64 = 3_000_000;

/// The instant of a kill, and what was durable then.
struct Kill {
    /// Requests of the log that belong to processes up to this kill.
    requests: usize,
    at_micros: u64,
    done: HashSet<u32>,
}

#[test]
fn a_crawl_killed_again_and_again_ends_as_if_nothing_had_happened() {
    let mut dice = Dice::new(0x6b69_6c6c);
    let mut kills = 0;
    for crawl in 1.. {
        assert!(crawl < 20, "crawls end before they can be killed");
        if kills >= KILLS {
            break;
        }
        kills += killed_crawl(crawl, &mut dice);
    }
}

/// One crawl with its kills, judged at its end. Returns how many kills hit it.
fn killed_crawl(seed: u64, dice: &mut Dice) -> usize {
    let (_folder, database) = place();
    let slow = RobotsKind::CrawlDelay(SLOW_HOST_SECONDS);
    let web = Web::start_with(
        WebSpec::many_hosts(HOSTS, PAGES).with_seed(seed),
        Behaviours::none().robots(SLOW_HOST, slow),
    );
    let kills = crawl_with_kills(&web, &database, dice);
    let requests = web.log().entries();
    Trawl::on("resume", &database).run().expect_code(2);
    let status = Trawl::on("status", &database).arg("--json").run();
    let status = &status.expect_code(0).json_lines()[0];
    assert_eq!(status["state"], "completed", "{status}");
    Snapshot::of(&database).assert_sound();
    assert_results_are_the_true_graph(&web, &database);
    assert_bodies_are_whole(&database);
    assert_nothing_committed_was_asked_for_again(&web, &requests, &kills);
    assert_robots_first_and_once(&requests, &kills);
    for host in 0..HOSTS {
        assert_delays(&requests, host);
    }
    let asked_again = requests.len() - (PAGES + HOSTS) as usize;
    println!(
        "crawl {seed}: {} kills, {} of {} requests asked again",
        kills.len(),
        asked_again,
        requests.len()
    );
    kills.len()
}

fn crawl_with_kills(web: &Web, database: &Path, dice: &mut Dice) -> Vec<Kill> {
    let (mut kills, mut begun) = (Vec::new(), false);
    loop {
        begun = begun || (database.exists() && is_begun(&Snapshot::of(database)));
        let run = next_process(web, database, begun).start();
        if kills.len() == KILLS_PER_CRAWL {
            assert_over(run.finish().status, database);
            break;
        }
        thread::sleep(life_time(dice));
        let ended = run.kill();
        web.settle();
        if let Some(status) = ended {
            assert_over(status, database);
            break;
        }
        // Looked into later: the next process must not get a delay for nothing.
        let at_micros = web.log().started().elapsed().as_micros() as u64;
        kills.push((web.log().len(), at_micros, Copy::of(database)));
    }
    let kills = kills.into_iter();
    kills
        .map(|(requests, at_micros, copy)| kill(web, requests, at_micros, &copy.open()))
        .collect()
}

/// It ended by itself, or the process before it died just after the crawl's end was stored.
fn assert_over(status: ExitStatus, database: &Path) {
    if status.code() == Some(2) {
        let left = Snapshot::of(database);
        assert_eq!(left.number("SELECT state = 'completed' FROM crawls"), 1);
    } else {
        assert!(status.success(), "{status}");
    }
}

fn is_begun(left: &Snapshot) -> bool {
    left.has_tables() && left.number("SELECT count(*) FROM crawls") > 0
}

/// A third of the processes die while they start, a third soon after, a third in full flow.
fn life_time(dice: &mut Dice) -> Duration {
    let millis = match dice.below(3) {
        0 => dice.below(40),
        1 => dice.below(200),
        _ => dice.below(600),
    };
    Duration::from_micros(millis * 1000 + dice.below(1000))
}

fn next_process(web: &Web, database: &Path, begun: bool) -> Trawl {
    if begun {
        return Trawl::on("resume", database).arg("--quiet");
    }
    Trawl::crawl(database, DELAY)
        .args(["--scope", "any", "--keep", "html"])
        .args(["--concurrency", &CONCURRENCY.to_string(), "--quiet"])
        .arg(web.url(0, "/"))
}

fn kill(web: &Web, requests: usize, at_micros: u64, left: &Snapshot) -> Kill {
    left.assert_sound();
    let done = if left.has_tables() {
        left.done()
    } else {
        HashSet::new()
    };
    Kill {
        requests,
        at_micros,
        done: done.iter().filter_map(|url| web.page_of(url)).collect(),
    }
}

fn assert_results_are_the_true_graph(web: &Web, database: &Path) {
    let export = Trawl::on("export", database)
        .args([
            "--format",
            "ndjson",
            "--fields",
            "url,depth,outcome,seq,links",
        ])
        .run()
        .expect_code(0);
    let graph = web.graph();
    let (mut seen, mut edges) = (HashSet::new(), HashSet::new());
    for (at, record) in export.json_lines().iter().enumerate() {
        let page = page_in(web, &record["url"]);
        assert!(seen.insert(page), "two results for {}", record["url"]);
        assert_eq!(record["outcome"], "fetched", "{record}");
        assert_eq!(record["seq"], at as u64 + 1, "{record}");
        assert_eq!(record["depth"], graph.depth(page), "{record}");
        for link in record["links"].as_array().unwrap() {
            let edge = (page, page_in(web, &link["url"]));
            assert!(edges.insert(edge), "{edge:?} twice");
        }
    }
    assert_eq!(seen.len(), PAGES as usize, "pages are missing");
    assert_eq!(edges, graph.edges().collect::<HashSet<_>>());
}

fn page_in(web: &Web, url: &Value) -> u32 {
    let url = url.as_str().unwrap();
    web.page_of(url)
        .unwrap_or_else(|| panic!("{url} is no page of the web"))
}

/// Every body that a result refers to can be read back, complete.
fn assert_bodies_are_whole(database: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let store = SqliteStore::open_read_only(database).unwrap();
    runtime.block_on(async {
        for seq in 1..=i64::from(PAGES) {
            let body = store.body(CrawlId(1), Sequence(seq)).await.unwrap();
            let body = body.unwrap_or_else(|| panic!("result {seq} has lost its body"));
            assert!(body.ends_with(b"</html>\n"), "body of result {seq}");
        }
    });
}

/// "In flight" is exact here: asked for by a process that died, and not durable when it died.
fn assert_nothing_committed_was_asked_for_again(
    web: &Web,
    requests: &[LoggedRequest],
    kills: &[Kill],
) {
    let mut last: HashMap<u32, usize> = HashMap::new();
    let mut again = vec![0; kills.len()];
    for (at, request) in requests.iter().enumerate() {
        let Some(page) = web.graph().find(request.host, request.path()) else {
            assert_eq!(request.path(), "/robots.txt");
            continue;
        };
        let Some(before) = last.insert(page, at) else {
            continue;
        };
        let which = kills.partition_point(|kill| kill.requests <= before);
        let kill = kills.get(which).filter(|kill| kill.requests <= at);
        let path = &request.path_and_query;
        let kill = kill.unwrap_or_else(|| panic!("{path} was asked for twice by one process"));
        assert!(!kill.done.contains(&page), "{path} was committed");
        let age = kill.at_micros.saturating_sub(requests[before].at_micros);
        assert!(
            age < UNCOMMITTED_FOR,
            "{path} was not committed for {age} µs"
        );
        again[which] += 1;
    }
    assert!(
        again.iter().all(|again| *again <= MOST_IN_FLIGHT),
        "{again:?}"
    );
}

/// A page is asked for once robots.txt is durable: it is read again only where a process died
/// before that, so no page came in between.
fn assert_robots_first_and_once(requests: &[LoggedRequest], kills: &[Kill]) {
    for host in 0..HOSTS {
        let of_host = requests.iter().enumerate().filter(|(_, r)| r.host == host);
        let of_host: Vec<(usize, &str)> = of_host.map(|(at, r)| (at, r.path())).collect();
        assert_eq!(of_host[0].1, "/robots.txt", "host {host}");
        for pair in of_host.windows(2).filter(|pair| pair[1].1 == "/robots.txt") {
            assert_eq!(pair[0].1, "/robots.txt", "host {host}: it was stored");
            let between = |kill: &&Kill| pair[0].0 < kill.requests && kill.requests <= pair[1].0;
            assert!(
                kills.iter().any(|kill| between(&kill)),
                "host {host}: one process, twice"
            );
        }
    }
}

fn assert_delays(requests: &[LoggedRequest], host: u32) {
    let of_host: Vec<_> = requests.iter().filter(|r| r.host == host).collect();
    for pair in of_host.windows(2) {
        let gap = pair[1].at_micros - pair[0].at_micros;
        // A Crawl-delay binds those who have read it: a file that died with its reader is read anew.
        let knows = pair[1].path() != "/robots.txt";
        let least = match host {
            SLOW_HOST if knows => SLOW_HOST_MICROS,
            _ => DELAY_MICROS,
        };
        assert!(
            gap >= least,
            "host {host}: {} came {gap} µs after {}",
            pair[1].path_and_query,
            pair[0].path_and_query
        );
    }
}
