//! Links to pages that the store has recognised: whoever reads pages need not send it all about them, and
//! everything is as if they did.

use std::{collections::HashMap, num::NonZeroU64};

use super::web::{Crawl, breadth, fetched};
use crate::{
    Store,
    contract::{
        known::{KnownLinks, KnownTarget},
        overview::Overview,
        queue::QueueChange,
        read::PendingUrl,
        write::{CommitReport, NewLink, Settlement},
    },
};

/// Reads pages as an engine does: remembers what a store has recognised.
#[derive(Debug, Default)]
pub struct Reader {
    memory: u64,
    pages: HashMap<NonZeroU64, KnownTarget>,
}

impl Reader {
    /// A page that was read when it was thought to be as deep as `url` says.
    pub fn read(&self, url: &PendingUrl, links: Vec<NewLink>) -> Settlement {
        let mut known = KnownLinks::at(url.depth, self.memory);
        let mut others = Vec::new();
        for mut link in links {
            link.mark = NonZeroU64::new(link.target.key.url);
            let page = link.mark.and_then(|mark| self.pages.get(&mark));
            if let Some(page) = page.filter(|page| page.depth <= url.depth + link.depth_step()) {
                known.push(*page, link.kind, link.rel, link.place, &link.anchor);
            } else {
                known.leave_gap();
                others.push(link);
            }
        }
        Settlement {
            known,
            ..fetched(url.page, others)
        }
    }

    pub fn hear(&mut self, report: &CommitReport) {
        let memory = report.memory.unwrap_or_default();
        if memory != self.memory {
            self.pages.clear();
            self.memory = memory;
        }
        let said = report.recognised.iter();
        self.pages.extend(said.map(|said| (said.mark, said.target)));
    }
}

async fn settle(reader: &mut Reader, crawl: &Crawl<'_>, pages: &[(&str, &[&str])]) -> CommitReport {
    let pending = crawl.pending().await;
    let read = |(name, links): &(&str, &[&str])| {
        let is_meant = |url: &&PendingUrl| url.address.rsplit('/').next() == Some(*name);
        let url = pending.iter().find(is_meant).expect("it is pending");
        reader.read(url, crawl.links(links))
    };
    let settlements = pages.iter().map(read).collect();
    let report = crawl.commit(settlements).await;
    reader.hear(&report);
    report
}

async fn links(crawl: &Crawl<'_>, name: &str) -> Vec<String> {
    let page = crawl.page(name).await;
    let links = crawl.store.links_of(crawl.id, page).await.unwrap();
    let link = |link: &crate::contract::read::StoredLink| link.anchor.clone();
    links.iter().map(link).collect()
}

/// Names of what is pending, in the order of the alphabet.
async fn queue(crawl: &Crawl<'_>) -> Vec<String> {
    let mut names = crawl.queue().await;
    names.sort();
    names
}

pub async fn links_to_recognised_pages_are_recorded_as_others_are(store: &impl Store) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let mut reader = Reader::default();
    settle(&mut reader, &crawl, &[("a", &["b", "c", "d"])]).await;
    let pages: [(&str, &[&str]); 2] = [("b", &["c", "new", "a", "d"]), ("c", &["b", "d"])];
    let report = settle(&mut reader, &crawl, &pages).await;
    assert_eq!((report.edges, report.discovered), (6, 1));
    assert_eq!(
        links(&crawl, "b").await,
        ["to c", "to new", "to a", "to d"],
        "in document order"
    );
    assert_eq!(links(&crawl, "c").await, ["to b", "to d"]);
    assert_eq!(crawl.counts().await.edges, 9);
}

pub async fn a_page_that_came_nearer_brings_its_recognised_links_nearer(store: &impl Store) {
    let crawl = Crawl::begin(store, &["a", "s"], breadth()).await;
    let mut reader = Reader::default();
    settle(&mut reader, &crawl, &[("a", &["b"])]).await;
    settle(&mut reader, &crawl, &[("b", &["c"])]).await;
    settle(&mut reader, &crawl, &[("c", &["d"])]).await;
    settle(&mut reader, &crawl, &[("d", &["e", "f"])]).await;
    settle(&mut reader, &crawl, &[("e", &["f"])]).await;
    assert_eq!(crawl.depth("f").await, 4);
    // It is read as a page at depth 4, and before that is recorded a seed turns out to link to it.
    let pending = crawl.pending().await;
    let f = pending.iter().find(|url| url.address.ends_with("/f"));
    let late = reader.read(f.unwrap(), crawl.links(&["e", "d"]));
    settle(&mut reader, &crawl, &[("s", &["f"])]).await;
    crawl.commit(vec![late]).await;
    assert_eq!(crawl.depth("f").await, 1);
    assert_eq!((crawl.depth("e").await, crawl.depth("d").await), (2, 2));
    assert_eq!(links(&crawl, "f").await, ["to e", "to d"]);
}

pub async fn what_is_cleared_is_found_again_by_those_who_knew_it(store: &(impl Store + Overview)) {
    let crawl = Crawl::begin(store, &["a"], breadth()).await;
    let mut reader = Reader::default();
    settle(&mut reader, &crawl, &[("a", &["b", "c", "d"])]).await;
    let pending = crawl.pending().await;
    let b = pending.iter().find(|url| url.address.ends_with("/b"));
    let late = reader.read(b.unwrap(), crawl.links(&["new", "c", "a"]));
    let seeds = crawl.links(&["b"]);
    let gone = store.change_queue(crawl.id, QueueChange::Clear { host: None });
    assert_eq!(gone.await.unwrap().cleared, 3);
    let batch = crate::contract::write::CommitBatch {
        crawl: crawl.id,
        now: super::web::NOW,
        settlements: Vec::new(),
        hosts: Vec::new(),
        seeds,
    };
    store.commit(batch).await.unwrap();
    reader.hear(&crawl.commit(vec![late]).await);
    assert_eq!(links(&crawl, "b").await, ["to new", "to c", "to a"]);
    assert_eq!(queue(&crawl).await, ["c", "new"]);
    settle(&mut reader, &crawl, &[("c", &["d", "a"])]).await;
    assert_eq!(queue(&crawl).await, ["d", "new"]);
}
