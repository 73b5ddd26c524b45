//! The links of a page in document order, each address once, bounded in number.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use super::href::{self, MAX_HREF_BYTES};
use super::{PageLink, Rel};
use crate::warning::{Warning, warn_once};
use trawl_types::{AnchorText, LinkKind, Place};

/// Takes links until there are enough distinct ones, and counts the rest.
#[derive(Debug)]
pub(crate) struct LinkCollector<'p> {
    links: Vec<PageLink<'p>>,
    /// Hash of kind and address to index. A page built to make hashes collide loses links of its
    /// own; as many links as are taken bound the time.
    seen: FxHashMap<u64, usize>,
    limit: usize,
    total: u32,
    truncated: bool,
}

impl<'p> LinkCollector<'p> {
    pub(crate) fn new(limit: usize) -> Self {
        LinkCollector {
            links: Vec::with_capacity(limit.min(64)),
            seen: FxHashMap::with_capacity_and_hasher(limit.min(48), FxBuildHasher),
            limit,
            total: 0,
            truncated: false,
        }
    }

    /// Takes a link. Gives its index where its anchor text is wanted: if it is new, or if an
    /// earlier link to the same address had no text.
    pub(crate) fn offer(
        &mut self,
        value: Cow<'p, str>,
        kind: LinkKind,
        rel: Rel,
        place: Place,
        warnings: &mut Vec<Warning>,
    ) -> Option<usize> {
        let href = href::clean(value);
        if !href::is_crawlable(&href) {
            return None;
        }
        self.total = self.total.saturating_add(1);
        if href.len() > MAX_HREF_BYTES {
            warn_once(warnings, Warning::HrefTooLong);
            return None;
        }
        if self.truncated {
            return None;
        }
        let key = key_of(kind, &href);
        if let Some(&index) = self.seen.get(&key) {
            return self.repeat(index, rel);
        }
        if self.links.len() >= self.limit {
            self.truncated = true;
            warn_once(warnings, Warning::LinksTruncated);
            return None;
        }
        let index = self.links.len();
        self.seen.insert(key, index);
        self.links.push(PageLink {
            href,
            anchor: AnchorText::default(),
            rel,
            place,
            kind,
        });
        Some(index)
    }

    /// A second link to the same address: `nofollow` holds only if every link says so.
    fn repeat(&mut self, index: usize, rel: Rel) -> Option<usize> {
        let link = self.links.get_mut(index)?;
        link.rel = link.rel.intersection(rel);
        link.anchor.is_empty().then_some(index)
    }

    pub(crate) fn set_anchor(&mut self, index: usize, anchor: AnchorText) {
        if let Some(link) = self.links.get_mut(index) {
            link.anchor = anchor;
        }
    }

    /// The links, how many there were in all, and whether some were left out.
    pub(crate) fn finish(self) -> (Vec<PageLink<'p>>, u32, bool) {
        (self.links, self.total, self.truncated)
    }
}

/// Addresses that differ in their fragment only lead to the same page.
fn key_of(kind: LinkKind, href: &str) -> u64 {
    let end = memchr::memchr(b'#', href.as_bytes()).unwrap_or(href.len());
    let address = href.get(..end).unwrap_or_default();
    // Keys are fixed: equal pages give equal results.
    let mut hasher = FxHasher::default();
    address.hash(&mut hasher);
    kind.hash(&mut hasher);
    hasher.finish()
}
