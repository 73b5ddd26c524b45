//! Which blocks of a page a text was made of.
//!
//! Libraries give text, or markup that lost its structure. Their result is used to pick blocks of
//! our own tree, so that headings, tables and code survive. A text follows the order of its page,
//! so long blocks that are surely in it say where the short ones between them must be; each place
//! of the text stands for one block only, so that "Share" above an article is not taken for the
//! "share" in it. Knows words only.

use super::blocks::Blocks;
use super::places::{Places, longest_rising};

/// Blocks with at least this many words need not be found whole.
const LONG: usize = 10;
/// How many words in a row count as the same text.
const RUN: usize = 4;
/// Blocks with fewer words are looked for close behind the last one only.
const SHORT: usize = 3;
/// How close.
const NEAR: usize = 40;

/// For each block whether `text` (as words) contains it.
pub(crate) fn contained(blocks: &Blocks, text: &[u32]) -> Vec<bool> {
    let mut alignment = Alignment {
        blocks,
        text,
        taken: vec![false; text.len()],
        kept: vec![false; blocks.list.len()],
    };
    let anchors = alignment.long_blocks();
    alignment.between(&anchors);
    alignment.kept
}

/// A block and where in the text it starts.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    block: usize,
    at: usize,
}

struct Alignment<'a> {
    blocks: &'a Blocks,
    text: &'a [u32],
    taken: Vec<bool>,
    kept: Vec<bool>,
}

impl Alignment<'_> {
    fn words(&self, block: usize) -> &[u32] {
        self.blocks
            .list
            .get(block)
            .map_or(&[], |block| self.blocks.words_of(block))
    }

    fn keep(&mut self, block: usize, at: usize) {
        self.kept[block] = true;
        let end = (at + self.words(block).len()).min(self.text.len());
        self.taken[at..end].fill(true);
    }

    /// Keeps the long blocks; gives those in the order of the text.
    fn long_blocks(&mut self) -> Vec<Anchor> {
        let places = Places::new(self.text, RUN);
        let mut found: Vec<Anchor> = Vec::new();
        for block in 0..self.blocks.list.len() {
            if self.words(block).len() >= LONG
                && let Some(at) = places.mostly_contains(self.words(block), |_| true)
            {
                found.push(Anchor { block, at });
            }
        }
        let starts: Vec<usize> = found.iter().map(|anchor| anchor.at).collect();
        let in_order = longest_rising(&starts);
        let anchors: Vec<Anchor> = in_order
            .iter()
            .filter_map(|&at| found.get(at).copied())
            .collect();
        for anchor in &anchors {
            self.keep(anchor.block, anchor.at);
        }
        // Out of order, but text that no other block accounts for.
        for Anchor { block, .. } in found {
            if !self.kept[block]
                && let Some(at) = places.mostly_contains(self.words(block), |at| !self.taken[at])
            {
                self.keep(block, at);
            }
        }
        anchors
    }

    /// Keeps the blocks whose text stands between that of the anchors around them.
    fn between(&mut self, anchors: &[Anchor]) {
        let places = Places::new(self.text, SHORT);
        let mut anchors = anchors.iter().copied().peekable();
        let mut from = 0;
        for block in 0..self.blocks.list.len() {
            let length = self.words(block).len();
            if let Some(anchor) = anchors.next_if(|anchor| anchor.block == block) {
                from = from.max(anchor.at + length);
                continue;
            }
            if self.kept[block] || length >= LONG {
                continue;
            }
            let to = anchors.peek().map_or(self.text.len(), |anchor| anchor.at);
            if let Some(at) = self.find(&places, block, from, to) {
                self.keep(block, at);
                from = at + length;
            }
        }
    }

    /// Where a short block stands in a part of the text that no other block accounts for.
    fn find(&self, places: &Places<'_>, block: usize, from: usize, to: usize) -> Option<usize> {
        let words = self.words(block);
        let is_free = |at: usize| {
            self.taken
                .get(at..at + words.len())
                .is_some_and(|taken| !taken.contains(&true))
        };
        if words.len() >= SHORT {
            return places.find(words, from, to).find(|&at| is_free(at));
        }
        let to = to.min(from + NEAR);
        let part = self.text.get(from..to)?;
        let at = part.windows(words.len()).position(|run| run == words)?;
        Some(from + at).filter(|&at| is_free(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{blocks, build, words};
    use super::contained;

    fn kept(page: &str, text: &str) -> Vec<bool> {
        let tree = build::build(page, 10_000, false);
        contained(&blocks::blocks(&tree), &words::words(text))
    }

    const LONG_A: &str = "the first paragraph of this page has quite a number of words in it";
    const LONG_B: &str = "another paragraph follows and it also has more words than are short";

    #[test]
    fn short_blocks_count_only_where_the_text_has_them() {
        let page = format!("<p>Share</p><p>{LONG_A}</p><h2>Share</h2><p>{LONG_B}</p><p>Share</p>");
        let text = format!("{LONG_A}\nShare\n{LONG_B}");
        assert_eq!(kept(&page, &text), [false, true, true, true, false]);
    }

    #[test]
    fn a_paragraph_that_lost_some_words_is_still_recognised() {
        let page =
            format!("<p>{LONG_A}<sup>1</sup> and some more words behind it</p><p>{LONG_B}</p>");
        let text = format!("{LONG_A} and some more words behind it");
        assert_eq!(kept(&page, &text), [true, false]);
    }

    #[test]
    fn cells_of_a_table_are_found_one_behind_the_other() {
        let page = "<table><tr><td>Name<td>Size<tr><td>tar<td>42</table><p>Name</p>";
        assert_eq!(
            kept(page, "Name Size tar 42"),
            [true, true, true, true, false]
        );
    }

    #[test]
    fn nothing_is_contained_in_nothing() {
        assert_eq!(kept("<p>a</p>", ""), [false]);
        assert!(kept("", "a").is_empty());
    }
}
