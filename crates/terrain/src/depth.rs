//! Multi-origin depth (003 §5) in its plainest form: one breadth-first search for each quality
//! domain over the whole graph. Slow and obviously right, for others to be compared with.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use trawl_types::{LinkKind, PageId};

/// A page, and the quality entry it lies in, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthPage {
    pub id: PageId,
    pub origin: Option<u16>,
}

/// An edge, as far as distance is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthEdge {
    pub from: PageId,
    pub to: PageId,
    pub kind: LinkKind,
}

/// The least distance of every page from every quality domain it can be reached from: each page of
/// the domain itself is at 0, a link adds one, a redirect nothing.
pub fn reference_depths(pages: &[DepthPage], edges: &[DepthEdge]) -> BTreeMap<(PageId, u16), u32> {
    let mut out: BTreeMap<PageId, Vec<(PageId, u32)>> = BTreeMap::new();
    for edge in edges {
        let cost = u32::from(edge.kind != LinkKind::Redirect);
        out.entry(edge.from).or_default().push((edge.to, cost));
    }
    let origins: BTreeSet<u16> = pages.iter().filter_map(|page| page.origin).collect();
    let mut depths = BTreeMap::new();
    for origin in origins {
        let own = pages.iter().filter(|page| page.origin == Some(origin));
        for (page, depth) in distances(own.map(|page| page.id), &out) {
            depths.insert((page, origin), depth);
        }
    }
    depths
}

/// Least costs from any of the starts, where every step costs 0 or 1: what costs nothing is looked
/// at before what is already waiting, so pages are settled in the order of their cost.
fn distances(
    starts: impl Iterator<Item = PageId>,
    out: &BTreeMap<PageId, Vec<(PageId, u32)>>,
) -> BTreeMap<PageId, u32> {
    let mut settled = BTreeMap::new();
    let mut waiting: VecDeque<(PageId, u32)> = starts.map(|page| (page, 0)).collect();
    while let Some((page, depth)) = waiting.pop_front() {
        if settled.contains_key(&page) {
            continue;
        }
        settled.insert(page, depth);
        for (next, cost) in out.get(&page).into_iter().flatten() {
            if *cost == 0 {
                waiting.push_front((*next, depth));
            } else {
                waiting.push_back((*next, depth + 1));
            }
        }
    }
    settled
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(id: i64, origin: Option<u16>) -> DepthPage {
        DepthPage {
            id: PageId(id),
            origin,
        }
    }

    fn edge(from: i64, to: i64, kind: LinkKind) -> DepthEdge {
        DepthEdge {
            from: PageId(from),
            to: PageId(to),
            kind,
        }
    }

    #[test]
    fn two_quality_domains_that_link_to_each_other_see_each_other_at_one() {
        let pages = [page(1, Some(0)), page(2, Some(1)), page(3, None)];
        let edges = [
            edge(1, 2, LinkKind::Anchor),
            edge(2, 1, LinkKind::Anchor),
            edge(2, 3, LinkKind::Anchor),
        ];
        let depths = reference_depths(&pages, &edges);
        let of = |page, origin| depths.get(&(PageId(page), origin)).copied();
        assert_eq!((of(1, 0), of(1, 1)), (Some(0), Some(1)));
        assert_eq!((of(2, 0), of(2, 1)), (Some(1), Some(0)));
        assert_eq!((of(3, 0), of(3, 1)), (Some(2), Some(1)));
    }

    #[test]
    fn a_page_of_the_domain_is_at_nothing_even_if_only_strangers_link_to_it() {
        let pages = [page(1, Some(0)), page(2, None), page(3, Some(0))];
        let edges = [edge(1, 2, LinkKind::Anchor), edge(2, 3, LinkKind::Anchor)];
        assert_eq!(reference_depths(&pages, &edges)[&(PageId(3), 0)], 0);
    }

    #[test]
    fn a_redirect_costs_nothing() {
        let pages = [page(1, Some(0)), page(2, None), page(3, None)];
        let edges = [edge(1, 2, LinkKind::Anchor), edge(2, 3, LinkKind::Redirect)];
        assert_eq!(reference_depths(&pages, &edges)[&(PageId(3), 0)], 1);
    }

    proptest! {
        /// The two conditions that have only one solution: no edge could make a page nearer, and
        /// every page that is not of the domain has an edge that accounts for its depth.
        #[test]
        fn depths_are_the_least_that_the_edges_allow(
            origins in prop::collection::vec(prop::option::weighted(0.2, 0u16..3), 1..14),
            links in prop::collection::vec((0usize..14, 0usize..14, any::<bool>()), 0..50),
        ) {
            let count = origins.len();
            let pages: Vec<DepthPage> = origins.iter().enumerate()
                .map(|(id, origin)| page(id as i64, *origin)).collect();
            let edges: Vec<DepthEdge> = links.iter().map(|(from, to, hop)| {
                let kind = if *hop { LinkKind::Redirect } else { LinkKind::Anchor };
                edge((from % count) as i64, (to % count) as i64, kind)
            }).collect();
            let depths = reference_depths(&pages, &edges);
            for origin in 0..3 {
                let of = |id: PageId| depths.get(&(id, origin)).copied();
                let cost = |e: &DepthEdge| u32::from(e.kind != LinkKind::Redirect);
                for e in &edges {
                    if let Some(depth) = of(e.from) {
                        prop_assert!(of(e.to).is_some_and(|to| to <= depth + cost(e)));
                    }
                }
                // Reached by hops of no cost from something that is accounted for already.
                let mut sound: BTreeSet<PageId> = pages.iter()
                    .filter(|p| p.origin == Some(origin)).map(|p| p.id).collect();
                for id in &sound { prop_assert_eq!(of(*id), Some(0)); }
                for _ in 0..count {
                    for e in &edges {
                        if sound.contains(&e.from) && of(e.to) == of(e.from).map(|d| d + cost(e)) {
                            sound.insert(e.to);
                        }
                    }
                }
                for p in &pages { prop_assert_eq!(of(p.id).is_some(), sound.contains(&p.id)); }
            }
        }
    }
}
