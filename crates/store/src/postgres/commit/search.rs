//! Which URLs of a batch are new, and which numbers their pages have or get. Reads only.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{HostId, PageId, PageState, ReasonCode, UrlKey};

use super::work::{KnownPage, Memory, OpenCrawl, Place, Work, depth_over};
use crate::{
    postgres::{
        fault::Fault,
        identity::{PARTITIONS, first_choice, next_choice, partition_of},
        pool::{Conn, Param},
    },
    shared::codes::{is_for_its_parent, may_be_lifted},
};

/// A page whose links are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) depth: u32,
}

/// A URL that memory does not know.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) key: UrlKey,
    /// Where it was found first.
    pub(super) place: Place,
    pub(super) parent: Option<PageId>,
    pub(super) depth: u32,
    pub(super) page: PageId,
    pub(super) standing: Standing,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Standing {
    /// Nobody has the number.
    Free,
    /// Other crawls know the URL.
    Elsewhere,
    /// In this crawl.
    Here(KnownPage),
    /// In this crawl, written by an attempt of this very commit whose answer was lost.
    Ours,
}

/// Pages of the batch that are pending, with their depths; each is settled once.
pub(super) async fn sources(conn: &Conn, work: &Work) -> Result<FxHashMap<usize, Source>, Fault> {
    let pages: Vec<i64> = work.batch.settlements.iter().map(|s| s.page.0).collect();
    if pages.is_empty() {
        return Ok(FxHashMap::default());
    }
    let sql = "SELECT c.page, c.depth FROM unnest($2::int8[]) n(page)
        CROSS JOIN LATERAL (SELECT page, depth FROM crawl_pages
          WHERE crawl = $1 AND page = n.page AND state = 0 OFFSET 0) c";
    let rows = conn.query(sql, &[&work.batch.crawl.0, &pages]).await?;
    let mut pending: FxHashMap<i64, u32> = rows
        .iter()
        .map(|row| (row.get(0), row.get::<_, i32>(1) as u32))
        .collect();
    let of = |(at, page): (usize, &i64)| {
        let depth = pending.remove(page)?;
        Some((at, Source { depth }))
    };
    Ok(pages.iter().enumerate().filter_map(of).collect())
}

/// Fills `work.known` from memory, and gives what is left in the order in which it was found.
pub(super) fn candidates(
    work: &mut Work,
    sources: &FxHashMap<usize, Source>,
    memory: &mut Memory,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen: FxHashSet<UrlKey> = FxHashSet::default();
    let Work { batch, known, .. } = work;
    let mut take = |key: UrlKey, place, parent, depth| {
        if !seen.insert(key) {
            return;
        }
        if let Some(page) = memory.pages.get(&(batch.crawl, key)) {
            known.insert(key, page);
            return;
        }
        found.push(Candidate {
            key,
            place,
            parent,
            depth,
            page: first_choice(key),
            standing: Standing::Free,
        });
    };
    for (at, settlement) in batch.settlements.iter().enumerate() {
        let Some(source) = sources.get(&at) else {
            continue;
        };
        for (nth, link) in settlement.links.iter().enumerate() {
            let depth = depth_over(source.depth, link);
            let parent = Some(settlement.page);
            take(link.target.key, (Some(at), nth), parent, depth);
        }
    }
    for (nth, link) in batch.seeds.iter().enumerate() {
        take(link.target.key, (None, nth), None, 0);
    }
    found
}

/// Finds the numbers of all candidates: their first choice, or the next one where that is another's.
pub(super) async fn look_up(
    conn: &Conn,
    work: &Work,
    candidates: &mut [Candidate],
) -> Result<(), Fault> {
    let mut open: Vec<usize> = (0..candidates.len()).collect();
    let mut given: FxHashMap<PageId, UrlKey> = FxHashMap::default();
    while !open.is_empty() {
        let pages: Vec<i64> = open.iter().map(|at| candidates[*at].page.0).collect();
        let found = rows(conn, work, &pages).await?;
        open.retain(|at| {
            let candidate = &mut candidates[*at];
            let owner = given.get(&candidate.page).copied();
            let owner = owner.or_else(|| found.get(&candidate.page).map(|row| row.0));
            if owner.is_some_and(|owner| owner != candidate.key) {
                candidate.page = next_choice(candidate.page);
                return true;
            }
            given.insert(candidate.page, candidate.key);
            candidate.standing = found
                .get(&candidate.page)
                .map_or(Standing::Free, |row| row.1);
            false
        });
    }
    Ok(())
}

/// What is known of pages. Each partition is asked for its own: on the way through the whole table every
/// page would be looked for in all of them, or its partition be found anew for each.
static KNOWN: LazyLock<String> = LazyLock::new(|| {
    let part = |n: usize| {
        let pages = n + 2;
        format!(
            "SELECT u.page, u.key_host, u.key_url, c.state, c.depth, c.reason, c.born
             FROM urls_{n} u LEFT JOIN crawl_pages_{n} c ON c.crawl = $1 AND c.page = u.page
             WHERE u.page = ANY(${pages}::int8[])"
        )
    };
    let parts: Vec<String> = (0..PARTITIONS).map(part).collect();
    parts.join(" UNION ALL ")
});

async fn rows(
    conn: &Conn,
    work: &Work,
    pages: &[i64],
) -> Result<FxHashMap<PageId, (UrlKey, Standing)>, Fault> {
    let mut parts: Vec<Vec<i64>> = vec![Vec::new(); PARTITIONS];
    for page in pages {
        parts[partition_of(PageId(*page))].push(*page);
    }
    let mut values: Vec<Param<'_>> = vec![&work.batch.crawl.0];
    values.extend(parts.iter().map(|part| part as Param<'_>));
    let rows = conn.query(&KNOWN, &values).await?;
    let mut found = FxHashMap::default();
    for row in rows {
        let key = UrlKey {
            host: row.get::<_, i64>(1).cast_unsigned(),
            url: row.get::<_, i64>(2).cast_unsigned(),
        };
        let page = PageId(row.get(0));
        let standing = match row.get::<_, Option<i16>>(3) {
            None => Standing::Elsewhere,
            Some(_) if row.get::<_, i64>(6) >> POSITION_BITS == work.number => Standing::Ours,
            Some(state) => {
                let depth = row.get::<_, i32>(4) as u32;
                let reason = row.get::<_, Option<i16>>(5);
                let reason = reason.and_then(|code| ReasonCode::from_stored(code as u8));
                let state = PageState::from_stored(state as u8).unwrap_or(PageState::Done);
                Standing::Here(known_page(&work.open, page, depth, state, reason))
            }
        };
        found.insert(page, (key, standing));
    }
    Ok(found)
}

/// Bits of `crawl_pages.born` that say which URL of its commit a page was.
pub(in crate::postgres) const POSITION_BITS: u32 = 24;

/// What memory is told of a row.
pub(super) fn known_page(
    open: &OpenCrawl,
    page: PageId,
    depth: u32,
    state: PageState,
    reason: Option<ReasonCode>,
) -> KnownPage {
    KnownPage {
        page,
        depth,
        reconsider: may_be_lifted(state, reason)
            && (is_for_its_parent(reason) || open.is_within(depth)),
    }
}

/// The politeness host of a candidate.
pub(super) fn host_of(
    secret: trawl_types::KeySecret,
    work: &Work,
    candidate: &Candidate,
) -> HostId {
    crate::postgres::identity::host_id(secret, work.link(candidate.place).target.host())
}
