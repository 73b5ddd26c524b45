//! How much of what there is in the database.

use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, CrawlState};

use super::{backstage, fault::Fault, pool::Conn, text::Heard};
use crate::contract::upkeep::{CrawlSize, HostSize, Storage, TableSize};

pub(super) async fn storage(conn: &Conn, hosts: u32) -> Result<Storage, Fault> {
    let size = "SELECT pg_database_size(current_database())";
    Ok(Storage {
        tables: tables(conn).await?,
        crawls: crawls(conn).await?,
        hosts: busiest(conn, hosts).await?,
        database_bytes: conn.query_one(size, &[]).await?.get::<_, i64>(0) as u64,
        ..Storage::default()
    })
}

/// Tables with their parts, indexes and long values, largest first.
async fn tables(conn: &Conn) -> Result<Vec<TableSize>, Fault> {
    let sql = "SELECT coalesce(whole.relname, c.relname)::text,
          sum(pg_total_relation_size(c.oid))::int8
        FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
        LEFT JOIN pg_class whole ON whole.oid = i.inhparent
        WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace GROUP BY 1";
    let rows = conn.query(sql, &[]).await?;
    let sizes: FxHashMap<String, i64> = rows.iter().map(|r| (r.get(0), r.get(1))).collect();
    let mut tables = Vec::new();
    for (name, sql) in backstage::ROWS {
        let rows = conn.query_one(sql, &[]).await?.get::<_, i64>(0) as u64;
        let bytes = sizes.get(*name).copied().unwrap_or(0) as u64;
        tables.push(TableSize {
            name: (*name).to_owned(),
            rows,
            bytes,
        });
    }
    tables.sort_by_key(|table| std::cmp::Reverse(table.bytes));
    Ok(tables)
}

async fn crawls(conn: &Conn) -> Result<Vec<CrawlSize>, Fault> {
    let sql = "SELECT w.id, w.name, w.state,
          coalesce((SELECT sum(total) FROM tallies t WHERE t.crawl = w.id AND t.kind = 11), 0)::int8,
          (SELECT count(*) FROM results r WHERE r.crawl = w.id),
          coalesce((SELECT sum(octet_length(b.record)) FROM records b WHERE b.crawl = w.id), 0)::int8
        FROM crawls w ORDER BY w.id";
    let rows = conn.query(sql, &[]).await?;
    let size = |row: &tokio_postgres::Row| CrawlSize {
        crawl: CrawlId(row.get(0)),
        name: row.get::<_, Heard>(1).0,
        state: CrawlState::from_stored(row.get(2)).unwrap_or(CrawlState::Failed),
        read_bytes: row.get::<_, i64>(3).max(0) as u64,
        results: row.get::<_, i64>(4) as u64,
        stored_bytes: row.get::<_, i64>(5) as u64,
    };
    Ok(rows.iter().map(size).collect())
}

async fn busiest(conn: &Conn, hosts: u32) -> Result<Vec<HostSize>, Fault> {
    let sql = "SELECT h.name, sum(x.pages_done)::int8, sum(x.bytes)::int8
        FROM crawl_hosts x JOIN hosts h ON h.id = x.host
        GROUP BY h.id, h.name ORDER BY 3 DESC, 1 LIMIT $1";
    let rows = conn.query(sql, &[&i64::from(hosts)]).await?;
    let size = |row: &tokio_postgres::Row| HostSize {
        host: row.get::<_, Heard>(0).0,
        pages: row.get::<_, i64>(1) as u64,
        read_bytes: row.get::<_, i64>(2) as u64,
    };
    Ok(rows.iter().map(size).collect())
}
