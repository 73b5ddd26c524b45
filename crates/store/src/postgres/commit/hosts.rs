//! What becomes of hosts: what politeness must remember, what a crawl counts, and the fence: nothing is
//! written of hosts that others have borrowed since.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{HostId, PageId};

use super::{activity::bytes_of, ends::Ends, log, routed::Pending, work::Work};
use crate::{
    contract::write::{HostUpdate, StoredRobots},
    postgres::{PostgresStore, fault::Fault, pool::Conn},
};

/// Which hosts this process may write about. Their rows are locked until the end of the transaction,
/// so nobody can borrow them before.
#[derive(Debug)]
pub(super) struct Fence {
    /// Nothing where no hosts are lent.
    ours: Option<FxHashSet<HostId>>,
}

impl Fence {
    /// Pages of hosts that it lets pass are settled by nobody else.
    pub(super) fn keeps_others_out(&self) -> bool {
        self.ours.is_some()
    }

    pub(super) fn lets_pass(&self, host: HostId) -> bool {
        self.ours.as_ref().is_none_or(|ours| ours.contains(&host))
    }
}

pub(super) const LOCK: &str = "SELECT h.id, h.epoch FROM unnest($1::int8[]) n(id)
    JOIN hosts h ON h.id = n.id ORDER BY h.id FOR UPDATE OF h";

impl PostgresStore {
    /// Locks the hosts of a batch in order of their ids and writes what is news of them.
    pub(super) async fn fence(
        &self,
        conn: &Conn,
        work: &Work,
        pending: &FxHashMap<PageId, Pending>,
    ) -> Result<Fence, Fault> {
        let updates = work.batch.hosts.iter().filter_map(|update| update.host);
        let mut hosts: Vec<i64> = updates.map(|host| host.0).collect();
        if self.loans.is_some() {
            hosts.extend(pending.values().map(|page| page.host.0));
        }
        hosts.sort_unstable();
        hosts.dedup();
        let mut ours = FxHashSet::default();
        if !hosts.is_empty() {
            let rows = conn.query(LOCK, &[&hosts]).await?;
            let rows = rows.iter().map(|row| (HostId(row.get(0)), row.get(1)));
            match &self.loans {
                Some(loans) => ours.extend(loans.still_ours(rows)),
                None => ours.extend(rows.map(|(host, _): (HostId, i64)| host)),
            }
        }
        let fence = Fence {
            ours: self.loans.is_some().then_some(ours),
        };
        let news = work.batch.hosts.iter().filter_map(|update| {
            let host = update.host.filter(|host| fence.lets_pass(*host))?;
            Some((host, update))
        });
        let news: Vec<(HostId, &HostUpdate)> = news.collect();
        tokio::try_join!(write_clocks(conn, &news), write_robots(conn, &news))?;
        Ok(fence)
    }
}

/// What politeness must remember of a host, as far as it is news.
#[derive(Debug, Default)]
struct Clock {
    next: Option<i64>,
    delay: Option<i64>,
    failures: Option<i32>,
}

pub(super) const CLOCKS: &str =
    "UPDATE hosts h SET next_allowed = coalesce(n.next, h.next_allowed),
      delay_ms = coalesce(n.delay, h.delay_ms), failures = coalesce(n.failures, h.failures)
    FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int4[]) n(id, next, delay, failures)
    WHERE h.id = n.id";

/// Writes what politeness must remember. Of several updates of a host the later ones count.
async fn write_clocks(conn: &Conn, news: &[(HostId, &HostUpdate)]) -> Result<(), Fault> {
    let mut clocks: BTreeMap<i64, Clock> = BTreeMap::new();
    for (host, update) in news {
        if update.next_allowed.is_none() && update.delay_ms.is_none() && update.failures.is_none() {
            continue;
        }
        let clock = clocks.entry(host.0).or_default();
        let next = update.next_allowed.map(|at| conn.skew.there(at));
        clock.next = next.or(clock.next);
        clock.delay = update.delay_ms.map(|ms| ms as i64).or(clock.delay);
        clock.failures = update.failures.map(|count| count as i32).or(clock.failures);
    }
    if clocks.is_empty() {
        return Ok(());
    }
    let hosts: Vec<i64> = clocks.keys().copied().collect();
    let next: Vec<Option<i64>> = clocks.values().map(|clock| clock.next).collect();
    let delays: Vec<Option<i64>> = clocks.values().map(|clock| clock.delay).collect();
    let failures: Vec<Option<i32>> = clocks.values().map(|clock| clock.failures).collect();
    conn.execute(CLOCKS, &[&hosts, &next, &delays, &failures])
        .await?;
    Ok(())
}

pub(super) const ROBOTS: &str = "INSERT INTO robots (host, scheme, status, body, fetched_at)
    SELECT * FROM unnest($1::int8[], $2::text[], $3::int4[], $4::bytea[], $5::int8[])
    ON CONFLICT (host, scheme) DO UPDATE
    SET status = excluded.status, body = excluded.body, fetched_at = excluded.fetched_at";

/// Writes what robots.txt said. Of several answers under a scheme the last one counts.
async fn write_robots(conn: &Conn, news: &[(HostId, &HostUpdate)]) -> Result<(), Fault> {
    let mut answers: BTreeMap<(i64, &str), &StoredRobots> = BTreeMap::new();
    for (host, update) in news {
        if let Some(robots) = &update.robots {
            answers.insert((host.0, robots.scheme.as_str()), robots);
        }
    }
    if answers.is_empty() {
        return Ok(());
    }
    let (hosts, schemes): (Vec<i64>, Vec<&str>) = answers.keys().copied().unzip();
    let statuses: Vec<i32> = answers.values().map(|r| i32::from(r.status)).collect();
    let bodies: Vec<&[u8]> = answers.values().map(|r| r.body.as_slice()).collect();
    let times: Vec<i64> = answers.values().map(|r| r.fetched_at.0).collect();
    conn.execute(ROBOTS, &[&hosts, &schemes, &statuses, &bodies, &times])
        .await?;
    Ok(())
}

/// What a crawl counts of a host.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pages: i64,
    errors: i64,
    requests: i64,
    bytes: i64,
    last_crawled: i64,
    suspended: Option<i16>,
    /// The crawl knows it from now on, if it did not before.
    introduced: bool,
}

/// What a batch adds to the figures of hosts.
pub(super) type Tallies = FxHashMap<HostId, Tally>;

pub(super) fn counted(work: &Work, fence: &Fence, ends: &Ends) -> Tallies {
    let mut tallies = Tallies::default();
    let host_of: FxHashMap<usize, HostId> = ends
        .settled
        .iter()
        .map(|(at, page)| (*at, page.host))
        .collect();
    for (entry, visit) in log::visits(work, ends) {
        if let Some(host) = host_of.get(&entry.at) {
            let tally = tallies.entry(*host).or_default();
            tally.pages += i64::from(visit.outcome.kind.is_page());
            tally.errors += i64::from(visit.outcome.kind.is_error());
            tally.bytes += bytes_of(visit);
            tally.last_crawled = tally.last_crawled.max(visit.crawled_at.0);
        }
    }
    for update in &work.batch.hosts {
        let Some(host) = update.host.filter(|host| fence.lets_pass(*host)) else {
            continue;
        };
        if update.requests > 0 || update.suspended.is_some() {
            let tally = tallies.entry(host).or_default();
            tally.requests += i64::from(update.requests);
            tally.suspended = update.suspended.map(|why| why as i16).or(tally.suspended);
        }
    }
    for host in &ends.lifted {
        tallies.entry(HostId(*host)).or_default().introduced = true;
    }
    tallies.retain(|_, t| {
        t.pages + t.errors + t.requests + t.last_crawled > 0
            || t.suspended.is_some()
            || t.introduced
    });
    tallies
}

pub(super) const COUNT: &str = "INSERT INTO crawl_hosts AS c (crawl, host, pages_done, errors,
      requests, suspended, bytes, last_crawled)
    SELECT $1, n.host, n.pages, n.errors, n.requests, coalesce(n.suspended, 0::int2), n.bytes,
      n.last
    FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int2[], $7::int8[],
      $8::int8[]) n(host, pages, errors, requests, suspended, bytes, last)
    ORDER BY n.host
    ON CONFLICT (crawl, host) DO UPDATE SET pages_done = c.pages_done + excluded.pages_done,
      errors = c.errors + excluded.errors, requests = c.requests + excluded.requests,
      bytes = c.bytes + excluded.bytes,
      last_crawled = greatest(c.last_crawled, excluded.last_crawled),
      suspended = CASE excluded.suspended WHEN 0 THEN c.suspended ELSE excluded.suspended END
    RETURNING host, c.xmax = 0";

/// Writes what the crawl counts of its hosts. Gives how many belong to it from now on.
pub(super) async fn write(conn: &Conn, work: &Work, tallies: &Tallies) -> Result<u64, Fault> {
    if tallies.is_empty() {
        return Ok(0);
    }
    let mut sorted: Vec<(i64, Tally)> = tallies.iter().map(|(h, t)| (h.0, *t)).collect();
    sorted.sort_unstable_by_key(|(host, _)| *host);
    let hosts: Vec<i64> = sorted.iter().map(|(host, _)| *host).collect();
    let pages: Vec<i64> = sorted.iter().map(|(_, t)| t.pages).collect();
    let errors: Vec<i64> = sorted.iter().map(|(_, t)| t.errors).collect();
    let requests: Vec<i64> = sorted.iter().map(|(_, t)| t.requests).collect();
    let suspended: Vec<Option<i16>> = sorted.iter().map(|(_, t)| t.suspended).collect();
    let bytes: Vec<i64> = sorted.iter().map(|(_, t)| t.bytes).collect();
    let last: Vec<i64> = sorted.iter().map(|(_, t)| t.last_crawled).collect();
    let crawl = work.batch.crawl.0;
    let rows = conn
        .query(
            COUNT,
            &[
                &crawl, &hosts, &pages, &errors, &requests, &suspended, &bytes, &last,
            ],
        )
        .await?;
    // Hosts of a crawl are those from which it has admitted something.
    let introduced = |row: &&tokio_postgres::Row| {
        let tally = tallies.get(&HostId(row.get(0)));
        row.get(1) && tally.is_some_and(|tally| tally.introduced)
    };
    Ok(rows.iter().filter(introduced).count() as u64)
}
