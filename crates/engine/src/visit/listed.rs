//! Links that are no HTML: those of Markdown files and feeds, and what sitemaps list.

use rustc_hash::FxHashSet;
use trawl_extract::{document::DocumentLink, sitemap::Sitemap};
use trawl_store::contract::{target::LinkTarget, write::NewLink};
use trawl_types::{LinkKind, LinkRel, Place};
use url::Url;

use crate::plan::CrawlPlan;

/// The links of a document, each page once.
pub(super) fn document_links(
    plan: &CrawlPlan,
    base: &Url,
    found: &[DocumentLink],
    score: u8,
) -> Vec<NewLink> {
    let most = plan.spec.scope.max_links_per_page as usize;
    let targets = found.iter().filter_map(|link| {
        let rel = LinkRel::default();
        let target = plan.target(base, &link.href, rel, &link.anchor, score)?;
        Some((target, link.anchor.as_str()))
    });
    distinct(targets, LinkKind::Anchor).take(most).collect()
}

/// The pages and further sitemaps that a sitemap lists. What it says of their last change is kept
/// as the link's text.
pub(super) fn sitemap_links(
    plan: &CrawlPlan,
    base: &Url,
    sitemap: &Sitemap,
    score: u8,
) -> Vec<NewLink> {
    let children = sitemap.children.iter().filter_map(|child| {
        let target = plan.sitemap_target(base, &child.loc)?;
        Some((target, child.lastmod.as_deref().unwrap_or_default()))
    });
    let pages = sitemap.entries.iter().filter_map(|entry| {
        let target = plan.target(base, &entry.loc, LinkRel::default(), "", score)?;
        Some((target, entry.lastmod.as_deref().unwrap_or_default()))
    });
    distinct(children.chain(pages), LinkKind::Sitemap).collect()
}

fn distinct<'t>(
    targets: impl Iterator<Item = (LinkTarget, &'t str)>,
    kind: LinkKind,
) -> impl Iterator<Item = NewLink> {
    let mut seen = FxHashSet::default();
    targets
        .filter(move |(target, _)| seen.insert(target.key))
        .map(move |(target, anchor)| NewLink {
            target,
            kind,
            rel: LinkRel::default(),
            place: Place::Body,
            anchor: anchor.into(),
            chain: Vec::new(),
        })
}
