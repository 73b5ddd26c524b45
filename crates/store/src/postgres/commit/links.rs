//! The first transaction: URLs, hosts and rows of the crawl that nobody knew. Nothing of it says that a
//! page is done, so that it may be written twice, or for a page that is never settled.

use rustc_hash::FxHashSet;
use trawl_types::{HostId, PageId, PageState, Reason, UnixMillis};

use super::{
    insert::{Ending, write},
    routed::pending,
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
            inserted.extend(self.write_links(&conn, work, &found, &rows).await?);
        }
        self.take_in(&conn, work, &mut found, &rows, &inserted)
            .await
    }

    async fn write_links(
        &self,
        conn: &Conn,
        work: &Work,
        found: &[Candidate],
        rows: &[NewRow],
    ) -> Result<FxHashSet<PageId>, Fault> {
        let first = if work.has_ends() {
            format!("{LIGHTLY}; {TOGETHER}")
        } else {
            TOGETHER.to_owned()
        };
        let begin = conn.begin_with(&first);
        let write = write(conn, self, work, found, rows, Ending::AtOnce);
        let ((), inserted) = tokio::try_join!(biased; begin, write)?;
        Ok(inserted)
    }

    async fn find(&self, conn: &Conn, work: &mut Work) -> Result<Vec<Candidate>, Fault> {
        let (seen, pending) = tokio::try_join!(look_at_crawl(conn, work), pending(conn, work))?;
        work.last_seq = seen.last_seq;
        work.number = seen.number.unwrap_or(work.number);
        self.remembered().is_cleared(work.batch.crawl, seen.cleared);
        let sources = search::sources(work, pending);
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

    /// What is written now goes to the report, and is kept for memory.
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
        work.report.discovered = 0;
        work.new_hosts.clear();
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
                admitted.push(pending_url(work, candidate, row));
            }
        }
        if seen_before && work.open.has_elders {
            records::offer_validators(conn, work.batch.crawl, &mut admitted).await?;
        }
        let mut introduced = FxHashSet::default();
        {
            let mut memory = self.remembered();
            for url in &admitted {
                let pair = (work.batch.crawl, url.host);
                if memory.crawl_hosts.get(&pair).is_none() && introduced.insert(url.host) {
                    work.new_hosts.push(url.host);
                }
            }
        }
        work.lessons.hosts = rows.iter().map(|row| row.host).collect();
        work.lessons.pages.clear();
        for candidate in found.iter() {
            if let Standing::Here(known) = candidate.standing {
                work.known.insert(candidate.key, known);
                if known.depth < u32::MAX {
                    work.lessons.pages.push((candidate.key, known));
                }
            }
        }
        work.report.admitted = admitted;
        Ok(())
    }
}

/// A transaction that is over before it has reached the disk. Whatever is committed after it, by whomever,
/// and does wait for the disk has brought it there as well.
const LIGHTLY: &str = "SET LOCAL synchronous_commit = off";

/// A crawl as a commit finds it.
struct Seen {
    /// How far the log is.
    last_seq: i64,
    /// Whether rows were removed that memory still knows.
    cleared: i64,
    /// Of the commit, if it had none. Ascends with time, and is taken once for each, so that rows tell
    /// whether it has written them.
    number: Option<i64>,
}

async fn look_at_crawl(conn: &Conn, work: &Work) -> Result<Seen, Fault> {
    let (crawl, unnumbered) = (work.batch.crawl, work.number == 0);
    let sql = "SELECT last_seq, cleared, CASE WHEN $2 THEN nextval('commits') END
        FROM crawls WHERE id = $1";
    let row = conn.query_opt(sql, &[&crawl.0, &unnumbered]).await?;
    let row = row.ok_or(StoreError::NoCrawl(crawl))?;
    Ok(Seen {
        last_seq: row.get(0),
        cleared: row.get(1),
        number: row.get(2),
    })
}

/// Rows that an earlier attempt has written.
fn ours(found: &[Candidate]) -> FxHashSet<PageId> {
    let ours = found
        .iter()
        .filter(|c| matches!(c.standing, Standing::Ours));
    ours.map(|candidate| candidate.page).collect()
}

fn pending_url(work: &Work, candidate: &Candidate, row: &NewRow) -> PendingUrl {
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
    write(conn, store, work, &found, &rows, Ending::ByTheCaller).await?;
    Ok(())
}
