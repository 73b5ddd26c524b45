//! The second transaction: what became of the pages, under the lock of the crawl. Whatever makes a
//! pending page something else happens under that lock, so what is read here stays true until the end.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{HostId, PageId, Sequence, UrlKey};

use super::{
    activity, content,
    foresight::Foresight,
    hosts::{self, Fence},
    lists,
    log::{self, Entry},
    routed::{Pending, Routes, by_page, list, pending, update, update_pending, values},
    work::{KnownPage, Work, detail},
};
use crate::{
    contract::{
        StoreError,
        queue::Planted,
        write::{Settlement, VisitEnd},
    },
    postgres::{
        PostgresStore,
        fault::Fault,
        pool::{Conn, Param},
        tallies::{self, Changes},
        text::{Said, said},
    },
};

/// The second transaction under way.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) last_seq: i64,
    pub(super) pages: u64,
    pub(super) changes: Changes,
    /// Which settlements count, with the depth of their page.
    pub(super) settled: Vec<(usize, Pending)>,
    /// Visits for the result log: which settlement, its number.
    pub(super) finals: Vec<Entry>,
    /// Hosts with lifted pages: they may have to be woken.
    pub(super) lifted: Vec<i64>,
    /// Pages that were refused and are pending now.
    pub(super) lifted_pages: FxHashSet<PageId>,
    /// For memory, once it is durable.
    pub(super) learned: Vec<(UrlKey, KnownPage)>,
    pub(super) depths: Vec<(PageId, u32)>,
}

impl PostgresStore {
    pub(super) async fn record_ends(&self, work: &mut Work) -> Result<(), Fault> {
        if !work.has_ends() && !work.may_reconsider() {
            self.learn(work, &[], &[]);
            return Ok(());
        }
        let admitted = work.report.admitted.len();
        let edges = work.report.edges;
        let conn = self.for_commits().await?;
        if work.is_about_hosts() && !work.may_reconsider() {
            self.record_hosts(&conn, work).await?;
            self.learn(work, &[], &[]);
            return Ok(());
        }
        let written =
            tokio::try_join!(biased; conn.begin(), Box::pin(self.write_ends(&conn, work)));
        let done = match written {
            Ok(((), (fence, ends))) => {
                // The answer to the commit may be lost, or what follows it: the next attempt finds
                // nothing to lift, and must wake these all the same.
                work.to_wake.extend(&ends.lifted);
                conclude(&conn, work, &fence, ends).await
            }
            Err(fault) => Err(fault),
        };
        match done {
            Ok(mut ends) => {
                work.tell_lifted_seeds(&mut ends);
                self.learn(work, &ends.learned, &ends.depths);
                self.introduce(work, &ends.lifted);
                if work.to_wake.is_empty() {
                    return Ok(());
                }
                // Not before the lock of the crawl is given up: hosts are locked before crawls.
                let woken = conn.execute(super::WAKE, &[&work.to_wake]).await;
                woken.map(drop)
            }
            Err(fault) => {
                work.report.admitted.truncate(admitted);
                work.report.edges = edges;
                Err(fault)
            }
        }
    }

    /// What is durable goes into memory: what the links taught, then what the ends have changed.
    fn learn(&self, work: &Work, pages: &[(UrlKey, KnownPage)], depths: &[(PageId, u32)]) {
        let crawl = work.batch.crawl;
        let mut memory = self.remembered();
        for host in &work.lessons.hosts {
            memory.hosts.insert(*host, ());
        }
        for host in &work.new_hosts {
            memory.crawl_hosts.insert((crawl, *host), ());
        }
        for (key, known) in work.lessons.pages.iter().chain(pages) {
            memory.pages.insert((crawl, *key), *known);
            memory.depths.insert((crawl, known.page), known.depth);
        }
        for (page, depth) in depths {
            memory.depths.insert((crawl, *page), *depth);
        }
    }

    /// Hosts of which a page was lifted belong to the crawl from now on.
    fn introduce(&self, work: &mut Work, lifted: &[i64]) {
        let crawl = work.batch.crawl;
        let mut memory = self.remembered();
        for host in lifted.iter().map(|host| HostId(*host)) {
            if memory.crawl_hosts.get(&(crawl, host)).is_none() {
                memory.crawl_hosts.insert((crawl, host), ());
                work.new_hosts.push(host);
            }
        }
    }

    /// What politeness remembers belongs to no crawl: nobody who settles pages is waited for, and those
    /// who wait for robots.txt to be durable can go on.
    async fn record_hosts(&self, conn: &Conn, work: &Work) -> Result<(), Fault> {
        let no_pages = FxHashMap::default();
        let fence = self.fence(conn, work, &no_pages);
        tokio::try_join!(biased; conn.begin(), fence)?;
        conn.commit().await
    }

    async fn write_ends(&self, conn: &Conn, work: &mut Work) -> Result<(Fence, Ends), Fault> {
        // Which hosts to lock; whether the pages are still pending is seen when that is done.
        let known = match (&self.loans, work.pending.take()) {
            (None, _) => FxHashMap::default(),
            (Some(_), Some(known)) => known,
            (Some(_), None) => pending(conn, work).await?,
        };
        let fence = self.fence(conn, work, &known).await?;
        let foresight = Foresight::write(conn, work, &fence, &known).await?;
        let mut ends = if let Some(foresight) = &foresight {
            let mut ends = lock(conn, work).await?;
            ends.decide(work, &fence, known);
            if !foresight.agrees_with(&ends) {
                return overtaken(conn, work).await;
            }
            ends
        } else {
            // On its way first, so that what is pending is looked up when the lock is held.
            conn.prepare(LOCK).await?;
            let (mut ends, still) =
                tokio::try_join!(biased; lock(conn, work), pending(conn, work))?;
            ends.decide(work, &fence, still);
            ends
        };
        keep_retries(conn, work, &ends).await?;
        refuse_rows(conn, work, &mut ends).await?;
        log::find_elders(conn, work, &mut ends).await?;
        write_visits(conn, work, &mut ends, foresight.as_ref()).await?;
        super::depth::reconsider(self, conn, work, &mut ends).await?;
        ends.lifted.sort_unstable();
        ends.lifted.dedup();
        Ok((fence, ends))
    }
}

/// Somebody has changed the queue since it was looked at: nothing was written, and it is looked at anew.
async fn overtaken<T>(conn: &Conn, work: &mut Work) -> Result<T, Fault> {
    work.was_overtaken = true;
    conn.roll_back().await?;
    Err(Fault::Overtaken)
}

/// Everybody who settles pages of the crawl waits meanwhile: what does not depend on each other is on its
/// way together.
async fn write_visits(
    conn: &Conn,
    work: &mut Work,
    ends: &mut Ends,
    foresight: Option<&Foresight>,
) -> Result<(), Fault> {
    let hashes = content::hashes(conn, work, ends).await?;
    let (finished, firsts) = tokio::try_join!(
        finish_rows(conn, work, ends),
        content::originals(conn, work, ends, &hashes),
    )?;
    if finished.len() < ends.finals.len() {
        return overtaken(conn, work).await;
    }
    ends.are_as_deep_as(work, &finished);
    content::mark_copies(work, ends, &hashes, &firsts);
    let figures = activity::counted(work, ends);
    let lists = async {
        match foresight {
            Some(foresight) => Ok(foresight.edges()),
            None => lists::record(conn, work, &ends.settled).await,
        }
    };
    let (near, edges, ()) = tokio::try_join!(
        log::write(conn, work, ends),
        lists,
        activity::write(conn, work, figures),
    )?;
    edges.tell(work, ends);
    ends.changes.near_duplicates(near);
    Ok(())
}

pub(super) const MOVE_ON: &str = "UPDATE crawls SET last_seq = $2, pages = $3 WHERE id = $1";

/// The crawl in numbers, and its hosts; and the end of the transaction, in one message: everybody else
/// waits for it.
async fn conclude(
    conn: &Conn,
    work: &mut Work,
    fence: &Fence,
    mut ends: Ends,
) -> Result<Ends, Fault> {
    let counted = hosts::counted(work, fence, &ends);
    let (crawl, pages) = (work.batch.crawl, ends.pages as i64);
    let values: [Param<'_>; 3] = [&crawl.0, &ends.last_seq, &pages];
    for sql in [hosts::COUNT, tallies::ADD, MOVE_ON, tallies::COUNTS] {
        conn.prepare(sql).await?;
    }
    let has_lifted = !ends.lifted.is_empty();
    if has_lifted {
        // Only then the figures of the crawl may depend on those of hosts.
        let introduced = hosts::write(conn, work, &counted).await?;
        ends.changes.hosts(introduced);
    }
    let hosts = async {
        if !has_lifted {
            hosts::write(conn, work, &counted).await?;
        }
        Ok(())
    };
    let ((), (), _, counts, ()) = tokio::try_join!(biased;
        hosts,
        tallies::write(conn, crawl, tallies::LOCKED, &ends.changes),
        conn.execute(MOVE_ON, &values),
        tallies::counts(conn, crawl),
        conn.commit(),
    )?;
    work.figures = Some((counts, ends.last_seq));
    Ok(ends)
}

impl Work {
    /// Seeds may lift the refusal of a URL that is known.
    fn may_reconsider(&self) -> bool {
        let open = |page: &KnownPage| page.reconsider || page.depth > 0;
        let known = |key| self.known.get(key).is_some_and(open);
        self.batch.seeds.iter().any(|seed| known(&seed.target.key))
    }

    /// A URL that was refused before and that somebody names waits for its turn now.
    fn tell_lifted_seeds(&mut self, ends: &mut Ends) {
        let Self {
            batch,
            known,
            report,
            ..
        } = self;
        for (seed, planted) in batch.seeds.iter().zip(&mut report.planted) {
            let page = known.get(&seed.target.key).map(|known| known.page);
            if page.is_some_and(|page| ends.lifted_pages.remove(&page)) {
                *planted = Planted::Admitted;
            }
        }
    }
}

impl Ends {
    /// Depths as they are under the lock: others may have found shorter paths since they were looked up.
    fn are_as_deep_as(&mut self, work: &Work, now: &FxHashMap<PageId, Pending>) {
        for (at, page) in &mut self.settled {
            if let Some(now) = now.get(&work.batch.settlements[*at].page) {
                page.depth = now.depth;
            }
        }
    }

    /// The first end of a page stands. What is fenced, or beyond the budget, stays pending.
    fn decide(&mut self, work: &Work, fence: &Fence, mut pending: FxHashMap<PageId, Pending>) {
        for (at, settlement) in work.batch.settlements.iter().enumerate() {
            let Some(page) = pending.get(&settlement.page).copied() else {
                continue;
            };
            if !fence.lets_pass(page.host) {
                continue;
            }
            if let VisitEnd::Final(visit) = &settlement.end {
                let counts = visit.outcome.kind.is_page();
                if counts && work.open.max_pages.is_some_and(|max| self.pages >= max) {
                    continue;
                }
                self.pages += u64::from(counts);
                self.last_seq += 1;
                self.changes.finish(visit.outcome.kind);
                self.finals.push(Entry::new(at, Sequence(self.last_seq)));
            }
            pending.remove(&settlement.page);
            self.settled.push((at, page));
        }
    }
}

pub(super) const LOCK: &str = "SELECT last_seq, pages FROM crawls WHERE id = $1 FOR UPDATE";

async fn lock(conn: &Conn, work: &Work) -> Result<Ends, Fault> {
    let crawl = work.batch.crawl;
    let row = conn.query_opt(LOCK, &[&crawl.0]).await?;
    let row = row.ok_or(StoreError::NoCrawl(crawl))?;
    Ok(Ends {
        last_seq: row.get(0),
        pages: row.get::<_, i64>(1) as u64,
        changes: Changes::default(),
        settled: Vec::new(),
        finals: Vec::new(),
        lifted: Vec::new(),
        lifted_pages: FxHashSet::default(),
        learned: Vec::new(),
        depths: Vec::new(),
    })
}

pub(super) static FINISH: LazyLock<String> = LazyLock::new(|| {
    let columns = [("attempts", "int4"), ("outcome", "int2"), ("seq", "int8")];
    update_pending(2, "state = 2", &columns)
});

/// Gives those that were pending, as they are.
async fn finish_rows(
    conn: &Conn,
    work: &Work,
    ends: &Ends,
) -> Result<FxHashMap<PageId, Pending>, Fault> {
    if ends.finals.is_empty() {
        return Ok(FxHashMap::default());
    }
    let (mut pages, mut attempts, mut outcomes, mut seqs) = (vec![], vec![], vec![], vec![]);
    for (entry, visit) in log::visits(work, ends) {
        pages.push(entry.page(work).0);
        attempts.push(visit.attempts as i32);
        outcomes.push(visit.outcome.kind as i16);
        seqs.push(entry.seq.0);
    }
    let routes = Routes::of(&pages);
    let (pages, attempts) = (routes.split(&pages), routes.split(&attempts));
    let (outcomes, seqs) = (routes.split(&outcomes), routes.split(&seqs));
    let lists = [list(&pages), list(&attempts), list(&outcomes), list(&seqs)];
    let values = values(&[&work.batch.crawl.0], &lists);
    Ok(by_page(&conn.query(&FINISH, &values).await?))
}

async fn keep_retries(conn: &Conn, work: &Work, ends: &Ends) -> Result<(), Fault> {
    for settlement in settlements(work, ends) {
        let VisitEnd::Retry {
            attempts,
            not_before,
            outcome,
        } = &settlement.end
        else {
            continue;
        };
        let sql = "UPDATE crawl_pages SET attempts = $3, not_before = $4, outcome = $5
                   WHERE crawl = $1 AND page = $2";
        let (crawl, page) = (work.batch.crawl.0, settlement.page.0);
        let (attempts, outcome) = (*attempts as i32, outcome.kind as i16);
        let not_before = conn.skew.there(*not_before);
        conn.execute(sql, &[&crawl, &page, &attempts, &not_before, &outcome])
            .await?;
    }
    Ok(())
}

static REFUSE: LazyLock<String> = LazyLock::new(|| {
    let columns = [("reason", "int2"), ("reason_detail", "text")];
    update(2, "state = 1", &columns)
});

async fn refuse_rows(conn: &Conn, work: &Work, ends: &mut Ends) -> Result<(), Fault> {
    let (mut pages, mut codes, mut details) = (vec![], vec![], vec![]);
    for (at, _) in &ends.settled {
        let settlement = &work.batch.settlements[*at];
        if let VisitEnd::Refused(reason) = &settlement.end {
            pages.push(settlement.page.0);
            codes.push(reason.code as i16);
            details.push(said(detail(reason)));
            ends.changes.no_longer_pending();
            ends.changes.refuse(reason.code);
        }
    }
    if pages.is_empty() {
        return Ok(());
    }
    let routes = Routes::of(&pages);
    let (pages, codes) = (routes.split(&pages), routes.split(&codes));
    let details: Vec<Vec<Option<Said<'_>>>> = routes.split(&details);
    let lists = [list(&pages), list(&codes), list(&details)];
    let values = values(&[&work.batch.crawl.0], &lists);
    conn.query(&REFUSE, &values).await?;
    Ok(())
}

fn settlements<'w>(work: &'w Work, ends: &'w Ends) -> impl Iterator<Item = &'w Settlement> {
    let settlement = |(at, _): &(usize, Pending)| &work.batch.settlements[*at];
    ends.settled.iter().map(settlement)
}
