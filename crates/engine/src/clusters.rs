//! Pages that nearly repeat each other, found in the order in which they are committed. Kept in
//! memory while a crawl runs, and made anew from the store when it goes on.

use rustc_hash::FxHashMap;
use trawl_extract::fingerprint::{Fingerprint, NearIndex};
use trawl_store::{
    Store, StoreError,
    contract::write::{Settlement, VisitEnd},
};
use trawl_types::{CrawlId, PageId, Reason, ReasonCode, Sequence, spec::ContentSpec};

/// First pages of clusters that are remembered, some forty bytes each. Pages beyond are still
/// compared with these.
const MOST_CLUSTERS: usize = 1 << 20;
/// Fingerprints read from the store at once.
const STEP: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Clusters {
    index: NearIndex,
    /// Members of clusters that have more than one, by their first page.
    sizes: FxHashMap<PageId, u32>,
    /// Links of larger clusters are not followed.
    most: Option<u32>,
}

impl Clusters {
    pub(crate) fn new(spec: &ContentSpec) -> Self {
        Self {
            index: NearIndex::new(spec.near_distance),
            sizes: FxHashMap::default(),
            most: spec.stop_at_near_duplicates,
        }
    }

    /// Takes in what a crawl has found before.
    pub(crate) async fn rebuild(
        &mut self,
        store: &dyn Store,
        crawl: CrawlId,
    ) -> Result<(), StoreError> {
        let mut after = Sequence(0);
        loop {
            let prints = store.near_prints(crawl, after, STEP).await?;
            for print in &prints {
                match print.near_duplicate_of {
                    Some(first) => {
                        self.join(first);
                    }
                    None => self.begin(print.page, Fingerprint(print.near)),
                }
                after = print.seq;
            }
            if prints.len() < STEP as usize {
                return Ok(());
            }
        }
    }

    /// Names the page that a settled one nearly repeats. Links of a page in too large a cluster
    /// are refused.
    pub(crate) fn place(&mut self, settlement: &mut Settlement) {
        let page = settlement.page;
        let VisitEnd::Final(visit) = &mut settlement.end else {
            return;
        };
        let Some(digest) = &mut visit.digest else {
            return;
        };
        let Some(print) = digest.near.map(Fingerprint) else {
            return;
        };
        let nearest = self.index.nearest(print);
        let first = nearest.map(|(first, _)| PageId(first.cast_signed()));
        let Some(first) = first.filter(|first| *first != page) else {
            return self.begin(page, print);
        };
        digest.near_duplicate_of = Some(first);
        let size = self.join(first);
        if let Some(most) = self.most.filter(|most| size > *most) {
            refuse_links(settlement, size, most);
        }
    }

    fn begin(&mut self, page: PageId, print: Fingerprint) {
        if self.index.len() < MOST_CLUSTERS {
            self.index.insert(page.0.cast_unsigned(), print);
        }
    }

    /// The size of the cluster with one more member.
    fn join(&mut self, first: PageId) -> u32 {
        let size = self.sizes.entry(first).or_insert(1);
        *size = size.saturating_add(1);
        *size
    }
}

fn refuse_links(settlement: &mut Settlement, size: u32, most: u32) {
    let detail = format!("{size} pages, limit {most}");
    let allowed = |link: &&mut trawl_store::contract::write::NewLink| link.target.verdict.is_ok();
    for link in settlement.links.iter_mut().filter(allowed) {
        let reason = Reason::new(ReasonCode::NearDuplicates, detail.clone());
        link.target.verdict = Err(Box::new(reason));
    }
}

#[cfg(test)]
mod tests {
    use trawl_store::contract::{
        known::KnownLinks,
        target::LinkTarget,
        write::{Digest, NewLink, Visit},
    };
    use trawl_types::{LinkKind, LinkRel, Outcome, OutcomeKind, Place, UnixMillis, UrlKey};

    use super::*;

    fn page(number: i64, near: u64) -> Settlement {
        let outcome = Outcome::new(OutcomeKind::Fetched, Some(200), "");
        let mut visit = Visit::new(outcome, UnixMillis(0));
        visit.digest = Some(Digest {
            near: Some(near),
            ..Digest::default()
        });
        let key = UrlKey { host: 0, url: 0 };
        Settlement {
            page: PageId(number),
            end: VisitEnd::Final(Box::new(visit)),
            links: vec![NewLink {
                target: LinkTarget::new("http://a.test/", "a.test", key, Ok(0)),
                kind: LinkKind::Anchor,
                rel: LinkRel::default(),
                place: Place::Body,
                anchor: "".into(),
                chain: Vec::new(),
                mark: None,
            }],
            known: KnownLinks::default(),
        }
    }

    fn near_of(settlement: &Settlement) -> Option<i64> {
        match &settlement.end {
            VisitEnd::Final(visit) => visit.digest.as_ref()?.near_duplicate_of.map(|page| page.0),
            _ => None,
        }
    }

    #[test]
    fn a_page_is_like_the_first_of_its_cluster_and_a_large_cluster_is_not_followed() {
        let mut clusters = Clusters::new(&ContentSpec {
            near_duplicates: true,
            stop_at_near_duplicates: Some(2),
            ..ContentSpec::default()
        });
        let mut seen = Vec::new();
        for (number, near) in [(1, 0), (2, 1), (3, u64::MAX), (4, 2), (1, 0)] {
            let mut settlement = page(number, near);
            clusters.place(&mut settlement);
            let followed = settlement.links[0].target.verdict.is_ok();
            seen.push((near_of(&settlement), followed));
        }
        let expected = [
            (None, true),
            (Some(1), true),
            (None, true),
            (Some(1), false),
            (None, true),
        ];
        assert_eq!(seen, expected);
    }
}
