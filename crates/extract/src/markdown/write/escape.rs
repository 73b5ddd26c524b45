//! Backslashes before the characters that would mean something else where they stand.

use super::inline::{Place, Style};

/// What stands around a piece of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// The character before it; nothing at the start of a line.
    pub(super) before: Option<char>,
    /// The character behind it; nothing at the end of a line.
    pub(super) after: Option<char>,
    /// The line is not the first of its paragraph.
    pub(super) continues: bool,
    pub(super) in_link: bool,
    /// The paragraph has several tildes.
    pub(super) many_tildes: bool,
}

/// Appends `text` so that it reads as it stands.
pub(super) fn push_escaped(out: &mut String, text: &str, around: Around, style: Style) {
    let mut text = text;
    let mut before = around.before;
    if before.is_none() && style.place == Place::Paragraph {
        let length = push_line_start(out, text, around);
        if length > 0 {
            before = text[..length].chars().next_back();
            text = &text[length..];
        }
    }
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        let rest = &text[at..];
        let neighbours = (before, next.or(around.after));
        if is_special(character, rest, neighbours, around, style) {
            out.push('\\');
        }
        out.push(character);
        before = Some(character);
    }
}

fn is_special(
    character: char,
    rest: &str,
    (before, after): (Option<char>, Option<char>),
    around: Around,
    style: Style,
) -> bool {
    let is_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
    match character {
        '\\' => after.is_none_or(|after| after.is_ascii_punctuation()) || rest.len() == 1,
        '`' => true,
        '*' => !(is_space(before) && is_space(after)) || before.is_none(),
        '_' => !(is_word(before) && is_word(after) || is_space(before) && is_space(after)),
        '~' => around.many_tildes,
        '[' => around.in_link || after == Some('^') || before.is_none() && opens_definition(rest),
        ']' => around.in_link || matches!(after, Some('(' | '[')),
        '!' => after == Some('['),
        '<' => {
            after.is_some_and(|after| {
                after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?')
            }) || starts_mail_address(rest)
        }
        '&' => starts_reference(rest),
        '|' => style.place == Place::Cell,
        '$' => style.has_formulas,
        _ => false,
    }
}

/// `[name]:` and the boxes of task lists.
fn opens_definition(rest: &str) -> bool {
    rest.contains("]:")
        || ["[ ]", "[x]", "[X]"]
            .iter()
            .any(|task| rest.starts_with(task))
}

/// `<name@host>` is a link.
fn starts_mail_address(rest: &str) -> bool {
    const LONGEST: usize = 320;
    let word = rest.bytes().skip(1).take(LONGEST);
    word.take_while(|byte| !byte.is_ascii_whitespace() && *byte != b'>')
        .any(|byte| byte == b'@')
}

/// Whether the text begins with what reads as a character reference.
pub(super) fn starts_reference(rest: &str) -> bool {
    const LONGEST: usize = 34;
    let Some(name) = rest.strip_prefix('&') else {
        return false;
    };
    let name = name.strip_prefix('#').unwrap_or(name);
    let end = name
        .bytes()
        .take(LONGEST)
        .position(|byte| !byte.is_ascii_alphanumeric());
    end.is_some_and(|end| end > 0 && name.as_bytes().get(end) == Some(&b';'))
}

/// Escapes what would begin a heading, list, quote, rule or table; gives the length of the part
/// of `text` it has written.
fn push_line_start(out: &mut String, text: &str, around: Around) -> usize {
    let ends_or_space = |at: usize| {
        let next = text[at..].chars().next().or(around.after);
        next.is_none_or(char::is_whitespace)
    };
    let Some(first) = text.chars().next() else {
        return 0;
    };
    let run = text.len() - text.trim_start_matches(first).len();
    let line_is_only = |wanted: &[char]| {
        around.after.is_none_or(|after| after == '\n') && text.trim_end_matches(wanted).is_empty()
    };
    match first {
        '#' if run <= 6 && ends_or_space(run) => {}
        '>' => {}
        '+' | '-' if ends_or_space(1) => {}
        '-' | '_' if line_is_only(&[first, ' ']) => {}
        '=' if around.continues && line_is_only(&['=', ' ']) => {}
        '|' | ':' | '-' if around.continues && line_is_only(&['|', ':', '-', ' ']) => {}
        '0'..='9' => return push_number(out, text, ends_or_space),
        _ => return 0,
    }
    out.push('\\');
    out.push(first);
    first.len_utf8()
}

/// `1.` and `1)` begin lists.
fn push_number(out: &mut String, text: &str, ends_or_space: impl Fn(usize) -> bool) -> usize {
    const MOST_DIGITS: usize = 9;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let marks = matches!(text.as_bytes().get(digits), Some(b'.' | b')'));
    if digits > MOST_DIGITS || !marks || !ends_or_space(digits + 1) {
        return 0;
    }
    out.push_str(&text[..digits]);
    out.push('\\');
    out.push_str(&text[digits..=digits]);
    digits + 1
}
