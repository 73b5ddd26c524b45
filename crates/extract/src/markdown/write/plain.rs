//! Blocks as readable text: no markup, no addresses.

use super::lines::{Gap, Lines};
use crate::markdown::model::{Block, Container, Content, Span, Table};

#[derive(Debug)]
pub(super) struct PlainWriter {
    lines: Lines,
    /// For each open list, whether its items are set apart, and whether it has an item.
    lists: Vec<(bool, bool)>,
}

impl PlainWriter {
    pub(super) fn new(limit: usize) -> Self {
        PlainWriter {
            lines: Lines::new(limit),
            lists: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, container: &Container) {
        match container {
            Container::Quote => {
                self.lines.separate(Gap::Blank);
                self.lines.open("", "");
            }
            Container::List { loose } => {
                let nested = !self.lists.is_empty();
                self.lines
                    .separate(if nested { Gap::Line } else { Gap::Blank });
                self.lists.push((*loose, false));
            }
            Container::Item { number, checked } => {
                if let Some((loose, has_item)) = self.lists.last_mut()
                    && std::mem::replace(has_item, true)
                {
                    let gap = if *loose { Gap::Blank } else { Gap::Line };
                    self.lines.separate(gap);
                }
                let mut mark = number.map_or("- ".to_owned(), |number| format!("{number}. "));
                let indent = " ".repeat(mark.len());
                if let Some(checked) = checked {
                    mark.push_str(if *checked { "[x] " } else { "[ ] " });
                }
                self.lines.open(&mark, &indent);
            }
            Container::Note { label } => {
                self.lines.separate(Gap::Blank);
                self.lines.open(&format!("[{label}] "), "");
            }
        }
    }

    pub(super) fn close(&mut self, container: &Container) {
        if matches!(container, Container::List { .. }) {
            self.lists.pop();
        } else {
            self.lines.close();
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.lines.separate(Gap::Blank);
        match block {
            Block::Paragraph(spans) | Block::Heading(_, spans) => self.text(&plain(spans)),
            Block::Code { text, .. } | Block::Math(text) => self.text(text),
            Block::Table(table) => self.table(table),
            Block::Rule => {}
        }
    }

    fn text(&mut self, text: &str) {
        for line in text.lines() {
            self.lines.line(line);
        }
    }

    fn table(&mut self, table: &Table) {
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
            let line = cells.join("\t");
            if !line.trim().is_empty() {
                self.lines.line(line.trim_end());
            }
        }
    }

    pub(super) fn finish(self) -> String {
        self.lines.into_text()
    }
}

fn plain(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        match &span.content {
            Content::Text(piece) | Content::Math(piece) => text.push_str(piece),
            Content::Image { alt, .. } => text.push_str(alt),
            Content::NoteReference(label) => {
                text.push('[');
                text.push_str(label);
                text.push(']');
            }
            Content::LineBreak => text.push('\n'),
        }
    }
    text
}
