//! The text of a tree as blocks: runs of text between the edges of block-level elements.
//!
//! A block is the unit that is kept or left out. Knows nothing of strategies.

use std::ops::Range;

use super::names;
use super::tree::{Data, NodeId, ROOT, Tree};
use super::words::each_word;

#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The text nodes of the block are among these.
    pub(crate) nodes: Range<NodeId>,
    /// The nearest block-level element around it.
    pub(crate) parent: NodeId,
    /// Its words, as a range of [`Blocks::words`].
    pub(crate) words: Range<usize>,
    /// How many of them are link text.
    pub(crate) linked: usize,
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) list: Vec<Block>,
    pub(crate) words: Vec<u32>,
}

impl Blocks {
    pub(crate) fn words_of(&self, block: &Block) -> &[u32] {
        self.words.get(block.words.clone()).unwrap_or_default()
    }

    /// How many words the kept blocks have.
    pub(crate) fn kept_words(&self, kept: &[bool]) -> usize {
        let kept = self.list.iter().zip(kept).filter(|(_, kept)| **kept);
        kept.map(|(block, _)| block.len()).sum()
    }
}

/// The blocks of a tree, in document order; blocks without words are left out. The symbols of
/// formulas are not words, unless the page has nothing else.
pub(crate) fn blocks(tree: &Tree<'_>) -> Blocks {
    let blocks = cut(tree, false);
    if blocks.words.is_empty() {
        cut(tree, true)
    } else {
        blocks
    }
}

fn cut(tree: &Tree<'_>, with_formulas: bool) -> Blocks {
    let mut cutter = Cutter::default();
    let mut open: Vec<NodeId> = Vec::new();
    let mut links = 0;
    let mut formula_end = 0;
    for (id, node) in tree.nodes.iter().enumerate() {
        while let Some(&top) = open.last()
            && tree.nodes[top].end <= id
        {
            open.pop();
            match tree.nodes[top].name() {
                "a" => links -= 1,
                name if names::is_block(name) => cutter.cut(id, enclosing(tree, &open)),
                _ => {}
            }
        }
        match &node.data {
            Data::Element { name, .. } => {
                if names::is_block(name) {
                    cutter.cut(
                        id,
                        if names::is_void(name) {
                            enclosing(tree, &open)
                        } else {
                            id
                        },
                    );
                }
                links += usize::from(name == "a");
                if name == "math" {
                    formula_end = formula_end.max(node.end);
                }
                open.push(id);
            }
            Data::Text(_) if id < formula_end && !with_formulas => {}
            Data::Text(text) => cutter.text(text, links > 0),
            Data::Raw(_) => {}
        }
    }
    cutter.cut(tree.nodes.len(), ROOT);
    cutter.blocks
}

fn enclosing(tree: &Tree<'_>, open: &[NodeId]) -> NodeId {
    let nearest = open
        .iter()
        .rev()
        .find(|&&id| names::is_block(tree.nodes[id].name()));
    nearest.copied().unwrap_or(ROOT)
}

#[derive(Default)]
struct Cutter {
    blocks: Blocks,
    from_node: NodeId,
    from_word: usize,
    linked: usize,
    parent: NodeId,
}

impl Cutter {
    fn text(&mut self, text: &str, is_link: bool) {
        let before = self.blocks.words.len();
        each_word(text, |word| self.blocks.words.push(word));
        if is_link {
            self.linked += self.blocks.words.len() - before;
        }
    }

    /// Ends the block before node `at`; what follows is inside `parent`.
    fn cut(&mut self, at: NodeId, parent: NodeId) {
        let words = self.from_word..self.blocks.words.len();
        if !words.is_empty() {
            self.blocks.list.push(Block {
                nodes: self.from_node..at,
                parent: self.parent,
                words,
                linked: self.linked,
            });
        }
        self.from_node = at;
        self.from_word = self.blocks.words.len();
        self.linked = 0;
        self.parent = parent;
    }
}
