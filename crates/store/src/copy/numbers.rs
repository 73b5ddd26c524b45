//! Numbers of pages, hosts and records as the other store has them.

use rusqlite::{Connection, OptionalExtension, types::Value};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use trawl_types::{KeySecret, UrlKey};

use super::plan::Kept;
use crate::{
    contract::StoreError,
    postgres::identity::{first_choice, host_id},
    segment::{BodyRef, fetch::Records, frame},
    sqlite::Fault,
};

/// Numbers that are remembered; then all are forgotten.
const REMEMBERED: usize = 1 << 18;

/// A connection, and numbers that were found.
pub(super) struct Inner {
    pub(super) conn: Connection,
    /// Pages that another number was found for than the first choice.
    pub(super) moved: FxHashMap<i64, i64>,
    pages: FxHashMap<i64, i64>,
    hosts: FxHashMap<i64, i64>,
    pub(super) lost: u64,
}

impl Inner {
    pub(super) fn new(conn: Connection) -> Self {
        Self {
            conn,
            moved: FxHashMap::default(),
            pages: FxHashMap::default(),
            hosts: FxHashMap::default(),
            lost: 0,
        }
    }

    pub(super) fn page(&mut self, id: i64) -> Result<i64, Fault> {
        if let Some(page) = self.moved.get(&id).or_else(|| self.pages.get(&id)) {
            return Ok(*page);
        }
        let key = self
            .conn
            .prepare_cached("SELECT key_host, key_url FROM urls WHERE id = ?1")?
            .query_row([id], |row| {
                Ok(UrlKey {
                    host: row.get::<_, i64>(0)?.cast_unsigned(),
                    url: row.get::<_, i64>(1)?.cast_unsigned(),
                })
            })
            .optional()?;
        let key = key.ok_or_else(|| dangling("a page", id))?;
        let page = first_choice(key).0;
        remember(&mut self.pages, id, page);
        Ok(page)
    }

    pub(super) fn host(&mut self, id: i64, secret: KeySecret) -> Result<i64, Fault> {
        if let Some(host) = self.hosts.get(&id) {
            return Ok(*host);
        }
        let name: Option<String> = self
            .conn
            .prepare_cached("SELECT name FROM hosts WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let name = name.ok_or_else(|| dangling("a host", id))?;
        let host = host_id(secret, &name).0;
        remember(&mut self.hosts, id, host);
        Ok(host)
    }

    /// Links lead to pages by their numbers.
    pub(super) fn links(&mut self, json: &str) -> Result<String, Fault> {
        let wrong = |error: &dyn std::fmt::Display| {
            StoreError::Database(format!("a list of links cannot be read: {error}"))
        };
        let mut links: Vec<Vec<Json>> =
            serde_json::from_str(json).map_err(|error| wrong(&error))?;
        for link in &mut links {
            let target = link.first_mut().ok_or_else(|| wrong(&"an empty link"))?;
            let id = target.as_i64().ok_or_else(|| wrong(&"a link to nowhere"))?;
            *target = Json::from(self.page(id)?);
        }
        Ok(serde_json::to_string(&links).map_err(|error| wrong(&error))?)
    }

    /// The first visit of a page that has a record in this place.
    pub(super) fn owner(
        &self,
        kept: Kept,
        page: i64,
        (segment, offset, within): (i64, i64, i64),
    ) -> Result<Option<(i64, i64)>, Fault> {
        let sql = match kept {
            Kept::Body => {
                "SELECT crawl, seq FROM results WHERE page = ?1 AND body_segment = ?2
                 AND body_offset = ?3 AND body_within = ?4 ORDER BY crawl, seq LIMIT 1"
            }
            Kept::Content => {
                "SELECT c.crawl, c.seq FROM results r
                 JOIN contents c ON c.crawl = r.crawl AND c.seq = r.seq
                 WHERE r.page = ?1 AND c.segment = ?2 AND c.offset = ?3 AND c.within = ?4
                 ORDER BY c.crawl, c.seq LIMIT 1"
            }
        };
        let owner = self
            .conn
            .prepare_cached(sql)?
            .query_row([page, segment, offset, within], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        Ok(owner)
    }

    /// Of crawl, number, kind, segment, offset, length, checksum, place within, and the page at the end.
    /// A record of its own, as the other store keeps them.
    pub(super) fn record(
        &mut self,
        kept: Kept,
        values: &[Value],
        records: &Records,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let page = values.last().map_or(0, number);
        let place = (number(&values[3]), number(&values[4]), number(&values[7]));
        let visit = (number(&values[0]), number(&values[1]));
        if self.owner(kept, page, place)? != Some(visit) {
            return Ok(None);
        }
        let reference = BodyRef {
            segment: place.0 as u32,
            offset: place.1 as u64,
            length: number(&values[5]) as u64,
            crc: number(&values[6]) as u32,
            within: place.2 as u32,
        };
        let record = records.record(reference)?;
        self.lost += u64::from(record.is_none());
        Ok(record.map(|record| frame::compress(&record)).transpose()?)
    }
}

fn remember(memory: &mut FxHashMap<i64, i64>, from: i64, to: i64) {
    if memory.len() >= REMEMBERED {
        memory.clear();
    }
    memory.insert(from, to);
}

fn dangling(what: &str, id: i64) -> Fault {
    StoreError::Database(format!("rows refer to {what} {id} that is not there")).into()
}

pub(super) fn number(value: &Value) -> i64 {
    match value {
        Value::Integer(number) => *number,
        _ => 0,
    }
}
