//! Blocks to Markdown and to plain text, both at once.

mod blocks;
mod escape;
mod inline;
mod lines;
mod marks;
mod plain;

use super::model::{Block, Container, Links};
use blocks::MarkdownWriter;
use plain::PlainWriter;

/// Writes Markdown and plain text of the same blocks.
#[derive(Debug)]
pub(super) struct Writers {
    markdown: MarkdownWriter,
    plain: PlainWriter,
}

impl Writers {
    pub(super) fn new(max_bytes: usize, has_formulas: bool) -> Self {
        Writers {
            markdown: MarkdownWriter::new(max_bytes, has_formulas),
            plain: PlainWriter::new(max_bytes),
        }
    }

    /// Whether nothing more can be written.
    pub(super) fn are_full(&self) -> bool {
        self.markdown.is_full()
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.markdown.max_bytes()
    }

    pub(super) fn open(&mut self, container: &Container) {
        self.markdown.open(container);
        self.plain.open(container);
    }

    pub(super) fn close(&mut self, container: &Container) {
        self.markdown.close(container);
        self.plain.close(container);
    }

    pub(super) fn block(&mut self, block: &Block, links: &Links) {
        self.markdown.block(block, links);
        self.plain.block(block);
    }

    /// The Markdown and the text.
    pub(super) fn finish(self) -> (String, String) {
        (self.markdown.finish(), self.plain.finish())
    }
}
