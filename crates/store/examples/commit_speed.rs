//! How long commits take, and how much memory a large frontier needs.
//!
//! `cargo run --release -p trawl-store --example commit_speed -- [known|new] [pages]`
//!
//! * `known`: 40 links a page, of which about one is new, in batches of 50 pages
//! * `new`: 40 new links a page, until the frontier holds millions of URLs
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{collections::VecDeque, time::Instant};

use trawl_store::{
    OpenOptions, SqliteStore, Store,
    contract::target::LinkTarget,
    contract::{
        known::KnownLinks,
        write::{Admission, CommitBatch, NewLink, Settlement, Visit, VisitEnd, WriteRules},
    },
};
use trawl_types::{
    CrawlId, CrawlSpec, HostId, KeySecret, LinkKind, LinkRel, Outcome, OutcomeKind, PageId, Place,
    Reason, UnixMillis, spec::Order,
};

const LINKS: u64 = 40;
const BATCH: usize = 50;
const HOSTS: u64 = 200;

struct Everything;

impl Admission for Everything {
    fn admit(&mut self, _: &LinkTarget) -> Result<(), Reason> {
        Ok(())
    }
}

/// Small, fast and the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn link(secret: KeySecret, n: u64) -> NewLink {
    let host = format!("host{}.test", n % HOSTS);
    let address = format!("https://{host}/section/{}/article-number-{n}.html", n % 97);
    NewLink {
        target: LinkTarget::new(&address, &host, secret.key(&host, &address), Ok(0)),
        kind: LinkKind::Anchor,
        rel: LinkRel::default(),
        place: Place::Main,
        anchor: "A link text of usual length".into(),
        chain: Vec::new(),
        mark: None,
    }
}

fn visit(at: UnixMillis, page: PageId) -> Visit {
    // As scattered as hashes are.
    let number = (page.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    Visit {
        outcome: Outcome::new(OutcomeKind::Fetched, Some(200), ""),
        attempts: 1,
        final_url: None,
        redirect_to: None,
        canonical_url: None,
        title: Some("The title of an article, as long as titles are".into()),
        description: Some("A sentence or two that say what the article is about.".into()),
        content_type: Some("text/html".into()),
        charset: Some("utf-8".into()),
        language: Some("en".into()),
        content_length: Some(20_000),
        content_hash: Some(hash),
        truncated: false,
        etag: Some("\"5f3-1a2b3c\"".into()),
        last_modified: None,
        robots: None,
        links_total: 40,
        fetch_time_ms: 12,
        crawled_at: at,
        body: None,
        digest: None,
    }
}

/// What `/proc/self/status` says, in megabytes.
fn memory(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// CPU seconds of a thread of this process, by its name.
fn cpu_seconds(thread: &str) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let nanoseconds: u64 = tasks
        .filter_map(|task| Some(task.ok()?.path()))
        .filter(|task| read(task.join("comm")).trim() == thread)
        .filter_map(|task| {
            let stat = read(task.join("schedstat"));
            stat.split_whitespace().next()?.parse::<u64>().ok()
        })
        .sum();
    nanoseconds as f64 / 1e9
}

struct Run {
    store: SqliteStore,
    crawl: CrawlId,
    queue: VecDeque<PageId>,
    seen: u64,
    dice: Dice,
}

impl Run {
    async fn start(path: &std::path::Path) -> Self {
        let store = SqliteStore::open(path, &OpenOptions::default()).unwrap();
        let secret = store.key_secret();
        let seeds = (0..1000).map(|n| link(secret, n)).collect();
        let rules = WriteRules {
            order: Order::BreadthFirst,
            max_depth: None,
            max_pages: None,
            admission: Box::new(Everything),
            terrain: None,
        };
        let spec = CrawlSpec::default();
        let crawl = store
            .create_crawl(&spec, "speed", seeds, rules, None, UnixMillis(0))
            .await
            .unwrap();
        let mut queue = VecDeque::new();
        for host in 1..=HOSTS as i64 {
            let urls = store.pending(crawl, HostId(host), 1000).await.unwrap();
            queue.extend(urls.iter().map(|url| url.page));
        }
        Self {
            store,
            crawl,
            queue,
            seen: 1000,
            dice: Dice(0x9e37_79b9_7f4a_7c15),
        }
    }

    fn batch(&mut self, new_links: u64, now: UnixMillis) -> CommitBatch {
        let secret = self.store.key_secret();
        let mut settlements = Vec::with_capacity(BATCH);
        for page in self.queue.drain(..BATCH.min(self.queue.len())) {
            let known = (0..LINKS - new_links).map(|_| self.dice.below(self.seen.min(100_000)));
            let mut numbers: Vec<u64> = known.collect();
            numbers.extend(self.seen..self.seen + new_links);
            self.seen += new_links;
            settlements.push(Settlement {
                page,
                end: VisitEnd::Final(Box::new(visit(now, page))),
                links: numbers.into_iter().map(|n| link(secret, n)).collect(),
                known: KnownLinks::default(),
            });
        }
        CommitBatch {
            crawl: self.crawl,
            now,
            settlements,
            hosts: Vec::new(),
            seeds: Vec::new(),
        }
    }

    async fn commit(&mut self, new_links: u64, now: UnixMillis) -> usize {
        let batch = self.batch(new_links, now);
        let pages = batch.settlements.len();
        let report = self.store.commit(batch).await.unwrap();
        // The engine would not keep all of them either.
        if self.queue.len() < 10_000 {
            self.queue
                .extend(report.admitted.iter().map(|url| url.page));
        }
        pages
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let all_new = args.next().is_some_and(|kind| kind == "new");
    let default = if all_new { 125_000 } else { 10_000 };
    let pages: usize = args.next().map_or(default, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("speed.db");
    let mut run = Run::start(&path).await;
    let new_links = if all_new { LINKS } else { 1 };
    let report_every = (pages / 10).max(1);
    let (mut done, mut reported) = (0, 0);
    let (mut wall, mut cpu) = (Instant::now(), cpu_seconds("trawl-writer"));
    let (mut in_commit, began) = (std::time::Duration::ZERO, Instant::now());
    while done < pages {
        let now = UnixMillis(1_700_000_000_000 + done as i64);
        let start = Instant::now();
        done += run.commit(new_links, now).await;
        in_commit += start.elapsed();
        if done - reported >= report_every {
            let (spent, n) = (cpu_seconds("trawl-writer") - cpu, (done - reported) as f64);
            println!(
                "{done:>8} pages {:>9} urls  {:>6.0} pages/s  writer {:>6.1} us/page  rss {} MB",
                run.seen,
                n / wall.elapsed().as_secs_f64(),
                spent * 1e6 / n,
                memory("VmRSS"),
            );
            (reported, wall, cpu) = (done, Instant::now(), cpu_seconds("trawl-writer"));
        }
    }
    let size = std::fs::metadata(&path).unwrap().len() >> 20;
    println!(
        "{done} pages, {} urls in {:.1} s ({:.1} s waiting for commits); writer {:.3} s, \
         checkpoints {:.3} s CPU; peak {} MB, file {size} MB",
        run.seen,
        began.elapsed().as_secs_f64(),
        in_commit.as_secs_f64(),
        cpu_seconds("trawl-writer"),
        cpu_seconds("trawl-checkpoin"),
        memory("VmHWM"),
    );
    run.store.close().await.unwrap();
}
