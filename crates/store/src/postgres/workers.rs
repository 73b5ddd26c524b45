//! The registry of workers.

use async_trait::async_trait;
use tokio_postgres::Row;
use trawl_types::UnixMillis;

use super::{
    PostgresStore,
    text::{Heard, Said},
};
use crate::contract::{
    StoreError,
    workers::{Recovered, WorkerRegistry, WorkerRow},
};

#[async_trait]
impl WorkerRegistry for PostgresStore {
    async fn register_worker(&self, worker: WorkerRow) -> Result<(), StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "INSERT INTO workers (id, host, version, started_at, heartbeat_at, doing)
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE
                SET host = excluded.host, version = excluded.version,
                  started_at = excluded.started_at, heartbeat_at = excluded.heartbeat_at,
                  doing = excluded.doing";
            let (id, host) = (Said(&worker.id), Said(&worker.host));
            let (version, doing) = (Said(&worker.version), Said(&worker.doing));
            let (started, beat) = (worker.started_at.0, worker.heartbeat_at.0);
            conn.execute(sql, &[&id, &host, &version, &started, &beat, &doing])
                .await?;
            Ok(())
        })
        .await
    }

    async fn beat(&self, id: &str, doing: &str, now: UnixMillis) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "UPDATE workers SET heartbeat_at = $2, doing = $3 WHERE id = $1";
            let beaten = conn
                .execute(sql, &[&Said(id), &now.0, &Said(doing)])
                .await?;
            Ok(beaten > 0)
        })
        .await
    }

    async fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "SELECT id, host, version, started_at, heartbeat_at, doing FROM workers
                       ORDER BY started_at, id";
            Ok(conn.query(sql, &[]).await?.iter().map(worker).collect())
        })
        .await
    }

    async fn remove_worker(&self, id: &str) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = "DELETE FROM workers WHERE id = $1";
            Ok(conn.execute(sql, &[&Said(id)]).await? > 0)
        })
        .await
    }

    async fn recover_loans(&self) -> Result<Recovered, StoreError> {
        self.put_loans_right().await
    }
}

fn worker(row: &Row) -> WorkerRow {
    WorkerRow {
        id: row.get::<_, Heard>(0).0,
        host: row.get::<_, Heard>(1).0,
        version: row.get::<_, Heard>(2).0,
        started_at: UnixMillis(row.get(3)),
        heartbeat_at: UnixMillis(row.get(4)),
        doing: row.get::<_, Heard>(5).0,
    }
}
