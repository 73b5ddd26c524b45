//! Power loss: the write-ahead log is cut at a random byte, often with rubbish behind the cut, and
//! the newest bodies with it. The file opens, nothing from before the last checkpoint is missing,
//! counters equal rows, and no body is rubbish.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use rusqlite::Connection;
use trawl_store::{
    OpenOptions, SqliteStore, Store,
    conformance::web::{Crawl, NOW, breadth, fetched, visit},
    contract::{
        known::KnownLinks,
        write::{Settlement, Visit, VisitEnd},
    },
    segment,
};
use trawl_types::{CrawlId, OutcomeKind, Sequence};

const CUTS: usize = 120;
/// Results that are in the file itself before the log begins.
const SAFE: i64 = 40;
const COMMITS: usize = 60;

fn body_of(page: i64) -> Vec<u8> {
    format!("body of page {page}. ").repeat(20).into_bytes()
}

async fn crawl_a_little(crawl: &Crawl<'_>, commits: usize, dice: &mut StdRng) {
    for _ in 0..commits {
        let url = crawl.pending().await.remove(0);
        let names: Vec<String> = (0..6)
            .map(|_| format!("p{}", dice.random_range(0..400)))
            .collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let body = body_of(url.page.0);
        let record = segment::encode(&url.address, NOW, 200, [], body.into());
        let visit = Visit {
            body: Some(record),
            ..visit(OutcomeKind::Fetched)
        };
        crawl
            .commit(vec![Settlement {
                page: url.page,
                end: VisitEnd::Final(Box::new(visit)),
                links: crawl.links(&names),
                known: KnownLinks::default(),
            }])
            .await;
    }
}

/// A database whose last commits are only in the log; the process is still at it, and a reader
/// keeps the log from being written back.
async fn crash_scene(folder: &Path) -> (SqliteStore, CrawlId, PathBuf, Connection) {
    let path = folder.join("t.db");
    let mut dice = StdRng::seed_from_u64(7);
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    let seeds: Vec<String> = (0..50).map(|n| format!("p{n}")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let id = {
        let crawl = Crawl::begin(&store, &seeds, breadth()).await;
        crawl_a_little(&crawl, SAFE as usize, &mut dice).await;
        crawl.id
    };
    store.close().await.unwrap();
    let store = SqliteStore::open(&path, &OpenOptions::default()).unwrap();
    store.reopen_crawl(id, breadth()).await.unwrap();
    let reader = Connection::open(&path).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM crawls")
        .unwrap();
    let crawl = Crawl { store: &store, id };
    crawl_a_little(&crawl, COMMITS, &mut dice).await;
    (store, id, path, reader)
}

fn copy(from: &Path, to: &Path) {
    let bodies = |path: &Path| PathBuf::from(format!("{}-bodies", path.display()));
    std::fs::copy(from, to).unwrap();
    std::fs::create_dir_all(bodies(to)).unwrap();
    let name = "000001.warc.zst";
    std::fs::copy(bodies(from).join(name), bodies(to).join(name)).unwrap();
}

fn cut(log: &[u8], dice: &mut StdRng) -> Vec<u8> {
    let mut left = log[..dice.random_range(0..=log.len())].to_vec();
    if dice.random_range(0..3) == 0 {
        let rubbish = dice.random_range(1..20_000);
        left.extend((0..rubbish).map(|_| dice.random::<u8>()));
    }
    left
}

fn cut_bodies(path: &Path, keep_from: u64, dice: &mut StdRng) {
    let file = PathBuf::from(format!("{}-bodies", path.display())).join("000001.warc.zst");
    let length = std::fs::metadata(&file).unwrap().len();
    let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
    file.set_len(dice.random_range(keep_from..=length)).unwrap();
}

fn number(conn: &Connection, sql: &str) -> i64 {
    conn.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn counters_equal_rows(conn: &Connection) {
    let check: String = conn
        .query_row("PRAGMA quick_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
    for (counter, rows) in [
        ("discovered", "count(*) FROM crawl_pages"),
        ("pending", "count(*) FROM crawl_pages WHERE state = 0"),
        ("refused", "count(*) FROM crawl_pages WHERE state = 1"),
        ("done", "count(*) FROM crawl_pages WHERE state = 2"),
        ("hosts", "count(*) FROM crawl_hosts"),
        ("edges", "count(*) FROM edges"),
        ("pages", "count(*) FROM results WHERE outcome <= 3"),
        ("last_seq", "coalesce(max(seq), 0) FROM results"),
        ("done", "count(*) FROM results"),
    ] {
        let counted = number(conn, &format!("SELECT {counter} FROM crawls"));
        assert_eq!(
            counted,
            number(conn, &format!("SELECT {rows}")),
            "{counter}"
        );
    }
    let tallied = "SELECT coalesce(sum(total), 0) FROM tallies WHERE kind = 'outcome'";
    assert_eq!(
        number(conn, tallied),
        number(conn, "SELECT count(*) FROM results")
    );
}

#[tokio::test]
async fn a_log_cut_anywhere_loses_only_what_came_after_the_last_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (store, id, path, reader) = crash_scene(folder.path()).await;
    let log = std::fs::read(folder.path().join("t.db-wal")).unwrap();
    assert!(log.len() > 100_000, "the log holds the last commits");
    let safe_bodies = {
        let conn = Connection::open(&path).unwrap();
        let sql = "SELECT body_offset + body_length FROM results WHERE seq = 40";
        number(&conn, sql) as u64
    };
    let mut dice = StdRng::seed_from_u64(11);
    let mut survivors = Vec::new();
    for n in 0..CUTS {
        let scene = folder.path().join(format!("cut{n}.db"));
        copy(&path, &scene);
        let log = cut(&log, &mut dice);
        std::fs::write(format!("{}-wal", scene.display()), log).unwrap();
        if n % 2 == 0 {
            cut_bodies(&scene, safe_bodies, &mut dice);
        }
        survivors.push(survives(&scene, id).await);
    }
    drop(reader);
    store.close().await.unwrap();
    assert!(survivors.iter().all(|last| *last >= SAFE));
    assert!(
        survivors
            .iter()
            .any(|last| *last > SAFE && *last < SAFE + COMMITS as i64)
    );
}

/// Opens what is left, checks it and goes on with it; returns how many results were left.
async fn survives(path: &Path, id: CrawlId) -> i64 {
    let store = SqliteStore::open(path, &OpenOptions::default()).unwrap();
    let conn = Connection::open(path).unwrap();
    counters_equal_rows(&conn);
    let log = store.results(id, Sequence(0), 1000).await.unwrap();
    for (n, record) in log.iter().enumerate() {
        assert_eq!(record.seq.0, n as i64 + 1, "the log has no gaps");
        let body = store.body(id, record.seq).await.unwrap();
        if record.seq.0 <= SAFE || body.is_some() {
            assert_eq!(body, Some(body_of(record.page_id.0)), "{}", record.seq);
        }
    }
    store.reopen_crawl(id, breadth()).await.unwrap();
    let crawl = Crawl { store: &store, id };
    let url = crawl.pending().await.remove(0);
    let record = segment::encode("https://a.test/", NOW, 200, [], b"after".to_vec().into());
    let visit = Visit {
        body: Some(record),
        ..visit(OutcomeKind::Fetched)
    };
    let settlement = Settlement {
        end: VisitEnd::Final(Box::new(visit)),
        ..fetched(url.page, crawl.links(&["after"]))
    };
    let report = crawl.commit(vec![settlement]).await;
    let body = store.body(id, report.last_seq.unwrap()).await.unwrap();
    assert_eq!(body.as_deref(), Some(&b"after"[..]));
    counters_equal_rows(&conn);
    log.len() as i64
}
