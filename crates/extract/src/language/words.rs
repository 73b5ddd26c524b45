//! Words as readers count them, in scripts with and without spaces between words.

use serde::Serialize;

/// Words a minute in scripts with spaces (Brysbaert 2019), and characters a minute in others.
const WORDS_PER_MINUTE: f64 = 238.0;
const DENSE_PER_MINUTE: f64 = 400.0;
/// Letters to a word in Thai, Lao, Khmer and Burmese, which have no spaces between words.
const LETTERS_PER_UNSPACED_WORD: usize = 4;

/// How much there is to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextSize {
    /// Words; a Chinese or Japanese character counts as one, as word processors count them.
    pub word_count: usize,
    /// Seconds of silent reading by an adult.
    pub reading_time_seconds: u32,
}

impl TextSize {
    /// Whole minutes of reading, at least one if there is anything to read.
    pub fn reading_time_minutes(self) -> u32 {
        self.reading_time_seconds.div_ceil(60)
    }
}

/// A word, or a character of a script in which a character is about a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word<'a> {
    Spaced(&'a str),
    Dense(&'a str),
    /// A run of a script that has words but no spaces; a word of it ends after some letters.
    Unspaced(&'a str),
}

#[cfg(test)]
impl<'a> Word<'a> {
    fn text(self) -> &'a str {
        match self {
            Word::Spaced(text) | Word::Dense(text) | Word::Unspaced(text) => text,
        }
    }
}

/// Counts words and the time to read them.
pub fn text_size(text: &str) -> TextSize {
    let (mut spaced, mut dense) = (0_usize, 0_usize);
    for word in words(text) {
        match word {
            Word::Spaced(_) => spaced += 1,
            Word::Dense(_) => dense += 1,
            Word::Unspaced(run) => {
                let letters = run.chars().filter(|c| c.is_alphanumeric()).count();
                spaced += letters.div_ceil(LETTERS_PER_UNSPACED_WORD);
            }
        }
    }
    let minutes = spaced as f64 / WORDS_PER_MINUTE + dense as f64 / DENSE_PER_MINUTE;
    TextSize {
        word_count: spaced + dense,
        reading_time_seconds: (minutes * 60.0).ceil() as u32,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Between,
    Letter,
    Dense,
    Unspaced,
}

/// The words of a text in order.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let kind = kind(first);
            let end = match kind {
                Kind::Dense => first.len_utf8(),
                _ => run_end(rest, kind),
            };
            let (run, behind) = rest.split_at_checked(end)?;
            rest = behind;
            match kind {
                Kind::Between => {}
                Kind::Letter => return Some(Word::Spaced(run)),
                Kind::Dense => return Some(Word::Dense(run)),
                Kind::Unspaced => return Some(Word::Unspaced(run)),
            }
        }
    })
}

/// Where the run of one kind ends. Apostrophes, dots and hyphens between letters belong to the
/// word: `don't`, `3.14`, `well-known`.
fn run_end(text: &str, wanted: Kind) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if kind(c) == wanted || is_mark(c) && wanted != Kind::Between {
            continue;
        }
        let joins = wanted == Kind::Letter
            && matches!(
                c,
                '\'' | '’' | '.' | '-' | '_' | '·' | '\u{ad}' | '\u{200d}'
            )
            && characters
                .peek()
                .is_some_and(|(_, next)| kind(*next) == Kind::Letter);
        if !joins {
            return at;
        }
    }
    text.len()
}

fn kind(c: char) -> Kind {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() {
            Kind::Letter
        } else {
            Kind::Between
        };
    }
    if is_dense(c) {
        return Kind::Dense;
    }
    match c {
        // Thai, Lao, Burmese, Khmer
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
            Kind::Unspaced
        }
        c if c.is_alphanumeric() => Kind::Letter,
        _ => Kind::Between,
    }
}

/// Marks that belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' | '\u{0591}'..='\u{05c7}' | '\u{0610}'..='\u{061a}'
        | '\u{064b}'..='\u{065f}' | '\u{0900}'..='\u{0903}' | '\u{093a}'..='\u{094f}'
        | '\u{0980}'..='\u{0dff}' | '\u{200c}' | '\u{200d}' | '\u{1ab0}'..='\u{1aff}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a character is an ideograph or kana, about a word or syllable by itself.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9d}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_every_script() {
        for (text, count) in [
            ("", 0),
            (" - … ! ", 0),
            ("Don't panic, it's 3.14 or well-known.", 6),
            ("naïve café re\u{301}sume\u{301}", 3),
            ("Привет, мир! Γειά", 3),
            ("안녕하세요 세계", 2),
            ("漢字かな交じり文", 8),
            ("漢字 and Rust", 4),
            ("สวัสดีชาวโลก", 3),
            ("مرحبا بالعالم", 2),
            ("हिन्दी भाषा", 2),
            ("a\u{0}b", 2),
        ] {
            assert_eq!(text_size(text).word_count, count, "{text}");
        }
    }

    #[test]
    fn reading_time_follows_the_words() {
        assert_eq!(text_size("").reading_time_minutes(), 0);
        assert_eq!(text_size("one").reading_time_minutes(), 1);
        let text = "word ".repeat(238 * 3);
        let size = text_size(&text);
        assert_eq!(
            (size.reading_time_seconds, size.reading_time_minutes()),
            (180, 3)
        );
        assert_eq!(text_size(&"字".repeat(400)).reading_time_seconds, 60);
    }

    #[test]
    fn words_are_slices_of_the_text() {
        let read: Vec<_> = words("Ab c-d 漢x").map(Word::text).collect();
        assert_eq!(read, ["Ab", "c-d", "漢", "x"]);
    }
}
