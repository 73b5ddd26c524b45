//! Spans as Markdown: marks that open and close in order, links, images, code, formulas.

use super::blocks::longest_run;
use super::escape::{Around, push_escaped, starts_reference};
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

const MARKS: [Marks; 3] = [Marks::STRONG, Marks::EMPHASIS, Marks::DELETED];

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

/// Clears the marks that Markdown could not read back, such as `a**:b**c`.
fn with_working_marks(spans: &[Span]) -> Vec<Span> {
    let mut spans = spans.to_vec();
    for at in 0..spans.len() {
        if spans[at].content == Content::LineBreak {
            let before = at
                .checked_sub(1)
                .map_or(Marks::NONE, |before| spans[before].marks);
            let after = spans.get(at + 1).map_or(Marks::NONE, |after| after.marks);
            spans[at].marks = before.shared_with(after).without(Marks::CODE);
        }
    }
    end_emphasis_with_strong(&mut spans);
    for mark in MARKS {
        let mut start = 0;
        while start < spans.len() {
            if !spans[start].marks.has(mark) {
                start += 1;
                continue;
            }
            let length = spans[start..]
                .iter()
                .take_while(|span| span.marks.has(mark))
                .count();
            let end = start + length;
            if !can_open(&spans, start, end) || !can_close(&spans, start, end) {
                for span in &mut spans[start..end] {
                    span.marks = span.marks.without(mark);
                }
            }
            start = end;
        }
    }
    spans
}

/// Emphasis that goes on where strong text beside it begins or ends would need delimiters that
/// run together: it ends there.
fn end_emphasis_with_strong(spans: &mut [Span]) {
    let both = |span: &Span| span.marks.has(Marks::EMPHASIS) && span.marks.has(Marks::STRONG);
    let alone = |span: &Span| span.marks.has(Marks::EMPHASIS) && !span.marks.has(Marks::STRONG);
    let mut start = 0;
    while start < spans.len() {
        let run = spans[start..]
            .iter()
            .take_while(|span| span.marks.has(Marks::EMPHASIS))
            .count();
        let end = start + run;
        let strong_crosses = |at: usize| {
            at > 0
                && at < spans.len()
                && spans[at - 1].marks.has(Marks::STRONG)
                && spans[at].marks.has(Marks::STRONG)
        };
        let crosses = run > 0 && (strong_crosses(start) || strong_crosses(end));
        if crosses && spans[start..end].iter().any(both) {
            for span in spans[start..end].iter_mut().filter(|span| alone(span)) {
                span.marks = span.marks.without(Marks::EMPHASIS);
            }
        }
        start = end.max(start + 1);
    }
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || !character.is_ascii() && !character.is_alphanumeric() && !character.is_whitespace()
}

fn first_character(span: &Span) -> char {
    match &span.content {
        Content::Text(_) if span.marks.has(Marks::CODE) => '`',
        Content::Text(text) => text.chars().next().unwrap_or(' '),
        Content::LineBreak => ' ',
        Content::Math(_) => '$',
        Content::Image { .. } | Content::NoteReference(_) => '[',
    }
}

fn last_character(span: &Span) -> char {
    match &span.content {
        Content::Text(text) if !span.marks.has(Marks::CODE) => {
            text.chars().next_back().unwrap_or(' ')
        }
        Content::Image { .. } => ')',
        Content::NoteReference(_) => ']',
        _ => first_character(span),
    }
}

fn can_open(spans: &[Span], start: usize, end: usize) -> bool {
    let link = spans[start].link;
    let before = start.checked_sub(1).map(|before| &spans[before]);
    let link_begins = link != NO_LINK && before.is_none_or(|span| span.link != link);
    let link_goes_on = spans.get(end).is_some_and(|span| span.link == link);
    let outside = match before {
        _ if link_begins && link_goes_on => '[',
        None => ' ',
        Some(span) if span.link != NO_LINK && span.link != link => ')',
        Some(span) => last_character(span),
    };
    let inside = if link_begins && !link_goes_on {
        '['
    } else {
        first_character(&spans[start])
    };
    flanks(inside, outside)
}

fn can_close(spans: &[Span], start: usize, end: usize) -> bool {
    let last = &spans[end - 1];
    let after = spans.get(end);
    let link_ends = last.link != NO_LINK && after.is_none_or(|span| span.link != last.link);
    let link_came_in = start > 0 && spans[start - 1].link == last.link;
    let outside = match after {
        _ if link_ends && link_came_in => ']',
        None => ' ',
        Some(span) if span.link != NO_LINK && span.link != last.link => '[',
        Some(span) => first_character(span),
    };
    let inside = if link_ends && !link_came_in {
        ')'
    } else {
        last_character(last)
    };
    flanks(inside, outside)
}

/// The rule for delimiters that begin or end emphasis.
fn flanks(inside: char, outside: char) -> bool {
    !inside.is_whitespace()
        && (!is_punctuation(inside) || outside.is_whitespace() || is_punctuation(outside))
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
