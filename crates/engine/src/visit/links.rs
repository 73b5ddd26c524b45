//! A page's links as the store takes them: normalised, judged, scored, one for each target.

use std::{collections::hash_map::Entry, sync::Arc};

use rustc_hash::{FxBuildHasher, FxHashMap};
use trawl_extract::{PageFacts, PageLink};
use trawl_store::contract::{read::StoredLink, write::NewLink};
use trawl_types::LinkRel;
use url::Position;

use super::memory::Target;
use crate::plan::{CrawlPlan, new_link};

/// Links in document order. A page linked twice is taken once; if one of the links may be
/// followed, the page may.
pub(crate) fn links_of(plan: &CrawlPlan, facts: &PageFacts, parent_score: u8) -> Vec<NewLink> {
    let origin = &facts.base[..Position::BeforePath];
    let mut seen = FxHashMap::with_capacity_and_hasher(facts.links.len(), FxBuildHasher);
    let mut links: Vec<NewLink> = Vec::with_capacity(facts.links.len());
    for link in &facts.links {
        let rel = rel_of(link, facts);
        let find = || plan.target(&facts.base, &link.href, rel, &link.anchor, parent_score);
        let target = if plan.may_remember(&link.href, rel) {
            plan.memory().target(origin, &link.href, find)
        } else {
            find()
        };
        // Not a web address: neither a page nor an edge.
        let Some(target) = target else { continue };
        match seen.entry(target.key) {
            Entry::Occupied(at) => {
                let first: &mut NewLink = &mut links[*at.get()];
                if first.verdict.is_err() && target.verdict.is_ok() {
                    first.verdict.clone_from(&target.verdict);
                }
            }
            Entry::Vacant(at) => {
                at.insert(links.len());
                links.push(as_link(&target, link, rel));
            }
        }
    }
    links
}

fn as_link(target: &Target, link: &PageLink, rel: LinkRel) -> NewLink {
    NewLink {
        address: Arc::clone(&target.address),
        key: target.key,
        host: Arc::clone(&target.host),
        verdict: target.verdict.clone(),
        kind: link.kind,
        rel,
        place: link.place,
        anchor: link.anchor.clone(),
        chain: Vec::new(),
    }
}

/// The links of an earlier visit, judged anew: the rules may have changed, the page has not. Only
/// those that the page had when it was last read.
pub(crate) fn known_links(plan: &CrawlPlan, stored: &[StoredLink], score: u8) -> Vec<NewLink> {
    let last = stored.iter().map(|link| link.last_crawl).max();
    let current = stored.iter().filter(|link| Some(link.last_crawl) == last);
    let links = current.filter_map(|link| {
        let url = plan.normaliser().seed(&link.url).ok()?;
        let verdict = plan
            .judge(&url, link.rel)
            .map(|()| plan.score(&url, &link.anchor, score));
        Some(new_link(
            &url,
            verdict,
            link.kind,
            link.rel,
            link.place,
            &link.anchor,
        ))
    });
    links.collect()
}

fn rel_of(link: &PageLink, facts: &PageFacts) -> LinkRel {
    use trawl_extract::Rel;
    let bits = [
        (Rel::NOFOLLOW, LinkRel::NOFOLLOW),
        (Rel::UGC, LinkRel::UGC),
        (Rel::SPONSORED, LinkRel::SPONSORED),
    ];
    let own = bits
        .iter()
        .filter(|(rel, _)| link.rel.contains(*rel))
        .map(|(_, bit)| bit)
        .sum();
    // A page that asks not to be followed asks so for each of its links.
    LinkRel(if facts.robots.nofollow || facts.robots.none {
        LinkRel::NOFOLLOW | own
    } else {
        own
    })
}
