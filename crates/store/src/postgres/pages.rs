//! Visits across crawls: newest first, crawl by crawl; those of one host in the order of their pages'
//! numbers, which cluster by host. A bounded number of rows is looked at for each question.

use rustc_hash::FxHashMap;
use trawl_types::{CrawlId, HostId, KeySecret, PageRecord, Sequence, UrlKey};

use super::{
    fault::Fault,
    identity::{first_choice, host_id},
    overview::owners,
    pool::{Conn, Param},
    records::{record, records},
    text::{Heard, Said, heard},
};
use crate::contract::{
    overview::{FoundPage, PageCursor, PageFilter},
    queue::Listed,
};

/// Numbers of the log that are looked at for one answer.
const MOST_ROWS: i64 = 20_000;
/// Pages that are looked at for one answer about a host.
const MOST_PAGES: i64 = 2_000;

/// What is asked of a visit: `$1` to `$10`.
macro_rules! conditions {
    () => {
        "($1::int4 IS NULL OR r.status >= $1) AND ($2::int4 IS NULL OR r.status <= $2)
         AND ($3::int8 IS NULL OR c.depth >= $3) AND ($4::int8 IS NULL OR c.depth <= $4)
         AND ($5::int8 IS NULL OR r.crawled_at >= $5) AND ($6::int8 IS NULL OR r.crawled_at < $6)
         AND ($7::text IS NULL OR r.content_type ILIKE $7)
         AND ($8::text IS NULL OR p.url ILIKE $8 OR r.title ILIKE $8)
         AND ($9::int2[] IS NULL OR r.outcome = ANY($9))
         AND ($10::bool IS NULL OR (r.duplicate_of IS NOT NULL) = $10)"
    };
}

const NEWEST: &str = records!(concat!(
    "WHERE r.crawl = $11 AND r.seq > $12 AND r.seq < $13 AND ",
    conditions!(),
    " ORDER BY r.seq DESC LIMIT $14"
));

const OF_PAGES: &str = records!(
    "(SELECT v.* FROM unnest($11::int8[]) n(page) JOIN results v ON v.page = n.page
      WHERE (v.page > $12 OR (v.crawl, v.seq) < ($13, $14))
        AND ($15::int8[] IS NULL OR v.crawl = ANY($15)))",
    concat!(
        "WHERE c.host = $16 AND ",
        conditions!(),
        " ORDER BY r.page, r.crawl DESC, r.seq DESC LIMIT $17"
    )
);

/// A filter as values.
struct Wanted {
    status: (Option<i32>, Option<i32>),
    depth: (Option<i64>, Option<i64>),
    from: Option<i64>,
    to: Option<i64>,
    content_type: Option<String>,
    text: Option<String>,
    outcomes: Option<Vec<i16>>,
    duplicate: Option<bool>,
}

impl Wanted {
    fn of(filter: &PageFilter) -> Self {
        let status = filter.status;
        let depth = filter.depth;
        let outcomes = filter.outcomes.iter().map(|kind| *kind as i16);
        Self {
            status: (
                status.map(|(least, _)| i32::from(least)),
                status.map(|(_, most)| i32::from(most)),
            ),
            depth: (
                depth.map(|(least, _)| i64::from(least)),
                depth.map(|(_, most)| i64::from(most)),
            ),
            from: filter.from.map(|at| at.0),
            to: filter.to.map(|at| at.0),
            content_type: filter
                .content_type
                .as_deref()
                .map(|kind| escaped(kind) + "%"),
            text: filter
                .text
                .as_deref()
                .map(|text| format!("%{}%", escaped(text))),
            outcomes: (!filter.outcomes.is_empty()).then(|| outcomes.collect()),
            duplicate: filter.duplicate,
        }
    }

    async fn ask(
        &self,
        conn: &Conn,
        sql: &'static str,
        more: &[Param<'_>],
    ) -> Result<Vec<(CrawlId, PageRecord)>, Fault> {
        let kind = self.content_type.as_deref().map(Said);
        let text = self.text.as_deref().map(Said);
        let mut values: Vec<Param<'_>> = vec![
            &self.status.0,
            &self.status.1,
            &self.depth.0,
            &self.depth.1,
            &self.from,
            &self.to,
            &kind,
            &text,
            &self.outcomes,
            &self.duplicate,
        ];
        values.extend(more);
        let rows = conn.query(sql, &values).await?;
        // The crawl stands after the columns of a record.
        let found = rows.iter().map(|row| (CrawlId(row.get(30)), record(row)));
        Ok(found.collect())
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

pub(super) async fn pages(
    conn: &Conn,
    secret: KeySecret,
    filter: &PageFilter,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    match &filter.host {
        Some(name) => of_host(conn, secret, filter, name).await,
        None => newest_first(conn, filter).await,
    }
}

/// A crawl with its job.
struct Crawl {
    id: CrawlId,
    job: Option<String>,
    last_seq: i64,
}

/// Crawls that may be looked at, the newest first. Those of which nothing can be found are left out by
/// the time they took.
async fn crawls(conn: &Conn, filter: &PageFilter) -> Result<Vec<Crawl>, Fault> {
    let sql = "SELECT w.id, j.id, w.last_seq FROM crawls w LEFT JOIN jobs j ON j.crawl = w.id
        WHERE w.last_seq > 0 AND ($1::int8 IS NULL OR coalesce(w.finished_at, $1) >= $1)
        AND ($2::int8 IS NULL OR w.started_at < $2) AND ($3::int8 IS NULL OR w.id = $3)
        AND ($4::text[] IS NULL OR j.owner = ANY($4)) ORDER BY w.id DESC";
    let (from, to) = (filter.from.map(|at| at.0), filter.to.map(|at| at.0));
    let (crawl, owners) = (filter.crawl.map(|crawl| crawl.0), owners(&filter.whose));
    let rows = conn.query(sql, &[&from, &to, &crawl, &owners]).await?;
    let read = |row: &tokio_postgres::Row| Crawl {
        id: CrawlId(row.get(0)),
        job: heard(row.get::<_, Option<Heard>>(1)),
        last_seq: row.get(2),
    };
    Ok(rows.iter().map(read).collect())
}

async fn newest_first(
    conn: &Conn,
    filter: &PageFilter,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    let wanted = Wanted::of(filter);
    let (mut items, mut left) = (Vec::new(), MOST_ROWS);
    for crawl in crawls(conn, filter).await? {
        let below = match filter.after {
            Some(after) if after.crawl < crawl.id => continue,
            Some(after) if after.crawl == crawl.id => after.seq.0.min(crawl.last_seq + 1),
            _ => crawl.last_seq + 1,
        };
        let above = (below - 1 - left).max(0);
        let room = i64::from(filter.limit) - items.len() as i64;
        let more: [Param<'_>; 4] = [&crawl.id.0, &above, &below, &room];
        let found = wanted.ask(conn, NEWEST, &more).await?;
        items.extend(found.into_iter().map(|(_, record)| crawl.page(record)));
        left -= below - 1 - above;
        let full = items.len() >= filter.limit as usize;
        if full || left <= 0 {
            let last = items.last().filter(|_| full);
            let seq = last.map_or(Sequence(above + 1), |last| last.record.seq);
            let next = Some(PageCursor {
                key: None,
                crawl: crawl.id,
                seq,
            });
            return Ok(Listed { items, next });
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

/// Numbers that pages of a host may have, as far as they are their first choice: those of hosts whose
/// names begin with the same bits are among them. The key depends on whether `www.` counts.
fn ranges(secret: KeySecret, name: &str) -> Vec<(u64, i64, i64)> {
    let hash = |name: &str| secret.key(name, "").host;
    let mut keys = vec![hash(name), hash(name.trim_start_matches("www."))];
    keys.sort_unstable();
    keys.dedup();
    let range = |host: u64| {
        let choice = |url| first_choice(UrlKey { host, url }).0;
        // A number that was taken is followed by the next free one.
        (host, choice(0), choice(u64::MAX) + 1)
    };
    keys.into_iter().map(range).collect()
}

async fn of_host(
    conn: &Conn,
    secret: KeySecret,
    filter: &PageFilter,
    name: &str,
) -> Result<Listed<FoundPage, PageCursor>, Fault> {
    let nothing = Listed {
        items: Vec::new(),
        next: None,
    };
    let crawls = crawls(conn, filter).await?;
    if crawls.is_empty() {
        return Ok(nothing);
    }
    let start = filter.after.and_then(|after| after.key);
    let (mut pages, mut left, mut looked_up_to) = (Vec::new(), MOST_PAGES, None);
    for (key, first, last) in ranges(secret, name) {
        let from = start.unwrap_or(first).max(first);
        if from > last || left <= 0 {
            continue;
        }
        let sql = "SELECT page, key_host FROM urls WHERE page >= $1 AND page <= $2
            ORDER BY page LIMIT $3";
        let rows = conn.query(sql, &[&from, &last, &left]).await?;
        left -= rows.len() as i64;
        if left <= 0 {
            looked_up_to = rows.last().map(|row| row.get::<_, i64>(0));
        }
        let of_key = |row: &&tokio_postgres::Row| row.get::<_, i64>(1) == key.cast_signed();
        pages.extend(rows.iter().filter(of_key).map(|row| row.get::<_, i64>(0)));
    }
    let host = host_id(secret, name);
    let found = visits_of(conn, filter, &crawls, &pages, host).await?;
    let full = found.len() >= filter.limit as usize;
    let next = match found.last().filter(|_| full) {
        Some(last) => Some(PageCursor {
            key: Some(last.record.page_id.0),
            crawl: last.crawl,
            seq: last.record.seq,
        }),
        None => looked_up_to.map(|page| PageCursor {
            key: Some(page + 1),
            crawl: CrawlId(i64::MAX),
            seq: Sequence(i64::MAX),
        }),
    };
    Ok(Listed { items: found, next })
}

/// Visits of pages in the crawls that are looked at, page by page, the newest first.
async fn visits_of(
    conn: &Conn,
    filter: &PageFilter,
    crawls: &[Crawl],
    pages: &[i64],
    host: HostId,
) -> Result<Vec<FoundPage>, Fault> {
    let by_id: FxHashMap<CrawlId, &Crawl> = crawls.iter().map(|crawl| (crawl.id, crawl)).collect();
    let ids: Vec<i64> = crawls.iter().map(|crawl| crawl.id.0).collect();
    let after = filter.after.unwrap_or(PageCursor {
        key: None,
        crawl: CrawlId(i64::MAX),
        seq: Sequence(i64::MAX),
    });
    let start = after.key.unwrap_or(i64::MIN);
    let limit = i64::from(filter.limit);
    let more: [Param<'_>; 7] = [
        &pages,
        &start,
        &after.crawl.0,
        &after.seq.0,
        &Some(ids),
        &host.0,
        &limit,
    ];
    let found = Wanted::of(filter).ask(conn, OF_PAGES, &more).await?;
    let page = |(crawl, record): (CrawlId, PageRecord)| Some(by_id.get(&crawl)?.page(record));
    Ok(found.into_iter().filter_map(page).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_looked_for_to_the_letter() {
        assert_eq!(escaped("50%_\\"), "50\\%\\_\\\\");
    }

    #[test]
    fn hosts_with_and_without_www_have_their_own_numbers() {
        let secret = KeySecret([7; 16]);
        assert_eq!(ranges(secret, "a.test").len(), 1);
        let both = ranges(secret, "www.a.test");
        assert_eq!(both.len(), 2);
        assert!(both[0].1 <= both[1].1, "in the order of numbers");
    }
}
