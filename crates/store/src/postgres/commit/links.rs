//! The first transaction: URLs, hosts and rows of the crawl that nobody knew. Nothing of it says that a
//! page is done, so that it may be written twice, or for a page that is never settled.

use rustc_hash::FxHashSet;
use trawl_types::{HostId, PageId, PageState, Reason, UnixMillis};

use super::{
    insert::write,
    search::{self, Candidate, POSITION_BITS, Standing, candidates, host_of, known_page, look_up},
    work::{KnownPage, Work},
};
use crate::{
    contract::{StoreError, queue::Planted, read::PendingUrl},
    postgres::{PostgresStore, fault::Fault, pool::Conn, records, unused::TOGETHER},
};

/// A URL that is new in the crawl, as it is written.
#[derive(Debug)]
pub(super) struct NewRow {
    /// Which of the candidates.
    pub(super) at: usize,
    pub(super) page: PageId,
    pub(super) host: HostId,
    pub(super) depth: u32,
    pub(super) score: u8,
    pub(super) rank: i64,
    pub(super) born: i64,
    pub(super) refusal: Option<Reason>,
}

impl NewRow {
    pub(super) fn state(&self) -> PageState {
        match self.refusal {
            Some(_) => PageState::Refused,
            None => PageState::Pending,
        }
    }
}

impl PostgresStore {
    pub(super) async fn record_links(&self, work: &mut Work) -> Result<(), Fault> {
        let conn = self.for_commits().await?;
        let mut found = self.find(&conn, work).await?;
        let rows = self.judge_new(work, &found);
        let mut inserted = ours(&found);
        if rows.iter().any(|row| !inserted.contains(&row.page)) {
            conn.begin_with(TOGETHER).await?;
            inserted.extend(write(&conn, self, work, &found, &rows).await?);
            conn.commit().await?;
        }
        self.take_in(&conn, work, &mut found, &rows, &inserted)
            .await
    }

    async fn find(&self, conn: &Conn, work: &mut Work) -> Result<Vec<Candidate>, Fault> {
        self.look_at_crawl(conn, work).await?;
        let sources = search::sources(conn, work).await?;
        let mut found = candidates(work, &sources, &mut self.remembered());
        look_up(conn, work, &mut found).await?;
        Ok(found)
    }

    /// Rows for what is not in the crawl yet: scope's verdict, then the rules that count URLs, then
    /// depth. Seeds were named by a person, so they are not asked of the rules that look for traps.
    fn judge_new(&self, work: &mut Work, found: &[Candidate]) -> Vec<NewRow> {
        let mut rows = Vec::new();
        for (at, candidate) in found.iter().enumerate() {
            if matches!(candidate.standing, Standing::Here(_)) {
                continue;
            }
            let place = candidate.place;
            let verdict = work.link(place).target.verdict.clone();
            let score = *verdict.as_ref().unwrap_or(&0);
            let refusal = match verdict {
                Err(reason) => Err(*reason),
                Ok(_) if candidate.parent.is_some() => work.admit(place),
                Ok(_) => Ok(()),
            };
            let refusal = refusal.and_then(|()| work.open.judge_depth(candidate.depth));
            let moment = work.last_seq + place.0.map_or(0, |settlement| settlement as i64);
            let position = (rows.len() as i64).min((1 << POSITION_BITS) - 1);
            rows.push(NewRow {
                at,
                page: candidate.page,
                host: host_of(self.secret, work, candidate),
                depth: candidate.depth,
                score,
                rank: work.open.rank(candidate.depth, score, moment),
                born: (work.number << POSITION_BITS) | position,
                refusal: refusal.err(),
            });
        }
        rows
    }

    /// How far the log is, and whether rows were removed that memory still knows.
    async fn look_at_crawl(&self, conn: &Conn, work: &mut Work) -> Result<(), Fault> {
        let crawl = work.batch.crawl;
        let sql = "SELECT last_seq, cleared FROM crawls WHERE id = $1";
        let row = conn.query_opt(sql, &[&crawl.0]).await?;
        let row = row.ok_or(StoreError::NoCrawl(crawl))?;
        work.last_seq = row.get(0);
        self.remembered().is_cleared(crawl, row.get(1));
        Ok(())
    }

    /// What is durable now goes to the report and into memory.
    async fn take_in(
        &self,
        conn: &Conn,
        work: &mut Work,
        found: &mut [Candidate],
        rows: &[NewRow],
        inserted: &FxHashSet<PageId>,
    ) -> Result<(), Fault> {
        let mut admitted: Vec<PendingUrl> = Vec::new();
        let mut seen_before = false;
        work.report.planted = vec![Planted::Known; work.batch.seeds.len()];
        for row in rows {
            let candidate = &mut found[row.at];
            if !inserted.contains(&row.page) {
                // Somebody was quicker: whoever needs to know more looks at the row.
                candidate.standing = Standing::Here(KnownPage {
                    page: row.page,
                    depth: u32::MAX,
                    reconsider: true,
                });
                continue;
            }
            work.report.discovered += 1;
            if let (None, nth) = candidate.place {
                work.report.planted[nth] = match row.refusal {
                    None => Planted::Admitted,
                    Some(_) => Planted::Refused,
                };
            }
            seen_before |= !matches!(candidate.standing, Standing::Free);
            let reason = row.refusal.as_ref().map(|reason| reason.code);
            let known = known_page(&work.open, row.page, row.depth, row.state(), reason);
            candidate.standing = Standing::Here(known);
            if row.refusal.is_none() {
                admitted.push(pending(work, candidate, row));
            }
        }
        if seen_before && work.open.has_elders {
            records::offer_validators(conn, work.batch.crawl, &mut admitted).await?;
        }
        let mut memory = self.remembered();
        for url in &admitted {
            let pair = (work.batch.crawl, url.host);
            if memory.crawl_hosts.get(&pair).is_none() {
                memory.crawl_hosts.insert(pair, ());
                work.new_hosts.push(url.host);
            }
        }
        for row in rows {
            memory.hosts.insert(row.host, ());
        }
        for candidate in found.iter() {
            if let Standing::Here(known) = candidate.standing {
                work.known.insert(candidate.key, known);
                if known.depth < u32::MAX {
                    let key = (work.batch.crawl, candidate.key);
                    memory.pages.insert(key, known);
                }
            }
        }
        work.report.admitted = admitted;
        Ok(())
    }
}

/// Rows that an earlier attempt has written.
fn ours(found: &[Candidate]) -> FxHashSet<PageId> {
    let ours = found
        .iter()
        .filter(|c| matches!(c.standing, Standing::Ours));
    ours.map(|candidate| candidate.page).collect()
}

fn pending(work: &Work, candidate: &Candidate, row: &NewRow) -> PendingUrl {
    let link = work.link(candidate.place);
    PendingUrl {
        page: row.page,
        host: row.host,
        address: link.target.address().to_owned(),
        rank: row.rank,
        depth: row.depth,
        score: row.score,
        attempts: 0,
        not_before: UnixMillis(0),
        chain: link.chain.clone(),
        etag: None,
        last_modified: None,
    }
}

/// Finds and writes the links of a batch inside a transaction of the caller's.
pub(in crate::postgres) async fn add_links(
    store: &PostgresStore,
    conn: &Conn,
    work: &mut Work,
) -> Result<(), Fault> {
    let found = store.find(conn, work).await?;
    let rows = store.judge_new(work, &found);
    write(conn, store, work, &found, &rows).await?;
    Ok(())
}
