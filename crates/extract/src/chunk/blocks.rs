//! The blocks of a Markdown document, line by line: where each begins and ends, and what it is.
//!
//! Reads Markdown as far as chunks need it. Text that is no Markdown comes out as prose.

use std::ops::Range;

use super::ChunkKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) kind: ChunkKind,
    /// The level of a heading.
    pub(super) heading: Option<u8>,
}

/// The blocks of the text in their order; together they hold everything but blank lines.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, at);
        at += line.len();
    }
    reader.finish();
    reader.blocks
}

#[derive(Debug, Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Option<Block>,
    /// The fence that closes the open code block.
    fence: Option<(char, usize)>,
    /// There was a blank line since the last line of the open block.
    after_blank: bool,
    /// How many lines the open block has.
    lines: usize,
}

impl Reader {
    fn line(&mut self, line: &str, at: usize) {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        let end = at + line.len();
        if let Some((mark, length)) = self.fence {
            self.extend(end);
            if fence_of(content)
                .is_some_and(|(other, run, rest)| other == mark && run >= length && rest.is_empty())
            {
                self.fence = None;
                self.close();
            }
            return;
        }
        if content.is_empty() {
            self.after_blank = true;
            return;
        }
        if let Some((mark, length, _)) = fence_of(content) {
            self.begin(at, end, ChunkKind::Code, None);
            self.fence = Some((mark, length));
        } else if indent <= 3
            && let Some(level) = heading_level(content)
        {
            self.begin(at, end, ChunkKind::Prose, Some(level));
            self.close();
        } else if content.starts_with('|') {
            self.continue_or_begin(at, end, ChunkKind::Table);
        } else if let Some(level) = self.underlines_heading(content) {
            self.extend(end);
            if let Some(block) = &mut self.open {
                block.heading = Some(level);
            }
            self.close();
        } else if starts_item(content) {
            self.continue_list(at, end);
        } else if self.is_in_list() && (indent >= 2 || !self.after_blank) {
            self.extend(end);
        } else {
            self.continue_or_begin(at, end, ChunkKind::Prose);
        }
        self.after_blank = false;
    }

    fn is_in_list(&self) -> bool {
        let kind = self.open.as_ref().map(|block| block.kind);
        kind == Some(ChunkKind::List)
    }

    /// A list goes on across blank lines.
    fn continue_list(&mut self, at: usize, end: usize) {
        if self.is_in_list() {
            self.extend(end);
        } else {
            self.begin(at, end, ChunkKind::List, None);
        }
    }

    fn continue_or_begin(&mut self, at: usize, end: usize, kind: ChunkKind) {
        let goes_on = self.open.as_ref().is_some_and(|block| block.kind == kind);
        if goes_on && !self.after_blank {
            self.extend(end);
        } else {
            self.begin(at, end, kind, None);
        }
    }

    fn begin(&mut self, at: usize, end: usize, kind: ChunkKind, heading: Option<u8>) {
        self.close();
        self.lines = 1;
        self.after_blank = false;
        self.open = Some(Block {
            range: at..end,
            kind,
            heading,
        });
    }

    fn extend(&mut self, end: usize) {
        self.lines += 1;
        if let Some(block) = &mut self.open {
            block.range.end = end;
        }
    }

    fn close(&mut self) {
        self.blocks.extend(self.open.take());
    }

    fn finish(&mut self) {
        self.close();
    }

    /// `===` or `---` under a single line of text.
    fn underlines_heading(&self, content: &str) -> Option<u8> {
        let is_text = self
            .open
            .as_ref()
            .is_some_and(|block| block.kind == ChunkKind::Prose);
        if !is_text || self.after_blank || self.lines != 1 {
            return None;
        }
        let content = content.trim_end();
        let only = |mark| content.len() >= 2 && content.chars().all(|other| other == mark);
        if only('=') {
            Some(1)
        } else if only('-') {
            Some(2)
        } else {
            None
        }
    }
}

/// The mark and length of a fence, and what stands behind it.
fn fence_of(content: &str) -> Option<(char, usize, &str)> {
    let mark = content
        .chars()
        .next()
        .filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = content.trim_start_matches(mark);
    let length = content.len() - rest.len();
    let opens = length >= 3 && !(mark == '`' && rest.contains('`'));
    opens.then(|| (mark, length, rest.trim()))
}

fn heading_level(content: &str) -> Option<u8> {
    let rest = content.trim_start_matches('#');
    let level = content.len() - rest.len();
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']);
    ((1..=6).contains(&level) && ends).then_some(level as u8)
}

fn starts_item(content: &str) -> bool {
    let rest = match content.as_bytes().first() {
        Some(b'-' | b'*' | b'+') => &content[1..],
        Some(byte) if byte.is_ascii_digit() => {
            let digits = content.bytes().take_while(u8::is_ascii_digit).count();
            let marked = digits <= 9 && matches!(content.as_bytes().get(digits), Some(b'.' | b')'));
            if !marked {
                return false;
            }
            &content[digits + 1..]
        }
        _ => return false,
    };
    rest.starts_with([' ', '\t', '\n', '\r']) || rest.is_empty()
}
