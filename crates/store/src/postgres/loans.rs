//! The hosts that this process has on loan: epochs, how long nobody else can have them, and the task that
//! renews them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, SystemTime},
};

use rustc_hash::FxHashMap;
use tokio::task::AbortHandle;
use trawl_types::HostId;

use super::{clocks::When, fault::Fault, options::LoanOptions, pool::Pool};
use crate::shared::recent::Recent;

/// What a request may take besides its delay, clocks that differ in speed included.
const MARGIN: Duration = Duration::from_millis(200);
/// Hosts that were given back and whose epochs are remembered: what was fetched from them may still be
/// written, as long as nobody has borrowed them since.
const PAST: usize = 7 << 11;
/// How soon a renewal that failed is tried again.
const SOON: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
struct Loan {
    epoch: i64,
    /// When it was asked for, or for its renewal: nobody else can have it for as long as it lasts.
    since: When,
}

impl Loan {
    /// Whether nobody else can ask the host before a delay has passed.
    fn covers(self, delay: Duration, lasts: Duration, now: When) -> bool {
        self.since.until(now) + delay + MARGIN < lasts
    }
}

#[derive(Debug)]
struct Held {
    loans: FxHashMap<HostId, Loan>,
    past: Recent<HostId, i64>,
    lost: Vec<HostId>,
}

#[derive(Debug)]
pub(super) struct Loans {
    pub(super) options: LoanOptions,
    held: Mutex<Held>,
    renewing: Mutex<Option<AbortHandle>>,
}

impl Loans {
    pub(super) fn start(options: LoanOptions, pool: Arc<Pool>) -> Arc<Self> {
        let every = options.renewed_every;
        let loans = Arc::new(Self {
            options,
            held: Mutex::new(Held {
                loans: FxHashMap::default(),
                past: Recent::new(PAST),
                lost: Vec::new(),
            }),
            renewing: Mutex::default(),
        });
        let renewing = tokio::spawn(renew_forever(Arc::downgrade(&loans), pool, every));
        *lock(&loans.renewing) = Some(renewing.abort_handle());
        loans
    }

    /// No renewals any more: the loans end by themselves.
    pub(super) fn stop(&self) {
        if let Some(task) = lock(&self.renewing).take() {
            task.abort();
        }
    }

    pub(super) fn lasts_ms(&self) -> f64 {
        self.options.lasts.as_secs_f64() * 1000.0
    }

    pub(super) fn second_look_ms(&self) -> f64 {
        self.options.second_look.as_secs_f64() * 1000.0
    }

    /// A host was lent at the latest when the statement was sent.
    pub(super) fn add(&self, host: HostId, epoch: i64, sent: When) {
        let loan = Loan { epoch, since: sent };
        lock(&self.held).loans.insert(host, loan);
    }

    pub(super) fn holds(&self, host: HostId) -> bool {
        lock(&self.held).loans.contains_key(&host)
    }

    /// Gives hosts up; what is not on loan here is left out.
    pub(super) fn remove(&self, hosts: impl Iterator<Item = HostId>) -> FxHashMap<HostId, i64> {
        let mut held = lock(&self.held);
        let mut epochs = FxHashMap::default();
        for host in hosts {
            if let Some(loan) = held.loans.remove(&host) {
                held.past.insert(host, loan.epoch);
                epochs.insert(host, loan.epoch);
            }
        }
        epochs
    }

    pub(super) fn may_ask(&self, host: HostId, delay: Duration) -> bool {
        let held = lock(&self.held);
        let loan = held.loans.get(&host);
        loan.is_some_and(|loan| loan.covers(delay, self.options.lasts, When::now()))
    }

    pub(super) fn lost(&self) -> Vec<HostId> {
        std::mem::take(&mut lock(&self.held).lost)
    }

    /// Of hosts with the epochs they have now, those that nobody has borrowed since this process did.
    pub(super) fn still_ours(&self, now: impl Iterator<Item = (HostId, i64)>) -> Vec<HostId> {
        let mut held = lock(&self.held);
        let mut ours = Vec::new();
        for (host, epoch) in now {
            let known = held.loans.get(&host).map(|loan| loan.epoch);
            if known.or_else(|| held.past.get(&host)) == Some(epoch) {
                ours.push(host);
            }
        }
        ours
    }

    fn all(&self) -> (Vec<i64>, Vec<i64>) {
        let held = lock(&self.held);
        let mut all: Vec<(i64, i64)> = held.loans.iter().map(|(h, l)| (h.0, l.epoch)).collect();
        all.sort_unstable();
        all.into_iter().unzip()
    }

    /// One statement for all loans. Those whose epoch has moved are lost. One that has ended, but that
    /// nobody has taken, goes on.
    async fn renew(&self, pool: &Pool) -> Result<(), Fault> {
        let (hosts, epochs) = self.all();
        if hosts.is_empty() {
            return Ok(());
        }
        let conn = pool.take(PATIENCE).await?;
        let sent = When::now();
        let sql = "WITH mine AS MATERIALIZED (
              SELECT h.id FROM unnest($1::int8[], $2::int8[]) n(id, epoch)
              JOIN hosts h ON h.id = n.id AND h.epoch = n.epoch
              WHERE h.holder = $3 ORDER BY h.id FOR UPDATE OF h)
            UPDATE hosts h
            SET ready_at = greatest(h.ready_at, clock_timestamp() + $4 * interval '1 ms')
            FROM mine WHERE h.id = mine.id RETURNING h.id, h.epoch,
              (extract(epoch FROM clock_timestamp()) * 1000)::int8";
        let (worker, lasts) = (&self.options.worker, self.lasts_ms());
        let asked = SystemTime::now();
        let renewed = conn.query(sql, &[&hosts, &epochs, worker, &lasts]).await?;
        if let Some(row) = renewed.last() {
            conn.skew.learn(asked, row.get(2), SystemTime::now());
        }
        let renewed = renewed.iter().map(|row| (row.get(0), row.get(1)));
        let renewed: FxHashMap<i64, i64> = renewed.collect();
        let mut held = lock(&self.held);
        for (host, epoch) in hosts.into_iter().zip(epochs) {
            // Given back in the meantime, and perhaps borrowed again.
            let id = HostId(host);
            let Some(loan) = held.loans.get_mut(&id).filter(|loan| loan.epoch == epoch) else {
                continue;
            };
            if renewed.get(&host) == Some(&epoch) {
                loan.since = sent;
            } else {
                held.loans.remove(&id);
                held.lost.push(id);
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn renew_forever(loans: Weak<Loans>, pool: Arc<Pool>, every: Duration) {
    let mut pause = every;
    loop {
        tokio::time::sleep(pause).await;
        let Some(loans) = loans.upgrade() else {
            return;
        };
        pause = match loans.renew(&pool).await {
            Ok(()) => every,
            Err(_) if pool.is_closed() => return,
            Err(fault) => {
                tracing::debug!(why = %fault, "loans could not be renewed");
                SOON.min(every)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loan_covers_a_request_only_if_its_delay_ends_before_the_loan() {
        let since = When::now();
        let loan = Loan { epoch: 1, since };
        let lasts = Duration::from_secs(20);
        assert!(loan.covers(Duration::from_secs(19), lasts, since));
        assert!(!loan.covers(Duration::from_secs(20), lasts, since));
        let just_too_long = Duration::from_millis(19_800);
        assert!(!loan.covers(just_too_long, lasts, since));
    }
}
