//! How many pages a second a PostgreSQL frontier takes, and how long hosts take to borrow.
//!
//! `cargo run --release -p trawl-store --example frontier_pg -- URL [known URLs] [seconds] [clients]`
//!
//! The database at URL must be empty; it is filled with known URLs of 50,000 hosts, all pending. Then
//! clients, each with a store of its own, borrow as many hosts at once as a worker does, take five URLs of
//! each, settle them together (80 pages with 40 links each, of which 10 are new), and give the hosts back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::SinkExt;
use tokio_postgres::NoTls;
use trawl_store::{
    LoanOptions, PostgresOptions, PostgresStore, Store,
    contract::{
        known::KnownLinks,
        loans::ReturnedHost,
        read::PendingUrl,
        target::LinkTarget,
        write::{Admission, CommitBatch, NewLink, Settlement, Visit, VisitEnd, WriteRules},
    },
};
use trawl_types::{
    CrawlId, CrawlSpec, KeySecret, LinkKind, LinkRel, Outcome, OutcomeKind, Place, Reason,
    UnixMillis, spec::Order,
};

const HOSTS: u64 = 50_000;
const LINKS: u64 = 40;
const NEW: u64 = 10;
const BATCH: u32 = 16;
const PER_HOST: u32 = 5;

struct Everything;

impl Admission for Everything {
    fn admit(&mut self, _: &LinkTarget) -> Result<(), Reason> {
        Ok(())
    }
}

fn rules() -> WriteRules {
    WriteRules {
        order: Order::BreadthFirst,
        max_depth: None,
        max_pages: None,
        admission: Box::new(Everything),
        terrain: None,
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

fn address(host: u64, number: u64) -> (String, String) {
    let name = format!("host{host}.test");
    let address = format!(
        "https://{name}/section/{}/article-number-{number}.html",
        number % 97
    );
    (name, address)
}

fn link(secret: KeySecret, host: u64, number: u64) -> NewLink {
    let (name, address) = address(host, number);
    NewLink {
        target: LinkTarget::new(&address, &name, secret.key(&name, &address), Ok(0)),
        kind: LinkKind::Anchor,
        rel: LinkRel::default(),
        place: Place::Main,
        anchor: "A link text of usual length".into(),
        chain: Vec::new(),
        mark: None,
    }
}

/// Rows as commits would have written them.
async fn load(url: &str, secret: KeySecret, crawl: CrawlId, known: u64) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let per_host = known / HOSTS;
    let host_id = |name: &str| (secret.key(name, "").host >> 1).cast_signed();
    let mut hosts = Vec::new();
    let (mut urls, mut pages) = (Vec::new(), Vec::new());
    let mut taken = std::collections::HashSet::new();
    for host in 0..HOSTS {
        let name = format!("host{host}.test");
        let id = host_id(&name);
        hosts.push((id, format!("{id}\t{name}\tnow\t0\n")));
        for number in 0..per_host {
            let (_, text) = address(host, number);
            let key = secret.key(&name, &text);
            let mut page = (((key.host >> 48) << 37) | (key.url >> 27)).cast_signed();
            while !taken.insert(page) {
                page += 1;
            }
            let (key_host, key_url) = (key.host.cast_signed(), key.url.cast_signed());
            urls.push((page, format!("{page}\t{key_host}\t{key_url}\t{text}\n")));
            let row = format!("{}\t{page}\t{id}\t511\t{number}\t0\t1\t0\t0\n", crawl.0);
            pages.push((page, row));
        }
    }
    let copies = [
        ("hosts (id, name, ready_at, empties)", hosts),
        ("urls (page, key_host, key_url, url)", urls),
        (
            "crawl_pages (crawl, page, host, rank, born, discovered_at, depth, state, score)",
            pages,
        ),
    ];
    for (table, mut rows) in copies {
        // Shuffled by the hash in the key, as rows of a crawl are.
        rows.sort_unstable_by_key(|(key, _)| key.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64));
        let sink = client.copy_in(&format!("COPY {table} FROM STDIN")).await;
        let mut sink = std::pin::pin!(sink.unwrap());
        for chunk in rows.chunks(5000) {
            let mut text = String::new();
            for (_, row) in chunk {
                text.write_str(row).unwrap();
            }
            sink.send(bytes::Bytes::from(text)).await.unwrap();
        }
        sink.finish().await.unwrap();
    }
    let rest = format!(
        "INSERT INTO crawl_hosts (crawl, host) SELECT {0}, id FROM hosts ON CONFLICT DO NOTHING;
         INSERT INTO tallies VALUES ({0}, 0, 0, 1, {1}), ({0}, 1, 0, 1, {1})
         ON CONFLICT (crawl, kind, code, slot) DO UPDATE SET total = {1};
         VACUUM (ANALYZE) hosts, urls, crawl_pages, crawl_hosts",
        crawl.0,
        known / HOSTS * HOSTS
    );
    for statement in rest.split(';') {
        client.batch_execute(statement).await.unwrap();
    }
    client.batch_execute("CHECKPOINT").await.unwrap();
}

struct Client {
    store: PostgresStore,
    crawl: CrawlId,
    known: u64,
    dice: Dice,
    next: u64,
}

impl Client {
    fn settlement(&mut self, url: &PendingUrl) -> Settlement {
        let secret = self.store.key_secret();
        let host = url.address["https://host".len()..].split('.').next();
        let host: u64 = host.unwrap().parse().unwrap();
        let mut links = Vec::with_capacity(LINKS as usize);
        for nth in 0..LINKS {
            // Most links of a page stay on its host.
            let there = match nth % 5 {
                0 => self.dice.below(HOSTS),
                _ => host,
            };
            let number = if nth < NEW {
                self.next += 1;
                self.next
            } else {
                self.dice.below(self.known / HOSTS)
            };
            links.push(link(secret, there, number));
        }
        let mut distinct = std::collections::HashSet::new();
        links.retain(|link| distinct.insert(link.target.key));
        let mut visit = Visit::new(
            Outcome::new(OutcomeKind::Fetched, Some(200), ""),
            UnixMillis(1_700_000_000_000),
        );
        visit.title = Some("A title of the usual length, more or less".into());
        visit.content_type = Some("text/html; charset=utf-8".into());
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(
            &url.page
                .0
                .wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
                .to_be_bytes(),
        );
        visit.content_hash = Some(hash);
        visit.content_length = Some(25_000);
        visit.links_total = LINKS as u32;
        Settlement {
            page: url.page,
            end: VisitEnd::Final(Box::new(visit)),
            links,
            known: KnownLinks::default(),
        }
    }

    async fn round(&mut self, times: &mut Times) -> u64 {
        let loans = self.store.loans().unwrap();
        let began = Instant::now();
        let lent = loans.borrow_hosts(&[self.crawl], BATCH).await.unwrap();
        times.borrow.push(began.elapsed());
        let mut urls = Vec::new();
        // Asked for at the same time, as a worker does.
        let pending = lent
            .iter()
            .map(|host| self.store.pending(self.crawl, host.host.id, PER_HOST));
        for found in futures_util::future::join_all(pending).await {
            urls.extend(found.unwrap());
        }
        let settlements: Vec<Settlement> = urls.iter().map(|url| self.settlement(url)).collect();
        let pages = settlements.len() as u64;
        let began = Instant::now();
        let batch = CommitBatch {
            crawl: self.crawl,
            now: UnixMillis(1_700_000_000_000),
            settlements,
            hosts: Vec::new(),
            seeds: Vec::new(),
        };
        self.store.commit(batch).await.unwrap();
        times.commit.push(began.elapsed());
        let back = lent.iter().map(|loan| ReturnedHost {
            host: loan.host.id,
            wait_ms: 100,
            closed: Vec::new(),
        });
        let back = back.collect();
        self.store.loans().unwrap().give_back(back).await.unwrap();
        pages
    }
}

#[derive(Default)]
struct Times {
    borrow: Vec<Duration>,
    commit: Vec<Duration>,
}

fn quantiles(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |part: usize| {
        times
            .get(times.len() * part / 1000)
            .copied()
            .unwrap_or_default()
    };
    println!("{name}: p50 {:?}, p99 {:?}", at(500), at(990));
}

async fn open(url: &str, worker: &str) -> PostgresStore {
    let options = PostgresOptions {
        loans: Some(LoanOptions::new(worker)),
        connections: 3,
        ..PostgresOptions::default()
    };
    PostgresStore::open(url, options).await.unwrap()
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let url = args.next().expect("the URL of an empty database");
    let mut number = |default: u64| args.next().map_or(default, |text| text.parse().unwrap());
    let (known, seconds, clients) = (number(1_000_000), number(30), number(8));
    let store = open(&url, "first").await;
    let seeds = vec![link(store.key_secret(), 0, u64::MAX)];
    let spec = CrawlSpec::default();
    let crawl = store.create_crawl(&spec, "bench", seeds, rules(), None, UnixMillis(0));
    let crawl = crawl.await.unwrap();
    let began = Instant::now();
    // Its host comes with the others.
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let empty = "TRUNCATE hosts, urls, crawl_pages, crawl_hosts";
    client.batch_execute(empty).await.unwrap();
    load(&url, store.key_secret(), crawl, known).await;
    println!("{known} URLs loaded in {:?}", began.elapsed());
    drop(store);

    let alone = open(&url, "alone").await;
    let mut times = Vec::new();
    for _ in 0..300 {
        let began = Instant::now();
        let loans = alone.loans().unwrap();
        let lent = loans.borrow_hosts(&[crawl], BATCH).await.unwrap();
        times.push(began.elapsed());
        let back = lent.iter().map(|loan| ReturnedHost {
            host: loan.host.id,
            wait_ms: 0,
            closed: Vec::new(),
        });
        loans.give_back(back.collect()).await.unwrap();
    }
    quantiles("borrow, alone", &mut times);
    drop(alone);

    let stop = Arc::new(AtomicBool::new(false));
    let pages = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for number in 0..clients {
        let store = open(&url, &format!("client-{number}")).await;
        store.reopen_crawl(crawl, rules()).await.unwrap();
        let mut client = Client {
            store,
            crawl,
            known,
            dice: Dice(0x1234_5678_9abc_def1 + number * 7919),
            next: (number + 1) << 40,
        };
        let (stop, pages) = (Arc::clone(&stop), Arc::clone(&pages));
        tasks.push(tokio::spawn(async move {
            let mut times = Times::default();
            while !stop.load(Ordering::Relaxed) {
                let done = client.round(&mut times).await;
                pages.fetch_add(done, Ordering::Relaxed);
            }
            times
        }));
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (before, began) = (pages.load(Ordering::Relaxed), Instant::now());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, took) = (pages.load(Ordering::Relaxed), began.elapsed());
    stop.store(true, Ordering::Relaxed);
    let mut all = Times::default();
    for task in tasks {
        let times = task.await.unwrap();
        all.borrow.extend(times.borrow);
        all.commit.extend(times.commit);
    }
    let rate = (after - before) as f64 / took.as_secs_f64();
    println!("{rate:.0} pages/s by {clients} clients");
    quantiles("borrow", &mut all.borrow);
    quantiles("commit", &mut all.commit);
}
