//! A page's links as the store takes them: normalised, judged, scored, one for each target.

use rustc_hash::FxHashMap;
use trawl_extract::{PageFacts, PageLink};
use trawl_store::contract::{read::StoredLink, write::NewLink};
use trawl_types::{LinkRel, UrlKey};

use crate::plan::{CrawlPlan, new_link};

/// Links in document order. A page linked twice is taken once; if one of the links may be
/// followed, the page may.
pub(crate) fn links_of(plan: &CrawlPlan, facts: &PageFacts, parent_score: u8) -> Vec<NewLink> {
    let mut seen: FxHashMap<UrlKey, usize> = FxHashMap::default();
    let mut links: Vec<NewLink> = Vec::with_capacity(facts.links.len());
    for link in &facts.links {
        // Not a web address: neither a page nor an edge.
        let Ok(url) = plan.normaliser().join(&facts.base, &link.href) else {
            continue;
        };
        let rel = rel_of(link, facts);
        let verdict = plan.judge(&url, rel);
        if let Some(at) = seen.get(&url.key()) {
            if links[*at].verdict.is_err() && verdict.is_ok() {
                links[*at].verdict = Ok(plan.score(&url, &link.anchor, parent_score));
            }
            continue;
        }
        let verdict = verdict.map(|()| plan.score(&url, &link.anchor, parent_score));
        seen.insert(url.key(), links.len());
        links.push(new_link(
            &url,
            verdict,
            link.kind,
            rel,
            link.place,
            &link.anchor,
        ));
    }
    links
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
