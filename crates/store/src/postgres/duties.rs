//! What servers do by themselves, and how far crawls were archived.

use async_trait::async_trait;
use tokio_postgres::Row;
use trawl_types::{CrawlId, Sequence, UnixMillis};

use super::{
    PostgresStore,
    fault::Fault,
    pool::Conn,
    text::{Heard, Said},
};
use crate::contract::{
    StoreError,
    duties::{Duties, DutyRow, Taking},
};

#[async_trait]
impl Duties for PostgresStore {
    async fn duties(&self) -> Result<Vec<DutyRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "SELECT name, holder, held_until, begun_at, ended_at, succeeded_at, result,
                error FROM duties ORDER BY name";
            Ok(conn.query(sql, &[]).await?.iter().map(duty).collect())
        })
        .await
    }

    async fn take_duty(&self, taking: Taking) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "INSERT INTO duties AS d (name, holder, held_until, begun_at)
                VALUES ($1, $2, $3, $4)
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
                  held_until = excluded.held_until, begun_at = excluded.begun_at
                WHERE d.begun_at IS NOT DISTINCT FROM $5
                AND (d.holder IS NULL OR d.held_until <= $4)";
            let (name, holder) = (Said(&taking.name), Said(&taking.holder));
            let seen = taking.seen.map(|at| at.0);
            let (now, until) = (taking.now.0, taking.until.0);
            let taken = conn
                .execute(sql, &[&name, &holder, &until, &now, &seen])
                .await?;
            Ok(taken > 0)
        })
        .await
    }

    async fn hold_duty(
        &self,
        name: &str,
        holder: &str,
        until: UnixMillis,
    ) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "UPDATE duties SET held_until = $3 WHERE name = $1 AND holder = $2";
            let held = conn
                .execute(sql, &[&Said(name), &Said(holder), &until.0])
                .await?;
            Ok(held > 0)
        })
        .await
    }

    async fn end_duty(
        &self,
        name: &str,
        holder: &str,
        ended: Result<String, String>,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "UPDATE duties SET holder = NULL, ended_at = $3, error = $5,
                succeeded_at = CASE WHEN $5::text IS NULL THEN $3 ELSE succeeded_at END,
                result = coalesce($4, result) WHERE name = $1 AND holder = $2";
            let result = ended.as_ref().ok().map(|text| Said(text));
            let error = ended.as_ref().err().map(|text| Said(text));
            let (name, holder) = (Said(name), Said(holder));
            let noted = conn
                .execute(sql, &[&name, &holder, &now.0, &result, &error])
                .await?;
            Ok(noted > 0)
        })
        .await
    }
}

fn duty(row: &Row) -> DutyRow {
    let heard = |at| row.get::<_, Option<Heard>>(at).map(|text| text.0);
    let time = |at| row.get::<_, Option<i64>>(at).map(UnixMillis);
    DutyRow {
        name: row.get::<_, Heard>(0).0,
        holder: heard(1),
        held_until: UnixMillis(row.get(2)),
        begun_at: UnixMillis(row.get(3)),
        ended_at: time(4),
        succeeded_at: time(5),
        result: heard(6),
        error: heard(7),
    }
}

pub(super) async fn archived(conn: &Conn, crawl: CrawlId) -> Result<Sequence, Fault> {
    let sql = "SELECT archived FROM crawls WHERE id = $1";
    let row = conn.query_opt(sql, &[&crawl.0]).await?;
    Ok(Sequence(row.map_or(0, |row| row.get(0))))
}

pub(super) async fn note_archived(
    conn: &Conn,
    crawl: CrawlId,
    through: Sequence,
) -> Result<(), Fault> {
    let sql = "UPDATE crawls SET archived = greatest(archived, $2) WHERE id = $1";
    conn.execute(sql, &[&crawl.0, &through.0]).await?;
    Ok(())
}
