//! The file that is copied, row by row, with numbers of pages and hosts as the other store has them. Held
//! as by a writer: nothing in it changes meanwhile.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rusqlite::{Connection, params_from_iter, types::Value};
use serde_json::Value as Json;
use trawl_types::KeySecret;

use super::{
    CopiedTable,
    cells::{Cell, Row},
    numbers::{Inner, number},
    plan::{As, Plan, Start},
    tables::plans,
};
use crate::{
    SqliteStore,
    contract::StoreError,
    postgres::identity::host_id,
    segment::{self, fetch::Records},
    sqlite::{self, Fault, Lock},
};

/// Rows of one batch, and about how many bytes of them.
const ROWS: usize = 4_000;
const BYTES: usize = 16 << 20;

/// Some rows of a table.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) rows: Vec<Row>,
    /// The first column of each as it is in the file.
    pub(crate) ids: Vec<i64>,
    /// The key of the last row that was looked at; nothing after the last of the table.
    pub(crate) cursor: Option<String>,
}

pub(crate) struct Source {
    path: PathBuf,
    secret: KeySecret,
    records: Records,
    inner: Mutex<Inner>,
    _lock: Lock,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Takes the file from whoever might write it.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        // Brings an older file up, and says what is wrong with others.
        drop(SqliteStore::open_read_only(path)?);
        let lock = sqlite::take_lock(path, "trawl admin copy")?;
        let open = || -> Result<(Connection, KeySecret), Fault> {
            let conn = sqlite::open_to_read(path)?;
            let secret = sqlite::key_secret(&conn, path)?;
            Ok((conn, secret))
        };
        let (conn, secret) = open().map_err(|fault| fault.at(path))?;
        Ok(Self {
            path: path.to_owned(),
            secret,
            records: Records::of(segment::folder(path)),
            inner: Mutex::new(Inner::new(conn)),
            _lock: lock,
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn secret(&self) -> KeySecret {
        self.secret
    }

    pub(crate) fn lost(&self) -> u64 {
        self.inner().lost
    }

    pub(crate) fn know_moved(&self, moved: impl IntoIterator<Item = (i64, i64)>) {
        self.inner().moved.extend(moved);
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Inner) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        question(&mut self.inner()).map_err(|fault| fault.at(&self.path))
    }

    /// Crawls that are maps.
    pub(crate) fn maps(&self) -> Result<Vec<String>, StoreError> {
        self.ask(|inner| {
            let sql = "SELECT id FROM crawls WHERE config_hash IS NOT NULL ORDER BY id";
            let mut statement = inner.conn.prepare(sql)?;
            let ids = statement.query_map([], |row| Ok(row.get::<_, i64>(0)?.to_string()))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// What the file is known by: it changes with whatever is written to it.
    pub(crate) fn fingerprint(&self) -> Result<String, StoreError> {
        let secret = self.secret.0.iter().map(|byte| format!("{byte:02x}"));
        let secret: String = secret.collect();
        self.ask(|inner| {
            let sql = "SELECT count(*) || ' ' || total(last_seq) || ' ' || total(discovered) || ' '
                 || total(done) || ' ' || (SELECT coalesce(max(id), 0) FROM urls) || ' '
                 || (SELECT coalesce(max(id), 0) FROM page_links) || ' '
                 || (SELECT count(*) FROM jobs) || ' ' || (SELECT count(*) FROM api_keys) || ' '
                 || (SELECT count(*) FROM users) FROM crawls";
            let facts: String = inner.conn.query_row(sql, [], |row| row.get(0))?;
            // The secret itself is not for reading.
            let mut sum = super::cells::Sum::default();
            sum.add(&[Cell::Text(secret.clone())]);
            Ok(format!("{:?} {facts}", sum.to_stored()))
        })
    }

    /// The largest number of a page.
    pub(crate) fn last_page(&self) -> Result<i64, StoreError> {
        self.ask(|inner| {
            let sql = "SELECT coalesce(max(id), 0) FROM urls";
            Ok(inner.conn.query_row(sql, [], |row| row.get(0))?)
        })
    }

    /// How many rows each table has here.
    pub(crate) fn counts(&self) -> Result<Vec<CopiedTable>, StoreError> {
        self.ask(|inner| {
            let mut tables = Vec::new();
            for plan in plans() {
                let sql = format!("SELECT count(*) FROM ({})", plan.select);
                let first = plan.first.iter().copied().map(start);
                let rows: i64 = inner
                    .conn
                    .query_row(&sql, params_from_iter(first), |row| row.get(0))?;
                tables.push(CopiedTable {
                    name: plan.name,
                    rows: rows as u64,
                });
            }
            Ok(tables)
        })
    }

    /// The rows after a key, as many as one batch takes.
    pub(crate) fn read(&self, plan: &Plan, cursor: Option<&str>) -> Result<Batch, StoreError> {
        let key = match cursor {
            Some(text) => from_cursor(text).ok_or_else(|| {
                StoreError::Database(format!("the copy of {} is nowhere", plan.name))
            })?,
            None => plan.first.iter().copied().map(start).collect(),
        };
        let secret = self.secret;
        self.ask(|inner| inner.read(plan, key, secret, &self.records))
    }
}

fn start(start: Start) -> Value {
    match start {
        Start::Number => Value::Integer(i64::MIN),
        Start::Text => Value::Text(String::new()),
        Start::Bytes => Value::Blob(Vec::new()),
    }
}

/// Keys as texts: numbers as they are, texts in quotation marks, bytes as lists of numbers.
fn to_cursor(key: &[Value]) -> String {
    let part = |value: &Value| match value {
        Value::Integer(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
        Value::Blob(bytes) => Json::from(bytes.clone()),
        Value::Null | Value::Real(_) => Json::Null,
    };
    Json::from(key.iter().map(part).collect::<Vec<_>>()).to_string()
}

fn from_cursor(text: &str) -> Option<Vec<Value>> {
    let parts: Vec<Json> = serde_json::from_str(text).ok()?;
    let part = |json: Json| match json {
        Json::Number(number) => number.as_i64().map(Value::Integer),
        Json::String(text) => Some(Value::Text(text)),
        Json::Array(bytes) => {
            let byte = |byte: &Json| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
            let bytes: Option<Vec<u8>> = bytes.iter().map(byte).collect();
            bytes.map(Value::Blob)
        }
        _ => None,
    };
    parts.into_iter().map(part).collect()
}

impl Inner {
    fn read(
        &mut self,
        plan: &Plan,
        key: Vec<Value>,
        secret: KeySecret,
        records: &Records,
    ) -> Result<Batch, Fault> {
        let sql = format!("{} LIMIT {ROWS}", plan.select);
        let found: Vec<Vec<Value>> = {
            let mut statement = self.conn.prepare(&sql)?;
            let columns = statement.column_count();
            let read = statement.query_map(params_from_iter(key), |row| {
                (0..columns).map(|at| row.get(at)).collect()
            })?;
            read.collect::<Result<_, _>>()?
        };
        let (mut rows, mut ids, mut size) = (Vec::new(), Vec::new(), 0);
        let mut cursor = None;
        let all = found.len();
        for (at, values) in found.into_iter().enumerate() {
            let place = to_cursor(&values[..plan.key]);
            let id = match values.first() {
                Some(Value::Integer(id)) => *id,
                _ => 0,
            };
            if let Some(row) = self.convert(plan, &values, secret, records)? {
                size += row.iter().map(Cell::size).sum::<usize>();
                rows.push(row);
                ids.push(id);
            }
            let is_last_of_all = at + 1 == all && all < ROWS;
            cursor = (!is_last_of_all).then_some(place);
            if size > BYTES {
                break;
            }
        }
        Ok(Batch { rows, ids, cursor })
    }

    /// One row as the other store has it; nothing where it has none.
    fn convert(
        &mut self,
        plan: &Plan,
        values: &[Value],
        secret: KeySecret,
        records: &Records,
    ) -> Result<Option<Row>, Fault> {
        let mut row = Vec::with_capacity(plan.columns.len());
        for (at, becomes) in plan.becomes.iter().enumerate() {
            let value = &values[at];
            match becomes {
                As::Same => row.push(same(value)?),
                As::Truth => row.push(Cell::Bool(!matches!(value, Value::Integer(0)))),
                As::Aside => {}
                As::Page => row.push(match value {
                    Value::Integer(id) => Cell::Int(self.page(*id)?),
                    _ => Cell::Null,
                }),
                As::Host => row.push(Cell::Int(self.host(number(value), secret)?)),
                As::HostNamed => row.push(Cell::Int(host_id(secret, text(value)).0)),
                As::Links => row.push(Cell::Text(self.links(text(value))?)),
                As::Owner(kept) => {
                    let place = (
                        number(&values[at - 2]),
                        number(&values[at - 1]),
                        number(value),
                    );
                    let page = values.last().map_or(0, number);
                    let owner = match values[at - 2] {
                        Value::Integer(_) => self.owner(*kept, page, place)?,
                        _ => None,
                    };
                    row.push(owner.map(|owner| owner.0).into());
                    row.push(owner.map(|owner| owner.1).into());
                }
                As::Record(kept) => match self.record(*kept, values, records)? {
                    Some(record) => row.push(Cell::Bytes(record)),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(row))
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

fn same(value: &Value) -> Result<Cell, Fault> {
    Ok(match value {
        Value::Null => Cell::Null,
        Value::Integer(number) => Cell::Int(*number),
        Value::Text(text) => Cell::Text(text.clone()),
        Value::Blob(bytes) => Cell::Bytes(bytes.clone()),
        Value::Real(_) => {
            return Err(StoreError::Database("a fraction where none can be".into()).into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_storage() {
        for key in [
            vec![Value::Integer(i64::MIN), Value::Text("a\"]\0ü".into())],
            vec![Value::Blob(vec![0, 255])],
            vec![Value::Integer(1), Value::Integer(-2), Value::Integer(3)],
        ] {
            assert_eq!(from_cursor(&to_cursor(&key)), Some(key));
        }
        assert_eq!(from_cursor("nonsense"), None);
    }
}
