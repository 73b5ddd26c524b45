//! How full a batch is. Large ones cost less than many small ones, since each writes the inner pages of the
//! same indexes again; but where nothing is left to lease, everybody waits for what a batch admits.

use super::{Item, What};

const MOST_ITEMS: usize = 384;
/// About: what a batch admits comes back all at once.
const MOST_BYTES: usize = 4 << 20;
const MOST_ITEMS_WHILE_HUNGRY: usize = 96;
/// Where most links are new, they are what a batch takes its time for.
const MOST_LINKS_WHILE_HUNGRY: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Fill {
    items: usize,
    links: usize,
    bytes: usize,
}

impl Fill {
    pub(super) fn add(&mut self, item: &Item) {
        self.items += 1;
        self.bytes += item.weight;
        if let What::Page(settlement, _) = &item.what {
            self.links += settlement.links.len();
        }
    }

    pub(super) fn is_full(&self, hungry: bool) -> bool {
        self.missing(hungry) == 0
            || self.bytes >= MOST_BYTES
            || hungry && self.links >= MOST_LINKS_WHILE_HUNGRY
    }

    /// How many more items there may be, whatever they are.
    pub(super) fn missing(&self, hungry: bool) -> usize {
        let most = if hungry {
            MOST_ITEMS_WHILE_HUNGRY
        } else {
            MOST_ITEMS
        };
        most.saturating_sub(self.items)
    }
}

#[cfg(test)]
mod tests {
    use trawl_store::contract::{
        known::KnownLinks,
        target::LinkTarget,
        write::{NewLink, Settlement, VisitEnd},
    };
    use trawl_types::{
        CrawlId, HostId, LinkKind, LinkRel, PageId, Place, Reason, ReasonCode, UrlKey,
    };

    use super::{super::After, *};

    fn page(links: usize, weight: usize) -> Item {
        let key = UrlKey { host: 0, url: 0 };
        let link = NewLink {
            target: LinkTarget::new("http://a.test/", "a.test", key, Ok(0)),
            kind: LinkKind::Anchor,
            rel: LinkRel::default(),
            place: Place::Body,
            anchor: "".into(),
            chain: Vec::new(),
            mark: None,
        };
        let settlement = Settlement {
            page: PageId(1),
            end: VisitEnd::Refused(Reason::from(ReasonCode::HostBudget)),
            links: vec![link; links],
            known: KnownLinks::default(),
        };
        let after = After::LetGo {
            host: HostId(1),
            page: PageId(1),
        };
        Item {
            crawl: CrawlId(1),
            what: What::Page(Box::new(settlement), after),
            weight,
            plan: None,
        }
    }

    /// How many such pages a batch takes.
    fn fits(page: &Item, hungry: bool) -> usize {
        let mut fill = Fill::default();
        while !fill.is_full(hungry) {
            fill.add(page);
        }
        fill.items
    }

    #[test]
    fn batches_are_small_while_everybody_waits_for_urls() {
        assert_eq!(fits(&page(0, 1), false), MOST_ITEMS);
        assert_eq!(fits(&page(30, 1), false), MOST_ITEMS);
        assert_eq!(fits(&page(0, 1), true), MOST_ITEMS_WHILE_HUNGRY);
        assert_eq!(fits(&page(64, 1), true), 4);
        assert_eq!(fits(&page(1000, 1), true), 1, "whatever it holds, one fits");
    }

    #[test]
    fn no_batch_holds_many_megabytes() {
        for hungry in [true, false] {
            assert_eq!(fits(&page(0, MOST_BYTES / 2), hungry), 2);
            assert_eq!(fits(&page(0, MOST_BYTES * 2), hungry), 1);
        }
    }
}
