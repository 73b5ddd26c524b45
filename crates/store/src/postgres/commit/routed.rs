//! Statements about many pages at once that go to each partition with its own. On the way through the
//! whole table every page would be looked for in all of them; and of a table that has just begun, of
//! which nothing is known, all rows may be read instead of a few looked up.

use std::{fmt::Write as _, sync::LazyLock};

use rustc_hash::FxHashMap;
use tokio_postgres::{Row, types::ToSql};
use trawl_types::{HostId, PageId};

use super::work::Work;
use crate::postgres::{
    fault::Fault,
    identity::{PARTITIONS, partition_of},
    pool::{Conn, Param},
};

/// Which of a list of pages belong to which partition.
#[derive(Debug)]
pub(super) struct Routes(Vec<Vec<usize>>);

impl Routes {
    pub(super) fn of(pages: &[i64]) -> Self {
        let mut parts = vec![Vec::new(); PARTITIONS];
        for (at, page) in pages.iter().enumerate() {
            parts[partition_of(PageId(*page))].push(at);
        }
        Self(parts)
    }

    /// What goes with the pages, in the same way.
    pub(super) fn split<T: Clone>(&self, values: &[T]) -> Vec<Vec<T>> {
        let values_of = |part: &Vec<usize>| part.iter().map(|at| values[*at].clone()).collect();
        self.0.iter().map(values_of).collect()
    }
}

/// Rows `k` of a partition of `crawl_pages`, one for each page. Each is looked up by the whole key:
/// with a list of pages for a condition, all rows of the crawl may be read to see which are in it.
pub(super) fn by_key(partition: usize, pages: usize, columns: &str) -> String {
    format!(
        "FROM unnest(${pages}::int8[]) n(page) CROSS JOIN LATERAL (
           SELECT {columns} FROM crawl_pages_{partition} WHERE crawl = $1 AND page = n.page OFFSET 0) k"
    )
}

/// A question to all partitions. `part` is told the number of one, and of the value that has its pages.
pub(super) fn union(first_value: usize, part: impl Fn(usize, usize) -> String) -> String {
    let parts: Vec<String> = (0..PARTITIONS).map(|n| part(n, n + first_value)).collect();
    parts.join(" UNION ALL ")
}

/// Sets columns of many rows of `crawl_pages`. `fixed` is set in all of them and may use values before
/// `first_value`, of which the first is the crawl. Each partition takes its pages and then a list for
/// each of the columns.
pub(super) fn update(first_value: usize, fixed: &str, columns: &[(&str, &str)]) -> String {
    let mut sql = updates(first_value, fixed, columns, "", "");
    sql.push_str(" SELECT 1");
    sql
}

/// The same for rows that are still pending, of which page, host and depth come back. Whether they are is
/// asked of rows that were looked up: as a condition of the update it would lead to the index of all that
/// is pending.
pub(super) fn update_pending(first_value: usize, fixed: &str, columns: &[(&str, &str)]) -> String {
    let (which, back) = (" WHERE k.state = 0", " RETURNING c.page, c.host, c.depth");
    let sql = updates(first_value, fixed, columns, which, back);
    let parts = (0..PARTITIONS).map(|n| format!("SELECT * FROM p{n}"));
    let parts: Vec<String> = parts.collect();
    format!("{sql} {}", parts.join(" UNION ALL "))
}

/// A part for each partition: `which` of the rows that were looked up, and what comes `back`.
fn updates(
    first_value: usize,
    fixed: &str,
    columns: &[(&str, &str)],
    which: &str,
    back: &str,
) -> String {
    let mut sql = String::from("WITH ");
    for n in 0..PARTITIONS {
        let pages = first_value + n * (columns.len() + 1);
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}p{n} AS (UPDATE crawl_pages_{n} c SET {fixed}");
        for (nth, (column, kind)) in columns.iter().enumerate() {
            let value = pages + 1 + nth;
            let _ = write!(
                sql,
                ", {column} = (${value}::{kind}[])[array_position(${pages}::int8[], c.page)]"
            );
        }
        let _ = write!(
            sql,
            " WHERE c.ctid = ANY(ARRAY(SELECT k.ctid {}{which})){back})",
            by_key(n, pages, "ctid, state")
        );
    }
    sql
}

/// The values of an [`update`]: lists by partition, pages first.
pub(super) fn values<'v>(fixed: &[Param<'v>], lists: &[Vec<Param<'v>>]) -> Vec<Param<'v>> {
    let mut values = fixed.to_vec();
    for n in 0..PARTITIONS {
        values.extend(lists.iter().map(|list| list[n]));
    }
    values
}

/// One of the lists of [`values`].
pub(super) fn list<T: ToSql + Sync>(parts: &[Vec<T>]) -> Vec<Param<'_>> {
    parts.iter().map(|part| part as Param<'_>).collect()
}

/// A page that was pending when it was looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub(super) host: HostId,
    pub(super) depth: u32,
}

pub(super) static PENDING: LazyLock<String> = LazyLock::new(|| {
    union(2, |n, pages| {
        let rows = by_key(n, pages, "page, host, depth, state");
        format!("SELECT k.page, k.host, k.depth {rows} WHERE k.state = 0")
    })
});

/// Pages of the batch that are pending.
pub(super) async fn pending(conn: &Conn, work: &Work) -> Result<FxHashMap<PageId, Pending>, Fault> {
    let pages: Vec<i64> = work.batch.settlements.iter().map(|s| s.page.0).collect();
    if pages.is_empty() {
        return Ok(FxHashMap::default());
    }
    let parts = Routes::of(&pages).split(&pages);
    let values = values(&[&work.batch.crawl.0], &[list(&parts)]);
    Ok(by_page(&conn.query(&PENDING, &values).await?))
}

/// Rows of page, host and depth.
pub(super) fn by_page(rows: &[Row]) -> FxHashMap<PageId, Pending> {
    let pending = |row: &Row| Pending {
        host: HostId(row.get(1)),
        depth: row.get::<_, i32>(2) as u32,
    };
    let entry = |row: &Row| (PageId(row.get(0)), pending(row));
    rows.iter().map(entry).collect()
}
