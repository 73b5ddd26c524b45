//! Depth is the shortest distance from the seeds over recorded edges, whatever the order in which pages
//! are read. A shorter path is carried on along stored edges, nearest pages first, many at a time. Rows
//! change under the lock of the crawl alone.

use std::{collections::BTreeMap, sync::LazyLock};

use rustc_hash::FxHashMap;
use trawl_types::{LinkKind, PageId, PageState, Reason, ReasonCode, UrlKey};

use super::{
    ends::Ends,
    routed::{Routes, by_key, list, union, update, values},
    search::known_page,
    work::{KnownPage, Place, Work, depth_over, detail},
};
use crate::{
    contract::StoreError,
    postgres::{
        PostgresStore, edges, fault::Fault, pool::Conn, reader::pending_row, records, text::said,
    },
    shared::codes::{is_for_its_parent, may_be_lifted},
};

/// A row of `crawl_pages`, as far as it may change here.
#[derive(Debug, Clone, Copy)]
struct Row {
    state: PageState,
    depth: u32,
    score: u8,
    reason: Option<ReasonCode>,
}

/// Paths that may be shorter than what is known, by their length: page and the one before it.
type Paths = BTreeMap<u32, Vec<(PageId, PageId)>>;

/// What a commit has come across so far, and how far things have moved.
#[derive(Debug, Default)]
struct Sight {
    /// As they are now, in this transaction.
    rows: FxHashMap<PageId, Row>,
    /// New depth and rank of pages that came nearer or were admitted.
    moved: FxHashMap<PageId, (u32, i64)>,
}

/// Looks again at what the links of a batch may change: a depth, or a refusal.
pub(super) async fn reconsider(
    store: &PostgresStore,
    conn: &Conn,
    work: &mut Work,
    ends: &mut Ends,
) -> Result<(), Fault> {
    let (paths, liftable) = chances(work, ends);
    if paths.is_empty() && liftable.is_empty() {
        return Ok(());
    }
    let mut sight = Sight::default();
    shorten(store, conn, work, ends, paths, &mut sight).await?;
    lift_all(conn, work, ends, &liftable, &mut sight).await?;
    for url in &mut work.report.admitted {
        if let Some((depth, rank)) = sight.moved.get(&url.page) {
            (url.depth, url.rank) = (*depth, *rank);
        }
    }
    ends.learned = learn(work, &liftable, &sight.rows);
    let depths = sight.rows.iter().map(|(page, row)| (*page, row.depth));
    ends.depths = depths.collect();
    Ok(())
}

/// Links that are shorter than what is known, and links that may lift a refusal.
fn chances(work: &Work, ends: &Ends) -> (Paths, Vec<Place>) {
    let mut paths = Paths::new();
    let mut liftable = Vec::new();
    for (at, page) in &ends.settled {
        let settlement = &work.batch.settlements[*at];
        for (nth, link) in settlement.links.iter().enumerate() {
            let Some(known) = work.known.get(&link.target.key) else {
                continue;
            };
            let depth = depth_over(page.depth, link);
            if depth < known.depth {
                let path = (known.page, settlement.page);
                paths.entry(depth).or_default().push(path);
            }
            if depth < known.depth || known.reconsider && link.target.verdict.is_ok() {
                liftable.push((Some(*at), nth));
            }
        }
    }
    for (nth, seed) in work.batch.seeds.iter().enumerate() {
        let known = work.known.get(&seed.target.key);
        let open = known.is_some_and(|known| known.reconsider || known.depth > 0);
        if open && seed.target.verdict.is_ok() {
            liftable.push((None, nth));
        }
    }
    (paths, liftable)
}

pub(super) static ROWS: LazyLock<String> = LazyLock::new(|| {
    union(2, |n, pages| {
        let columns = "page, state, depth, score, reason";
        let rows = by_key(n, pages, columns);
        format!("SELECT k.page, k.state, k.depth, k.score, k.reason {rows}")
    })
});

/// Looks at pages that the commit has not come across before.
async fn look_at(
    conn: &Conn,
    work: &Work,
    mut pages: Vec<i64>,
    sight: &mut Sight,
) -> Result<(), Fault> {
    pages.retain(|page| !sight.rows.contains_key(&PageId(*page)));
    if pages.is_empty() {
        return Ok(());
    }
    pages.sort_unstable();
    pages.dedup();
    let parts = Routes::of(&pages).split(&pages);
    let values = values(&[&work.batch.crawl.0], &[list(&parts)]);
    let found = conn.query(&ROWS, &values).await?;
    let row = |row: &tokio_postgres::Row| Row {
        state: PageState::from_stored(row.get::<_, i16>(1) as u8).unwrap_or(PageState::Done),
        depth: row.get::<_, i32>(2) as u32,
        score: row.get::<_, i16>(3) as u8,
        reason: row
            .get::<_, Option<i16>>(4)
            .and_then(|code| ReasonCode::from_stored(code as u8)),
    };
    let found = found.iter().map(|r| (PageId(r.get(0)), row(r)));
    sight.rows.extend(found);
    Ok(())
}

/// Notes shorter paths and carries them on.
async fn shorten(
    store: &PostgresStore,
    conn: &Conn,
    work: &mut Work,
    ends: &mut Ends,
    mut paths: Paths,
    sight: &mut Sight,
) -> Result<(), Fault> {
    while let Some((depth, found)) = paths.pop_first() {
        let pages: Vec<i64> = found.iter().map(|(page, _)| page.0).collect();
        look_at(conn, work, pages, sight).await?;
        let (mut nearer, mut done, mut lifted) = (Vec::new(), Vec::new(), Vec::new());
        for (page, parent) in found {
            let row = sight.rows.get_mut(&page);
            let Some(row) = row.filter(|row| depth < row.depth) else {
                continue;
            };
            row.depth = depth;
            let rank = work.open.rank(depth, row.score, ends.last_seq);
            nearer.push((page, parent, rank));
            sight.moved.insert(page, (depth, rank));
            if row.state == PageState::Done {
                done.push(page.0);
            }
            if row.reason == Some(ReasonCode::TooDeep) && work.open.is_within(depth) {
                lifted.push((page, *row));
            }
        }
        let ((), targets) = tokio::try_join!(
            write_moves(conn, work, depth, &nearer),
            edges::targets(conn, work.batch.crawl, &done),
        )?;
        for (page, row) in lifted {
            lift(conn, work, ends, page, row, row.score, sight).await?;
        }
        carry_on(store, work, depth, targets, sight, &mut paths);
    }
    Ok(())
}

/// Paths over the links of pages that came nearer, to where they may be the shortest: most targets are
/// known to be as near already.
fn carry_on(
    store: &PostgresStore,
    work: &Work,
    depth: u32,
    targets: Vec<(PageId, PageId, LinkKind)>,
    sight: &Sight,
    paths: &mut Paths,
) {
    let mut memory = store.remembered();
    for (from, to, kind) in targets {
        let there = depth.saturating_add(kind.depth_step());
        let bound = match sight.rows.get(&to) {
            Some(row) => Some(row.depth),
            None => memory.depths.get(&(work.batch.crawl, to)),
        };
        if bound.is_none_or(|bound| there < bound) {
            paths.entry(there).or_default().push((to, from));
        }
    }
}

pub(super) static MOVE: LazyLock<String> =
    LazyLock::new(|| update(3, "depth = $2", &[("parent", "int8"), ("rank", "int8")]));

async fn write_moves(
    conn: &Conn,
    work: &Work,
    depth: u32,
    moves: &[(PageId, PageId, i64)],
) -> Result<(), Fault> {
    if moves.is_empty() {
        return Ok(());
    }
    let pages: Vec<i64> = moves.iter().map(|(page, ..)| page.0).collect();
    let parents: Vec<i64> = moves.iter().map(|(_, parent, _)| parent.0).collect();
    let ranks: Vec<i64> = moves.iter().map(|(.., rank)| *rank).collect();
    let routes = Routes::of(&pages);
    let (pages, parents) = (routes.split(&pages), routes.split(&parents));
    let ranks = routes.split(&ranks);
    let depth = depth as i32;
    let lists = [list(&pages), list(&parents), list(&ranks)];
    let values = values(&[&work.batch.crawl.0, &depth], &lists);
    conn.query(&MOVE, &values).await?;
    Ok(())
}

/// Refusals that a link of the batch may lift, in the order of the links.
async fn lift_all(
    conn: &Conn,
    work: &mut Work,
    ends: &mut Ends,
    liftable: &[Place],
    sight: &mut Sight,
) -> Result<(), Fault> {
    let page_at = |work: &Work, place: &Place| {
        let key = work.link(*place).target.key;
        work.known.get(&key).map(|known| known.page)
    };
    let pages = liftable.iter().filter_map(|place| page_at(work, place));
    look_at(conn, work, pages.map(|page| page.0).collect(), sight).await?;
    for place in liftable {
        let Some(page) = page_at(work, place) else {
            continue;
        };
        let score = work.link(*place).target.verdict.as_ref().ok().copied();
        let (Some(mut row), Some(score)) = (sight.rows.get(&page).copied(), score) else {
            continue;
        };
        if !may_be_lifted(row.state, row.reason) {
            continue;
        }
        if place.0.is_none() {
            name_page(conn, work, page).await?;
            row.depth = 0;
        }
        // A URL refused for its parent was never asked of the rules that count.
        let verdict = if is_for_its_parent(row.reason) {
            work.admit(*place)
        } else {
            Ok(())
        };
        match verdict.and_then(|()| work.open.judge_depth(row.depth)) {
            Ok(()) => lift(conn, work, ends, page, row, score, sight).await?,
            Err(reason) => {
                let row = refuse_anew(conn, work, ends, page, row, score, &reason).await?;
                sight.rows.insert(page, row);
            }
        }
    }
    Ok(())
}

/// Somebody names a page: the way that led there no longer counts.
async fn name_page(conn: &Conn, work: &Work, page: PageId) -> Result<(), Fault> {
    let sql = "UPDATE crawl_pages SET depth = 0, parent = NULL WHERE crawl = $1 AND page = $2";
    conn.execute(sql, &[&work.batch.crawl.0, &page.0]).await?;
    Ok(())
}

/// Admits a page that was refused, and reports it.
async fn lift(
    conn: &Conn,
    work: &mut Work,
    ends: &mut Ends,
    page: PageId,
    row: Row,
    score: u8,
    sight: &mut Sight,
) -> Result<(), Fault> {
    let rank = work.open.rank(row.depth, score, ends.last_seq);
    let sql = "WITH c AS (UPDATE crawl_pages SET state = 0, reason = NULL, reason_detail = NULL,
          rank = $3, score = $4 WHERE crawl = $1 AND page = $2 RETURNING *)
        SELECT c.page, c.host, u.url, c.rank, c.depth, c.score, c.attempts, c.not_before, c.chain
        FROM c JOIN urls u ON u.page = c.page";
    let crawl = work.batch.crawl;
    let found = conn
        .query_opt(sql, &[&crawl.0, &page.0, &rank, &i16::from(score)])
        .await?;
    let gone = || StoreError::Database("a page has vanished".into());
    let mut url = [pending_row(conn, &found.ok_or_else(gone)?)];
    if work.open.has_elders {
        records::offer_validators(conn, crawl, &mut url).await?;
    }
    sight.moved.insert(page, (row.depth, rank));
    if let Some(reason) = row.reason {
        ends.changes.lift_refusal(reason);
    }
    ends.changes.admit();
    ends.lifted.extend(url.iter().map(|url| url.host.0));
    ends.lifted_pages.insert(page);
    work.report.admitted.extend(url);
    let row = Row {
        state: PageState::Pending,
        reason: None,
        score,
        ..row
    };
    sight.rows.insert(page, row);
    Ok(())
}

async fn refuse_anew(
    conn: &Conn,
    work: &Work,
    ends: &mut Ends,
    page: PageId,
    row: Row,
    score: u8,
    reason: &Reason,
) -> Result<Row, Fault> {
    let sql = "UPDATE crawl_pages SET reason = $3, reason_detail = $4, score = $5
               WHERE crawl = $1 AND page = $2";
    let (crawl, code) = (work.batch.crawl.0, reason.code as i16);
    let detail = said(detail(reason));
    conn.execute(sql, &[&crawl, &page.0, &code, &detail, &i16::from(score)])
        .await?;
    if let Some(old) = row.reason {
        ends.changes.lift_refusal(old);
    }
    ends.changes.refuse(reason.code);
    Ok(Row {
        reason: Some(reason.code),
        score,
        ..row
    })
}

/// What memory is to be told once all of this is durable.
fn learn(
    work: &Work,
    looked_at: &[Place],
    rows: &FxHashMap<PageId, Row>,
) -> Vec<(UrlKey, KnownPage)> {
    let known = looked_at.iter().filter_map(|place| {
        let key = work.link(*place).target.key;
        let page = work.known.get(&key)?.page;
        let row = rows.get(&page)?;
        let known = known_page(&work.open, page, row.depth, row.state, row.reason);
        Some((key, known))
    });
    known.collect()
}
