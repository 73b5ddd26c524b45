//! Links to pages that the store has already said it knows: nothing about them has to be looked up, judged
//! or sent about again, so whoever reads a page writes them down as the store will. Knows nothing of tables.
//!
//! What the store said holds as long as its memory does; a number says which memory that was. It also
//! depends on how near the linking page is. Where either has changed, the store looks at each link again.

use std::{num::NonZeroU64, ops::Range};

use trawl_types::{AnchorText, LinkKind, LinkRel, PageId, Place, UrlKey};

use crate::shared::link_text::LinkText;

/// A page as the store knows it: it is in the crawl, at this depth or nearer, and no further link changes
/// what was decided about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownTarget {
    pub key: UrlKey,
    pub page: PageId,
    pub depth: u32,
}

/// What the store says of a link that went into it with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recognised {
    /// See [`NewLink::mark`](super::write::NewLink::mark).
    pub mark: NonZeroU64,
    pub target: KnownTarget,
}

/// The known ones among the links of a page, and where the others stand between them.
#[derive(Debug, Clone, Default)]
pub struct KnownLinks {
    text: LinkText,
    keys: Vec<UrlKey>,
    others: Vec<Gap>,
    depth: u32,
    memory: u64,
}

/// A place in document order.
#[derive(Debug, Clone, Copy, Default)]
struct Gap {
    bytes: usize,
    links: usize,
}

impl KnownLinks {
    /// For a page that is thought to be at `depth`, by what the store had in its `memory`.
    pub fn at(depth: u32, memory: u64) -> Self {
        Self {
            depth,
            memory,
            ..Self::default()
        }
    }

    /// Takes memory for so many links at once.
    pub fn make_room(&mut self, links: usize) {
        self.text.make_room(links);
        self.keys.reserve(links);
    }

    pub fn push(
        &mut self,
        to: KnownTarget,
        kind: LinkKind,
        rel: LinkRel,
        place: Place,
        anchor: &AnchorText,
    ) {
        self.text.push(to.page, kind, rel, place, anchor);
        self.keys.push(to.key);
    }

    /// The next of the page's other links stands here.
    pub fn leave_gap(&mut self) {
        self.others.push(self.end());
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How much memory they hold.
    pub fn bytes(&self) -> usize {
        self.text.bytes() + size_of_val(self.keys.as_slice()) + size_of_val(self.others.as_slice())
    }

    /// Whether what was said is still so, where the page is at `depth` now.
    pub(crate) fn hold(&self, depth: u32, memory: u64) -> bool {
        self.is_empty() || (self.memory == memory && depth >= self.depth)
    }

    /// Copies the links that stand before the other link with this number, or after the last.
    pub(crate) fn copy_before(&self, other: usize, text: &mut LinkText) {
        let (from, to) = self.between(other);
        text.copy(&self.text, from.bytes..to.bytes, to.links - from.links);
    }

    /// Keys of the links that stand there, by their numbers among the known ones.
    pub(crate) fn keys_before(&self, other: usize) -> (Range<usize>, &[UrlKey]) {
        let (from, to) = self.between(other);
        let places = from.links..to.links;
        (places.clone(), self.keys.get(places).unwrap_or_default())
    }

    /// The text of all of them alone, in their order.
    pub(crate) fn text(&self) -> LinkText {
        self.text.clone()
    }

    fn between(&self, other: usize) -> (Gap, Gap) {
        let gap = |at: usize| self.others.get(at).copied().unwrap_or_else(|| self.end());
        let from = match other.checked_sub(1) {
            Some(before) => gap(before),
            None => Gap::default(),
        };
        (from, gap(other))
    }

    fn end(&self) -> Gap {
        Gap {
            bytes: self.text.bytes(),
            links: self.keys.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(page: i64) -> KnownTarget {
        KnownTarget {
            key: UrlKey {
                host: 1,
                url: page as u64,
            },
            page: PageId(page),
            depth: 1,
        }
    }

    fn push(known: &mut KnownLinks, page: i64) {
        let (kind, rel, place) = (LinkKind::Anchor, LinkRel(0), Place::Body);
        known.push(target(page), kind, rel, place, &"x".into());
    }

    /// All links of a page whose others lead to 100, 101, …
    fn whole(known: &KnownLinks, others: usize) -> Vec<i64> {
        let mut text = LinkText::default();
        for other in 0..others {
            known.copy_before(other, &mut text);
            let (kind, rel, place) = (LinkKind::Anchor, LinkRel(0), Place::Body);
            text.push(
                PageId(100 + other as i64),
                kind,
                rel,
                place,
                &"other".into(),
            );
        }
        known.copy_before(others, &mut text);
        let links = crate::shared::link_text::parse::<String>(text.finish()).unwrap();
        assert_eq!(text.links(), links.len() as u64);
        links.into_iter().map(|(to, ..)| to).collect()
    }

    #[test]
    fn links_keep_their_order_whichever_of_them_are_known() {
        let mut known = KnownLinks::at(0, 0);
        assert_eq!(whole(&known, 0), [0; 0]);
        known.leave_gap();
        push(&mut known, 1);
        push(&mut known, 2);
        known.leave_gap();
        known.leave_gap();
        push(&mut known, 3);
        assert_eq!(whole(&known, 3), [100, 1, 2, 101, 102, 3]);
        let (places, keys) = known.keys_before(1);
        assert_eq!((places, keys.len()), (0..2, 2));
        assert_eq!(known.keys_before(3).1, [target(3).key]);
    }

    #[test]
    fn only_known_links_are_written_as_they_are() {
        let mut known = KnownLinks::at(0, 0);
        push(&mut known, 1);
        push(&mut known, 2);
        assert_eq!(whole(&known, 0), [1, 2]);
    }

    #[test]
    fn what_was_said_holds_for_pages_no_nearer_and_the_same_memory() {
        let mut known = KnownLinks::at(3, 7);
        assert!(known.hold(0, 0), "there is nothing to look at again");
        push(&mut known, 1);
        assert!(known.hold(3, 7) && known.hold(4, 7));
        assert!(!known.hold(2, 7) && !known.hold(3, 8));
    }
}
