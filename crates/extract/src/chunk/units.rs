//! Blocks to sections, and to the sentences and lines they are made of.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::blocks::{Block, blocks};
use super::title::title;
use super::{ChunkKind, TokenCounter};

/// A token of more bytes than this is no token of any model: a run of characters without a space
/// is cut here whatever the counter says.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// The least that can be moved from one chunk to another: a sentence, a line, or a part of one
/// that is too large. Units follow each other without gaps but for whitespace.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tokens: usize,
    pub(super) kind: ChunkKind,
    /// The number of the block it belongs to.
    pub(super) block: usize,
    pub(super) is_heading: bool,
}

/// What stands under one heading.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) path: Vec<String>,
    pub(super) units: Range<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) units: Vec<Unit>,
    pub(super) sections: Vec<Section>,
}

/// Reads a document into sections of units, none with more than `max` tokens.
pub(super) fn read(text: &str, max: usize, tokens: &dyn TokenCounter) -> Document {
    let mut cutter = Cutter {
        text,
        max,
        tokens,
        units: Vec::new(),
    };
    let mut sections: Vec<Section> = Vec::new();
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut begun = 0;
    let mut bare_heading = false;
    for (number, block) in blocks(text).iter().enumerate() {
        if let Some(level) = block.heading {
            let goes_deeper = path.last().is_some_and(|(above, _)| *above < level);
            // A heading with nothing under it but a deeper one belongs to what that holds.
            if !(bare_heading && goes_deeper) {
                close(&mut sections, &path, begun..cutter.units.len());
                begun = cutter.units.len();
            }
            path.retain(|(above, _)| *above < level);
            path.push((level, title(&text[block.range.clone()])));
        }
        bare_heading = block.heading.is_some();
        cutter.block(block, number);
    }
    close(&mut sections, &path, begun..cutter.units.len());
    Document {
        units: cutter.units,
        sections,
    }
}

fn close(sections: &mut Vec<Section>, path: &[(u8, String)], units: Range<usize>) {
    if !units.is_empty() {
        let titles = path.iter().map(|(_, title)| title.clone());
        sections.push(Section {
            path: titles.filter(|title| !title.is_empty()).collect(),
            units,
        });
    }
}

struct Cutter<'t> {
    text: &'t str,
    max: usize,
    tokens: &'t dyn TokenCounter,
    units: Vec<Unit>,
}

impl Cutter<'_> {
    fn block(&mut self, block: &Block, number: usize) {
        let text = &self.text[block.range.clone()];
        let unit = Unit {
            start: 0,
            end: 0,
            tokens: 0,
            kind: block.kind,
            block: number,
            is_heading: block.heading.is_some(),
        };
        if block.heading.is_some() {
            self.unit(block.range.clone(), &unit, Cut::Sentences);
        } else if block.kind == ChunkKind::Prose {
            for (at, sentence) in text.split_sentence_bound_indices() {
                let start = block.range.start + at;
                self.unit(start..start + sentence.len(), &unit, Cut::Words);
            }
        } else {
            let finer = if block.kind == ChunkKind::List {
                Cut::Sentences
            } else {
                Cut::Words
            };
            let mut start = block.range.start;
            for line in text.split_inclusive('\n') {
                self.unit(start..start + line.len(), &unit, finer);
                start += line.len();
            }
        }
    }

    /// Adds a unit, or cuts it further if it is too large.
    fn unit(&mut self, range: Range<usize>, like: &Unit, finer: Cut) {
        let text = &self.text[range.clone()];
        if text.trim().is_empty() {
            return;
        }
        let tokens = self.tokens.count(text);
        if tokens <= self.max && text.len() <= self.most_bytes() {
            self.units.push(Unit {
                start: range.start,
                end: range.end,
                tokens,
                ..like.clone()
            });
            return;
        }
        match finer {
            Cut::Sentences => {
                for (at, sentence) in text.split_sentence_bound_indices() {
                    let start = range.start + at;
                    self.unit(start..start + sentence.len(), like, Cut::Words);
                }
            }
            Cut::Words => self.words(range, like),
        }
    }

    fn most_bytes(&self) -> usize {
        self.max.saturating_mul(MAX_BYTES_PER_TOKEN)
    }

    /// Packs words until there are too many tokens; a word that is too large is cut itself.
    fn words(&mut self, range: Range<usize>, like: &Unit) {
        let mut from = range.start;
        let mut at = range.start;
        let mut total = 0;
        let text = self.text;
        for word in text[range.clone()].split_inclusive(char::is_whitespace) {
            let tokens = self.tokens.count(word);
            let too_many = total + tokens > self.max || at + word.len() - from > self.most_bytes();
            if too_many && from < at {
                self.push(from..at, like);
                from = at;
                total = 0;
            }
            at += word.len();
            total += tokens;
            if total > self.max || at - from > self.most_bytes() {
                from = self.characters(from..at, like);
                total = 0;
                at = at.max(from);
            }
        }
        self.push(from..range.end, like);
    }

    fn push(&mut self, range: Range<usize>, like: &Unit) {
        let text = &self.text[range.clone()];
        if text.trim().is_empty() {
            return;
        }
        let tokens = self.tokens.count(text);
        if tokens > self.max && text.chars().nth(1).is_some() {
            // The whole has more tokens than its words.
            self.characters(range, like);
            return;
        }
        self.units.push(Unit {
            start: range.start,
            end: range.end,
            tokens,
            ..like.clone()
        });
    }

    /// Cuts a run without spaces between characters; gives where it ends.
    fn characters(&mut self, range: Range<usize>, like: &Unit) -> usize {
        let mut from = range.start;
        let mut guess = self.most_bytes();
        while from < range.end {
            let rest = &self.text[from..range.end];
            let mut length = rest.floor_char_boundary(guess.min(rest.len()));
            while length > 0 && self.tokens.count(&rest[..length]) > self.max {
                length = rest.floor_char_boundary(length / 2);
            }
            if length == 0 {
                // Not even one character fits: it is cut off anyway.
                length = rest.chars().next().map_or(rest.len(), char::len_utf8);
            }
            self.push(from..from + length, like);
            from += length;
            // What follows is mostly like what came.
            guess = (length * 2).min(self.most_bytes());
        }
        range.end
    }
}

/// What a unit that is too large is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Sentences,
    Words,
}
