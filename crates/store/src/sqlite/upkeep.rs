//! Looking after the file: which chores there are, and figures counted row by row.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, params};
use trawl_types::{CrawlId, OutcomeKind, ReasonCode, Sequence, UnixMillis};

use super::{
    SqliteStore,
    chores::{self, Chore},
    counters::Counters,
    duties::{self, Note},
    fault::Fault,
    reader,
    revise::Revision,
    storage,
    writer::{Command, Writer},
};
use crate::{
    contract::{
        Store, StoreError,
        read::CrawlCounts,
        upkeep::{
            Ageing, Cleaned, Cutoff, DAY_MINUTES, HOUR_MINUTES, Storage, Upkeep, whole_buckets,
        },
        write::Digest,
    },
    segment,
    shared::compressed::compressed,
};

#[async_trait]
impl Upkeep for SqliteStore {
    async fn clean_rows(
        &self,
        what: Ageing,
        old: Cutoff,
        dry_run: bool,
    ) -> Result<Cleaned, StoreError> {
        if what == Ageing::Unused {
            return self.forget_unused(old.before, dry_run).await;
        }
        let mut all = Cleaned::default();
        for chore in self.chores(what, old).await? {
            let done = if dry_run {
                self.pool.ask(move |conn| chores::count(conn, &chore)).await
            } else {
                self.tell(|reply| Command::Chore(chore, reply)).await
            }?;
            all.rows += done.rows;
            all.bytes += done.bytes;
        }
        Ok(all)
    }

    async fn archived(&self, crawl: CrawlId) -> Result<Sequence, StoreError> {
        self.pool
            .ask(move |conn| duties::archived(conn, crawl))
            .await
    }

    async fn note_archived(&self, crawl: CrawlId, through: Sequence) -> Result<(), StoreError> {
        let note = Note::Archived(crawl, through);
        self.tell(|reply| Command::Note(note, reply)).await?;
        Ok(())
    }

    async fn storage(&self, hosts: u32) -> Result<Storage, StoreError> {
        let folder = segment::folder(&self.path);
        self.pool
            .ask(move |conn| storage::storage(conn, &folder, hosts))
            .await
    }

    async fn recount(&self, crawl: CrawlId) -> Result<CrawlCounts, StoreError> {
        let counted = self.pool.ask(move |conn| recount(conn, crawl)).await?;
        Ok(counted.counts())
    }

    async fn repair_counts(&self, crawl: CrawlId) -> Result<(), StoreError> {
        self.tell(|reply| Command::RepairCounts(crawl, reply)).await
    }

    async fn answer(&self, crawl: CrawlId, seq: Sequence) -> Result<Option<Vec<u8>>, StoreError> {
        let records = Arc::clone(&self.records);
        self.pool
            .ask(move |conn| match reader::body_ref(conn, crawl, seq)? {
                Some(reference) => Ok(records.content(reference)?),
                None => Ok(None),
            })
            .await
    }

    async fn revise(
        &self,
        crawl: CrawlId,
        seq: Sequence,
        mut digest: Digest,
        now: UnixMillis,
    ) -> Result<Option<Sequence>, StoreError> {
        let content = match digest.content.take() {
            Some(record) => Some(compressed(record.bytes().into_owned()).await?),
            None => None,
        };
        let revision = Box::new(Revision {
            crawl,
            seq,
            digest,
            content,
            now,
        });
        self.tell(|reply| Command::Revise(revision, reply)).await
    }
}

impl SqliteStore {
    /// What has to be done, in pieces that keep nobody waiting.
    async fn chores(&self, what: Ageing, old: Cutoff) -> Result<Vec<Chore>, StoreError> {
        let Cutoff { before, archived } = old;
        let at = before.0;
        let figures = |width| Chore::RollUp {
            width,
            before: whole_buckets(before, width),
        };
        match what {
            Ageing::Bodies => {
                let crawls = self.pool.ask(|conn| super::overview::purgeable(conn, None));
                let mut steps = Vec::new();
                for crawl in crawls.await?.0 {
                    let last = if archived {
                        self.archived(crawl).await?.0
                    } else {
                        self.crawl(crawl).await?.last_seq.0
                    };
                    steps.extend(chores::steps(last).map(|after| Chore::Shed {
                        crawl,
                        after,
                        last,
                        before: at,
                    }));
                }
                Ok(steps)
            }
            Ageing::Queue => {
                let crawls = self.pool.ask(move |conn| chores::ended(conn, at)).await?;
                Ok(crawls
                    .into_iter()
                    .map(|crawl| Chore::Unqueue { crawl })
                    .collect())
            }
            Ageing::Minutes => Ok(vec![figures(HOUR_MINUTES)]),
            Ageing::Hours => Ok(vec![figures(DAY_MINUTES)]),
            Ageing::Robots => Ok(vec![Chore::Robots { before: at }]),
            // Visits are purged; what is unused is no chore, but many.
            Ageing::Visits | Ageing::Failures | Ageing::Versions | Ageing::Unused => Ok(Vec::new()),
        }
    }
}

/// The counters of a crawl as its rows have them.
fn recount(conn: &Connection, crawl: CrawlId) -> Result<Counters, Fault> {
    let mut counters = Counters::load(conn, crawl)?;
    counters.forget_countable();
    let mut statement = conn.prepare(
        "SELECT state, reason, count(*) FROM crawl_pages WHERE crawl = ?1 GROUP BY 1, 2",
    )?;
    let mut rows = statement.query([crawl.0])?;
    while let Some(row) = rows.next()? {
        let reason = row
            .get::<_, Option<u8>>(1)?
            .and_then(ReasonCode::from_stored);
        let count = row.get::<_, i64>(2)? as u64;
        counters.count_pages(row.get(0)?, reason, count);
    }
    let mut statement = conn.prepare(
        "SELECT outcome, duplicate_of IS NOT NULL, count(*) FROM results
         WHERE crawl = ?1 GROUP BY 1, 2",
    )?;
    let mut rows = statement.query([crawl.0])?;
    while let Some(row) = rows.next()? {
        if let Some(outcome) = OutcomeKind::from_stored(row.get(0)?) {
            counters.count_results(outcome, row.get(1)?, row.get::<_, i64>(2)? as u64);
        }
    }
    let hosts = "SELECT count(*) FROM crawl_hosts WHERE crawl = ?1";
    counters.hosts = conn.query_row(hosts, params![crawl.0], |row| row.get::<_, i64>(0))? as u64;
    Ok(counters)
}

impl Writer {
    pub(super) fn repair_counts(&mut self, crawl: CrawlId) -> Result<(), Fault> {
        let tx = self.conn.transaction()?;
        let before = Counters::load(&tx, crawl)?;
        let counted = recount(&tx, crawl)?;
        counted.save(&before, &tx, crawl)?;
        tx.commit()?;
        if let Some(open) = self.open.get_mut(&crawl) {
            open.counters = counted;
        }
        Ok(())
    }
}
