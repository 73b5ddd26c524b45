//! Links that are no HTML: those of Markdown files and feeds, and what sitemaps list.

use rustc_hash::FxHashSet;
use trawl_extract::{document::DocumentLink, sitemap::Sitemap};
use trawl_store::contract::{target::LinkTarget, write::NewLink};
use trawl_types::{LinkKind, LinkRel, Place};
use url::Url;

use super::links::Parent;
use crate::{plan::CrawlPlan, task::PageTask};

/// The links of a document, each page once.
pub(super) fn document_links(
    plan: &CrawlPlan,
    base: &Url,
    found: &[DocumentLink],
    parent: Parent,
) -> Vec<NewLink> {
    let most = plan.spec.scope.max_links_per_page as usize;
    let targets = found.iter().filter_map(|link| {
        let rel = LinkRel::default();
        let mut target = plan.target(base, &link.href, rel, &link.anchor, parent.score)?;
        plan.set_depth(&mut target, parent.depth_of(LinkKind::Anchor));
        Some((target, link.anchor.as_str(), Vec::new()))
    });
    distinct(targets, LinkKind::Anchor).take(most).collect()
}

/// Sitemaps of sitemaps: one level is usual, and the depth of a crawl does not bound them.
const MOST_NESTED: usize = 3;

/// The pages and further sitemaps that a sitemap lists. What it says of their last change is kept
/// as the link's text.
pub(super) fn sitemap_links(
    plan: &CrawlPlan,
    base: &Url,
    sitemap: &Sitemap,
    task: &PageTask,
) -> Vec<NewLink> {
    let mut chain = task.chain.clone();
    chain.push(plan.mark_of(&task.address));
    let nested = chain.len() > MOST_NESTED;
    let children = sitemap.children.iter().filter(|_| !nested);
    let children = children.filter_map(|child| {
        let target = plan.sitemap_target(base, &child.loc)?;
        let lastmod = child.lastmod.as_deref().unwrap_or_default();
        Some((target, lastmod, chain.clone()))
    });
    let pages = sitemap.entries.iter().filter_map(|entry| {
        let mut target = plan.target(base, &entry.loc, LinkRel::default(), "", task.score)?;
        plan.set_depth(&mut target, task.depth);
        let lastmod = entry.lastmod.as_deref().unwrap_or_default();
        Some((target, lastmod, Vec::new()))
    });
    distinct(children.chain(pages), LinkKind::Sitemap).collect()
}

fn distinct<'t>(
    targets: impl Iterator<Item = (LinkTarget, &'t str, Vec<u64>)>,
    kind: LinkKind,
) -> impl Iterator<Item = NewLink> {
    let mut seen = FxHashSet::default();
    targets
        .filter(move |(target, ..)| seen.insert(target.key))
        .map(move |(target, anchor, chain)| NewLink {
            target,
            kind,
            rel: LinkRel::default(),
            place: Place::Body,
            anchor: anchor.into(),
            chain,
            mark: None,
        })
}
