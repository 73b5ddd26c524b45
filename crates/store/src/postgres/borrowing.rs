//! Hosts are borrowed and given back. A host's row is written once for each loan, whatever the number of
//! its URLs; `ready_at` is the end of the loan and the clock of politeness in one, so that nothing has to
//! be cleaned up after a process that is gone.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use rustc_hash::FxHashMap;
use tokio_postgres::Row;
use trawl_types::{CrawlId, HostId, UnixMillis};

use super::{
    PostgresStore,
    clocks::When,
    fault::Fault,
    identity::host_id,
    loans::Loans,
    pool::{Conn, Param},
    reader,
};
use crate::contract::{
    StoreError,
    loans::{HostLoans, LoanedHost, ReturnedHost},
    read::StoredHost,
};

/// Whether a crawl has something to ask a host for; `h` is the host in it. What is pending where the
/// crawl is closed to it waits for another run. The first one is asked for, and not whether there is
/// any: only the index of what is pending has them in order, so that it is taken, also in a table that
/// has just begun, of which nothing is known (through the primary key all pages of the crawl are read).
macro_rules! worth_asking {
    () => {
        "NOT h.closed AND (SELECT p.page FROM crawl_pages p
           WHERE p.crawl = h.crawl AND p.host = h.host AND p.state = 0
           ORDER BY p.rank, p.born LIMIT 1) IS NOT NULL"
    };
}

const PARTITIONS: usize = 16;
/// Statements for one request: hosts that turn out to be empty are passed over.
const ROUNDS: usize = 6;

/// Lends hosts, of which `$ready` says how they are found. What is ready but empty is looked at once more
/// after a while, for what was not yet committed, and is idle then. What somebody asked to be left alone
/// waits for that. The clock is read once: all that is decided of a host is decided by the same time.
macro_rules! lend {
    ($ready:literal) => {
        concat!(
            "WITH clock AS MATERIALIZED (SELECT t.now, extract(epoch FROM t.now) * 1000 AS ms
               FROM (SELECT clock_timestamp() AS now OFFSET 0) t),
             ready AS MATERIALIZED (",
            $ready,
            "),
             probed AS MATERIALIZED (
               SELECT r.id, ARRAY(SELECT w.id FROM unnest($1::int8[]) n(id)
                 JOIN crawls w ON w.id = n.id
                 JOIN crawl_hosts h ON h.crawl = w.id AND h.host = r.id WHERE ",
            worth_asking!(),
            ") AS crawls FROM ready r),
             judged AS MATERIALIZED (
               SELECT p.id, p.crawls, (SELECT now FROM clock) AS now, (SELECT ms FROM clock) AS ms,
                 p.crawls = '{}' AND EXISTS (SELECT 1 FROM crawls w
                 JOIN crawl_hosts h ON h.crawl = w.id AND h.host = p.id
                 WHERE w.state = 'running' AND ",
            worth_asking!(),
            ") AS is_for_others FROM probed p)
             UPDATE {hosts} t SET
               ready_at = CASE
                 WHEN t.next_allowed > j.ms THEN to_timestamp(t.next_allowed / 1000.0)
                 WHEN j.crawls <> '{}' THEN j.now + $4 * interval '1 ms'
                 WHEN j.is_for_others THEN j.now + interval '1 s'
                 WHEN t.empties > 0 THEN 'infinity'
                 ELSE j.now + $5 * interval '1 ms' END,
               epoch = CASE WHEN j.crawls <> '{}' AND t.next_allowed <= j.ms
                 THEN t.epoch + 1 ELSE t.epoch END,
               holder = CASE WHEN j.crawls <> '{}' AND t.next_allowed <= j.ms THEN $3 END,
               empties = CASE
                 WHEN t.next_allowed > j.ms OR j.crawls <> '{}' OR j.is_for_others THEN 0
                 ELSE least(t.empties + 1, 2)::int2 END
             FROM judged j WHERE t.id = j.id
             RETURNING t.id, t.epoch, t.holder IS NOT NULL, j.crawls"
        )
    };
}

/// Those that have been ready for longest. One statement for each partition, and one for all of them.
static LEND: LazyLock<Vec<String>> = LazyLock::new(|| {
    let sql = lend!(
        "SELECT id FROM {hosts}
         WHERE ready_at <= (SELECT now FROM clock) AND ready_at < 'infinity'
         ORDER BY ready_at LIMIT $2 FOR UPDATE SKIP LOCKED"
    );
    let tables = (0..PARTITIONS).map(|n| format!("hosts_{n}"));
    let tables = tables.chain(["hosts".to_owned()]);
    tables.map(|table| sql.replace("{hosts}", &table)).collect()
});

/// Those among some ($6) that are ready.
static LEND_OF: LazyLock<String> = LazyLock::new(|| {
    let sql = lend!(
        "SELECT h.id FROM unnest($6::int8[]) n(id) JOIN {hosts} h ON h.id = n.id
         WHERE h.ready_at <= (SELECT now FROM clock) AND h.ready_at < 'infinity'
         ORDER BY h.id LIMIT $2 FOR UPDATE OF h SKIP LOCKED"
    );
    sql.replace("{hosts}", "hosts")
});

/// Hosts of a crawl in need that are looked at in one go.
const LOOKED_AT: i64 = 48;

/// Where the next request begins to look.
static TURN: AtomicUsize = AtomicUsize::new(0);
/// Requests that look everywhere at once, because one partition had not enough the last time.
static WIDELY: AtomicUsize = AtomicUsize::new(PARTITIONS);

/// What lends hosts of all partitions.
pub(super) fn lend_from_all() -> &'static str {
    &LEND[PARTITIONS]
}

pub(super) const GIVE_BACK: &str = concat!(
    "WITH mine AS MATERIALIZED (
       SELECT t.id, n.wait FROM unnest($1::int8[], $2::int8[], $3::float8[]) n(id, epoch, wait)
       JOIN hosts t ON t.id = n.id AND t.epoch = n.epoch
       WHERE t.holder = $4 ORDER BY t.id FOR UPDATE OF t),
     judged AS MATERIALIZED (
       SELECT m.id, m.wait, NOT EXISTS (SELECT 1 FROM crawls w
         JOIN crawl_hosts h ON h.crawl = w.id AND h.host = m.id
         WHERE w.state = 'running' AND ",
    worth_asking!(),
    ") AS rests FROM mine m)
     UPDATE hosts t SET holder = NULL, empties = j.rests::int::int2,
       free_at = clock_timestamp() + j.wait * interval '1 ms',
       ready_at = clock_timestamp() + interval '1 ms' *
         CASE WHEN j.rests THEN greatest(j.wait, $5) ELSE j.wait END
     FROM judged j WHERE t.id = j.id"
);

fn without_loans() -> StoreError {
    StoreError::Database("this store was opened without loans".into())
}

impl PostgresStore {
    fn lender(&self) -> Result<&Loans, StoreError> {
        self.loans.as_deref().ok_or_else(without_loans)
    }

    /// What has been ready for longest, or what one crawl is in need of.
    async fn borrow(
        &self,
        needy: Option<CrawlId>,
        crawls: &[CrawlId],
        most: u32,
    ) -> Result<Vec<LoanedHost>, StoreError> {
        let loans = self.lender()?;
        if most == 0 || (crawls.is_empty() && needy.is_none()) {
            return Ok(Vec::new());
        }
        let crawls: Vec<i64> = crawls.iter().map(|crawl| crawl.0).collect();
        let _turn = self.lookups.acquire().await;
        let lent = self
            .insist(|| async {
                let conn = self.for_loans().await?;
                match needy {
                    Some(needy) => lend_of(&conn, loans, needy, &crawls, i64::from(most)).await,
                    None => lend(&conn, loans, &crawls, i64::from(most)).await,
                }
            })
            .await?;
        self.insist(|| async { described(&*self.for_loans().await?, &lent).await })
            .await
    }
}

#[async_trait]
impl HostLoans for PostgresStore {
    async fn borrow_hosts(
        &self,
        crawls: &[CrawlId],
        most: u32,
    ) -> Result<Vec<LoanedHost>, StoreError> {
        self.borrow(None, crawls, most).await
    }

    async fn borrow_hosts_of(
        &self,
        needy: CrawlId,
        crawls: &[CrawlId],
        most: u32,
    ) -> Result<Vec<LoanedHost>, StoreError> {
        self.borrow(Some(needy), crawls, most).await
    }

    async fn borrow_host(
        &self,
        crawl: CrawlId,
        name: &str,
    ) -> Result<Option<StoredHost>, StoreError> {
        let loans = self.lender()?;
        let id = host_id(self.secret, name);
        self.insist(|| async {
            let conn = self.patiently().await?;
            let mut host = reader::ensure_host(&conn, crawl, id, name).await?;
            if loans.holds(id) {
                return Ok(Some(host));
            }
            let Some(allowed) = lend_one(&conn, loans, id).await? else {
                return Ok(None);
            };
            host.next_allowed = host.next_allowed.max(allowed);
            Ok(Some(host))
        })
        .await
    }

    fn may_ask(&self, host: HostId, delay_ms: u64) -> bool {
        let delay = Duration::from_millis(delay_ms);
        self.loans
            .as_ref()
            .is_some_and(|loans| loans.may_ask(host, delay))
    }

    fn lost(&self) -> Vec<HostId> {
        self.loans
            .as_ref()
            .map_or_else(Vec::new, |loans| loans.lost())
    }

    async fn running_crawls(&self) -> Result<Vec<CrawlId>, StoreError> {
        self.insist(|| async {
            let conn = self.patiently().await?;
            let sql = "SELECT id FROM crawls WHERE state = 'running' ORDER BY id";
            let rows = conn.query(sql, &[]).await?;
            Ok(rows.iter().map(|row| CrawlId(row.get(0))).collect())
        })
        .await
    }

    async fn give_back(&self, hosts: Vec<ReturnedHost>) -> Result<(), StoreError> {
        let loans = self.lender()?;
        let epochs = loans.remove(hosts.iter().map(|host| host.host));
        let mut ours: Vec<(ReturnedHost, i64)> = hosts
            .into_iter()
            .filter_map(|host| {
                let epoch = *epochs.get(&host.host)?;
                Some((host, epoch))
            })
            .collect();
        ours.sort_unstable_by_key(|(host, _)| host.host);
        if ours.is_empty() {
            return Ok(());
        }
        let _turn = self.lookups.acquire().await;
        self.insist(|| async {
            let conn = self.for_loans().await?;
            give_back(&conn, loans, &ours).await
        })
        .await
    }

    async fn complete(
        &self,
        crawl: CrawlId,
        why: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        self.call_completed(crawl, why, now).await
    }
}

/// Hosts that were lent, with the crawls that have something for them.
type Lent = FxHashMap<CrawlId, Vec<HostId>>;

async fn lend(conn: &Conn, loans: &Loans, crawls: &[i64], most: i64) -> Result<Lent, Fault> {
    let mut lent = Lent::default();
    let mut wanted = most;
    let start = first_table();
    for round in 0..ROUNDS {
        let table = if round == 0 { start } else { PARTITIONS };
        let sent = When::now();
        let (worker, lasts) = (&loans.options.worker, loans.lasts_ms());
        let second_look = loans.second_look_ms();
        let rows = conn
            .query(
                &LEND[table],
                &[&crawls, &wanted, worker, &lasts, &second_look],
            )
            .await;
        let rows = match rows {
            Ok(rows) => rows,
            // What was lent before is on loan to us, and must not be forgotten.
            Err(_) if !lent.is_empty() => break,
            Err(fault) => return Err(fault),
        };
        wanted -= note(&rows, loans, sent, &mut lent);
        if wanted <= 0 || table == PARTITIONS && rows.is_empty() {
            break;
        }
        if table < PARTITIONS {
            WIDELY.store(PARTITIONS, Ordering::Relaxed);
        }
    }
    Ok(lent)
}

/// Remembers what was lent; gives how many hosts that are.
fn note(rows: &[Row], loans: &Loans, sent: When, lent: &mut Lent) -> i64 {
    let mut count = 0;
    for row in rows.iter().filter(|row| row.get::<_, bool>(2)) {
        let host = HostId(row.get(0));
        loans.add(host, row.get(1), sent);
        count += 1;
        for crawl in row.get::<_, Vec<i64>>(3) {
            lent.entry(CrawlId(crawl)).or_default().push(host);
        }
    }
    count
}

/// Lends hosts of a crawl in need, however many others have been ready for longer. Where it has many,
/// each time others are looked at: numbers of hosts are hashes, so that any number is a place to begin.
async fn lend_of(
    conn: &Conn,
    loans: &Loans,
    needy: CrawlId,
    crawls: &[i64],
    most: i64,
) -> Result<Lent, Fault> {
    let begin = rand::random_range(0..i64::MAX);
    let (mut hosts, more) = reader::open_hosts(conn, needy, begin, LOOKED_AT).await?;
    if more.is_none() {
        let (first, _) = reader::open_hosts(conn, needy, 0, LOOKED_AT).await?;
        hosts.extend(first);
        hosts.sort_unstable();
        hosts.dedup();
    }
    let mut lent = Lent::default();
    if hosts.is_empty() {
        return Ok(lent);
    }
    let sent = When::now();
    let (worker, lasts, look) = (
        &loans.options.worker,
        loans.lasts_ms(),
        loans.second_look_ms(),
    );
    let values: [Param<'_>; 6] = [&crawls, &most, worker, &lasts, &look, &hosts];
    let rows = conn.query(&LEND_OF, &values).await?;
    note(&rows, loans, sent, &mut lent);
    Ok(lent)
}

/// Where many hosts are ready, one partition has enough, and whoever comes at the same time begins at
/// another. Where it had not, the next requests do without: each partition would have to be planned for.
fn first_table() -> usize {
    let widely = WIDELY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
    match widely {
        Ok(_) => PARTITIONS,
        Err(_) => TURN.fetch_add(1, Ordering::Relaxed) % PARTITIONS,
    }
}

async fn described(conn: &Conn, lent: &Lent) -> Result<Vec<LoanedHost>, Fault> {
    let mut found = Vec::new();
    for (crawl, hosts) in lent {
        let hosts = reader::hosts(conn, *crawl, hosts).await?;
        let crawl = *crawl;
        found.extend(hosts.into_iter().map(|host| LoanedHost { crawl, host }));
    }
    Ok(found)
}

/// Lends a host that nobody holds, also before it may be asked; gives the time from which it may.
async fn lend_one(conn: &Conn, loans: &Loans, host: HostId) -> Result<Option<UnixMillis>, Fault> {
    let sent = When::now();
    let sql = "UPDATE hosts SET epoch = epoch + 1, holder = $2, empties = 0,
          ready_at = greatest(free_at, clock_timestamp() + $3 * interval '1 ms')
        WHERE id = $1 AND (holder IS NULL OR ready_at <= clock_timestamp())
        RETURNING epoch, CASE WHEN free_at > clock_timestamp()
          THEN ceil(extract(epoch FROM free_at) * 1000)::int8 ELSE 0 END";
    let lasts = loans.lasts_ms();
    let row = conn
        .query_opt(sql, &[&host.0, &loans.options.worker, &lasts])
        .await?;
    Ok(row.map(|row| {
        loans.add(host, row.get(0), sent);
        conn.skew.here(row.get(1))
    }))
}

/// A host rests if nothing to ask it for is to be seen; what is not yet committed is found by a second
/// look.
async fn give_back(conn: &Conn, loans: &Loans, hosts: &[(ReturnedHost, i64)]) -> Result<(), Fault> {
    close(conn, loans, hosts).await?;
    let ids: Vec<i64> = hosts.iter().map(|(host, _)| host.host.0).collect();
    let epochs: Vec<i64> = hosts.iter().map(|(_, epoch)| *epoch).collect();
    let waits: Vec<f64> = hosts.iter().map(|(host, _)| host.wait_ms as f64).collect();
    let (worker, look) = (&loans.options.worker, loans.second_look_ms());
    conn.execute(GIVE_BACK, &[&ids, &epochs, &waits, worker, &look])
        .await?;
    Ok(())
}

/// Crawls ask nothing more of some hosts.
async fn close(conn: &Conn, loans: &Loans, hosts: &[(ReturnedHost, i64)]) -> Result<(), Fault> {
    let (mut ids, mut epochs, mut crawls) = (vec![], vec![], vec![]);
    for (host, epoch) in hosts {
        for crawl in &host.closed {
            ids.push(host.host.0);
            epochs.push(*epoch);
            crawls.push(crawl.0);
        }
    }
    if ids.is_empty() {
        return Ok(());
    }
    let sql = "WITH mine AS MATERIALIZED (
          SELECT h.crawl, h.host
          FROM unnest($1::int8[], $2::int8[], $3::int8[]) n(host, epoch, crawl)
          JOIN hosts t ON t.id = n.host AND t.epoch = n.epoch AND t.holder = $4
          JOIN crawl_hosts h ON h.crawl = n.crawl AND h.host = n.host
          ORDER BY h.crawl, h.host FOR UPDATE OF h)
        UPDATE crawl_hosts h SET closed = true
        FROM mine WHERE h.crawl = mine.crawl AND h.host = mine.host";
    let worker = &loans.options.worker;
    conn.execute(sql, &[&ids, &epochs, &crawls, worker]).await?;
    Ok(())
}
