//! A database that takes in a whole store, batch by batch. How far it is stands in tables of its own, which
//! go when it is done; until then nobody can open it as a store.

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures_util::TryStreamExt;
use trawl_types::KeySecret;

use super::{
    address::Address,
    commit::POSITION_BITS,
    fault::Fault,
    intake_rows::{cells, load, names, settle},
    pool::{Conn, Pool, Taken},
    schema,
    text::{Heard, Said},
};
use crate::{
    contract::StoreError,
    copy::{cells::Sum, plan::Plan, source::Batch, tables::plans},
};

const PATIENCE: Duration = Duration::from_secs(10);

const PROGRESS: &str = "CREATE TABLE IF NOT EXISTS copy_progress (
      name text PRIMARY KEY, cursor text, rows int8 NOT NULL, sum_a int8 NOT NULL,
      sum_b int8 NOT NULL, done bool NOT NULL);
    CREATE TABLE IF NOT EXISTS copy_moved (source int8 PRIMARY KEY, page int8 NOT NULL)";

/// Batches take as long as they take.
const SETTINGS: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0";

/// What a database is to a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is being filled by this copy, or begins to be.
    Ours,
    /// It is being filled by another one.
    OfAnother,
    /// It was filled by this one.
    Done,
    Occupied,
}

/// How far a table is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reached {
    pub(crate) cursor: Option<String>,
    pub(crate) rows: u64,
    pub(crate) done: bool,
    sum: Sum,
}

#[derive(Debug)]
pub(crate) struct Intake {
    place: String,
    _pool: Pool,
    conn: Taken,
    standing: Standing,
}

impl Intake {
    async fn connect(url: &str) -> Result<(Pool, Taken), StoreError> {
        let pool = Pool::new(Address::parse(url)?, 2)?;
        let conn = pool.take(PATIENCE).await;
        let conn = conn.map_err(|fault| fault.at(pool.place()))?;
        Ok((pool, conn))
    }

    /// Makes an empty database ready, or finds out what it holds.
    pub(crate) async fn begin(
        url: &str,
        secret: KeySecret,
        fingerprint: &str,
    ) -> Result<Self, StoreError> {
        let (pool, conn) = Self::connect(url).await?;
        let place = pool.place().to_owned();
        let begin = async {
            let standing = look(&conn, &place, fingerprint).await?;
            if standing.is_none() {
                schema::make_for_copy(&conn, &place, secret, fingerprint, PROGRESS).await?;
            }
            Ok(standing.unwrap_or(Standing::Ours))
        };
        let standing = begin.await.map_err(|fault: Fault| fault.at(&place))?;
        Ok(Self {
            place,
            _pool: pool,
            conn,
            standing,
        })
    }

    /// Nothing if a copy could be made; otherwise the name of what is in the way.
    pub(crate) async fn is_free(
        url: &str,
        fingerprint: &str,
    ) -> Result<Option<String>, StoreError> {
        let (pool, conn) = Self::connect(url).await?;
        let found = look(&conn, pool.place(), fingerprint).await;
        let found = found.map_err(|fault| fault.at(pool.place()))?;
        let free = matches!(found, None | Some(Standing::Ours | Standing::Done));
        Ok((!free).then(|| pool.place().to_owned()))
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }

    fn said<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| fault.at(&self.place))
    }

    /// Pages that got another number than their first choice.
    pub(crate) async fn moved(&self) -> Result<Vec<(i64, i64)>, StoreError> {
        let rows = self.conn.query("SELECT source, page FROM copy_moved", &[]);
        let rows = self.said(rows.await)?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    pub(crate) async fn reached(&self, plan: &Plan) -> Result<Reached, StoreError> {
        let sql = "SELECT cursor, rows, sum_a, sum_b, done FROM copy_progress WHERE name = $1";
        let row = self.said(self.conn.query_opt(sql, &[&plan.name]).await)?;
        Ok(row.map_or_else(Reached::default, |row| {
            let rows = row.get::<_, i64>(1) as u64;
            Reached {
                cursor: row.get::<_, Option<Heard>>(0).map(|cursor| cursor.0),
                rows,
                done: row.get(4),
                sum: Sum::from_stored(rows, (row.get(2), row.get(3))),
            }
        }))
    }

    /// One transaction: rows, and how far the table is. Gives pages that got another number.
    pub(crate) async fn take_in(
        &self,
        plan: &'static Plan,
        mut batch: Batch,
        reached: &mut Reached,
    ) -> Result<Vec<(i64, i64)>, StoreError> {
        let mut next = reached.clone();
        let work = async {
            self.conn.begin().await?;
            self.conn.run(SETTINGS).await?;
            let moved = match plan.table {
                "urls" => settle(&self.conn, &mut batch).await?,
                _ => Vec::new(),
            };
            for row in &batch.rows {
                next.sum.add(row);
            }
            next.rows = next.sum.rows;
            next.done = batch.cursor.is_none();
            next.cursor.clone_from(&batch.cursor);
            load(&self.conn, plan, &batch.rows).await?;
            self.note(plan, &next).await?;
            self.conn.commit().await?;
            Ok(moved)
        };
        let moved = work.await;
        let moved = self.said(moved)?;
        *reached = next;
        Ok(moved)
    }

    async fn note(&self, plan: &Plan, reached: &Reached) -> Result<(), Fault> {
        let sql = "INSERT INTO copy_progress (name, cursor, rows, sum_a, sum_b, done)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO UPDATE SET
            cursor = excluded.cursor, rows = excluded.rows, sum_a = excluded.sum_a,
            sum_b = excluded.sum_b, done = excluded.done";
        let (a, b) = reached.sum.to_stored();
        let cursor = reached.cursor.as_deref().map(Said);
        let rows = reached.rows as i64;
        let values: [super::pool::Param<'_>; 6] =
            [&plan.name, &cursor, &rows, &a, &b, &reached.done];
        self.conn.execute(sql, &values).await?;
        Ok(())
    }

    /// Every table is read back: what differs from what was sent.
    pub(crate) async fn differences(&self) -> Result<Vec<String>, StoreError> {
        let mut sent: BTreeMap<&str, (Sum, &'static Plan)> = BTreeMap::new();
        for plan in plans() {
            let reached = self.reached(plan).await?;
            let known = sent.entry(plan.table).or_insert((Sum::default(), plan));
            known.0 = known.0.and(reached.sum);
        }
        let mut wrong = Vec::new();
        for (table, (sum, plan)) in sent {
            let found = self.said(self.sum(plan).await)?;
            if found.rows != sum.rows {
                wrong.push(format!(
                    "{table} has {} rows instead of {}",
                    found.rows, sum.rows
                ));
            } else if found != sum {
                wrong.push(format!("{table} has other rows than were sent"));
            }
        }
        Ok(wrong)
    }

    async fn sum(&self, plan: &'static Plan) -> Result<Sum, Fault> {
        self.conn.begin().await?;
        self.conn.run(SETTINGS).await?;
        self.conn.run("SET LOCAL enable_seqscan = on").await?;
        let sql = format!("SELECT {} FROM {}", names(plan), plan.table);
        let mut sum = Sum::default();
        {
            let mut rows = pin!(self.conn.stream(&sql).await?);
            while let Some(row) = rows.try_next().await? {
                sum.add(&cells(plan, &row));
            }
        }
        self.conn.commit().await?;
        Ok(sum)
    }

    /// What is made of the rest, and the end: from here on it is a store.
    pub(crate) async fn finish(
        &self,
        last_page: i64,
        resume_paused: bool,
    ) -> Result<(), StoreError> {
        let work = async {
            self.conn.begin().await?;
            self.conn.run(SETTINGS).await?;
            self.conn
                .run("SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on")
                .await?;
            let sql = "INSERT INTO originals (crawl, page, hash)
                SELECT DISTINCT ON (crawl, hash) crawl, page, hash FROM (
                  SELECT r.crawl, r.seq, r.page,
                    substr(coalesce(c.text_hash, r.content_hash), 1, 16) AS hash
                  FROM results r LEFT JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
                  WHERE r.duplicate_of IS NULL) firsts
                WHERE hash IS NOT NULL ORDER BY crawl, hash, seq ON CONFLICT DO NOTHING";
            self.conn.execute(sql, &[]).await?;
            for sql in [
                "SELECT setval(pg_get_serial_sequence('crawls', 'id'), max(id)) FROM crawls",
                "SELECT setval(pg_get_serial_sequence('page_links', 'id'), max(id)) FROM page_links",
            ] {
                self.conn.query(sql, &[]).await?;
            }
            // Numbers of commits are older than what they find.
            let commits = (last_page >> POSITION_BITS) + 1;
            self.conn
                .query("SELECT setval('commits', $1)", &[&commits])
                .await?;
            if resume_paused {
                let sql = "UPDATE crawls SET state = 'running', why = '' WHERE state = 'paused'";
                self.conn.execute(sql, &[]).await?;
            }
            // Nobody asks a host sooner than its delay allows, whenever it was asked last.
            let sql = "UPDATE hosts h SET empties = 0,
                  ready_at = clock_timestamp() + h.delay_ms * interval '1 ms'
                FROM (SELECT DISTINCT p.host FROM crawls w
                  JOIN crawl_pages p ON p.crawl = w.id AND p.state = 0
                  WHERE w.state = 'running') n
                WHERE h.id = n.host";
            self.conn.execute(sql, &[]).await?;
            let sql = "DROP TABLE copy_progress, copy_moved;
                UPDATE meta SET key = 'copied' WHERE key = 'copying'; ANALYZE";
            self.conn.run(sql).await?;
            self.conn.commit().await
        };
        self.said(work.await)
    }
}

/// Nothing for a database with nothing in it.
async fn look(conn: &Conn, place: &str, fingerprint: &str) -> Result<Option<Standing>, Fault> {
    if schema::format(conn, place).await? == 0 {
        return Ok(None);
    }
    let sql = "SELECT value, key = 'copied' FROM meta WHERE key IN ('copying', 'copied')";
    if let Some(row) = conn.query_opt(sql, &[]).await? {
        let ours = row.get::<_, &[u8]>(0) == fingerprint.as_bytes();
        if row.get(1) {
            let done = if ours {
                Standing::Done
            } else {
                Standing::Occupied
            };
            return Ok(Some(done));
        }
        let standing = if ours {
            Standing::Ours
        } else {
            Standing::OfAnother
        };
        return Ok(Some(standing));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM crawls) OR EXISTS (SELECT 1 FROM hosts)
        OR EXISTS (SELECT 1 FROM urls) OR EXISTS (SELECT 1 FROM api_keys)
        OR EXISTS (SELECT 1 FROM users) OR EXISTS (SELECT 1 FROM jobs)";
    let occupied: bool = conn.query_one(sql, &[]).await?.get(0);
    Ok(occupied.then_some(Standing::Occupied))
}
