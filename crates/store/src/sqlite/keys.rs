//! Keys of a server. They are written by a connection of their own for each change, so that keys
//! can be made and revoked while a server runs: the writer knows nothing of this table.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, params};
use trawl_types::UnixMillis;

use super::{fault::Fault, side::Side};
use crate::contract::{StoreError, jobs::KeyRow};

const KEY: &str = "SELECT id, name, hash, scope, per_minute, created_at, expires_at, revoked_at
                   FROM api_keys ";

/// The keys of one database.
#[derive(Debug)]
pub struct SqliteKeys(Side);

impl SqliteKeys {
    /// Opens a database that is there; one of an older format is brought up first.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Side::open(path).map(Self)
    }

    pub fn all(&self) -> Result<Vec<KeyRow>, StoreError> {
        self.0.ask(all)
    }

    pub fn add(&self, key: &KeyRow) -> Result<(), StoreError> {
        let sql = "INSERT INTO api_keys (id, name, hash, scope, per_minute, created_at, expires_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.insert(sql, key).map(drop)
    }

    /// Unless there is a key or a user.
    pub fn add_first(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let sql = "INSERT INTO api_keys (id, name, hash, scope, per_minute, created_at, expires_at)
                   SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
                   WHERE NOT EXISTS (SELECT 1 FROM api_keys) AND NOT EXISTS (SELECT 1 FROM users)";
        self.insert(sql, key)
    }

    fn insert(&self, sql: &str, key: &KeyRow) -> Result<bool, StoreError> {
        self.0.ask(|conn| {
            let inserted = conn.execute(
                sql,
                params![
                    key.id,
                    key.name,
                    key.hash,
                    key.scope,
                    key.per_minute,
                    key.created_at.0,
                    key.expires_at.map(|at| at.0)
                ],
            )?;
            Ok(inserted > 0)
        })
    }

    /// False if there is no such key, or it was revoked before.
    pub fn revoke(&self, id: &str, now: UnixMillis) -> Result<bool, StoreError> {
        let sql = "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        self.0
            .ask(|conn| Ok(conn.execute(sql, params![id, now.0])? > 0))
    }
}

pub(super) fn find(conn: &Connection, id: &str) -> Result<Option<KeyRow>, Fault> {
    let found = conn
        .prepare_cached(&format!("{KEY} WHERE id = ?1"))?
        .query_row([id], key)
        .optional()?;
    Ok(found)
}

pub(super) fn all(conn: &Connection) -> Result<Vec<KeyRow>, Fault> {
    let mut statement = conn.prepare_cached(&format!("{KEY} ORDER BY created_at, id"))?;
    let rows = statement.query_map([], key)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn key(row: &Row<'_>) -> rusqlite::Result<KeyRow> {
    let time = |at| row.get::<_, Option<i64>>(at).map(|at| at.map(UnixMillis));
    Ok(KeyRow {
        id: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        scope: row.get(3)?,
        per_minute: row.get(4)?,
        created_at: UnixMillis(row.get(5)?),
        expires_at: time(6)?,
        revoked_at: time(7)?,
    })
}
