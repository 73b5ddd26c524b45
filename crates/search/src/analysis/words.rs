//! Text to folded words with their places in the text.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Longer runs are no words; they are cut so that an index cannot be filled with one page.
const LONGEST: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word<'t> {
    /// Lower case, without accents and without a possessive `'s`.
    pub text: Cow<'t, str>,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// The words of a text in their order.
pub fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, end) = next_run(text, at)?;
        at = end;
        let raw = &text[start..end];
        Some(Word {
            text: fold(raw),
            start,
            end,
        })
    })
}

/// The next run of letters and digits from a place on.
fn next_run(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = &text[from..];
    let (offset, first) = rest.char_indices().find(|(_, c)| c.is_alphanumeric())?;
    let start = from + offset;
    let mut end = start + first.len_utf8();
    if is_ideograph(first) {
        return Some((start, end));
    }
    let mut last = first;
    let mut chars = text[end..].char_indices().peekable();
    let base = end;
    while let Some((offset, c)) = chars.next() {
        if end - start >= LONGEST {
            break;
        }
        let joins = joins(last, c, chars.peek().map(|(_, next)| *next));
        if !(c.is_alphanumeric() && !is_ideograph(c) || is_mark(c) || joins) {
            break;
        }
        end = base + offset + c.len_utf8();
        last = c;
    }
    Some((start, end))
}

/// Marks inside of words and numbers: `it's`, `3.5`, `10,000`.
fn joins(before: char, c: char, after: Option<char>) -> bool {
    let Some(after) = after else { return false };
    match c {
        '\'' | '\u{2019}' => before.is_alphabetic() && after.is_alphabetic(),
        '.' | ',' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

/// Accents that are characters of their own.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Characters that are words by themselves, as far as search cares.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn fold(raw: &str) -> Cow<'_, str> {
    if raw
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    {
        return Cow::Borrowed(raw);
    }
    if raw.is_ascii() {
        let mut word = raw.to_ascii_lowercase();
        strip_possessive(&mut word);
        return Cow::Owned(word);
    }
    let mut word = String::with_capacity(raw.len());
    let plain = DecomposingNormalizerBorrowed::new_nfkd().normalize(raw);
    for c in plain.chars().filter(|c| !is_mark(*c)) {
        let c = if c == '\u{2019}' { '\'' } else { c };
        word.extend(c.to_lowercase());
    }
    strip_possessive(&mut word);
    Cow::Owned(word)
}

fn strip_possessive(word: &mut String) {
    if word.ends_with("'s") {
        word.truncate(word.len() - 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).map(|word| word.text.into_owned()).collect()
    }

    #[test]
    fn words_are_letters_and_digits_in_lower_case() {
        assert_eq!(folded("Hello, World_2!"), ["hello", "world", "2"]);
        assert_eq!(
            folded("The site's 3.5 of 10,000."),
            ["the", "site", "3.5", "of", "10,000"]
        );
    }

    #[test]
    fn accents_are_dropped_whether_they_are_characters_of_their_own_or_not() {
        assert_eq!(folded("Café cafe\u{301}"), ["cafe", "cafe"]);
    }

    #[test]
    fn an_ideograph_is_a_word() {
        assert_eq!(folded("東京 tower"), ["東", "京", "tower"]);
    }

    #[test]
    fn places_are_bytes_of_the_text() {
        let text = "a – Überall";
        let word = words(text).last().unwrap();
        assert_eq!(&text[word.start..word.end], "Überall");
    }

    #[test]
    fn endless_words_are_cut() {
        let long = "x".repeat(1000);
        assert!(words(&long).all(|word| word.text.len() <= LONGEST));
    }
}
