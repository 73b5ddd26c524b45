//! Users, sessions and bad logins of a server. Like keys they are written by a connection of their
//! own for each change, so that `trawl users` works while a server runs.

use std::path::Path;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use trawl_types::UnixMillis;

use super::{SqliteStore, fault::Fault, side::Side};
use crate::contract::{
    StoreError,
    accounts::{AccountStore, Failures, SessionRow, UserRow},
};

const USER: &str = "SELECT u.id, u.name, u.password, u.role, u.created_at, u.password_changed_at,
                    u.disabled_at ";

/// Subjects of bad logins that are remembered; beyond that the oldest are forgotten.
const MOST_SUBJECTS: u32 = 10_000;

#[async_trait]
impl AccountStore for SqliteStore {
    async fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        self.pool.ask(all).await
    }

    async fn user_by_name(&self, name: &str) -> Result<Option<UserRow>, StoreError> {
        let name = name.to_owned();
        self.pool.ask(move |conn| by_name(conn, &name)).await
    }

    async fn session(&self, hash: &[u8]) -> Result<Option<SessionRow>, StoreError> {
        let hash = hash.to_vec();
        self.pool.ask(move |conn| session(conn, &hash)).await
    }
}

/// The accounts of one database, to be changed.
#[derive(Debug)]
pub struct SqliteAccounts(Side);

impl SqliteAccounts {
    /// Opens a database that is there; one of an older format is brought up first.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Side::open(path).map(Self)
    }

    pub fn users(&self) -> Result<Vec<UserRow>, StoreError> {
        self.0.ask(all)
    }

    /// False if the name is taken.
    pub fn add_user(&mut self, user: &UserRow) -> Result<bool, StoreError> {
        self.0.change(|conn| {
            let added = conn.execute(
                "INSERT INTO users (id, name, password, role, created_at, password_changed_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO NOTHING",
                params![
                    user.id,
                    user.name,
                    user.password,
                    user.role,
                    user.created_at.0,
                    user.password_changed_at.0
                ],
            )?;
            Ok(added > 0)
        })
    }

    /// Changes a password and ends all sessions of the user. False if there is no such user.
    pub fn set_password(
        &mut self,
        name: &str,
        password: &str,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET password = ?2, password_changed_at = ?3 WHERE name = ?1";
        self.0.change(|conn| {
            end_sessions(conn, name)?;
            Ok(conn.execute(sql, params![name, password, now.0])? > 0)
        })
    }

    /// Locks a user out (or in again) and ends all their sessions. False if there is none.
    pub fn set_disabled(
        &mut self,
        name: &str,
        disabled_at: Option<UnixMillis>,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE users SET disabled_at = ?2 WHERE name = ?1";
        self.0.change(|conn| {
            end_sessions(conn, name)?;
            Ok(conn.execute(sql, params![name, disabled_at.map(|at| at.0)])? > 0)
        })
    }

    /// Forgets a user; their jobs stay. False if there is no such user.
    pub fn delete_user(&mut self, name: &str) -> Result<bool, StoreError> {
        self.0.change(|conn| {
            end_sessions(conn, name)?;
            Ok(conn.execute("DELETE FROM users WHERE name = ?1", [name])? > 0)
        })
    }

    /// Records a session. Fails to, and says so, where the user is gone, disabled or has another
    /// password than the one the session was begun with.
    pub fn add_session(&mut self, session: &SessionRow) -> Result<bool, StoreError> {
        self.0.change(|conn| {
            let added = conn.execute(
                "INSERT INTO sessions (hash, user, created_at, last_seen_at, expires_at)
                 SELECT ?1, id, ?3, ?4, ?5 FROM users
                 WHERE id = ?2 AND disabled_at IS NULL AND password = ?6",
                params![
                    session.hash,
                    session.user.id,
                    session.created_at.0,
                    session.last_seen_at.0,
                    session.expires_at.0,
                    session.user.password
                ],
            )?;
            Ok(added > 0)
        })
    }

    pub fn touch_session(&mut self, hash: &[u8], now: UnixMillis) -> Result<(), StoreError> {
        self.0.change(|conn| {
            let sql = "UPDATE sessions SET last_seen_at = max(last_seen_at, ?2) WHERE hash = ?1";
            conn.execute(sql, params![hash, now.0])?;
            Ok(())
        })
    }

    pub fn end_session(&mut self, hash: &[u8]) -> Result<bool, StoreError> {
        self.0
            .change(|conn| Ok(conn.execute("DELETE FROM sessions WHERE hash = ?1", [hash])? > 0))
    }

    /// Removes what no longer means anything: sessions that are over, bad logins of long ago.
    pub fn remove_old(
        &mut self,
        sessions_expired_by: UnixMillis,
        idle_since: UnixMillis,
        failures_before: UnixMillis,
    ) -> Result<(), StoreError> {
        self.0.change(|conn| {
            conn.execute(
                "DELETE FROM sessions WHERE expires_at <= ?1 OR last_seen_at <= ?2",
                params![sessions_expired_by.0, idle_since.0],
            )?;
            let sql = "DELETE FROM login_failures WHERE last_at < ?1";
            conn.execute(sql, [failures_before.0])?;
            Ok(())
        })
    }

    /// Counts a login as failed before its password is looked at, so that many at once count as
    /// many, unless `judge` says that one of the subjects has to wait.
    pub fn charge<W>(
        &mut self,
        subjects: &[&str],
        now: UnixMillis,
        judge: impl Fn(usize, Failures) -> Result<Failures, W>,
    ) -> Result<Result<(), W>, StoreError> {
        self.0.change(|conn| {
            let mut counted = Vec::new();
            for (place, subject) in subjects.iter().enumerate() {
                match judge(place, failures(conn, subject)?) {
                    Ok(failures) => counted.push((subject, failures)),
                    Err(wait) => return Ok(Err(wait)),
                }
            }
            for (subject, failures) in counted {
                let sql = "INSERT INTO login_failures (subject, count, last_at) VALUES (?1, ?2, ?3)
                           ON CONFLICT (subject) DO UPDATE SET count = ?2, last_at = ?3";
                conn.execute(sql, params![subject, failures.count, now.0])?;
            }
            conn.execute(
                "DELETE FROM login_failures WHERE subject IN (SELECT subject FROM login_failures
                 ORDER BY last_at DESC LIMIT -1 OFFSET ?1)",
                [MOST_SUBJECTS],
            )?;
            Ok(Ok(()))
        })
    }

    /// A login was good after all: `forgiven` begins anew, `refunded` gets its one attempt back.
    pub fn discharge(&mut self, forgiven: &str, refunded: &str) -> Result<(), StoreError> {
        self.0.change(|conn| {
            conn.execute("DELETE FROM login_failures WHERE subject = ?1", [forgiven])?;
            let sql = "UPDATE login_failures SET count = max(count - 1, 0) WHERE subject = ?1";
            conn.execute(sql, [refunded])?;
            Ok(())
        })
    }
}

fn failures(conn: &Connection, subject: &str) -> Result<Failures, Fault> {
    let found = conn
        .query_row(
            "SELECT count, last_at FROM login_failures WHERE subject = ?1",
            [subject],
            |row| {
                Ok(Failures {
                    count: row.get(0)?,
                    last_at: UnixMillis(row.get(1)?),
                })
            },
        )
        .optional()?;
    Ok(found.unwrap_or(Failures::NONE))
}

fn end_sessions(conn: &Connection, name: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM sessions WHERE user IN (SELECT id FROM users WHERE name = ?1)";
    conn.execute(sql, [name])?;
    Ok(())
}

fn all(conn: &Connection) -> Result<Vec<UserRow>, Fault> {
    let mut statement = conn.prepare_cached(&format!("{USER} FROM users u ORDER BY u.name"))?;
    let rows = statement.query_map([], user)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn by_name(conn: &Connection, name: &str) -> Result<Option<UserRow>, Fault> {
    let found = conn
        .prepare_cached(&format!("{USER} FROM users u WHERE u.name = ?1"))?
        .query_row([name], user)
        .optional()?;
    Ok(found)
}

fn session(conn: &Connection, hash: &[u8]) -> Result<Option<SessionRow>, Fault> {
    let sql = format!(
        "{USER}, s.hash, s.created_at, s.last_seen_at, s.expires_at
         FROM sessions s JOIN users u ON u.id = s.user WHERE s.hash = ?1"
    );
    let found = conn
        .prepare_cached(&sql)?
        .query_row([hash], |row| {
            Ok(SessionRow {
                user: user(row)?,
                hash: row.get(7)?,
                created_at: UnixMillis(row.get(8)?),
                last_seen_at: UnixMillis(row.get(9)?),
                expires_at: UnixMillis(row.get(10)?),
            })
        })
        .optional()?;
    Ok(found)
}

fn user(row: &Row<'_>) -> rusqlite::Result<UserRow> {
    Ok(UserRow {
        id: row.get(0)?,
        name: row.get(1)?,
        password: row.get(2)?,
        role: row.get(3)?,
        created_at: UnixMillis(row.get(4)?),
        password_changed_at: UnixMillis(row.get(5)?),
        disabled_at: row.get::<_, Option<i64>>(6)?.map(UnixMillis),
    })
}
