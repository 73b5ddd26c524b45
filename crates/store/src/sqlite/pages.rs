//! Visits across crawls: newest first, crawl by crawl; those of one host by the index that keeps
//! pages of a host together. A bounded number of rows is looked at for each question.

use std::fmt::Write;

use rusqlite::{Connection, Row, params, params_from_iter, types::Value};
use trawl_types::{CrawlId, HostId, KeySecret, PageRecord, Sequence};

use super::{
    fault::Fault,
    queue::codes,
    queue_rows::host_id,
    results::{RECORD, record},
};
use crate::contract::{
    overview::{FoundPage, PageCursor, PageFilter, Whose},
    queue::Listed,
};

/// Numbers of the log that are looked at for one answer.
const MOST_ROWS: i64 = 20_000;
/// Pages of a host that are looked at for one answer.
const MOST_PAGES: usize = 2_000;

/// Conditions on a visit, and the values in them. The first numbers are taken by the query.
struct Conditions {
    sql: String,
    values: Vec<Value>,
}

impl Conditions {
    fn of(filter: &PageFilter, first: usize) -> Self {
        let mut all = Self {
            sql: String::new(),
            values: Vec::new(),
        };
        let mut add = |sql: &str, value: Value| {
            all.values.push(value);
            let number = format!("?{}", first + all.values.len() - 1);
            all.sql.push_str(" AND ");
            all.sql.push_str(&sql.replace('?', &number));
        };
        if let Some((least, most)) = filter.status {
            add("r.status >= ?", Value::Integer(i64::from(least)));
            add("r.status <= ?", Value::Integer(i64::from(most)));
        }
        if let Some((least, most)) = filter.depth {
            add("c.depth >= ?", Value::Integer(i64::from(least)));
            add("c.depth <= ?", Value::Integer(i64::from(most)));
        }
        if let Some(from) = filter.from {
            add("r.crawled_at >= ?", Value::Integer(from.0));
        }
        if let Some(to) = filter.to {
            add("r.crawled_at < ?", Value::Integer(to.0));
        }
        if let Some(kind) = &filter.content_type {
            let pattern = format!("{}%", escaped(kind));
            add("r.content_type LIKE ? ESCAPE '\\'", Value::Text(pattern));
        }
        if let Some(text) = &filter.text {
            let pattern = format!("%{}%", escaped(text));
            let sql = "(p.url LIKE ? ESCAPE '\\' OR r.title LIKE ? ESCAPE '\\')";
            add(sql, Value::Text(pattern));
        }
        if !filter.outcomes.is_empty() {
            let list = codes(&filter.outcomes);
            let _ = write!(all.sql, " AND r.outcome IN ({list})");
        }
        match filter.duplicate {
            Some(true) => all.sql.push_str(" AND r.duplicate_of IS NOT NULL"),
            Some(false) => all.sql.push_str(" AND r.duplicate_of IS NULL"),
            None => {}
        }
        all
    }

    fn with(&self, first: &[i64]) -> impl Iterator<Item = Value> + use<> {
        let first = first.iter().map(|number| Value::Integer(*number));
        first
            .collect::<Vec<_>>()
            .into_iter()
            .chain(self.values.clone())
    }
}

/// Text for LIKE in which nothing stands for something else.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\\' | '%' | '_') {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

pub(super) fn pages(
    conn: &Connection,
    secret: KeySecret,
    filter: &PageFilter,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    match &filter.host {
        Some(name) => match host_id(conn, name)? {
            Some(host) => of_host(conn, secret, filter, name, host),
            None => Ok(Listed {
                items: Vec::new(),
                next: None,
            }),
        },
        None => newest_first(conn, filter),
    }
}

/// A crawl with its job.
struct Crawl {
    id: CrawlId,
    job: Option<String>,
    last_seq: i64,
}

/// Crawls that may be looked at, the newest first. Those of which nothing can be found are left
/// out by the time they took.
fn crawls(conn: &Connection, filter: &PageFilter) -> Result<Vec<Crawl>, Fault> {
    let from = filter.from.map_or(i64::MIN, |at| at.0);
    let to = filter.to.map_or(i64::MAX, |at| at.0);
    let wanted = "w.last_seq > 0 AND w.started_at < ?2 AND coalesce(w.finished_at, ?2) >= ?1
        AND w.id = coalesce(?3, w.id)";
    let read = |row: &Row<'_>| {
        Ok(Crawl {
            id: CrawlId(row.get(0)?),
            job: row.get(1)?,
            last_seq: row.get(2)?,
        })
    };
    let (join, owners) = match &filter.whose {
        Whose::Everybody => ("LEFT JOIN jobs j ON j.crawl = w.id", Vec::new()),
        Whose::Owners(owners) => ("JOIN jobs j ON j.crawl = w.id", owners.clone()),
    };
    let condition = match owners.len() {
        0 => String::new(),
        count => {
            let numbers = (4..4 + count).map(|number| format!("?{number}"));
            format!(
                " AND j.owner IN ({})",
                numbers.collect::<Vec<_>>().join(", ")
            )
        }
    };
    let sql = format!(
        "SELECT w.id, j.id, w.last_seq FROM crawls w {join} WHERE {wanted}{condition}
         ORDER BY w.id DESC"
    );
    let crawl = filter.crawl.map(|crawl| crawl.0);
    let first = [from.into(), to.into(), Value::from(crawl)];
    let values = first.into_iter().chain(owners.into_iter().map(Value::Text));
    let mut statement = conn.prepare_cached(&sql)?;
    let found = statement.query_map(params_from_iter(values), read)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn newest_first(
    conn: &Connection,
    filter: &PageFilter,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    let conditions = Conditions::of(filter, 5);
    let sql = format!(
        "{RECORD} WHERE r.crawl = ?1 AND r.seq > ?2 AND r.seq < ?3 {}
         ORDER BY r.seq DESC LIMIT ?4",
        conditions.sql
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let (mut items, mut left) = (Vec::new(), MOST_ROWS);
    for crawl in crawls(conn, filter)? {
        let mut below = match filter.after {
            Some(after) if after.crawl < crawl.id => continue,
            Some(after) if after.crawl == crawl.id => after.seq.0.min(crawl.last_seq + 1),
            _ => crawl.last_seq + 1,
        };
        while below > 1 {
            let above = (below - 1 - left).max(0);
            let room = i64::from(filter.limit) - items.len() as i64;
            let values = conditions.with(&[crawl.id.0, above, below, room]);
            let found = statement.query_map(params_from_iter(values), record)?;
            let before = items.len();
            for record in found {
                items.push(crawl.page(record?));
            }
            let full = items.len() >= filter.limit as usize;
            left -= below - 1 - above;
            below = match items.last().filter(|_| full && items.len() > before) {
                Some(last) => last.record.seq.0,
                None => above + 1,
            };
            if full || left <= 0 {
                let next = PageCursor {
                    key: None,
                    crawl: crawl.id,
                    seq: Sequence(below),
                };
                let next = Some(next);
                return Ok(Listed { items, next });
            }
        }
    }
    Ok(Listed { items, next: None })
}

impl Crawl {
    fn page(&self, record: PageRecord) -> FoundPage {
        FoundPage {
            crawl: self.id,
            job: self.job.clone(),
            record,
        }
    }
}

/// Pages of a host share the first half of their key, which depends on whether `www.` counts.
fn of_host(
    conn: &Connection,
    secret: KeySecret,
    filter: &PageFilter,
    name: &str,
    host: HostId,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    let crawls = crawls(conn, filter)?;
    let conditions = Conditions::of(filter, 3);
    let sql = format!(
        "{RECORD} WHERE r.seq = ?1 AND r.crawl = ?2 {}",
        conditions.sql
    );
    let mut visits = conn.prepare_cached(&sql)?;
    let hash = |name: &str| secret.key(name, "").host as i64;
    let keys = [hash(name), hash(name.trim_start_matches("www."))];
    let mut pages = conn.prepare_cached(if keys[0] == keys[1] {
        "SELECT u.id, u.key_url, u.host_id FROM urls u
         WHERE u.key_host = ?1 AND ?2 IS NOT NULL AND u.key_url >= ?3
         ORDER BY u.key_url LIMIT ?4"
    } else {
        "SELECT u.id, u.key_url, u.host_id FROM urls u
         WHERE u.key_host IN (?1, ?2) AND u.key_url >= ?3 ORDER BY u.key_url LIMIT ?4"
    })?;
    let start = filter.after.and_then(|after| after.key);
    let mut rows = pages.query(params![
        keys[0],
        keys[1],
        start.unwrap_or(i64::MIN),
        MOST_PAGES as i64
    ])?;
    let (mut items, mut looked_at, mut last) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        looked_at += 1;
        let (page, key): (i64, i64) = (row.get(0)?, row.get(1)?);
        last = Some(key);
        if row.get::<_, i64>(2)? != host.0 {
            continue;
        }
        for (crawl, seq) in visits_of(conn, page, &crawls)? {
            let values = conditions.with(&[seq, crawl.id.0]);
            for found in visits.query_map(params_from_iter(values), record)? {
                let found = crawl.page(found?);
                if start == Some(key) && !comes_after(filter.after, &found) {
                    continue;
                }
                items.push(found);
                if items.len() >= filter.limit as usize {
                    let next = items.last().map(|item| PageCursor {
                        key: Some(key),
                        crawl: item.crawl,
                        seq: item.record.seq,
                    });
                    return Ok(Listed { items, next });
                }
            }
        }
    }
    let next = (looked_at >= MOST_PAGES).then(|| PageCursor {
        key: last.map(|key| key.saturating_add(1)),
        crawl: CrawlId(i64::MAX),
        seq: Sequence(i64::MAX),
    });
    Ok(Listed { items, next })
}

/// Visits of a page in the crawls that are looked at, the newest first.
fn visits_of<'c>(
    conn: &Connection,
    page: i64,
    crawls: &'c [Crawl],
) -> Result<Vec<(&'c Crawl, i64)>, Fault> {
    let mut statement = conn.prepare_cached(
        "SELECT crawl, seq FROM results INDEXED BY results_page WHERE page = ?1
         ORDER BY crawl DESC, seq DESC",
    )?;
    let found = statement.query_map([page], |row| Ok((CrawlId(row.get(0)?), row.get(1)?)))?;
    let mut visits = Vec::new();
    for visit in found {
        let (id, seq) = visit?;
        // The list descends.
        let at = crawls.binary_search_by(|crawl| id.cmp(&crawl.id));
        visits.extend(
            at.ok()
                .and_then(|at| crawls.get(at))
                .map(|crawl| (crawl, seq)),
        );
    }
    Ok(visits)
}

fn comes_after(cursor: Option<PageCursor>, found: &FoundPage) -> bool {
    cursor.is_none_or(|at| (found.crawl, found.record.seq) < (at.crawl, at.seq))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_looked_for_to_the_letter() {
        assert_eq!(escaped("50%_\\"), "50\\%\\_\\\\");
    }
}
