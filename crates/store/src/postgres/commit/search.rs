//! Which URLs of a batch are new, and which numbers their pages have or get. Reads only.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use trawl_types::{HostId, PageId, PageState, ReasonCode, UrlKey};

use super::{
    routed::{Pending, Routes, list, union, values},
    work::{KnownPage, Memory, OpenCrawl, Place, Work, depth_over},
};
use crate::{
    contract::write::Settlement,
    postgres::{
        fault::Fault,
        identity::{first_choice, next_choice},
        pool::Conn,
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
pub(super) fn sources(
    work: &mut Work,
    mut pending: FxHashMap<PageId, Pending>,
) -> FxHashMap<usize, Source> {
    work.pending = Some(pending.clone());
    let of = |(at, settlement): (usize, &Settlement)| {
        let depth = pending.remove(&settlement.page)?.depth;
        Some((at, Source { depth }))
    };
    let settlements = work.batch.settlements.iter();
    settlements.enumerate().filter_map(of).collect()
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

/// What is known of pages.
pub(super) static KNOWN: LazyLock<String> = LazyLock::new(|| {
    union(2, |n, pages| {
        format!(
            "SELECT u.page, u.key_host, u.key_url, c.state, c.depth, c.reason, c.born
             FROM urls_{n} u LEFT JOIN LATERAL (SELECT state, depth, reason, born
               FROM crawl_pages_{n} WHERE crawl = $1 AND page = u.page OFFSET 0) c ON true
             WHERE u.page = ANY(${pages}::int8[])"
        )
    })
});

async fn rows(
    conn: &Conn,
    work: &Work,
    pages: &[i64],
) -> Result<FxHashMap<PageId, (UrlKey, Standing)>, Fault> {
    let parts = Routes::of(pages).split(pages);
    let values = values(&[&work.batch.crawl.0], &[list(&parts)]);
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
