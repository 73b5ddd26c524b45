//! The main content of a page: what a reader came for, without what frames it.
//!
//! Libraries find the text, our own tree keeps its structure: the page is read into a small tree
//! (`build`, `tree`) and cut into blocks of text (`blocks`); what is left of its markup (`lean`)
//! goes to the library that is best at this kind of page (`kind`, `libraries`); the blocks that
//! its result consists of (`align`) are written as sanitised HTML (`output`). Where the libraries
//! find little, everything that does not look like a frame is kept (`baseline`).
//!
//! Never fails, never comes out empty where there is text. Knows nothing of Markdown or metadata.

mod align;
mod attributes;
mod baseline;
mod blocks;
mod build;
mod choose;
mod escape;
mod headings;
mod hints;
mod kind;
mod lean;
mod libraries;
mod names;
mod output;
mod places;
mod tree;
mod words;

use url::Url;

use crate::Warning;
use crate::warning::warn_once;

pub use choose::Strategy;
pub use kind::PageKind;

/// Bounds on the work for one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLimits {
    /// What stands behind this many bytes of the page is not read.
    pub max_input_bytes: usize,
    /// Nodes of the tree; what stands behind is not read.
    pub max_nodes: usize,
    /// Pages with more markup than this are left to the baseline, which is linear.
    pub max_library_bytes: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        ContentLimits {
            max_input_bytes: 10 << 20,
            max_nodes: 400_000,
            max_library_bytes: 1 << 20,
        }
    }
}

/// The main content of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct MainContent {
    /// Well-formed, sanitised HTML with absolute addresses.
    pub html: String,
    /// The length of its text in bytes, white space at block edges not counted.
    pub text_len: usize,
    /// What kind of page it seems to be.
    pub kind: PageKind,
    /// Which strategy found the content.
    pub strategy: Strategy,
    /// How far the result can be trusted, from 0 to 1.
    pub quality: f32,
    /// What went not quite right.
    pub warnings: Vec<Warning>,
}

/// Below this many words a page is read again with what browsers hide.
const FEW_WORDS: usize = 25;

/// Finds the main content of a page that lies at `base`.
pub fn main_content(html: &str, base: Option<&Url>, limits: &ContentLimits) -> MainContent {
    let mut warnings = Vec::new();
    let source = html
        .get(..html.floor_char_boundary(limits.max_input_bytes))
        .unwrap_or(html);
    if source.len() < html.len() {
        warn_once(&mut warnings, Warning::ContentTooLarge);
    }
    let mut tree = build::build(source, limits.max_nodes, false);
    let mut blocks = blocks::blocks(&tree);
    if blocks.words.len() < FEW_WORDS {
        let all = build::build(source, limits.max_nodes, true);
        let all_blocks = blocks::blocks(&all);
        if all_blocks.words.len() > 2 * blocks.words.len() {
            (tree, blocks) = (all, all_blocks);
        }
    }
    if tree.truncated {
        warn_once(&mut warnings, Warning::ContentTooLarge);
    }
    if tree.flattened {
        warn_once(&mut warnings, Warning::NestingFlattened);
    }
    let address = document_base(&tree, base);
    let kind = kind::kind(&tree, &blocks, base);
    let choice = choose::choose(&tree, &blocks, kind, base, limits.max_library_bytes);
    if choice.panicked {
        warn_once(&mut warnings, Warning::LibraryFailed);
    }
    MainContent {
        html: output::html(&tree, &blocks, &choice.kept, address.as_ref()),
        text_len: text_len(&tree, &blocks, &choice.kept),
        kind,
        strategy: choice.strategy,
        quality: choice.quality,
        warnings,
    }
}

/// What addresses are relative to: `<base>`, itself relative to where the page lies.
fn document_base(tree: &tree::Tree<'_>, base: Option<&Url>) -> Option<Url> {
    let declared = tree.base().and_then(|href| match base {
        Some(base) => base.join(&href).ok(),
        None => Url::parse(&href).ok(),
    });
    declared
        .filter(|address| matches!(address.scheme(), "http" | "https"))
        .or_else(|| base.cloned())
}

fn text_len(tree: &tree::Tree<'_>, blocks: &blocks::Blocks, kept: &[bool]) -> usize {
    let kept = blocks.list.iter().zip(kept).filter(|(_, kept)| **kept);
    kept.flat_map(|(block, _)| block.nodes.clone())
        .map(|id| tree.text(id).trim().len())
        .sum()
}
