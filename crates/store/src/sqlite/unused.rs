//! Addresses, hosts and lists of links that nothing refers to any more: their crawls or visits have gone.
//!
//! Readers look through everything that refers to something, some thousands of rows at a time, and put
//! it into a sieve. What falls through goes to the writer in small pieces, which looks once more at what
//! it has written since, so that crawls go on beside it. Those who crawl know hosts by their number and
//! remember when they were asked: hosts go only from a file that this process has not crawled with. The
//! last number of a table stays, since it would be given to another.

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use rustc_hash::FxHashSet;
use serde::de::IgnoredAny;
use trawl_types::UnixMillis;

use super::{
    SqliteStore,
    fault::Fault,
    writer::{Command, Writer},
};
use crate::{
    contract::{StoreError, upkeep::Cleaned},
    shared::{link_text::parse, sieve::Sieve, stragglers::straggling_since},
};

/// Rows of one look.
const STEP: usize = 10_000;
/// The same of lists, which may be long.
const LISTS: usize = 200;
/// Rows that go in one transaction.
const GOING: usize = 500;

/// Rows that refer to pages and hosts: a key of two numbers, two pages, a host.
const REFERRERS: [&str; 4] = [
    "SELECT crawl, page, page, parent, host FROM crawl_pages
     WHERE (crawl, page) > (?1, ?2) ORDER BY crawl, page LIMIT ?3",
    "SELECT crawl, seq, page, duplicate_of, NULL FROM results
     WHERE (crawl, seq) > (?1, ?2) ORDER BY crawl, seq LIMIT ?3",
    "SELECT crawl, seq, near_duplicate_of, NULL, NULL FROM contents
     WHERE (crawl, seq) > (?1, ?2) ORDER BY crawl, seq LIMIT ?3",
    "SELECT 0, page, page, NULL, NULL FROM map_pages
     WHERE page > ?2 AND ?1 IS NOT NULL ORDER BY page LIMIT ?3",
];

/// A list of a page of which nobody knows anything else.
const UNUSED_LIST: &str = "NOT EXISTS (SELECT 1 FROM results r WHERE r.page = l.page)
    AND NOT EXISTS (SELECT 1 FROM crawls k CROSS JOIN crawl_pages c
      WHERE c.crawl = k.id AND c.page = l.page)";

/// What is to go, if nothing refers to it.
#[derive(Debug)]
pub(crate) enum Unused {
    Lists(Vec<i64>),
    Pages {
        pages: Vec<i64>,
        /// Lists up to this number were looked at.
        lists: i64,
        /// Crawls that ended before are not written any more.
        since: i64,
    },
    Hosts {
        hosts: Vec<i64>,
        /// Only those that nobody has asked since.
        before: i64,
    },
}

/// Numbers and sizes.
pub(crate) type Gone = Vec<(i64, i64)>;

/// What refers to what.
#[derive(Debug)]
struct Seen {
    pages: Sieve,
    hosts: Sieve,
    /// The last list that was looked at.
    lists: i64,
    since: i64,
    dry_run: bool,
}

impl SqliteStore {
    /// Hosts only if nobody has asked them since.
    pub(super) async fn forget_unused(
        &self,
        before: UnixMillis,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        let mut seen = Seen {
            pages: Sieve::new(rand::random()),
            hosts: Sieve::new(rand::random()),
            lists: i64::MIN,
            since: straggling_since(),
            dry_run,
        };
        let mut all = Cleaned::default();
        seen = self.look_through_lists(seen, &mut all).await?;
        for sql in REFERRERS {
            seen = self.look_through(sql, seen).await?;
        }
        seen = self.remove_pages(seen, &mut all).await?;
        self.remove_hosts(&seen, before.0, &mut all).await?;
        Ok(all)
    }

    async fn look_through(&self, sql: &'static str, mut seen: Seen) -> Result<Seen, StoreError> {
        let mut after = Some((i64::MIN, i64::MIN));
        while let Some(from) = after {
            let step = self.pool.ask(move |conn| {
                let last = put_rows(conn, sql, from, &mut seen)?;
                Ok((seen, last))
            });
            (seen, after) = step.await?;
        }
        Ok(seen)
    }

    /// Lists of links refer to pages, unless nobody needs them any more. Those that were looked at are
    /// not looked at again.
    async fn look_through_lists(
        &self,
        mut seen: Seen,
        all: &mut Cleaned,
    ) -> Result<Seen, StoreError> {
        loop {
            let from = seen.lists;
            let rows = self.pool.ask(move |conn| lists_after(conn, from)).await?;
            let unused = rows.iter().filter(|row| row.2).map(|row| row.0);
            let unused: Vec<i64> = unused.collect();
            let gone = self
                .remove(Unused::Lists(unused), seen.dry_run, all)
                .await?;
            let gone: FxHashSet<i64> = gone.into_iter().map(|(id, _)| id).collect();
            for (id, targets, _) in &rows {
                seen.lists = *id;
                if !gone.contains(id) {
                    for page in targets {
                        seen.pages.put(*page);
                    }
                }
            }
            if rows.len() < LISTS {
                return Ok(seen);
            }
        }
    }

    async fn remove_pages(&self, mut seen: Seen, all: &mut Cleaned) -> Result<Seen, StoreError> {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let rows = self.pool.ask(move |conn| pages_after(conn, from)).await?;
            after = rows.last().map(|row| row.0).filter(|_| rows.len() == STEP);
            let (held, unseen): (Vec<_>, Vec<_>) =
                rows.into_iter().partition(|row| seen.pages.may_hold(row.0));
            for (_, host) in held {
                seen.hosts.put(host);
            }
            for some in unseen.chunks(GOING) {
                seen = self.look_through_lists(seen, all).await?;
                let unused = Unused::Pages {
                    pages: some.iter().map(|(page, _)| *page).collect(),
                    lists: seen.lists,
                    since: seen.since,
                };
                let gone = self.remove(unused, seen.dry_run, all).await?;
                let gone: FxHashSet<i64> = gone.into_iter().map(|(page, _)| page).collect();
                let left = some.iter().filter(|(page, _)| !gone.contains(page));
                left.for_each(|(_, host)| seen.hosts.put(*host));
            }
        }
        Ok(seen)
    }

    async fn remove_hosts(
        &self,
        seen: &Seen,
        before: i64,
        all: &mut Cleaned,
    ) -> Result<(), StoreError> {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let hosts = self.pool.ask(move |conn| hosts_after(conn, from)).await?;
            after = hosts.last().copied().filter(|_| hosts.len() == STEP);
            let unseen: Vec<i64> = hosts
                .into_iter()
                .filter(|host| !seen.hosts.may_hold(*host))
                .collect();
            for some in unseen.chunks(GOING) {
                let hosts = some.to_vec();
                let unused = Unused::Hosts { hosts, before };
                self.remove(unused, seen.dry_run, all).await?;
            }
        }
        Ok(())
    }

    async fn remove(
        &self,
        unused: Unused,
        dry_run: bool,
        all: &mut Cleaned,
    ) -> Result<Gone, StoreError> {
        let gone = if dry_run {
            self.pool.ask(move |conn| sift(conn, &unused)).await?
        } else {
            self.tell(|reply| Command::Forget(unused, reply)).await?
        };
        all.rows += gone.len() as u64;
        all.bytes += gone.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>();
        Ok(gone)
    }
}

impl Writer {
    pub(super) fn forget(&mut self, unused: &Unused) -> Result<Gone, Fault> {
        if matches!(unused, Unused::Hosts { .. }) && self.has_crawled {
            return Ok(Gone::new());
        }
        let tx = self.conn.transaction()?;
        let gone = sift(&tx, unused)?;
        let statements: &[&str] = match unused {
            Unused::Lists(_) => &["DELETE FROM page_links WHERE id = ?1"],
            Unused::Pages { .. } => &["DELETE FROM urls WHERE id = ?1"],
            Unused::Hosts { .. } => &[
                "DELETE FROM robots WHERE host = ?1",
                "DELETE FROM hosts WHERE id = ?1",
            ],
        };
        for sql in statements {
            let mut delete = tx.prepare_cached(sql)?;
            for (number, _) in &gone {
                delete.execute([number])?;
            }
        }
        tx.commit()?;
        if !gone.is_empty() {
            self.memory.clear();
        }
        Ok(gone)
    }
}

/// Those to which nothing refers now.
fn sift(conn: &Connection, unused: &Unused) -> Result<Gone, Fault> {
    let mut gone = Gone::new();
    let mut look = |statement: &mut CachedStatement<'_>, number: i64, more: i64| {
        let bytes = statement.query_row(params![number, more], |row| row.get(0));
        let bytes: Option<i64> = bytes.optional()?;
        gone.extend(bytes.map(|bytes| (number, bytes)));
        Ok::<(), Fault>(())
    };
    match unused {
        Unused::Lists(lists) => {
            let sql = format!(
                "SELECT length(l.links) FROM page_links l
                 WHERE l.id = ?1 AND ?2 = 0 AND {UNUSED_LIST}"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            for list in lists {
                look(&mut statement, *list, 0)?;
            }
        }
        Unused::Pages {
            pages,
            lists,
            since,
        } => {
            let linked = targets_since(conn, *lists)?;
            let mut statement = conn.prepare_cached(
                "SELECT length(u.url) FROM urls u WHERE u.id = ?1
                 AND u.id < (SELECT max(id) FROM urls)
                 AND NOT EXISTS (SELECT 1 FROM results r WHERE r.page = u.id)
                 AND NOT EXISTS (SELECT 1 FROM crawls k CROSS JOIN crawl_pages c
                   WHERE c.crawl = k.id AND c.page = u.id
                   AND (k.state IN ('running', 'paused') OR coalesce(k.finished_at >= ?2, 1)))
                 AND NOT EXISTS (SELECT 1 FROM map_pages m WHERE m.page = u.id)",
            )?;
            for page in pages.iter().filter(|page| !linked.contains(page)) {
                look(&mut statement, *page, *since)?;
            }
        }
        Unused::Hosts { hosts, before } => {
            let mut statement = conn.prepare_cached(
                "SELECT length(h.name) FROM hosts h WHERE h.id = ?1 AND h.next_allowed < ?2
                 AND h.id < (SELECT max(id) FROM hosts)
                 AND NOT EXISTS (SELECT 1 FROM crawls k CROSS JOIN crawl_hosts c
                   WHERE c.crawl = k.id AND c.host = h.id)
                 AND NOT EXISTS (SELECT 1 FROM robots r WHERE r.host = h.id AND r.fetched_at >= ?2)
                 AND h.id NOT IN (SELECT host FROM map_hosts)",
            )?;
            for host in hosts {
                look(&mut statement, *host, *before)?;
            }
        }
    }
    Ok(gone)
}

/// Where lists lead that nobody has looked at.
fn targets_since(conn: &Connection, after: i64) -> Result<FxHashSet<i64>, Fault> {
    let mut statement = conn.prepare_cached("SELECT links FROM page_links WHERE id > ?1")?;
    let mut rows = statement.query([after])?;
    let mut targets = FxHashSet::default();
    while let Some(row) = rows.next()? {
        let links = parse::<IgnoredAny>(row.get_ref(0)?.as_str().unwrap_or("[]"))?;
        targets.extend(links.into_iter().map(|(to, ..)| to));
    }
    Ok(targets)
}

/// Gives the key of the last row, if there may be more.
fn put_rows(
    conn: &Connection,
    sql: &str,
    from: (i64, i64),
    seen: &mut Seen,
) -> Result<Option<(i64, i64)>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![from.0, from.1, STEP as i64])?;
    let (mut last, mut count) = (None, 0);
    while let Some(row) = rows.next()? {
        let pages: [Option<i64>; 2] = [row.get(2)?, row.get(3)?];
        pages
            .into_iter()
            .flatten()
            .for_each(|page| seen.pages.put(page));
        let host: Option<i64> = row.get(4)?;
        if let Some(host) = host {
            seen.hosts.put(host);
        }
        last = Some((row.get(0)?, row.get(1)?));
        count += 1;
    }
    Ok(last.filter(|_| count == STEP))
}

/// Lists with where they lead, and whether nobody needs them.
type Lists = Vec<(i64, Vec<i64>, bool)>;

fn lists_after(conn: &Connection, after: i64) -> Result<Lists, Fault> {
    let sql = format!(
        "SELECT l.id, l.links, {UNUSED_LIST} FROM page_links l WHERE l.id > ?1
         ORDER BY l.id LIMIT ?2"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params![after, LISTS as i64])?;
    let mut lists = Lists::new();
    while let Some(row) = rows.next()? {
        let links = parse::<IgnoredAny>(row.get_ref(1)?.as_str().unwrap_or("[]"))?;
        let targets = links.into_iter().map(|(to, ..)| to).collect();
        lists.push((row.get(0)?, targets, row.get(2)?));
    }
    Ok(lists)
}

fn pages_after(conn: &Connection, after: i64) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT id, host_id FROM urls WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![after, STEP as i64], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn hosts_after(conn: &Connection, after: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT id FROM hosts WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![after, STEP as i64], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
