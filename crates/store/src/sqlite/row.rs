//! One row of `crawl_pages` as the writer needs it, and the small codes around it.

use rusqlite::{OptionalExtension, Statement};
use trawl_types::{CrawlId, HostId, PageId, PageState, ReasonCode, spec::Order};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) state: PageState,
    pub(crate) depth: u32,
    pub(crate) host: HostId,
    pub(crate) score: u8,
    pub(crate) reason: Option<ReasonCode>,
}

impl Row {
    /// Reads with [`super::statements::FIND_ROW`].
    pub(crate) fn find(
        statement: &mut Statement<'_>,
        crawl: CrawlId,
        page: PageId,
    ) -> rusqlite::Result<Option<Self>> {
        statement
            .query_row([crawl.0, page.0], |row| {
                Ok(Self {
                    state: PageState::from_stored(row.get(0)?).unwrap_or(PageState::Done),
                    depth: row.get(1)?,
                    host: HostId(row.get(2)?),
                    score: row.get(3)?,
                    reason: row
                        .get::<_, Option<u8>>(4)?
                        .and_then(ReasonCode::from_stored),
                })
            })
            .optional()
    }

    /// Refused for the page that links to it, before any other rule was asked.
    pub(crate) fn for_its_parent(&self) -> bool {
        matches!(
            self.reason,
            Some(ReasonCode::Nofollow | ReasonCode::NearDuplicates | ReasonCode::LowScore)
        )
    }

    /// Refused because of the way that led there, not for what the URL is.
    pub(crate) fn may_be_lifted(&self) -> bool {
        self.state == PageState::Refused
            && matches!(
                self.reason,
                Some(
                    ReasonCode::Nofollow
                        | ReasonCode::TooDeep
                        | ReasonCode::NearDuplicates
                        | ReasonCode::LowScore
                )
            )
    }
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
