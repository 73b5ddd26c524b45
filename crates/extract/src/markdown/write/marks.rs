//! Which marks Markdown can express where they stand.

use crate::markdown::model::{Content, Marks, NO_LINK, Span};

pub(super) const MARKS: [Marks; 3] = [Marks::STRONG, Marks::EMPHASIS, Marks::DELETED];

/// Clears the marks that Markdown could not read back, such as `a**:b**c`.
pub(super) fn with_working_marks(spans: &[Span]) -> Vec<Span> {
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

pub(super) fn first_character(span: &Span) -> char {
    match &span.content {
        Content::Text(_) if span.marks.has(Marks::CODE) => '`',
        Content::Text(text) => text.chars().next().unwrap_or(' '),
        Content::LineBreak => ' ',
        Content::Math(_) => '$',
        Content::Image { .. } | Content::NoteReference(_) => '[',
    }
}

pub(super) fn last_character(span: &Span) -> char {
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
