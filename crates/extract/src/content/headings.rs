//! Headings that libraries lost: one that stands right above kept text belongs to it.

use super::blocks::{Block, Blocks};
use super::hints;
use super::names;
use super::tree::{NodeId, Tree};

/// Keeps the headings of kept blocks. Not `h1`: the title is metadata, and where it is part of
/// the content the libraries keep it.
pub(crate) fn keep_headings(tree: &Tree<'_>, blocks: &Blocks, kept: &mut [bool]) {
    for at in (0..blocks.list.len().saturating_sub(1)).rev() {
        let (heading, below) = (&blocks.list[at], &blocks.list[at + 1]);
        if !kept[at]
            && kept[at + 1]
            && is_plain_heading(tree, heading)
            && is_above(tree, heading, below)
            && is_section_of(tree, heading.parent, below.parent)
        {
            kept[at] = true;
        }
    }
}

fn is_heading(tree: &Tree<'_>, block: &Block) -> bool {
    names::is_heading(tree.nodes[block.parent].name())
}

fn is_plain_heading(tree: &Tree<'_>, block: &Block) -> bool {
    let node = &tree.nodes[block.parent];
    is_heading(tree, block) && node.name() != "h1" && !hints::is_boilerplate(node)
}

/// Whether a heading is above the block in rank: a text, or a heading of a lower level.
fn is_above(tree: &Tree<'_>, heading: &Block, below: &Block) -> bool {
    let level = |block: &Block| tree.nodes[block.parent].name().to_owned();
    !is_heading(tree, below) || level(heading) < level(below)
}

/// Whether a heading's own parent, or the one around it, holds the text too.
fn is_section_of(tree: &Tree<'_>, heading: NodeId, text: NodeId) -> bool {
    let mut around = tree.ancestors(heading).take(2);
    around.any(|section| tree.below(section).contains(&text)) || tree.ancestors(heading).count() < 2
}
