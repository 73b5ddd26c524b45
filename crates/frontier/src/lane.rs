//! The waiting URLs of one crawl on one host. Bounded: what does not fit stays in the store and is
//! asked for again when the lane runs low.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashSet;
use trawl_types::{HostId, PageId, ReasonCode, Scheme};

use crate::Moment;

/// A URL in the queue, with whatever the engine needs to visit it.
#[derive(Debug)]
pub struct Queued<T> {
    pub page: PageId,
    /// The host that holds the page, whichever one is asked next for it.
    pub home: HostId,
    pub scheme: Scheme,
    /// Lower comes first.
    pub rank: i64,
    pub not_before: Moment,
    /// Asked for before, in vain.
    pub tried: bool,
    pub task: T,
}

/// What a lane could do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// A URL of this rank and scheme may go now.
    Ready(i64, Scheme),
    /// Nothing before this instant.
    At(Moment),
    Empty,
}

/// What earlier processes used up of a host's budgets in a crawl.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used {
    pub pages: u64,
    pub requests: u64,
}

#[derive(Debug)]
pub(crate) struct Lane<T> {
    /// By rank, then by age.
    waiting: BTreeMap<(i64, PageId), Queued<T>>,
    delayed: BTreeMap<(Moment, PageId), Queued<T>>,
    /// Next steps of visits that have begun: a redirect to the same page, GET after HEAD.
    continued: VecDeque<Queued<T>>,
    /// Everything this process has in hand: queued here, leased, or settled and not yet committed.
    held: FxHashSet<PageId>,
    /// Let go while a refill was under way, whose snapshot may still show them as pending.
    let_go: FxHashSet<PageId>,
    more_in_store: bool,
    /// The best rank that is known to wait in the store alone: nothing worse may overtake it.
    left_behind: Option<i64>,
    asked: bool,
    /// The refill under way was asked for before the store changed.
    outdated: bool,
    /// The best rank that was left in the store while a refill was under way.
    missed: Option<i64>,
    capacity: usize,
    pub(crate) pages: u64,
    /// Made for pages in this run, those under way included.
    pub(crate) requests: u64,
    pub(crate) closed: Option<ReasonCode>,
    /// Counted in its crawl's number of lanes with work.
    pub(crate) counted_busy: bool,
    pub(crate) listed_rank: Option<(i64, u64)>,
}

impl<T> Lane<T> {
    pub(crate) fn new(capacity: usize, used: Used, more_in_store: bool) -> Self {
        Self {
            waiting: BTreeMap::new(),
            delayed: BTreeMap::new(),
            continued: VecDeque::new(),
            held: FxHashSet::default(),
            let_go: FxHashSet::default(),
            more_in_store,
            left_behind: None,
            asked: false,
            outdated: false,
            missed: None,
            capacity,
            pages: used.pages,
            requests: used.requests,
            closed: None,
            counted_busy: false,
            listed_rank: None,
        }
    }

    /// Takes a URL unless it is in hand already, or better ones fill the lane or wait in the store.
    pub(crate) fn offer(&mut self, item: Queued<T>, now: Moment) {
        if self.closed.is_some() || self.held.contains(&item.page) {
            return;
        }
        if self.left_behind.is_some_and(|best| item.rank > best) {
            return self.leave(item.rank);
        }
        self.held.insert(item.page);
        if item.not_before > now {
            self.delayed.insert((item.not_before, item.page), item);
        } else {
            self.waiting.insert((item.rank, item.page), item);
        }
        self.shed();
    }

    /// Lets the worst go while there are too many.
    fn shed(&mut self) {
        while self.waiting.len() + self.delayed.len() > self.capacity {
            let shed = match self.delayed.pop_last() {
                Some((_, item)) => item,
                None => match self.waiting.pop_last() {
                    Some((_, item)) => item,
                    None => return,
                },
            };
            self.held.remove(&shed.page);
            self.leave(shed.rank);
        }
    }

    /// A URL of this rank waits in the store alone.
    fn leave(&mut self, rank: i64) {
        self.more_in_store = true;
        self.left_behind = better(self.left_behind, Some(rank));
        if self.asked {
            self.missed = better(self.missed, Some(rank));
        }
    }

    pub(crate) fn carry_on(&mut self, item: Queued<T>) {
        self.continued.push_back(item);
    }

    /// A page whose end is committed.
    pub(crate) fn let_go(&mut self, page: PageId) {
        self.held.remove(&page);
        if self.asked {
            self.let_go.insert(page);
        }
    }

    pub(crate) fn head(&mut self, now: Moment) -> Head {
        if let Some(item) = self.continued.front() {
            return Head::Ready(i64::MIN, item.scheme);
        }
        if self.closed.is_some() {
            return Head::Empty;
        }
        self.wake_delayed(now);
        match self.waiting.first_key_value() {
            Some((_, item)) => Head::Ready(item.rank, item.scheme),
            None => match self.delayed.first_key_value() {
                Some(((moment, _), _)) => Head::At(*moment),
                None => Head::Empty,
            },
        }
    }

    fn wake_delayed(&mut self, now: Moment) {
        while let Some(entry) = self.delayed.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let item = entry.remove();
            self.waiting.insert((item.rank, item.page), item);
        }
    }

    pub(crate) fn take(&mut self) -> Option<Queued<T>> {
        self.continued
            .pop_front()
            .or_else(|| self.waiting.pop_first().map(|(_, item)| item))
    }

    /// Takes a URL that tells whether the host is well. Those that failed before may be what is broken,
    /// not the host.
    pub(crate) fn take_probe(&mut self, scheme: Scheme) -> Option<Queued<T>> {
        if self.continued.is_empty() {
            let suits = |item: &Queued<T>| item.scheme == scheme && !item.tried;
            let found = self.waiting.iter().find(|(_, item)| suits(item));
            if let Some(key) = found.map(|(key, _)| *key) {
                return self.waiting.remove(&key);
            }
        }
        self.take()
    }

    /// How many URLs to ask the store for, if the lane runs low: enough to fill it even if all
    /// that are in hand come back as well.
    pub(crate) fn wants_refill(&mut self) -> Option<usize> {
        let low = self.waiting.len() <= self.capacity / 4;
        if !low || !self.more_in_store || self.asked || self.closed.is_some() {
            return None;
        }
        self.asked = true;
        self.missed = None;
        Some(self.held.len() + self.capacity)
    }

    pub(crate) fn refill(&mut self, items: Vec<Queued<T>>, exhausted: bool, now: Moment) {
        self.asked = false;
        if std::mem::take(&mut self.outdated) {
            self.let_go.clear();
            return;
        }
        self.more_in_store = !exhausted || self.missed.is_some();
        // What the store did not send is no better than the last it did.
        let unsent = items.last().filter(|_| !exhausted).map(|item| item.rank);
        self.left_behind = better(self.missed, unsent);
        let let_go = std::mem::take(&mut self.let_go);
        for item in items {
            if !let_go.contains(&item.page) {
                self.offer(item, now);
            }
        }
    }

    pub(crate) fn close(&mut self, why: ReasonCode) {
        self.closed = Some(why);
        self.forget_queue();
    }

    /// True if the host was given up: not even a visit that has begun goes on.
    pub(crate) fn is_suspended(&self) -> bool {
        self.closed == Some(ReasonCode::HostSuspended)
    }

    /// Next steps of visits that will not be taken.
    pub(crate) fn drop_continued(&mut self) -> VecDeque<Queued<T>> {
        std::mem::take(&mut self.continued)
    }

    /// What waits here is no longer what waits in the store: all of it is asked for anew. What is
    /// leased stays in hand.
    pub(crate) fn reread(&mut self) {
        self.forget_queue();
        self.left_behind = None;
        self.missed = None;
        self.more_in_store = true;
        self.outdated = self.asked;
    }

    fn forget_queue(&mut self) {
        for page in self
            .waiting
            .values()
            .chain(self.delayed.values())
            .map(|item| item.page)
        {
            self.held.remove(&page);
        }
        self.waiting.clear();
        self.delayed.clear();
    }

    /// True while anything of this lane is unfinished.
    pub(crate) fn is_busy(&self) -> bool {
        !self.held.is_empty()
            || !self.continued.is_empty()
            || self.asked
            || (self.more_in_store && self.closed.is_none())
    }

    /// Pages of this lane whose visit has begun and is not committed, on whatever host it goes on.
    pub(crate) fn begun(&self) -> usize {
        let queued = self.waiting.len() + self.delayed.len();
        self.held.len().saturating_sub(queued)
    }

    /// True if no visit has begun, no commit is awaited and the store is not being asked.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.begun() == 0 && self.continued.is_empty() && !self.asked
    }

    pub(crate) fn queued(&self) -> usize {
        self.waiting.len() + self.delayed.len() + self.continued.len()
    }
}

/// The better of two ranks, where there are any: the lower.
fn better(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(page: i64, rank: i64) -> Queued<()> {
        let page = PageId(page);
        Queued {
            page,
            home: HostId(1),
            scheme: Scheme::Http,
            rank,
            not_before: Moment::START,
            tried: false,
            task: (),
        }
    }

    fn pages(lane: &mut Lane<()>) -> Vec<i64> {
        std::iter::from_fn(|| lane.take())
            .map(|item| item.page.0)
            .collect()
    }

    #[test]
    fn a_probe_is_the_best_that_has_not_failed_or_else_the_best() {
        let mut lane = Lane::new(10, Used::default(), false);
        for (page, tried, scheme) in [
            (1, true, Scheme::Http),
            (2, false, Scheme::Https),
            (3, false, Scheme::Http),
            (4, false, Scheme::Http),
        ] {
            let item = Queued {
                scheme,
                tried,
                ..item(page, page)
            };
            lane.offer(item, Moment::START);
        }
        let probes = std::iter::from_fn(|| lane.take_probe(Scheme::Http));
        let probes: Vec<i64> = probes.map(|item| item.page.0).collect();
        assert_eq!(probes, [3, 4, 1, 2]);
    }

    #[test]
    fn urls_leave_by_rank_and_then_by_age() {
        let mut lane = Lane::new(10, Used::default(), false);
        for (page, rank) in [(1, 5), (2, 1), (3, 5), (4, 0)] {
            lane.offer(item(page, rank), Moment::START);
        }
        assert_eq!(pages(&mut lane), [4, 2, 1, 3]);
    }

    #[test]
    fn a_full_lane_keeps_the_best_and_leaves_the_rest_in_the_store() {
        let mut lane = Lane::new(2, Used::default(), false);
        for page in [1, 2, 3] {
            lane.offer(item(page, -page), Moment::START);
        }
        assert_eq!(pages(&mut lane), [3, 2]);
        assert_eq!(lane.wants_refill(), Some(4));
    }

    #[test]
    fn a_refill_brings_back_neither_what_is_in_hand_nor_what_was_finished_meanwhile() {
        let mut lane = Lane::new(8, Used::default(), true);
        lane.offer(item(1, 0), Moment::START);
        lane.offer(item(2, 0), Moment::START);
        assert!(lane.wants_refill().is_some());
        assert_eq!(pages(&mut lane), [1, 2]);
        lane.let_go(PageId(1));
        lane.refill(
            vec![item(1, 0), item(2, 0), item(3, 0)],
            true,
            Moment::START,
        );
        assert_eq!(pages(&mut lane), [3]);
    }

    #[test]
    fn what_did_not_fit_during_a_refill_is_not_forgotten() {
        let mut lane = Lane::new(1, Used::default(), true);
        assert!(lane.wants_refill().is_some());
        lane.offer(item(1, 0), Moment::START);
        lane.offer(item(2, 1), Moment::START);
        lane.refill(Vec::new(), true, Moment::START);
        assert_eq!(pages(&mut lane), [1]);
        assert!(lane.wants_refill().is_some(), "page 2 waits in the store");
    }

    #[test]
    fn nothing_overtakes_a_better_url_that_waits_in_the_store() {
        let mut lane = Lane::new(2, Used::default(), false);
        for (page, rank) in [(1, 1), (2, 1), (3, 1)] {
            lane.offer(item(page, rank), Moment::START);
        }
        assert_eq!(pages(&mut lane), [1, 2]);
        lane.offer(item(4, 2), Moment::START);
        lane.offer(item(5, 0), Moment::START);
        assert_eq!(pages(&mut lane), [5], "page 3 comes before page 4");
        assert!(lane.wants_refill().is_some());
        lane.refill(vec![item(3, 1), item(4, 2)], true, Moment::START);
        lane.offer(item(6, 1), Moment::START);
        assert_eq!(pages(&mut lane), [3, 6]);
        assert!(lane.wants_refill().is_some(), "page 4 had to make room");
    }

    #[test]
    fn a_delayed_url_waits_for_its_time() {
        let mut lane = Lane::new(4, Used::default(), false);
        let later = Queued {
            not_before: Moment::from_millis(50),
            ..item(1, 0)
        };
        lane.offer(later, Moment::START);
        assert_eq!(
            lane.head(Moment::from_millis(49)),
            Head::At(Moment::from_millis(50))
        );
        assert_eq!(
            lane.head(Moment::from_millis(50)),
            Head::Ready(0, Scheme::Http)
        );
    }
}
