//! A few connections with their prepared statements. A connection that was left in the middle of a
//! transaction, for whatever reason, is not used again.

use std::{
    future::Future,
    ops::Deref,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use rustc_hash::FxHashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{
    Client, Row, RowStream, Statement,
    binary_copy::BinaryCopyInWriter,
    types::{ToSql, Type},
};

use super::{
    address::Address,
    breaker::Breaker,
    clocks::Skew,
    fault::{Fault, is_of_the_server},
    tls::MakeTls,
};
use crate::contract::StoreError;

pub(super) type Param<'p> = &'p (dyn ToSql + Sync);

/// Statements may take this long, and so may a pause within a transaction. Together they bound how
/// long a transaction lasts. Plans do not depend on values: every look-up is by key, also while the
/// tables are small, so that a plan made then is right for as long as it is kept.
const SETTINGS: &str =
    "SET statement_timeout = '5s'; SET idle_in_transaction_session_timeout = '5s';
    SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off;
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_bitmapscan = off;
    SET max_parallel_workers_per_gather = 0; SET timezone = 'UTC'";

/// By the database's clock.
const NOW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8";

/// Plans are made anew after this: tables grow, and what was best for a small one is not for a large one.
/// Each time they last twice as long: it takes an older table longer to become another one, and the
/// plans of hundreds of workers keep a server busy.
const PLANNED_FOR: Duration = Duration::from_secs(45);
const PLANNED_FOR_AT_MOST: Duration = Duration::from_hours(1);

/// What a connection is taken for. Each kind of work has statements of its own, and every connection
/// plans those that it is asked: a few that always do the same plan less than many that do everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Commits,
    /// Hosts that are borrowed, filled up and given back.
    Loans,
    Questions,
}

#[derive(Debug)]
pub(super) struct Pool {
    address: Address,
    tls: MakeTls,
    most: usize,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Conn>>>,
    closed: AtomicBool,
    skew: Arc<Skew>,
    pub(super) breaker: Breaker,
}

/// One connection.
pub(super) struct Conn {
    client: Arc<Client>,
    /// Between the clocks of the pool's database and of this process.
    pub(super) skew: Arc<Skew>,
    prepared: Mutex<FxHashMap<&'static str, Statement>>,
    purpose: Purpose,
    /// When statements were last planned, and for how long.
    planned: Instant,
    planned_for: Duration,
    in_transaction: AtomicBool,
    awaited: AtomicU32,
    /// Leads to a server that is no longer fit.
    unfit: AtomicBool,
}

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conn").finish_non_exhaustive()
    }
}

/// A connection taken from the pool. It goes back when this is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    conn: Conn,
    idle: Arc<Mutex<Vec<Conn>>>,
    permit: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(address: Address, connections: usize) -> Result<Self, StoreError> {
        let tls = MakeTls::of(&address)?;
        Ok(Self {
            address,
            tls,
            most: connections.max(2),
            permits: Arc::new(Semaphore::new(connections.max(2))),
            idle: Arc::default(),
            closed: AtomicBool::new(false),
            skew: Arc::default(),
            breaker: Breaker::default(),
        })
    }

    pub(super) fn place(&self) -> &str {
        &self.address.place
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Nobody gets a connection from now on.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.permits.close();
        lock(&self.idle).clear();
    }

    pub(super) async fn take(&self, patience: Duration) -> Result<Taken, Fault> {
        self.take_for(Purpose::Questions, patience).await
    }

    pub(super) async fn take_for(
        &self,
        purpose: Purpose,
        patience: Duration,
    ) -> Result<Taken, Fault> {
        let taken = tokio::time::timeout(patience, self.take_patiently(purpose)).await;
        taken.unwrap_or_else(|_| Err(Fault::Unreachable("no connection in time".into())))
    }

    /// A connection that did the same before, or any if there are as many as there may be.
    fn idle(&self, purpose: Purpose) -> Option<Conn> {
        let mut idle = lock(&self.idle);
        idle.retain(|conn| !conn.client.is_closed());
        if let Some(at) = idle.iter().rposition(|conn| conn.purpose == purpose) {
            return Some(idle.remove(at));
        }
        let taken = self.most - self.permits.available_permits().min(self.most);
        if idle.len() + taken > self.most {
            idle.pop()
        } else {
            None
        }
    }

    async fn take_patiently(&self, purpose: Purpose) -> Result<Taken, Fault> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| Fault::Store(StoreError::Stopped))?;
        let conn = match self.idle(purpose) {
            Some(mut conn) => {
                if conn.planned.elapsed() > conn.planned_for {
                    lock(&conn.prepared).clear();
                    conn.planned = Instant::now();
                    conn.planned_for = (conn.planned_for * 2).min(PLANNED_FOR_AT_MOST);
                }
                conn
            }
            None => self.connect(purpose).await?,
        };
        Ok(Taken {
            conn,
            idle: Arc::clone(&self.idle),
            permit,
        })
    }

    /// Whether a new connection works. It is not kept, and takes nobody's place.
    pub(super) async fn look(&self) -> Result<(), Fault> {
        self.connect(Purpose::Questions).await.map(drop)
    }

    async fn connect(&self, purpose: Purpose) -> Result<Conn, Fault> {
        let (client, connection) = self.address.config.connect(self.tls.clone()).await?;
        // Ends when the client is dropped. Errors reach whoever waits for an answer.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database ended");
            }
        });
        client.batch_execute(SETTINGS).await?;
        let asked = SystemTime::now();
        let said = client.query_one(NOW, &[]).await?;
        self.skew.learn(asked, said.get(0), SystemTime::now());
        Ok(Conn {
            client: Arc::new(client),
            skew: Arc::clone(&self.skew),
            prepared: Mutex::default(),
            purpose,
            planned: Instant::now(),
            planned_for: PLANNED_FOR,
            in_transaction: AtomicBool::new(false),
            awaited: AtomicU32::new(0),
            unfit: AtomicBool::new(false),
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Taken {
    fn drop(&mut self) {
        let conn = &mut self.conn;
        let is_between = !*conn.in_transaction.get_mut() && *conn.awaited.get_mut() == 0;
        let is_usable = is_between && !*conn.unfit.get_mut();
        if is_usable && !conn.client.is_closed() && !self.permit.semaphore().is_closed() {
            let conn = Conn {
                client: Arc::clone(&conn.client),
                skew: Arc::clone(&conn.skew),
                prepared: Mutex::new(std::mem::take(&mut lock(&conn.prepared))),
                purpose: conn.purpose,
                planned: conn.planned,
                planned_for: conn.planned_for,
                in_transaction: AtomicBool::new(false),
                awaited: AtomicU32::new(0),
                unfit: AtomicBool::new(false),
            };
            lock(&self.idle).push(conn);
        }
    }
}

impl Deref for Taken {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl Conn {
    pub(super) async fn begin(&self) -> Result<(), Fault> {
        self.in_transaction.store(true, Ordering::Relaxed);
        self.run("BEGIN").await
    }

    /// The same with statements right after it, in one message.
    pub(super) async fn begin_with(&self, more: &str) -> Result<(), Fault> {
        self.in_transaction.store(true, Ordering::Relaxed);
        self.run(&format!("BEGIN; {more}")).await
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        self.in_transaction.load(Ordering::Relaxed)
    }

    pub(super) async fn commit(&self) -> Result<(), Fault> {
        self.run("COMMIT").await?;
        self.in_transaction.store(false, Ordering::Relaxed);
        Ok(())
    }

    pub(super) async fn roll_back(&self) -> Result<(), Fault> {
        self.run("ROLLBACK").await?;
        self.in_transaction.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Statements without values, one after the other.
    pub(super) async fn run(&self, sql: &str) -> Result<(), Fault> {
        self.awaited(self.client.batch_execute(sql)).await
    }

    /// Asked for at once, questions are on their way together and are answered in order.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Fault> {
        let statement = self.prepared(sql).await?;
        self.awaited(self.client.query(&statement, params)).await
    }

    pub(super) async fn query_opt(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Option<Row>, Fault> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    pub(super) async fn query_one(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Row, Fault> {
        let row = self.query_opt(sql, params).await?;
        row.ok_or_else(|| StoreError::Database("a row is missing".into()).into())
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, Fault> {
        let statement = self.prepared(sql).await?;
        self.awaited(self.client.execute(&statement, params)).await
    }

    /// Sends rows to a `COPY … FROM STDIN BINARY`.
    pub(super) async fn load<C: ToSql + Sync>(
        &self,
        sql: &str,
        types: &[Type],
        rows: &[Vec<C>],
    ) -> Result<(), Fault> {
        let work = async {
            let sink = self.client.copy_in(sql).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
            for row in rows {
                let cells: Vec<Param<'_>> = row.iter().map(|cell| cell as Param<'_>).collect();
                writer.as_mut().write(&cells).await?;
            }
            writer.finish().await
        };
        self.awaited(work).await.map(drop)
    }

    /// Rows as they come, for tables that are larger than memory.
    pub(super) async fn stream(&self, sql: &str) -> Result<RowStream, Fault> {
        let none: [Param<'_>; 0] = [];
        self.awaited(self.client.query_raw(sql, none)).await
    }

    /// Makes sure that a statement can be sent without asking for anything before.
    pub(super) async fn prepare(&self, sql: &'static str) -> Result<(), Fault> {
        self.prepared(sql).await.map(drop)
    }

    /// Has statements planned without doing them.
    pub(super) async fn plan(&self, statements: &[&'static str]) -> Result<(), Fault> {
        for sql in statements {
            self.prepare(sql).await?;
        }
        let sql =
            "SELECT quote_ident(name), cardinality(parameter_types) FROM pg_prepared_statements";
        for row in self.query(sql, &[]).await? {
            let (name, values): (&str, i32) = (row.get(0), row.get(1));
            let values = vec!["NULL"; values.unsigned_abs() as usize].join(", ");
            let values = if values.is_empty() {
                values
            } else {
                format!("({values})")
            };
            self.run(&format!("EXPLAIN EXECUTE {name}{values}")).await?;
        }
        Ok(())
    }

    async fn prepared(&self, sql: &'static str) -> Result<Statement, Fault> {
        if let Some(statement) = lock(&self.prepared).get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.awaited(self.client.prepare(sql)).await?;
        lock(&self.prepared).insert(sql, statement.clone());
        Ok(statement)
    }

    /// Counts answers that are awaited: one that nobody awaits any more may never come.
    async fn awaited<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        self.awaited.fetch_add(1, Ordering::Relaxed);
        let answer = answer.await;
        self.awaited.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = &answer
            && error.code().is_some_and(is_of_the_server)
        {
            self.unfit.store(true, Ordering::Relaxed);
        }
        Ok(answer?)
    }
}
