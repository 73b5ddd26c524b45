//! How much of what there is in the file and beside it.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;
use trawl_types::{CrawlId, CrawlState};

use super::fault::Fault;
use crate::{
    contract::upkeep::{CrawlSize, HostSize, Storage, TableSize},
    segment,
};

pub(super) fn storage(conn: &Connection, bodies: &Path, hosts: u32) -> Result<Storage, Fault> {
    let mut storage = Storage {
        tables: tables(conn)?,
        crawls: crawls(conn)?,
        hosts: busiest(conn, hosts)?,
        ..Storage::default()
    };
    for number in segment::numbers(bodies)? {
        let meta = std::fs::metadata(bodies.join(segment::file_name(number)));
        storage.body_files += 1;
        storage.body_file_bytes += meta.map_or(0, |meta| meta.len());
    }
    let pragma = |name: &str| -> Result<u64, Fault> {
        let value = conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0))?;
        Ok(value as u64)
    };
    let size = pragma("page_size")?;
    storage.database_bytes = pragma("page_count")? * size;
    storage.free_bytes = pragma("freelist_count")? * size;
    Ok(storage)
}

/// Tables with their indexes, largest first.
fn tables(conn: &Connection) -> Result<Vec<TableSize>, Fault> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let mut statement = conn.prepare(
        "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat('main', 1) d
         JOIN sqlite_schema s ON s.name = d.name GROUP BY 1",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        sizes.insert(row.get(0)?, row.get::<_, i64>(1)? as u64);
    }
    let mut tables = Vec::new();
    for (name, bytes) in sizes {
        let sql = format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\""));
        let rows = conn.query_row(&sql, [], |row| row.get::<_, i64>(0))? as u64;
        tables.push(TableSize { name, rows, bytes });
    }
    tables.sort_by_key(|table| std::cmp::Reverse(table.bytes));
    Ok(tables)
}

fn crawls(conn: &Connection) -> Result<Vec<CrawlSize>, Fault> {
    let mut statement = conn.prepare(
        "SELECT w.id, w.name, w.state, w.bytes,
         (SELECT count(*) FROM results r WHERE r.crawl = w.id),
         (SELECT coalesce(sum(length), 0) FROM
           (SELECT body_segment, body_offset, body_length AS length FROM results r
            WHERE r.crawl = w.id
            UNION SELECT segment, offset, length FROM contents c WHERE c.crawl = w.id))
         FROM crawls w ORDER BY w.id",
    )?;
    let rows = statement.query_map([], |row| {
        let state: String = row.get(2)?;
        Ok(CrawlSize {
            crawl: CrawlId(row.get(0)?),
            name: row.get(1)?,
            state: CrawlState::from_stored(&state).unwrap_or(CrawlState::Failed),
            read_bytes: row.get::<_, i64>(3)? as u64,
            results: row.get::<_, i64>(4)? as u64,
            stored_bytes: row.get::<_, i64>(5)? as u64,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn busiest(conn: &Connection, hosts: u32) -> Result<Vec<HostSize>, Fault> {
    let mut statement = conn.prepare(
        "SELECT h.name, sum(x.pages_done), sum(x.bytes) FROM crawl_hosts x
         JOIN hosts h ON h.id = x.host GROUP BY h.id ORDER BY 3 DESC, 1 LIMIT ?1",
    )?;
    let rows = statement.query_map([hosts], |row| {
        Ok(HostSize {
            host: row.get(0)?,
            pages: row.get::<_, i64>(1)? as u64,
            read_bytes: row.get::<_, i64>(2)? as u64,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
