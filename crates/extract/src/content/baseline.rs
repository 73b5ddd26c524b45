//! The strategy of last resort: everything that does not look like a frame around the content.
//!
//! Linear, without a library, and never empty where there is text.

use super::blocks::{Block, Blocks};
use super::hints;
use super::tree::{NodeId, ROOT, Tree};

/// What the baseline keeps.
#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    pub(crate) kept: Vec<bool>,
    /// Whether the page itself says which element holds its content.
    pub(crate) is_declared: bool,
}

/// The blocks to keep; `links_are_content` on pages whose purpose is to list others.
pub(crate) fn baseline(tree: &Tree<'_>, blocks: &Blocks, links_are_content: bool) -> Baseline {
    let framing = hints::inside(tree, |node| {
        hints::is_boilerplate(node) || hints::is_comments(node)
    });
    let container = container(tree, blocks, &framing);
    let inside = |block: &Block| {
        tree.nodes[container].end > block.nodes.start && block.nodes.start >= container
    };
    let is_link_list = |block: &Block| !links_are_content && block.linked * 5 > block.len() * 4;
    let candidates: [Vec<bool>; 4] = [
        keep(blocks, |block| {
            inside(block) && !framing[block.parent] && !is_link_list(block)
        }),
        keep(blocks, |block| inside(block) && !framing[block.parent]),
        keep(blocks, |block| !framing[block.parent]),
        keep(blocks, |_| true),
    ];
    let enough = blocks.words.len() / 10;
    let good = candidates
        .iter()
        .position(|kept| blocks.kept_words(kept) > enough)
        .unwrap_or(candidates.len() - 1);
    Baseline {
        kept: candidates.into_iter().nth(good).unwrap_or_default(),
        is_declared: container != ROOT && good < 2,
    }
}

fn keep(blocks: &Blocks, test: impl Fn(&Block) -> bool) -> Vec<bool> {
    blocks.list.iter().map(test).collect()
}

/// `<main>`, a single `<article>` or whatever calls itself so, if it holds most of the text.
fn container(tree: &Tree<'_>, blocks: &Blocks, framing: &[bool]) -> NodeId {
    let words_in = |node: NodeId| {
        let own = blocks.list.iter().filter(|block| {
            block.nodes.start >= node
                && block.nodes.start < tree.nodes[node].end
                && !framing[block.parent]
        });
        own.map(Block::len).sum::<usize>()
    };
    let all = words_in(ROOT);
    let is_container = |id: &NodeId| {
        let node = &tree.nodes[*id];
        matches!(node.name(), "main" | "article")
            || node.attribute("role").as_deref() == Some("main")
            || matches!(
                node.attribute("id").as_deref(),
                Some("content" | "main" | "main-content")
            )
    };
    let named = (1..tree.nodes.len()).filter(is_container).take(8);
    let best = named.map(|id| (words_in(id), id)).max();
    best.filter(|&(words, _)| words * 2 >= all)
        .map_or(ROOT, |(_, id)| id)
}
