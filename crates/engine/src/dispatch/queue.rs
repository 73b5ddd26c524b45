//! URLs that people add, and changes of the queue that they ask for. Both go the way of everything
//! that has to be durable: through the committer, in order, so that nothing that was committed
//! before a change is taken for something that came after it.

use trawl_store::contract::{queue::Planted, write::NewLink};
use trawl_types::CrawlId;

use super::Dispatcher;
use crate::commit::{Reply, Reread, What};

impl Dispatcher {
    /// Who waits for an answer is told when it is durable; of a crawl that does not run, never.
    pub(crate) fn add(&mut self, crawl: CrawlId, links: Vec<NewLink>, reply: Reply<Vec<Planted>>) {
        let weight = 256 * links.len();
        self.commit(crawl, What::Added(links, reply), weight);
    }

    /// What memory holds of the queue is no longer what the store holds.
    pub(crate) fn reread(&mut self, crawl: CrawlId, what: Reread) {
        let now = self.clock.now();
        self.frontier.reread(crawl, what.host, what.reopen, now);
        if what.reopen
            && let Some(host) = what.host
        {
            self.frontier.forgive(host, now);
        }
        if let Some(running) = self.crawls.get_mut(&crawl) {
            running.scan.ask_for();
        }
    }
}
