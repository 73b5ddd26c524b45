//! Small codes in columns, the same in every back end. Pure.

use trawl_types::{
    CrawlSpec, PageState, ReasonCode,
    spec::{Order, SitemapPolicy},
};

/// Fingerprints are there; the other bits say what else is kept.
pub(crate) const FINGERPRINTS: u8 = 8;

/// Documents, and sitemaps, are read: whether a later crawl would see more in a page that is no HTML.
const DOCUMENTS: u8 = 16;
const SITEMAPS: u8 = 32;

/// What a crawl keeps and reads, as `crawls.keeps` has it.
pub(crate) fn keeps(spec: &CrawlSpec) -> u8 {
    let bits = [
        (spec.keep.html, 1),
        (spec.keep.markdown, 2),
        (spec.keep.text, 4),
        (
            spec.content.near_duplicates || spec.keep.content(),
            FINGERPRINTS,
        ),
        (spec.content.documents || spec.keep.content(), DOCUMENTS),
        (spec.content.sitemaps != SitemapPolicy::None, SITEMAPS),
    ];
    bits.iter()
        .filter(|(kept, _)| *kept)
        .map(|(_, bit)| bit)
        .sum()
}

/// Refused for the page that links to it, before any other rule was asked.
pub(crate) fn is_for_its_parent(reason: Option<ReasonCode>) -> bool {
    matches!(
        reason,
        Some(ReasonCode::Nofollow | ReasonCode::NearDuplicates | ReasonCode::LowScore)
    )
}

/// Refused because of the way that led there, not for what the URL is.
pub(crate) fn may_be_lifted(state: PageState, reason: Option<ReasonCode>) -> bool {
    state == PageState::Refused
        && (is_for_its_parent(reason) || reason == Some(ReasonCode::TooDeep))
}

/// The place in the queue. Depth first takes the links of the page that was read last before
/// those of its elders: `moment` ascends with time.
pub(crate) fn rank(order: Order, depth: u32, score: u8, moment: i64) -> i64 {
    const BITS: u32 = 30;
    let rank = order.rank(depth, score);
    match order {
        Order::DepthFirst => (rank << BITS) - (moment & ((1 << BITS) - 1)),
        Order::BreadthFirst | Order::BestFirst => rank,
    }
}

/// Keys of a redirect chain as they are stored.
pub(crate) fn chain_to_blob(chain: &[u64]) -> Option<Vec<u8>> {
    (!chain.is_empty()).then(|| chain.iter().flat_map(|key| key.to_le_bytes()).collect())
}

pub(crate) fn chain_from_blob(blob: &[u8]) -> Vec<u64> {
    blob.chunks_exact(8)
        .map(|eight| u64::from_le_bytes(eight.try_into().unwrap_or_default()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_survives_its_storage() {
        assert_eq!(chain_to_blob(&[]), None);
        let blob = chain_to_blob(&[1, u64::MAX]).unwrap();
        assert_eq!(chain_from_blob(&blob), [1, u64::MAX]);
    }

    #[test]
    fn depth_first_prefers_links_of_the_newest_page_among_equals_only() {
        let rank = |depth, score, moment| rank(Order::DepthFirst, depth, score, moment);
        assert!(rank(3, 0, 8) < rank(3, 0, 7));
        assert!(rank(4, 0, 1) < rank(3, 255, 9));
        assert!(rank(3, 9, 1) < rank(3, 8, 9));
    }
}
