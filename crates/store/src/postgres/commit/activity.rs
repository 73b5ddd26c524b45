//! What was read when: visits and bytes by minute and outcome, for figures across crawls.

use std::collections::BTreeMap;

use super::{ends::Ends, log, work::Work};
use crate::{
    contract::write::Visit,
    postgres::{fault::Fault, pool::Conn},
};

/// Milliseconds in one.
pub(in crate::postgres) const MINUTE: i64 = 60_000;

/// What a visit has read.
pub(super) fn bytes_of(visit: &Visit) -> i64 {
    visit.content_length.unwrap_or(0).min(i64::MAX as u64) as i64
}

/// Visits and bytes by minute and outcome.
pub(super) type Figures = BTreeMap<(i64, i16), (i64, i64)>;

pub(super) fn counted(work: &Work, ends: &mut Ends) -> Figures {
    let mut counted = Figures::new();
    let mut read = 0;
    for (_, visit) in log::visits(work, ends) {
        let minute = visit.crawled_at.0.div_euclid(MINUTE);
        let key = (minute, visit.outcome.kind as i16);
        let (visits, bytes) = counted.entry(key).or_default();
        *visits += 1;
        *bytes += bytes_of(visit);
        read += bytes_of(visit);
    }
    ends.changes.bytes(read as u64);
    counted
}

/// Under the lock of the crawl, as all that counts visits.
pub(super) async fn write(conn: &Conn, work: &Work, counted: Figures) -> Result<(), Fault> {
    if counted.is_empty() {
        return Ok(());
    }
    let (keys, figures): (Vec<_>, Vec<_>) = counted.into_iter().unzip();
    let (minutes, outcomes): (Vec<i64>, Vec<i16>) = keys.into_iter().unzip();
    let (visits, bytes): (Vec<i64>, Vec<i64>) = figures.into_iter().unzip();
    let sql = "INSERT INTO activity AS a (crawl, minute, outcome, visits, bytes)
        SELECT $1::int8, * FROM unnest($2::int8[], $3::int2[], $4::int8[], $5::int8[])
        ON CONFLICT (crawl, minute, outcome) DO UPDATE
        SET visits = a.visits + excluded.visits, bytes = a.bytes + excluded.bytes";
    let crawl = work.batch.crawl.0;
    conn.execute(sql, &[&crawl, &minutes, &outcomes, &visits, &bytes])
        .await?;
    Ok(())
}
