//! Blocks as GitHub-flavoured Markdown.

use super::inline::{Place, Style, write_spans};
use super::lines::{Gap, Lines};
use crate::markdown::model::{Alignment, Block, Container, Links, Span, Table};

/// An open list: what its next item needs to know.
#[derive(Debug)]
struct List {
    loose: bool,
    has_item: bool,
    /// Uses the other mark, because the list before it uses the usual one.
    alternate: bool,
}

#[derive(Debug)]
pub(super) struct MarkdownWriter {
    lines: Lines,
    lists: Vec<List>,
    /// For each depth of containers, whether the last block was a list, and with which mark:
    /// Markdown would take two lists in a row for one.
    last_list: Vec<Option<bool>>,
    has_formulas: bool,
}

impl MarkdownWriter {
    pub(super) fn new(limit: usize, has_formulas: bool) -> Self {
        MarkdownWriter {
            lines: Lines::new(limit),
            lists: Vec::new(),
            last_list: vec![None],
            has_formulas,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    pub(super) fn max_bytes(&self) -> usize {
        self.lines.limit()
    }

    pub(super) fn finish(self) -> String {
        self.lines.into_text()
    }

    pub(super) fn open(&mut self, container: &Container) {
        match container {
            Container::Quote => self.open_block("> ", "> "),
            Container::Note { label } => self.open_block(&format!("[^{label}]: "), "    "),
            Container::List { loose } => self.open_list(*loose),
            Container::Item { number, checked } => self.open_item(*number, *checked),
        }
    }

    fn open_block(&mut self, first: &str, rest: &str) {
        self.set_last_list(None);
        self.lines.separate(Gap::Blank);
        self.lines.open(first, rest);
        self.last_list.push(None);
    }

    fn set_last_list(&mut self, list: Option<bool>) {
        if let Some(last) = self.last_list.last_mut() {
            *last = list;
        }
    }

    fn open_list(&mut self, loose: bool) {
        let tight = self.lists.last().is_some_and(|outer| !outer.loose) && !loose;
        let alternate = self.last_list.last().copied().flatten() == Some(false);
        let is_first = !alternate && self.last_list.last().copied().flatten().is_none();
        let gap = if tight && is_first && !self.lines.is_fresh() {
            Gap::Line
        } else {
            Gap::Blank
        };
        self.lines.separate(gap);
        self.set_last_list(Some(alternate));
        self.lists.push(List {
            loose,
            has_item: false,
            alternate,
        });
    }

    fn open_item(&mut self, number: Option<u64>, checked: Option<bool>) {
        let (gap, alternate) = match self.lists.last_mut() {
            Some(list) => {
                let gap = if list.loose { Gap::Blank } else { Gap::Line };
                let gap = std::mem::replace(&mut list.has_item, true).then_some(gap);
                (gap, list.alternate)
            }
            None => (Some(Gap::Blank), false),
        };
        if let Some(gap) = gap {
            self.lines.separate(gap);
        }
        let mut mark = match (number, alternate) {
            (Some(number), false) => format!("{number}. "),
            (Some(number), true) => format!("{number}) "),
            (None, false) => "- ".to_owned(),
            (None, true) => "* ".to_owned(),
        };
        let indent = " ".repeat(mark.len());
        if let Some(checked) = checked {
            mark.push_str(if checked { "[x] " } else { "[ ] " });
        }
        self.lines.open(&mark, &indent);
        self.last_list.push(None);
    }

    pub(super) fn close(&mut self, container: &Container) {
        if matches!(container, Container::List { .. }) {
            self.lists.pop();
        } else {
            self.lines.close();
            self.last_list.pop();
        }
    }

    pub(super) fn block(&mut self, block: &Block, links: &Links) {
        self.set_last_list(None);
        self.lines.separate(Gap::Blank);
        match block {
            Block::Paragraph(spans) => self.paragraph(spans, links),
            Block::Heading(level, spans) => self.heading(*level, spans, links),
            Block::Code { language, text } => self.code(language, text),
            Block::Math(tex) => self.math(tex),
            Block::Table(table) => self.table(table, links),
            Block::Rule => self.lines.whole_line("---"),
        }
    }

    fn inline(&self, spans: &[Span], links: &Links, place: Place) -> String {
        let style = Style {
            place,
            has_formulas: self.has_formulas,
        };
        write_spans(spans, links, style)
    }

    fn paragraph(&mut self, spans: &[Span], links: &Links) {
        let text = self.inline(spans, links, Place::Paragraph);
        for line in text.split('\n') {
            self.lines.line(line);
        }
    }

    fn heading(&mut self, level: u8, spans: &[Span], links: &Links) {
        let mut text = self.inline(spans, links, Place::Heading);
        let without = text.trim_end_matches('#');
        if without.len() < text.len() && (without.is_empty() || without.ends_with(' ')) {
            // Number signs at the end would be taken for decoration.
            text.insert(text.len() - 1, '\\');
        }
        let marks = "#".repeat(usize::from(level));
        self.lines.line(&format!("{marks} {text}"));
    }

    fn code(&mut self, language: &str, text: &str) {
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        // The closing fence must fit, even where the code does not.
        let reserve = self.lines.cost_of(&fence);
        self.lines
            .line_leaving(&format!("{fence}{language}"), reserve);
        if self.lines.is_full() {
            return;
        }
        for line in text.split('\n') {
            self.lines.line_leaving(line, reserve);
        }
        self.lines.reserved_line(&fence);
    }

    fn math(&mut self, tex: &str) {
        self.lines.whole_line(&format!("$${tex}$$"));
    }

    fn table(&mut self, table: &Table, links: &Links) {
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
        for (number, row) in table.rows.iter().enumerate() {
            let line = self.row(row, columns, links);
            self.lines.whole_line(&line);
            if number == 0 {
                let line = delimiters(&table.alignments, columns);
                self.lines.whole_line(&line);
            }
            if self.lines.is_full() {
                return;
            }
        }
    }

    fn row(&self, row: &[Vec<Span>], columns: usize, links: &Links) -> String {
        let mut line = String::from("|");
        for column in 0..columns {
            line.push(' ');
            if let Some(cell) = row.get(column).filter(|cell| !cell.is_empty()) {
                line.push_str(&self.inline(cell, links, Place::Cell));
                line.push(' ');
            }
            line.push('|');
        }
        line
    }
}

fn delimiters(alignments: &[Alignment], columns: usize) -> String {
    let mut line = String::from("|");
    for column in 0..columns {
        line.push_str(match alignments.get(column).copied().unwrap_or_default() {
            Alignment::None => " --- |",
            Alignment::Left => " :--- |",
            Alignment::Center => " :---: |",
            Alignment::Right => " ---: |",
        });
    }
    line
}

/// The length of the longest run of `wanted`.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
