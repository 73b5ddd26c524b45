//! A page's links as the store takes them: normalised, judged, scored, one for each target.

use std::collections::hash_map::Entry;

use rustc_hash::{FxBuildHasher, FxHashMap};
use trawl_extract::{PageFacts, PageLink};
use trawl_store::contract::{read::StoredLink, target::LinkTarget, write::NewLink};
use trawl_types::LinkRel;
use url::Position;

use super::{
    memory::{Key, OfOrigin},
    rooted::rooted,
};
use crate::plan::{CrawlPlan, new_link};

/// Links in document order. A page linked twice is taken once; if one of the links may be
/// followed, the page may.
pub(crate) fn links_of(
    plan: &CrawlPlan,
    facts: &PageFacts,
    found: Vec<PageLink>,
    parent_score: u8,
) -> Vec<NewLink> {
    let memory = plan.memory().of_origin(&facts.base[..Position::BeforePath]);
    let keys = keys_of(plan, facts, &found, &memory);
    let recalled = memory.recall(&keys);
    let mut news = Vec::new();
    let mut seen = FxHashMap::with_capacity_and_hasher(found.len(), FxBuildHasher);
    let mut links: Vec<NewLink> = Vec::with_capacity(found.len());
    for ((link, key), recalled) in found.into_iter().zip(keys).zip(recalled) {
        let rel = rel_of(&link, facts);
        let target = recalled.unwrap_or_else(|| {
            let base = &facts.base;
            let target = plan.target(base, &link.href, rel, &link.anchor, parent_score);
            news.extend(key.map(|key| (key, target.clone())));
            target
        });
        // Not a web address: neither a page nor an edge.
        let Some(target) = target else { continue };
        match seen.entry(target.key) {
            Entry::Occupied(at) => {
                let first: &mut NewLink = &mut links[*at.get()];
                if first.target.verdict.is_err() && target.verdict.is_ok() {
                    first.target = target;
                }
            }
            Entry::Vacant(at) => {
                at.insert(links.len());
                links.push(as_link(target, link, rel));
            }
        }
    }
    memory.learn(news);
    links
}

/// Under which key each link may be remembered, if at all.
fn keys_of(
    plan: &CrawlPlan,
    facts: &PageFacts,
    found: &[PageLink],
    memory: &OfOrigin<'_>,
) -> Vec<Option<Key>> {
    let mut buffer = String::new();
    let mut key_of = |link: &PageLink| {
        let same_everywhere = plan.may_remember(rel_of(link, facts));
        let href = same_everywhere.then(|| rooted(&facts.base, &link.href, &mut buffer))??;
        Some(memory.key(href))
    };
    found.iter().map(&mut key_of).collect()
}

fn as_link(target: LinkTarget, link: PageLink, rel: LinkRel) -> NewLink {
    NewLink {
        target,
        kind: link.kind,
        rel,
        place: link.place,
        anchor: link.anchor,
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
            .and_then(|()| plan.weigh(&url, &link.anchor, score));
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
