//! Keys, users, sessions and bad logins. Several servers share them: whoever judges bad logins locks their
//! rows first, in one order, so that logins at the same moment count as many.

use async_trait::async_trait;
use tokio_postgres::Row;
use trawl_types::UnixMillis;

use super::{
    PostgresStore,
    fault::Fault,
    pool::{Conn, Param},
    text::{Heard, Said},
};
use crate::contract::{
    StoreError,
    accounts::{AccountStore, AccountWriter, Failures, Judge, SessionRow, UserRow},
    jobs::{JobStore, KeyRow},
};

/// Subjects of bad logins that are remembered; beyond that the oldest are forgotten.
const MOST_SUBJECTS: i64 = 10_000;

macro_rules! users {
    ($more:literal) => {
        concat!(
            "SELECT u.id, u.name, u.password, u.role, u.created_at, u.password_changed_at,
             u.disabled_at ",
            $more
        )
    };
}

#[async_trait]
impl AccountStore for PostgresStore {
    async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = users!("FROM users u ORDER BY u.name COLLATE \"C\"");
            Ok(conn.query(sql, &[]).await?.iter().map(user).collect())
        })
        .await
    }

    async fn user_by_name(&self, name: &str) -> Result<Option<UserRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = users!("FROM users u WHERE u.name = $1");
            Ok(conn
                .query_opt(sql, &[&Said(name)])
                .await?
                .as_ref()
                .map(user))
        })
        .await
    }

    async fn session(&self, hash: &[u8]) -> Result<Option<SessionRow>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            let sql = users!(
                ", s.hash, s.created_at, s.last_seen_at, s.expires_at
                 FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = $1"
            );
            let row = conn.query_opt(sql, &[&hash]).await?;
            Ok(row.map(|row| SessionRow {
                user: user(&row),
                hash: row.get(7),
                created_at: UnixMillis(row.get(8)),
                last_seen_at: UnixMillis(row.get(9)),
                expires_at: UnixMillis(row.get(10)),
            }))
        })
        .await
    }
}

fn user(row: &Row) -> UserRow {
    UserRow {
        id: row.get::<_, Heard>(0).0,
        name: row.get::<_, Heard>(1).0,
        password: row.get::<_, Heard>(2).0,
        role: row.get::<_, Heard>(3).0,
        created_at: UnixMillis(row.get(4)),
        password_changed_at: UnixMillis(row.get(5)),
        disabled_at: row.get::<_, Option<i64>>(6).map(UnixMillis),
    }
}

impl PostgresStore {
    /// One statement that changes something; whether it did.
    async fn alter(&self, sql: &'static str, values: &[Param<'_>]) -> Result<bool, StoreError> {
        self.ask(async { Ok(self.soon().await?.execute(sql, values).await? > 0) })
            .await
    }

    /// Changes a user and ends their sessions, in one transaction. The user's row is locked, so that a
    /// login that is under way is either seen here or sees the change.
    async fn alter_user(
        &self,
        name: &str,
        sql: &'static str,
        values: &[Param<'_>],
    ) -> Result<bool, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            conn.begin().await?;
            let id = "SELECT id FROM users WHERE name = $1 FOR UPDATE";
            let Some(row) = conn.query_opt(id, &[&Said(name)]).await? else {
                conn.roll_back().await?;
                return Ok(false);
            };
            let end = "DELETE FROM sessions WHERE user_id = $1";
            conn.execute(end, &[&row.get::<_, &str>(0)]).await?;
            let changed = conn.execute(sql, values).await? > 0;
            conn.commit().await?;
            Ok(changed)
        })
        .await
    }
}

async fn insert_key(conn: &Conn, sql: &'static str, key: &KeyRow) -> Result<bool, Fault> {
    let (limit, expires) = (key.per_minute.map(i64::from), key.expires_at.map(|at| at.0));
    let (id, name, scope) = (Said(&key.id), Said(&key.name), Said(&key.scope));
    let created = key.created_at.0;
    let values: [Param<'_>; 7] = [&id, &name, &key.hash, &scope, &limit, &created, &expires];
    Ok(conn.execute(sql, &values).await? > 0)
}

#[async_trait]
impl AccountWriter for PostgresStore {
    async fn keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        JobStore::keys(self).await
    }

    async fn add_key(&self, key: &KeyRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO api_keys (id, name, hash, scope, per_minute, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let add = async { insert_key(&*self.soon().await?, sql, key).await };
        self.ask(add).await.map(drop)
    }

    async fn add_first_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let sql = "INSERT INTO api_keys (id, name, hash, scope, per_minute, created_at, expires_at)
            SELECT $1::text, $2::text, $3::bytea, $4::text, $5::int8, $6::int8, $7::int8
            WHERE NOT EXISTS (SELECT 1 FROM api_keys) AND NOT EXISTS (SELECT 1 FROM users)";
        self.ask(async {
            let conn = self.soon().await?;
            conn.begin().await?;
            // Whoever comes second waits here, and sees the first one's key.
            conn.run("LOCK TABLE api_keys, users IN SHARE ROW EXCLUSIVE MODE")
                .await?;
            let added = insert_key(&conn, sql, key).await?;
            conn.commit().await?;
            Ok(added)
        })
        .await
    }

    async fn revoke_key(&self, id: &str, now: UnixMillis) -> Result<bool, StoreError> {
        let sql = "UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        self.alter(sql, &[&Said(id), &now.0]).await
    }

    async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        AccountStore::users(self).await
    }

    async fn add_user(&self, user: &UserRow) -> Result<bool, StoreError> {
        let sql = "INSERT INTO users (id, name, password, role, created_at, password_changed_at)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING";
        let (id, name, role) = (Said(&user.id), Said(&user.name), Said(&user.role));
        let password = Said(&user.password);
        let (created, changed) = (user.created_at.0, user.password_changed_at.0);
        self.alter(sql, &[&id, &name, &password, &role, &created, &changed])
            .await
    }

    async fn set_password(
        &self,
        name: &str,
        password: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET password = $2, password_changed_at = $3 WHERE name = $1";
        self.alter_user(name, sql, &[&Said(name), &Said(password), &now.0])
            .await
    }

    async fn set_disabled(
        &self,
        name: &str,
        disabled_at: Option<UnixMillis>,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET disabled_at = $2 WHERE name = $1";
        self.alter_user(name, sql, &[&Said(name), &disabled_at.map(|at| at.0)])
            .await
    }

    async fn delete_user(&self, name: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM users WHERE name = $1";
        self.alter_user(name, sql, &[&Said(name)]).await
    }

    /// The user's row is locked: whoever changes it ends this session, or has ended it before it begins.
    async fn add_session(&self, session: &SessionRow) -> Result<bool, StoreError> {
        let sql = "INSERT INTO sessions (hash, user_id, created_at, last_seen_at, expires_at)
            SELECT $1, id, $3, $4, $5 FROM users
            WHERE id = $2 AND disabled_at IS NULL AND password = $6 FOR UPDATE";
        let (user, password) = (Said(&session.user.id), Said(&session.user.password));
        let (created, seen) = (session.created_at.0, session.last_seen_at.0);
        let expires = session.expires_at.0;
        let values: [Param<'_>; 6] = [&session.hash, &user, &created, &seen, &expires, &password];
        self.alter(sql, &values).await
    }

    async fn touch_session(&self, hash: &[u8], now: UnixMillis) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET last_seen_at = greatest(last_seen_at, $2) WHERE hash = $1";
        self.alter(sql, &[&hash, &now.0]).await.map(drop)
    }

    async fn end_session(&self, hash: &[u8]) -> Result<bool, StoreError> {
        self.alter("DELETE FROM sessions WHERE hash = $1", &[&hash])
            .await
    }

    /// Servers that do this at the same time leave each other what the other has locked.
    async fn remove_old(
        &self,
        sessions_expired_by: UnixMillis,
        idle_since: UnixMillis,
        failures_before: UnixMillis,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions
            WHERE expires_at <= $1 OR last_seen_at <= $2 FOR UPDATE SKIP LOCKED)";
        self.alter(sql, &[&sessions_expired_by.0, &idle_since.0])
            .await?;
        let sql = "DELETE FROM login_failures WHERE subject IN (SELECT subject FROM login_failures
            WHERE last_at < $1 FOR UPDATE SKIP LOCKED)";
        self.alter(sql, &[&failures_before.0]).await.map(drop)
    }

    async fn charge(
        &self,
        subjects: &[&str],
        now: UnixMillis,
        judge: Judge,
    ) -> Result<Result<(), u64>, StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            conn.begin().await?;
            let kept = locked(&conn, subjects).await?;
            let mut counts = Vec::with_capacity(subjects.len());
            for (place, failures) in kept.into_iter().enumerate() {
                match judge(place, failures) {
                    Ok(failures) => counts.push(i64::from(failures.count)),
                    Err(wait) => {
                        conn.roll_back().await?;
                        return Ok(Err(wait));
                    }
                }
            }
            let sql = "UPDATE login_failures f SET count = n.count, last_at = $3
                FROM unnest($1::text[], $2::int8[]) n(subject, count) WHERE f.subject = n.subject";
            let names: Vec<Said<'_>> = subjects.iter().map(|subject| Said(subject)).collect();
            conn.execute(sql, &[&names, &counts, &now.0]).await?;
            let sql =
                "DELETE FROM login_failures WHERE subject IN (SELECT subject FROM login_failures
                ORDER BY last_at DESC OFFSET $1 FOR UPDATE SKIP LOCKED)";
            conn.execute(sql, &[&MOST_SUBJECTS]).await?;
            conn.commit().await?;
            Ok(Ok(()))
        })
        .await
    }

    async fn discharge(&self, forgiven: &str, refunded: &str) -> Result<(), StoreError> {
        self.ask(async {
            let conn = self.soon().await?;
            conn.begin().await?;
            // In the order in which those who are charged are locked.
            let sql = "SELECT 1 FROM login_failures WHERE subject = ANY($1)
                ORDER BY subject COLLATE \"C\" FOR UPDATE";
            conn.query(sql, &[&&[Said(forgiven), Said(refunded)][..]])
                .await?;
            let sql = "DELETE FROM login_failures WHERE subject = $1";
            conn.execute(sql, &[&Said(forgiven)]).await?;
            let sql = "UPDATE login_failures SET count = greatest(count - 1, 0) WHERE subject = $1";
            conn.execute(sql, &[&Said(refunded)]).await?;
            conn.commit().await
        })
        .await
    }
}

/// Bad logins of subjects, in their order. There is a row for each afterwards, and it is locked: one that
/// is not there yet cannot be, and two could be the first at the same time.
async fn locked(conn: &Conn, subjects: &[&str]) -> Result<Vec<Failures>, Fault> {
    let mut sorted: Vec<&str> = subjects.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let names: Vec<Said<'_>> = sorted.iter().map(|subject| Said(subject)).collect();
    let sql = "INSERT INTO login_failures AS f (subject, count, last_at)
        SELECT n.subject, 0, 0 FROM unnest($1::text[]) WITH ORDINALITY n(subject, place)
        ORDER BY n.place ON CONFLICT (subject) DO UPDATE SET count = f.count
        RETURNING subject, count, last_at";
    let rows = conn.query(sql, &[&names]).await?;
    let of = |subject: &&str| {
        let row = rows
            .iter()
            .find(|row| row.get::<_, Heard>(0).0 == **subject);
        row.map_or(Failures::NONE, |row| Failures {
            count: u32::try_from(row.get::<_, i64>(1)).unwrap_or(u32::MAX),
            last_at: UnixMillis(row.get(2)),
        })
    };
    Ok(subjects.iter().map(of).collect())
}
