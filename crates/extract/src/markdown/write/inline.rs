//! Spans as Markdown: marks that open and close in order, links, images, code, formulas.

use super::blocks::longest_run;
use super::escape::{Around, push_escaped, starts_reference};
use super::marks::{MARKS, first_character, last_character, with_working_marks};
use crate::markdown::model::{Content, LinkId, Links, Marks, NO_LINK, Span};

/// Where a line of text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Paragraph,
    Heading,
    Cell,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) place: Place,
    /// The page has formulas, so a dollar sign means one.
    pub(super) has_formulas: bool,
}

/// Writes the spans of one block.
pub(super) fn write_spans(spans: &[Span], links: &Links, style: Style) -> String {
    let spans = with_working_marks(spans);
    let tildes: usize = spans
        .iter()
        .map(|span| match &span.content {
            Content::Text(text) => text.bytes().filter(|&byte| byte == b'~').count(),
            _ => usize::from(span.marks.has(Marks::DELETED)),
        })
        .sum();
    let mut writer = Writer {
        runs: runs(&spans),
        spans: &spans,
        links,
        style,
        open: Vec::new(),
        out: String::new(),
        many_tildes: tildes > 1 || tildes > 0 && spans.iter().any(|s| s.marks.has(Marks::DELETED)),
        lines: 0,
    };
    for at in 0..spans.len() {
        writer.span(at);
    }
    writer.close_down_to(0);
    writer.out
}

/// Something open: a link or a mark with its delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Link(LinkId),
    Mark(Marks, &'static str),
}

/// For each span, where the run of each mark and of its link ends.
fn runs(spans: &[Span]) -> Vec<[usize; 4]> {
    let mut runs = vec![[0; 4]; spans.len()];
    for at in (0..spans.len()).rev() {
        let next = spans.get(at + 1);
        for (kind, mark) in MARKS.iter().enumerate() {
            let goes_on = next.is_some_and(|next| next.marks.has(*mark));
            runs[at][kind] = if goes_on { runs[at + 1][kind] } else { at + 1 };
        }
        let goes_on = next.is_some_and(|next| next.link == spans[at].link);
        runs[at][3] = if goes_on { runs[at + 1][3] } else { at + 1 };
    }
    runs
}

struct Writer<'s> {
    spans: &'s [Span],
    runs: Vec<[usize; 4]>,
    links: &'s Links,
    style: Style,
    open: Vec<Open>,
    out: String,
    many_tildes: bool,
    lines: usize,
}

impl Writer<'_> {
    fn span(&mut self, at: usize) {
        let span = &self.spans[at];
        let is_wanted = |open: &Open| match *open {
            Open::Link(link) => link == span.link,
            Open::Mark(mark, _) => span.marks.has(mark),
        };
        let keep = self.open.iter().position(|open| !is_wanted(open));
        if let Some(keep) = keep {
            self.close_down_to(keep);
        }
        self.open_wanted(at);
        match &span.content {
            Content::Text(text) if span.marks.has(Marks::CODE) => self.code(text),
            Content::Text(text) => self.text(text, at),
            Content::Math(tex) => self.math(tex),
            Content::Image { alt, source } => self.image(alt, source),
            Content::NoteReference(label) => {
                self.out.push_str("[^");
                self.out.push_str(label);
                self.out.push(']');
            }
            Content::LineBreak if self.style.place == Place::Paragraph => {
                self.out.push_str("  \n");
                self.lines += 1;
            }
            Content::LineBreak => self.out.push(' '),
        }
    }

    fn close_down_to(&mut self, length: usize) {
        while self.open.len() > length {
            match self.open.pop() {
                Some(Open::Link(link)) => {
                    self.out.push_str("](");
                    let target = self.links.target(link);
                    push_destination(&mut self.out, target);
                    self.out.push(')');
                }
                Some(Open::Mark(_, delimiter)) => self.out.push_str(delimiter),
                None => {}
            }
        }
    }

    /// Opens what the span needs and is not open, what lasts longest first.
    fn open_wanted(&mut self, at: usize) {
        let span = &self.spans[at];
        let mut wanted: Vec<(usize, Open)> = Vec::new();
        if span.link != NO_LINK && !self.open.contains(&Open::Link(span.link)) {
            wanted.push((self.runs[at][3], Open::Link(span.link)));
        }
        for (kind, &mark) in MARKS.iter().enumerate() {
            let is_open = |open: &Open| matches!(open, Open::Mark(open, _) if *open == mark);
            if span.marks.has(mark) && !self.open.iter().any(is_open) {
                let end = self.runs[at][kind];
                wanted.push((end, Open::Mark(mark, self.delimiter(mark, at, end))));
            }
        }
        wanted.sort_by_key(|&(end, _)| std::cmp::Reverse(end));
        for (_, open) in wanted {
            match open {
                Open::Link(_) => self.out.push('['),
                Open::Mark(_, delimiter) => self.out.push_str(delimiter),
            }
            self.open.push(open);
        }
    }

    /// Emphasis beside strong text uses the other delimiter, lest the two run together.
    fn delimiter(&self, mark: Marks, start: usize, end: usize) -> &'static str {
        if mark == Marks::STRONG {
            return "**";
        }
        if mark == Marks::DELETED {
            return "~~";
        }
        let strong = |at: Option<&Span>| at.is_some_and(|span| span.marks.has(Marks::STRONG));
        let before = start
            .checked_sub(1)
            .and_then(|before| self.spans.get(before));
        let after = self.spans.get(end);
        let first = strong(self.spans.get(start));
        let last = strong(self.spans.get(end - 1));
        let meets_strong = strong(before) != first || strong(after) != last;
        let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        let touches_word = strong(before) == first && is_word(before.map(last_character))
            || strong(after) == last && is_word(after.map(first_character));
        if meets_strong && !touches_word {
            "_"
        } else {
            "*"
        }
    }

    fn text(&mut self, text: &str, at: usize) {
        let in_link = self.open.iter().any(|open| matches!(open, Open::Link(_)));
        let after = self.spans.get(at + 1).map(|next| {
            if next.link != NO_LINK && next.link != self.spans[at].link {
                '['
            } else if next.content == Content::LineBreak {
                '\n'
            } else {
                first_character(next)
            }
        });
        let around = Around {
            before: self.out.chars().next_back().filter(|&last| last != '\n'),
            after,
            continues: self.lines > 0,
            in_link,
            many_tildes: self.many_tildes,
        };
        push_escaped(&mut self.out, text, around, self.style);
    }

    fn code(&mut self, text: &str) {
        let fence = "`".repeat(longest_run(text, '`') + 1);
        let needs_space = text.starts_with('`') || text.ends_with('`');
        let space = if needs_space { " " } else { "" };
        self.out.push_str(&fence);
        self.out.push_str(space);
        self.push_without_pipes(text);
        self.out.push_str(space);
        self.out.push_str(&fence);
    }

    fn math(&mut self, tex: &str) {
        self.out.push('$');
        self.push_without_pipes(tex);
        self.out.push('$');
    }

    fn push_without_pipes(&mut self, text: &str) {
        if self.style.place == Place::Cell {
            self.out.push_str(&text.replace('|', "\\|"));
        } else {
            self.out.push_str(text);
        }
    }

    fn image(&mut self, alt: &str, source: &str) {
        self.out.push_str("![");
        let around = Around {
            before: Some('['),
            after: Some(']'),
            continues: false,
            in_link: true,
            many_tildes: alt.contains('~'),
        };
        push_escaped(&mut self.out, alt, around, self.style);
        self.out.push_str("](");
        push_destination(&mut self.out, source);
        self.out.push(')');
    }
}

/// Appends an address so that it ends where it ends.
fn push_destination(out: &mut String, address: &str) {
    let balanced = has_balanced_parentheses(address);
    for (at, character) in address.char_indices() {
        match character {
            '(' | ')' if !balanced => {
                out.push('\\');
                out.push(character);
            }
            '&' if starts_reference(&address[at..]) => out.push_str("\\&"),
            ' ' | '<' | '>' | '"' | '`' | '|' | '\\' | '\u{0}'..='\u{1f}' | '\u{7f}' => {
                out.push('%');
                for digit in [u32::from(character) >> 4, u32::from(character) & 15] {
                    let digit = char::from_digit(digit, 16).unwrap_or('0');
                    out.push(digit.to_ascii_uppercase());
                }
            }
            _ => out.push(character),
        }
    }
}

fn has_balanced_parentheses(address: &str) -> bool {
    const DEEPEST: i32 = 8;
    let mut depth = 0;
    for byte in address.bytes() {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        if !(0..=DEEPEST).contains(&depth) {
            return false;
        }
    }
    depth == 0
}
