//! A page's links as the store takes them: normalised, judged, scored, one for each target.

use std::collections::hash_map::Entry;

use rustc_hash::{FxBuildHasher, FxHashMap};
use trawl_extract::{PageFacts, PageLink, parse_x_robots_tag};
use trawl_fetch::Head;
use trawl_store::contract::{
    known::{KnownLinks, KnownTarget},
    read::StoredLink,
    target::LinkTarget,
    write::NewLink,
};
use trawl_types::{LinkKind, LinkRel};
use url::Position;

use super::{
    memory::{Key, Known, OfOrigin},
    rooted::rooted,
};
use crate::{
    plan::{CrawlPlan, new_link},
    task::PageTask,
};

/// What links have of the page they stand on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parent {
    pub(crate) score: u8,
    pub(crate) depth: u32,
}

impl Parent {
    pub(crate) fn of(task: &PageTask) -> Self {
        Self {
            score: task.score,
            depth: task.depth,
        }
    }

    /// How deep a link of this kind leads.
    pub(crate) fn depth_of(self, kind: LinkKind) -> u32 {
        self.depth.saturating_add(kind.depth_step())
    }
}

/// The links of a page in document order: those that the store must look at, and those to pages that it
/// knows, with the places of the others between them.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) new: Vec<NewLink>,
    pub(crate) known: KnownLinks,
}

/// A page linked twice is taken once; if one of the links may be followed, the page may.
pub(crate) fn links_of(
    plan: &CrawlPlan,
    facts: &PageFacts<'_>,
    head: &Head,
    found: Vec<PageLink<'_>>,
    parent: Parent,
) -> Links {
    let memory = plan.memory().of_origin(&facts.base[..Position::BeforePath]);
    let nofollow = asks_nofollow(plan, facts, head);
    let keys = keys_of(plan, facts, nofollow, &found, &memory);
    let recalled = memory.recall(&keys);
    let mut news = Vec::new();
    let mut seen = FxHashMap::with_capacity_and_hasher(found.len(), FxBuildHasher);
    let mut links = Links::with_room(&recalled, KnownLinks::at(parent.depth, memory.of_store()));
    for ((link, key), recalled) in found.into_iter().zip(keys).zip(recalled) {
        let rel = rel_of(&link, nofollow);
        let depth = parent.depth_of(link.kind);
        let mut target = match recalled {
            Some(Known::Page(page)) if page.depth <= depth => {
                if let Entry::Vacant(at) = seen.entry(page.key) {
                    at.insert(First::Known);
                    links.push_known(page, &link, rel);
                }
                continue;
            }
            Some(Known::To(target)) => target,
            // Not a web address: neither a page nor an edge.
            Some(Known::Nowhere) => continue,
            // Nearer than the store knows: it has to look.
            Some(Known::Page(_)) | None => {
                let base = &facts.base;
                let target = plan.target(base, &link.href, rel, &link.anchor, parent.score);
                let known = || target.clone().map_or(Known::Nowhere, Known::To);
                news.extend(key.map(|key| (key, known())));
                let Some(target) = target else { continue };
                target
            }
        };
        plan.set_depth(&mut target, depth);
        match seen.entry(target.key) {
            Entry::Occupied(at) => links.may_follow(*at.get(), target),
            Entry::Vacant(at) => {
                at.insert(First::New(links.new.len()));
                links.push_new(as_link(target, link, rel, key));
            }
        }
    }
    memory.learn(news);
    links
}

/// Where the first link to a page is.
#[derive(Debug, Clone, Copy)]
enum First {
    New(usize),
    Known,
}

impl Links {
    /// Links that will most likely be as many, and of which as many will be known.
    fn with_room(recalled: &[Option<Known>], mut known: KnownLinks) -> Self {
        let is_known = |link: &&Option<Known>| matches!(link, Some(Known::Page(_)));
        let most = recalled.iter().filter(is_known).count();
        known.make_room(most);
        let new = Vec::with_capacity(recalled.len() - most);
        Self { new, known }
    }

    fn push_known(&mut self, to: KnownTarget, link: &PageLink<'_>, rel: LinkRel) {
        let PageLink { kind, place, .. } = *link;
        self.known.push(to, kind, rel, place, &link.anchor);
    }

    fn push_new(&mut self, link: NewLink) {
        self.known.leave_gap();
        self.new.push(link);
    }

    /// A page that the store knows was decided on, whatever further links say.
    fn may_follow(&mut self, first: First, target: LinkTarget) {
        let First::New(first) = first else { return };
        let first = &mut self.new[first].target;
        if first.verdict.is_err() && target.verdict.is_ok() {
            *first = target;
        }
    }
}

/// Under which key each link may be remembered, if at all.
fn keys_of(
    plan: &CrawlPlan,
    facts: &PageFacts<'_>,
    nofollow: bool,
    found: &[PageLink<'_>],
    memory: &OfOrigin<'_>,
) -> Vec<Option<Key>> {
    let mut buffer = String::new();
    let mut key_of = |link: &PageLink<'_>| {
        let same_everywhere = plan.may_remember(rel_of(link, nofollow));
        let href = same_everywhere.then(|| rooted(&facts.base, &link.href, &mut buffer))??;
        Some(memory.key(href))
    };
    found.iter().map(&mut key_of).collect()
}

fn as_link(target: LinkTarget, link: PageLink<'_>, rel: LinkRel, key: Option<Key>) -> NewLink {
    NewLink {
        target,
        kind: link.kind,
        rel,
        place: link.place,
        anchor: link.anchor,
        chain: Vec::new(),
        mark: key.and_then(Key::mark),
    }
}

/// The links of an earlier visit, judged anew: the rules may have changed, the page has not.
pub(crate) fn known_links(plan: &CrawlPlan, stored: &[StoredLink], parent: Parent) -> Vec<NewLink> {
    let links = stored.iter().filter_map(|link| {
        let url = plan.normaliser().seed(&link.url).ok()?;
        let verdict = plan
            .judge(&url, link.rel)
            .and_then(|()| plan.weigh(&url, &link.anchor, parent.score));
        let (kind, rel, place) = (link.kind, link.rel, link.place);
        let mut link = new_link(&url, verdict, kind, rel, place, &link.anchor);
        plan.set_depth(&mut link.target, parent.depth_of(kind));
        Some(link)
    });
    links.collect()
}

/// Whether a page asks not to be followed, in itself or in its headers.
fn asks_nofollow(plan: &CrawlPlan, facts: &PageFacts<'_>, head: &Head) -> bool {
    let crawler = plan.spec.fetch.user_agent.robots_name();
    let by_header = |tag: &String| parse_x_robots_tag(tag, crawler).nofollow;
    facts.robots.nofollow || facts.robots.none || head.robots_tags.iter().any(by_header)
}

fn rel_of(link: &PageLink<'_>, nofollow: bool) -> LinkRel {
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
    LinkRel(if nofollow {
        LinkRel::NOFOLLOW | own
    } else {
        own
    })
}

#[cfg(test)]
mod tests {
    use trawl_extract::PageLimits;
    use trawl_store::contract::known::Recognised;
    use trawl_types::{CrawlSpec, KeySecret, PageId};
    use url::Url;

    use super::*;

    fn plan() -> CrawlPlan {
        let spec = CrawlSpec {
            seeds: vec!["http://a.example/".into()],
            ..CrawlSpec::default()
        };
        CrawlPlan::compile(spec, KeySecret([1; 16]), 2026).unwrap()
    }

    #[test]
    fn links_keep_the_order_of_the_page_whichever_of_them_are_remembered() {
        let plan = plan();
        let base = Url::parse("http://a.example/").unwrap();
        let addresses = |html: &str| -> Vec<String> {
            let page = trawl_extract::page(html, &base, PageLimits::default());
            let (facts, found) = page.apart();
            let parent = Parent { score: 9, depth: 0 };
            let links = links_of(&plan, &facts, &Head::default(), found, parent);
            let address = |link: &NewLink| link.target.address().to_owned();
            links.new.iter().map(address).collect()
        };
        let of = |names: &[&str]| -> Vec<String> {
            let address = |name: &&str| format!("http://a.example/{name}");
            names.iter().map(address).collect()
        };
        let html = "<a href=/c>1</a><a href='http://['>none</a><a href=/a>2</a>";
        assert_eq!(addresses(html), of(&["c", "a"]));
        let html = "<a href=/x>1</a><a href=/a>2</a><a href='http://['>none</a><a href=/y>3</a>
                    <a href=/z>4</a><a href=c>5</a><a href=/./a>6</a><a href=/last>7</a>";
        let expected = of(&["x", "a", "y", "z", "c", "last"]);
        assert_eq!(addresses(html), expected);
        assert_eq!(addresses(html), expected, "all of them are remembered now");
    }

    #[test]
    fn a_link_that_is_remembered_scores_by_the_depth_it_is_found_at() {
        let plan = plan();
        let base = Url::parse("http://a.example/").unwrap();
        let score = |depth| {
            let html = "<a href=/some/page>x</a>";
            let page = trawl_extract::page(html, &base, PageLimits::default());
            let (facts, found) = page.apart();
            let parent = Parent { score: 9, depth };
            let links = links_of(&plan, &facts, &Head::default(), found, parent);
            *links.new[0].target.verdict.as_ref().unwrap()
        };
        let (shallow, deep) = (score(0), score(7));
        assert!(shallow > deep, "{shallow} and {deep}");
        assert_eq!(score(0), shallow);
    }

    /// What the store would say of some links, all at the same depth.
    fn recognised(links: &[NewLink], depth: u32) -> Vec<Recognised> {
        let said = |(link, page): (&NewLink, i64)| Recognised {
            mark: link.mark.unwrap(),
            target: KnownTarget {
                key: link.target.key,
                page: PageId(page),
                depth,
            },
        };
        links.iter().zip(1..).map(said).collect()
    }

    #[test]
    fn links_to_pages_that_the_store_knows_need_no_look() {
        let plan = plan();
        let base = Url::parse("http://a.example/").unwrap();
        let links = |html: &str, depth| {
            let page = trawl_extract::page(html, &base, PageLimits::default());
            let (facts, found) = page.apart();
            links_of(
                &plan,
                &facts,
                &Head::default(),
                found,
                Parent { score: 9, depth },
            )
        };
        let html = "<a href=/a>1</a><a href='http://['>none</a><a href=/b>2</a>";
        let first = links(html, 4);
        assert_eq!((first.new.len(), first.known.len()), (2, 0));
        plan.memory().recognise(&recognised(&first.new, 5), 0);

        let again = links(html, 4);
        assert_eq!((again.new.len(), again.known.len()), (0, 2));
        let mixed = links("<a href=/a>1</a><a href=/c>3</a><a href=/a>4</a>", 9);
        assert_eq!((mixed.new.len(), mixed.known.len()), (1, 1));

        let nearer = links(html, 3);
        assert_eq!((nearer.new.len(), nearer.known.len()), (2, 0));
        assert_eq!(nearer.new[1].target.address(), "http://a.example/b");
        plan.memory().recognise(&recognised(&nearer.new, 4), 0);
        assert_eq!(links(html, 3).known.len(), 2);

        plan.memory().recognise(&[], 1);
        assert_eq!(links(html, 3).new.len(), 2, "the store has forgotten them");
    }
}
