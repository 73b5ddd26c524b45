//! Settlements to transactions. Batches form by themselves: while one commit runs, the next fills.
//!
//! * `batch`: what becomes durable together
//! * `fill`: how much that may be
//! * `writing`: the batch that is being written

mod batch;
mod fill;
mod writing;

use std::{sync::Arc, time::Duration};

use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender},
    oneshot,
};
use trawl_frontier::Moment;
use trawl_store::{
    Store, StoreError,
    contract::{
        queue::{Changed, Planted, QueueChange},
        write::{CommitReport, HostUpdate, NewLink, Settlement},
    },
};
use trawl_types::{CrawlId, HostId, PageId, Scheme};

use crate::{appetite::Hunger, clock::Clock, engine::EngineError, plan::CrawlPlan, task::PageTask};
use batch::Batch;
use fill::Fill;
use writing::Writing;

/// How long a small batch waits for company while there is other work to lease.
const PATIENCE: Duration = Duration::from_millis(40);
/// The same where a commit is many round trips to a database that others wait for, too.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_millis(120);

/// One thing to make durable, and what may happen once it is.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) crawl: CrawlId,
    pub(crate) what: What,
    pub(crate) weight: usize,
    /// Where near-duplicates are looked for.
    pub(crate) plan: Option<Arc<CrawlPlan>>,
}

#[derive(Debug)]
pub(crate) enum What {
    Page(Box<Settlement>, After),
    Host(Box<HostUpdate>),
    Robots(Box<HostUpdate>, HostId, Scheme),
    Seeds(Vec<NewLink>),
    /// URLs that somebody adds, who is told what became of each.
    Added(Vec<NewLink>, Reply<Vec<Planted>>),
    /// Done on its own, after everything before it and before everything after it.
    Change(QueueChange, Reply<Changed>),
}

/// Where whoever asked waits for an answer, or for why there is none.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, EngineError>>;

#[derive(Debug)]
pub(crate) enum After {
    LetGo {
        host: HostId,
        page: PageId,
    },
    Requeue {
        task: Box<PageTask>,
        not_before: Moment,
    },
}

/// Which part of a crawl's queue is no longer what it was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reread {
    pub(crate) host: Option<HostId>,
    /// Hosts that were given up are taken up again.
    pub(crate) reopen: bool,
}

/// What a commit tells the dispatcher. Every item is answered for, also those that came to nothing:
/// whoever counts them would wait for ever.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) crawl: CrawlId,
    pub(crate) items: usize,
    pub(crate) weight: usize,
    pub(crate) result: Result<Durable, StoreError>,
}

/// What is durable now.
#[derive(Debug, Default)]
pub(crate) struct Durable {
    /// Nothing if somebody asked in vain, who was told so.
    pub(crate) report: Option<CommitReport>,
    /// The queue was changed: it has to be read anew.
    pub(crate) reread: Option<Reread>,
    pub(crate) afters: Vec<After>,
    pub(crate) robots: Vec<(HostId, Scheme)>,
}

pub(crate) struct Committer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) items: UnboundedReceiver<Item>,
    pub(crate) done: UnboundedSender<Committed>,
    pub(crate) hunger: Arc<Hunger>,
}

impl Committer {
    /// Runs until the dispatcher is gone. What cannot be committed is the end of its crawl and of
    /// nothing else: other crawls may still be written, and so may the next one.
    pub(crate) async fn run(mut self) {
        let mut writing = Writing::default();
        while let Some(first) = self.items.recv().await {
            let batch = self.gather(first, &mut writing).await;
            let mut groups = by_crawl(batch);
            if self.store.is_shared() {
                groups = groups.into_iter().flat_map(hosts_first).collect();
            }
            for (crawl, items) in groups {
                self.take(crawl, items, &mut writing).await;
            }
        }
        writing.end().await;
    }

    /// One batch is made ready while the one before is written; they are written one after the other.
    async fn take(&self, crawl: CrawlId, items: Vec<Item>, writing: &mut Writing) {
        let count = items.len();
        let weight = items.iter().map(|item| item.weight).sum();
        let committed = move |result| Committed {
            crawl,
            items: count,
            weight,
            result,
        };
        match alone(items) {
            Ok((change, reply)) => {
                writing.end().await;
                let done = self.change(crawl, change, reply).await;
                let _ = self.done.send(committed(Ok(done)));
            }
            Err(items) => {
                let batch = Batch::of(crawl, items, self.clock.wall());
                let ready = batch.made_ready(&self.store).await;
                writing.end().await;
                let (store, done) = (Arc::clone(&self.store), self.done.clone());
                writing.begin(async move {
                    let result = match ready {
                        Ok(ready) => ready.written(&store).await,
                        Err(error) => Err(error),
                    };
                    let _ = done.send(committed(result));
                });
            }
        }
    }

    /// Where each batch costs many round trips, the next would wait longer for small ones.
    fn is_hungry(&self) -> bool {
        self.hunger.is_hungry() && !self.store.is_shared()
    }

    fn patience(&self) -> Duration {
        if self.store.is_shared() {
            PATIENCE_WITH_OTHERS
        } else {
            PATIENCE
        }
    }

    /// Batches form by themselves: while one is written, the next fills. One that is full need not wait
    /// to be made ready.
    async fn gather(&mut self, first: Item, writing: &mut Writing) -> Vec<Item> {
        let mut fill = Fill::default();
        fill.add(&first);
        let mut batch = vec![first];
        let mut waited = false;
        while !fill.is_full(self.is_hungry()) {
            let item = match self.items.try_recv() {
                Ok(item) => item,
                Err(_) if writing.is_under_way() => {
                    tokio::select! {
                        biased;
                        Some(item) = self.items.recv() => item,
                        () = writing.end() => continue,
                    }
                }
                Err(_) if waited || self.hunger.is_felt() => break,
                Err(_) => {
                    let missing = fill.missing(self.is_hungry());
                    let enough = || self.items.len() >= missing;
                    self.hunger.wait(self.patience(), enough).await;
                    waited = true;
                    continue;
                }
            };
            fill.add(&item);
            batch.push(item);
        }
        batch
    }

    /// A change that fails is told to whoever asked for it; the crawl goes on without.
    async fn change(&self, crawl: CrawlId, change: QueueChange, reply: Reply<Changed>) -> Durable {
        match self.changed(crawl, change).await {
            Ok((changed, durable)) => {
                let _ = reply.send(Ok(changed));
                durable
            }
            Err(error) => {
                let _ = reply.send(Err(error.into()));
                Durable::default()
            }
        }
    }

    async fn changed(
        &self,
        crawl: CrawlId,
        change: QueueChange,
    ) -> Result<(Changed, Durable), StoreError> {
        let reopen = matches!(&change, QueueChange::Requeue(wanted) if wanted.suspended);
        let named = match &change {
            QueueChange::Requeue(wanted) => wanted.host.is_some(),
            QueueChange::Clear { host } => host.is_some(),
        };
        let changed = self.store.change_queue(crawl, change).await?;
        let counts = self.store.counts(crawl).await?;
        let last_seq = self.store.crawl(crawl).await?.last_seq;
        // A name that nobody knows changes nothing.
        let known = !named || changed.host.is_some();
        let durable = Durable {
            report: Some(CommitReport {
                counts,
                last_seq: (last_seq.0 > 0).then_some(last_seq),
                ..CommitReport::default()
            }),
            reread: known.then_some(Reread {
                host: changed.host,
                reopen,
            }),
            ..Durable::default()
        };
        Ok((changed, durable))
    }
}

/// A batch is one crawl's; order within a crawl is kept, and a change of the queue stands alone.
fn by_crawl(items: Vec<Item>) -> Vec<(CrawlId, Vec<Item>)> {
    let mut groups: Vec<(CrawlId, Vec<Item>)> = Vec::new();
    for item in items {
        let mut last = groups.iter_mut().rev();
        match last.find(|(crawl, _)| *crawl == item.crawl) {
            Some((_, group)) if !is_change(&item) && !group.iter().any(is_change) => {
                group.push(item);
            }
            _ => groups.push((item.crawl, vec![item])),
        }
    }
    groups
}

/// Where those who settle pages wait for each other, what is known of hosts does not wait with them: pages
/// that robots.txt was in the way of are asked for meanwhile.
fn hosts_first((crawl, items): (CrawlId, Vec<Item>)) -> Vec<(CrawlId, Vec<Item>)> {
    if !items
        .iter()
        .any(|item| matches!(item.what, What::Robots(..)))
    {
        return vec![(crawl, items)];
    }
    let is_of_host = |item: &Item| matches!(item.what, What::Robots(..) | What::Host(_));
    let (hosts, rest): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_of_host);
    let groups = [hosts, rest].into_iter();
    let groups = groups.filter(|items| !items.is_empty());
    groups.map(|items| (crawl, items)).collect()
}

fn is_change(item: &Item) -> bool {
    matches!(item.what, What::Change(..))
}

type Change = (QueueChange, Reply<Changed>);

/// A change of the queue, which stands alone in its group; anything else comes back.
fn alone(mut items: Vec<Item>) -> Result<Change, Vec<Item>> {
    match items.pop() {
        Some(Item {
            what: What::Change(change, reply),
            ..
        }) if items.is_empty() => Ok((change, reply)),
        last => {
            items.extend(last);
            Err(items)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(what: What) -> Item {
        Item {
            crawl: CrawlId(1),
            what,
            weight: 1,
            plan: None,
        }
    }

    fn robots() -> Item {
        let update = Box::<HostUpdate>::default();
        item(What::Robots(update, HostId(1), Scheme::Http))
    }

    fn kinds(group: &(CrawlId, Vec<Item>)) -> String {
        let kind = |item: &Item| match item.what {
            What::Robots(..) => 'r',
            What::Host(_) => 'h',
            _ => 'p',
        };
        group.1.iter().map(kind).collect()
    }

    #[test]
    fn robots_txt_does_not_wait_for_pages_and_stays_in_order_with_its_hosts() {
        let host = || item(What::Host(Box::default()));
        let other = || item(What::Seeds(Vec::new()));
        let batch = vec![other(), host(), robots(), other(), host()];
        let groups = hosts_first((CrawlId(1), batch));
        let groups: Vec<String> = groups.iter().map(kinds).collect();
        assert_eq!(groups, ["hrh", "pp"]);
        let without = hosts_first((CrawlId(1), vec![host(), other()]));
        assert_eq!(without.iter().map(kinds).collect::<Vec<_>>(), ["hp"]);
    }
}
