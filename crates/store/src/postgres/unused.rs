//! Addresses, hosts and lists of links that nothing refers to any more: their crawls or visits have gone.
//!
//! First everything that refers to something is looked through, some thousands of rows at a time, and put
//! into a sieve. What falls through is removed in short transactions that have [`ALONE`] to themselves,
//! each of which looks once more. Whoever writes links holds the same lock together with others
//! ([`TOGETHER`]) and makes sure that what was looked up before is still there, so that crawls go on
//! beside it. Hosts are not looked up by those who remember them: they go only while nothing runs.

use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::de::IgnoredAny;
use tokio_postgres::Row;
use trawl_types::UnixMillis;

use super::{PostgresStore, fault::Fault, pool::Conn};
use crate::{
    contract::{StoreError, upkeep::Cleaned},
    shared::{link_text::parse, sieve::Sieve, stragglers::straggling_since},
};

/// Held to the end of a transaction by whoever writes links.
pub(super) const TOGETHER: &str = "SELECT pg_advisory_xact_lock_shared(8317404296041)";
/// Nobody writes links meanwhile; and nobody who wants to waits for long.
const ALONE: &str = "SET LOCAL lock_timeout = '100ms'; SET LOCAL statement_timeout = '10s';
    SELECT pg_advisory_xact_lock(8317404296041)";

/// Rows of one look.
const STEP: i64 = 10_000;
/// The same of lists, which may be long.
const LISTS: i64 = 200;
/// Rows that go in one transaction.
const GOING: usize = 500;
/// For one of them.
const STEPPING: Duration = Duration::from_mins(1);
/// How often a transaction is tried while others are at it.
const TRIES: u32 = 100;

/// Tables whose rows refer to pages and hosts.
const REFERRERS: [&str; 3] = [
    "SELECT crawl, page, ARRAY[page, parent], host FROM crawl_pages
     WHERE (crawl, page) > ($1, $2) ORDER BY crawl, page LIMIT $3",
    "SELECT crawl, seq, ARRAY[page, duplicate_of], NULL::int8 FROM results
     WHERE (crawl, seq) > ($1, $2) ORDER BY crawl, seq LIMIT $3",
    "SELECT crawl, seq, ARRAY[near_duplicate_of], NULL::int8 FROM contents
     WHERE (crawl, seq) > ($1, $2) ORDER BY crawl, seq LIMIT $3",
];

/// A list of a page of which nobody knows anything else.
macro_rules! unused_list {
    () => {
        "NOT EXISTS (SELECT 1 FROM results r WHERE r.page = l.page) AND NOT EXISTS (
           SELECT 1 FROM crawl_pages c WHERE c.crawl = ANY($2::int8[]) AND c.page = l.page)"
    };
}

/// The next number must be free, too: its owner may have it because this one was taken.
macro_rules! unused_page {
    () => {
        "NOT EXISTS (SELECT 1 FROM results r WHERE r.page = u.page) AND NOT EXISTS (
           SELECT 1 FROM crawl_pages c WHERE c.crawl = ANY($2::int8[]) AND c.page = u.page)
         AND NOT EXISTS (SELECT 1 FROM urls v WHERE v.page = (u.page + 1) & 9007199254740991)"
    };
}

/// Nobody has asked it for as long as that, and nobody has to wait for it.
macro_rules! unused_host {
    () => {
        "h.holder IS NULL AND h.next_allowed < $2 AND h.free_at < to_timestamp($2::int8 / 1000.0)
         AND (h.ready_at = 'infinity' OR h.ready_at < to_timestamp($2::int8 / 1000.0))
         AND NOT EXISTS (SELECT 1 FROM crawl_hosts c WHERE c.host = h.id)
         AND NOT EXISTS (SELECT 1 FROM robots r WHERE r.host = h.id AND r.fetched_at >= $2)"
    };
}

/// What is to go.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Lists,
    Pages,
    /// Those that nobody has asked since.
    Hosts(i64),
}

impl Wanted {
    /// Gives numbers and sizes of those that would go.
    fn count(self) -> &'static str {
        match self {
            Self::Lists => concat!(
                "SELECT l.id, octet_length(l.links)::int8 FROM unnest($1::int8[]) n(id)
                 JOIN page_links l ON l.id = n.id WHERE ",
                unused_list!()
            ),
            Self::Pages => concat!(
                "SELECT u.page, octet_length(u.url)::int8 FROM unnest($1::int8[]) n(page)
                 JOIN urls u ON u.page = n.page WHERE ",
                unused_page!()
            ),
            Self::Hosts(_) => concat!(
                "SELECT h.id, octet_length(h.name)::int8 FROM unnest($1::int8[]) n(id)
                 JOIN hosts h ON h.id = n.id WHERE ",
                unused_host!()
            ),
        }
    }

    /// The same of those that went.
    fn remove(self) -> &'static str {
        match self {
            Self::Lists => concat!(
                "DELETE FROM page_links l USING unnest($1::int8[]) n(id)
                 WHERE l.id = n.id AND ",
                unused_list!(),
                " RETURNING l.id, octet_length(l.links)::int8"
            ),
            Self::Pages => concat!(
                "DELETE FROM urls u USING unnest($1::int8[]) n(page)
                 WHERE u.page = n.page AND ",
                unused_page!(),
                " RETURNING u.page, octet_length(u.url)::int8"
            ),
            Self::Hosts(_) => concat!(
                "WITH gone AS (DELETE FROM hosts h USING unnest($1::int8[]) n(id)
                   WHERE h.id = n.id AND ",
                unused_host!(),
                " RETURNING h.id, octet_length(h.name)::int8 AS bytes),
                 answers AS (DELETE FROM robots r USING gone WHERE r.host = gone.id)
                 SELECT id, bytes FROM gone"
            ),
        }
    }
}

/// A crawl, as far as it matters here.
#[derive(Debug)]
struct Known {
    id: i64,
    cleared: i64,
    /// Somebody may write it.
    active: bool,
}

/// What refers to what, and since when that is known.
#[derive(Debug)]
struct Seen {
    pages: Sieve,
    hosts: Sieve,
    /// Of each crawl. Whatever moves it may have left lists behind that were not looked at.
    cleared: FxHashMap<i64, i64>,
    since: i64,
    dry_run: bool,
}

/// What came of one transaction.
#[derive(Debug)]
enum Turn {
    Done(Vec<(i64, i64)>),
    /// Others are at it.
    Busy,
    /// What was seen is no longer so.
    Over,
}

impl PostgresStore {
    /// Hosts only if nobody has asked them since.
    pub(super) async fn forget_unused(
        &self,
        before: UnixMillis,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        let mut seen = Seen {
            pages: Sieve::new(rand::random()),
            hosts: Sieve::new(rand::random()),
            cleared: FxHashMap::default(),
            since: straggling_since(),
            dry_run,
        };
        let crawls = self.known_crawls(&seen).await?;
        seen.cleared = crawls.iter().map(|c| (c.id, c.cleared)).collect();
        let mut all = Cleaned::default();
        self.look_through_lists(&mut seen, &mut all).await?;
        for sql in REFERRERS {
            self.look_through(sql, &mut seen).await?;
        }
        let sql = "SELECT page FROM urls WHERE page > $1 ORDER BY page LIMIT $2";
        self.remove_unseen(sql, &seen.pages, Wanted::Pages, &seen, &mut all)
            .await?;
        let sql = "SELECT id FROM hosts WHERE id > $1 ORDER BY id LIMIT $2";
        let hosts = Wanted::Hosts(before.0);
        self.remove_unseen(sql, &seen.hosts, hosts, &seen, &mut all)
            .await?;
        Ok(all)
    }

    async fn known_crawls(&self, seen: &Seen) -> Result<Vec<Known>, StoreError> {
        self.ask_within(STEPPING, async {
            crawls(&*self.soon().await?, seen.since).await
        })
        .await
    }

    /// Rows of a table by a key of two numbers.
    async fn look_through(&self, sql: &'static str, seen: &mut Seen) -> Result<(), StoreError> {
        let mut after = Some((i64::MIN, i64::MIN));
        while let Some((crawl, key)) = after {
            let step = self.ask_within(STEPPING, async {
                self.soon().await?.query(sql, &[&crawl, &key, &STEP]).await
            });
            let rows = step.await?;
            for row in &rows {
                let pages: Vec<Option<i64>> = row.get(2);
                pages
                    .into_iter()
                    .flatten()
                    .for_each(|page| seen.pages.put(page));
                row.get::<_, Option<i64>>(3)
                    .into_iter()
                    .for_each(|host| seen.hosts.put(host));
            }
            let last = rows.last().map(|row| (row.get(0), row.get(1)));
            after = last.filter(|_| rows.len() as i64 == STEP);
        }
        Ok(())
    }

    /// Lists of links refer to pages, unless nobody needs them any more.
    async fn look_through_lists(
        &self,
        seen: &mut Seen,
        all: &mut Cleaned,
    ) -> Result<(), StoreError> {
        let crawls: Vec<i64> = seen.cleared.keys().copied().collect();
        let sql = concat!(
            "SELECT l.id, l.links, ",
            unused_list!(),
            " FROM page_links l
             WHERE l.id > $1 ORDER BY l.id LIMIT $3"
        );
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let step = self.ask_within(STEPPING, async {
                self.soon()
                    .await?
                    .query(sql, &[&from, &crawls, &LISTS])
                    .await
            });
            let rows: Vec<Row> = step.await?;
            let unused = rows.iter().filter(|row| row.get(2)).map(|row| row.get(0));
            let unused: Vec<i64> = unused.collect();
            let gone = self.remove_some(Wanted::Lists, &unused, seen, all).await?;
            let gone = gone.unwrap_or_default();
            for row in &rows {
                if gone.iter().any(|(id, _)| *id == row.get::<_, i64>(0)) {
                    continue;
                }
                for (to, ..) in parse::<IgnoredAny>(row.get(1))? {
                    seen.pages.put(to);
                }
            }
            let last = rows.last().map(|row| row.get(0));
            after = last.filter(|_| rows.len() as i64 == LISTS);
        }
        Ok(())
    }

    /// Goes through a table by its number and removes what is not in the sieve, as long as it may.
    async fn remove_unseen(
        &self,
        sql: &'static str,
        sieve: &Sieve,
        wanted: Wanted,
        seen: &Seen,
        all: &mut Cleaned,
    ) -> Result<(), StoreError> {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let step = self.ask_within(STEPPING, async {
                self.soon().await?.query(sql, &[&from, &STEP]).await
            });
            let numbers: Vec<i64> = step.await?.iter().map(|row| row.get(0)).collect();
            after = numbers
                .last()
                .copied()
                .filter(|_| numbers.len() as i64 == STEP);
            let unseen: Vec<i64> = numbers
                .into_iter()
                .filter(|n| !sieve.may_hold(*n))
                .collect();
            for some in unseen.chunks(GOING) {
                if self.remove_some(wanted, some, seen, all).await?.is_none() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Gives what went, with its size; nothing if no more may go this time.
    async fn remove_some(
        &self,
        wanted: Wanted,
        some: &[i64],
        seen: &Seen,
        all: &mut Cleaned,
    ) -> Result<Option<Vec<(i64, i64)>>, StoreError> {
        if some.is_empty() {
            return Ok(Some(Vec::new()));
        }
        for _ in 0..TRIES {
            match self
                .ask_within(STEPPING, self.turn(wanted, some, seen))
                .await?
            {
                Turn::Done(gone) => {
                    all.rows += gone.len() as u64;
                    all.bytes += gone.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>();
                    return Ok(Some(gone));
                }
                Turn::Busy => tokio::time::sleep(Duration::from_millis(200)).await,
                Turn::Over => return Ok(None),
            }
        }
        Ok(None)
    }

    async fn turn(&self, wanted: Wanted, some: &[i64], seen: &Seen) -> Result<Turn, Fault> {
        let conn = self.soon().await?;
        match conn.begin_with(if seen.dry_run { "" } else { ALONE }).await {
            Err(fault) if fault.is_a_lock() => {
                conn.roll_back().await?;
                return Ok(Turn::Busy);
            }
            begun => begun?,
        }
        let crawls = crawls(&conn, seen.since).await?;
        let moved = |c: &Known| c.cleared > seen.cleared.get(&c.id).copied().unwrap_or(0);
        let runs = crawls.iter().any(|crawl| crawl.active);
        if crawls.iter().any(moved) || (runs && matches!(wanted, Wanted::Hosts(_))) {
            conn.roll_back().await?;
            return Ok(Turn::Over);
        }
        let sql = if seen.dry_run {
            wanted.count()
        } else {
            wanted.remove()
        };
        let among = crawls
            .iter()
            .filter(|c| c.active || matches!(wanted, Wanted::Lists));
        let among: Vec<i64> = among.map(|crawl| crawl.id).collect();
        let rows = match wanted {
            Wanted::Hosts(before) => conn.query(sql, &[&some, &before]).await,
            _ => conn.query(sql, &[&some, &among]).await,
        };
        match rows {
            Err(fault) if fault.is_a_lock() => {
                conn.roll_back().await?;
                Ok(Turn::Busy)
            }
            rows => {
                let gone = rows?.iter().map(|row| (row.get(0), row.get(1))).collect();
                conn.commit().await?;
                Ok(Turn::Done(gone))
            }
        }
    }
}

async fn crawls(conn: &Conn, since: i64) -> Result<Vec<Known>, Fault> {
    let sql =
        "SELECT id, cleared, state IN ('running', 'paused') OR coalesce(finished_at >= $1, true)
        FROM crawls";
    let rows = conn.query(sql, &[&since]).await?;
    let known = |row: &Row| Known {
        id: row.get(0),
        cleared: row.get(1),
        active: row.get(2),
    };
    Ok(rows.iter().map(known).collect())
}
