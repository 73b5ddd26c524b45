//! What will most likely be settled, known before the lock of the crawl is held: everybody else who
//! settles pages of the crawl waits for that lock, so that what can be written without it is. The hosts of
//! the pages are locked and on loan here, so that nobody else settles them; only somebody who changes the
//! queue, or a budget that is used up, can prove it wrong. That is seen under the lock: nothing of it is
//! kept then, and the batch is done anew in the careful order.

use rustc_hash::FxHashMap;
use trawl_types::PageId;

use super::{
    ends::Ends,
    hosts::Fence,
    lists::{self, Counted},
    routed::Pending,
    work::Work,
};
use crate::{
    contract::write::VisitEnd,
    postgres::{fault::Fault, pool::Conn},
};

#[derive(Debug)]
pub(super) struct Foresight {
    settled: Vec<(usize, Pending)>,
    edges: Counted,
}

impl Foresight {
    /// Writes the lists of what will be settled. Nothing where that cannot be told: ends that leave a
    /// page pending say nothing of whether it still was.
    pub(super) async fn write(
        conn: &Conn,
        work: &Work,
        fence: &Fence,
        pending: &FxHashMap<PageId, Pending>,
    ) -> Result<Option<Self>, Fault> {
        let is_final = |end: &VisitEnd| matches!(end, VisitEnd::Final(_));
        let mut ends = work.batch.settlements.iter().map(|s| &s.end);
        if work.was_overtaken || !fence.keeps_others_out() || !ends.all(is_final) {
            return Ok(None);
        }
        let settled = settled(work, fence, pending);
        let edges = lists::record(conn, work, &settled).await?;
        Ok(Some(Self { settled, edges }))
    }

    /// Whether it has come true, as far as is known when the lock is held.
    pub(super) fn agrees_with(&self, ends: &Ends) -> bool {
        let places = |settled: &[(usize, Pending)]| -> Vec<usize> {
            settled.iter().map(|(at, _)| *at).collect()
        };
        places(&self.settled) == places(&ends.settled)
    }

    pub(super) fn edges(&self) -> Counted {
        self.edges
    }
}

/// The first end of each page.
fn settled(
    work: &Work,
    fence: &Fence,
    pending: &FxHashMap<PageId, Pending>,
) -> Vec<(usize, Pending)> {
    let mut pending = pending.clone();
    let mut settled = Vec::new();
    for (at, settlement) in work.batch.settlements.iter().enumerate() {
        let page = pending.remove(&settlement.page);
        settled.extend(page.filter(|p| fence.lets_pass(p.host)).map(|p| (at, p)));
    }
    settled
}
